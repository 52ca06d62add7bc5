#include "stock/store.h"

int main() {
    stock::Store store;
    store.add({"nut", 5, 10});
    store.add({"nut", 3, 12});
    store.add({"bolt", 1, 7});
    assert(store.find("nut")->quantity == 8);
    assert(store.find("nut")->price_cents == 12);
    assert(store.find("nut")->sku == "nut");
    assert(store.value_cents() == 8 * 12 + 7);
}
