#pragma once

#include <string>
#include <vector>

namespace stock {

class Store;

struct Line {
    std::string sku;
    int count = 1;
};

struct Order {
    std::vector<Line> lines;
    int discount_percent = 0;
};

/// The price of an order after its discount, cents rounded down; -1 if something is not known.
long total_cents(const Order& order, const Store& store);

/// Takes all of an order from the store, or nothing at all; says whether it did.
bool reserve(Store& store, const Order& order);

}  // namespace stock
