#include "stock/order.h"
#include "stock/store.h"

int main() {
    stock::Store store;
    store.add({"nut", 5, 10});
    store.add({"bolt", 5, 25});
    assert(stock::total_cents({{{"nut", 3}, {"bolt", 2}}, 0}, store) == 80);
    assert(stock::total_cents({{{"nut", 1}, {"bolt", 1}}, 10}, store) == 31);
    assert(stock::total_cents({{}, 50}, store) == 0);
    assert(stock::total_cents({{{"nut", 1}, {"gear", 1}}, 0}, store) == -1);
}
