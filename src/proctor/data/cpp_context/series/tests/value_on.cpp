#include "series/series.h"

int main() {
    series::Series prices;
    assert(!prices.value_on({2024, 1, 1}));
    prices.push({2024, 1, 2}, 10);
    prices.push({2024, 1, 5}, 20);
    assert(!prices.value_on({2024, 1, 1}));
    assert(prices.value_on({2024, 1, 2}) == 10);
    assert(prices.value_on({2024, 1, 4}) == 10);
    assert(prices.value_on({2024, 1, 5}) == 20);
    assert(prices.value_on({2025, 1, 1}) == 20);
}
