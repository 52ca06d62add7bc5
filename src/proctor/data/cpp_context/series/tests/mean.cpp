#include "series/series.h"

int main() {
    series::Series prices;
    prices.push({2024, 1, 1}, 1);
    prices.push({2024, 1, 2}, 2);
    prices.push({2024, 1, 3}, 6);
    assert(prices.mean({2024, 1, 1}, {2024, 1, 3}) == 3);
    assert(prices.mean({2024, 1, 2}, {2024, 1, 3}) == 4);
    assert(prices.mean({2023, 1, 1}, {2024, 1, 1}) == 1);
    assert(!prices.mean({2025, 1, 1}, {2026, 1, 1}));
}
