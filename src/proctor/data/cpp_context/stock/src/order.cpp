#include "stock/order.h"

#include "stock/store.h"

namespace stock {

// HOLE total_cents
long total_cents(const Order& order, const Store& store) {
    long sum = 0;
    for (const Line& line : order.lines) {
        const Item* item = store.find(line.sku);
        if (item == nullptr) return -1;
        sum += item->price_cents * line.count;
    }
    return sum * (100 - order.discount_percent) / 100;
}
// END total_cents

// HOLE reserve
bool reserve(Store& store, const Order& order) {
    Store after = store;
    for (const Line& line : order.lines) {
        if (!after.take(line.sku, line.count)) return false;
    }
    store = after;
    return true;
}
// END reserve

}  // namespace stock
