#include "stock/store.h"

int main() {
    stock::Store store;
    assert(store.scarce(100).empty());
    store.add({"c", 1, 1});
    store.add({"b", 4, 1});
    store.add({"a", 1, 1});
    store.add({"d", 9, 1});
    const auto few = store.scarce(5);
    assert(few.size() == 3);
    assert(few[0].sku == "a" && few[1].sku == "c" && few[2].sku == "b");
    assert(store.scarce(1).empty());
}
