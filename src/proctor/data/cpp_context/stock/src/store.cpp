#include "stock/store.h"

#include <algorithm>
#include <tuple>

namespace stock {

// HOLE add
void Store::add(const Item& item) {
    Item& known = items_[item.sku];
    known.sku = item.sku;
    known.quantity += item.quantity;
    known.price_cents = item.price_cents;
}
// END add

// HOLE take
bool Store::take(const std::string& sku, int count) {
    const auto found = items_.find(sku);
    if (count < 0 || found == items_.end() || found->second.quantity < count) return false;
    found->second.quantity -= count;
    return true;
}
// END take

const Item* Store::find(const std::string& sku) const {
    const auto found = items_.find(sku);
    return found == items_.end() ? nullptr : &found->second;
}

// HOLE scarce
std::vector<Item> Store::scarce(int below) const {
    std::vector<Item> few;
    for (const auto& [sku, item] : items_) {
        if (item.quantity < below) few.push_back(item);
    }
    std::sort(few.begin(), few.end(), [](const Item& one, const Item& other) {
        return std::tie(one.quantity, one.sku) < std::tie(other.quantity, other.sku);
    });
    return few;
}
// END scarce

long Store::value_cents() const {
    long sum = 0;
    for (const auto& [sku, item] : items_) sum += item.quantity * item.price_cents;
    return sum;
}

}  // namespace stock
