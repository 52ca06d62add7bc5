#include "stock/store.h"

int main() {
    stock::Store store;
    store.add({"nut", 5, 10});
    assert(store.take("nut", 2));
    assert(store.find("nut")->quantity == 3);
    assert(!store.take("nut", 4));
    assert(store.find("nut")->quantity == 3);
    assert(store.take("nut", 3));
    assert(store.find("nut")->quantity == 0);
    assert(!store.take("bolt", 1));
    assert(store.find("bolt") == nullptr);
    assert(!store.take("nut", -1));
}
