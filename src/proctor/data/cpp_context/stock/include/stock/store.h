#pragma once

#include <map>
#include <string>
#include <vector>

namespace stock {

struct Item {
    std::string sku;
    int quantity = 0;
    long price_cents = 0;
};

/// What is on the shelves, by its number.
class Store {
public:
    /// Puts items on the shelf; what is there already becomes more, at the new price.
    void add(const Item& item);

    /// Takes so many from the shelf, or nothing if there are fewer; says whether it did.
    bool take(const std::string& sku, int count);

    /// The item with a number, or a null pointer.
    const Item* find(const std::string& sku) const;

    /// All items of which there are fewer than `below`, the fewest first, then by number.
    std::vector<Item> scarce(int below) const;

    /// What all of it is worth.
    long value_cents() const;

private:
    std::map<std::string, Item> items_;
};

}  // namespace stock
