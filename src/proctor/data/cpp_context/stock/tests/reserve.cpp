#include "stock/order.h"
#include "stock/store.h"

int main() {
    stock::Store store;
    store.add({"nut", 5, 10});
    store.add({"bolt", 1, 25});
    assert(!stock::reserve(store, {{{"nut", 2}, {"bolt", 2}}, 0}));
    assert(store.find("nut")->quantity == 5);
    assert(!stock::reserve(store, {{{"nut", 3}, {"nut", 3}}, 0}));
    assert(store.find("nut")->quantity == 5);
    assert(stock::reserve(store, {{{"nut", 2}, {"bolt", 1}}, 0}));
    assert(store.find("nut")->quantity == 3 && store.find("bolt")->quantity == 0);
    assert(stock::reserve(store, {}));
}
