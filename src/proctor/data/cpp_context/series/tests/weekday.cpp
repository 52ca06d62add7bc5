#include "series/date.h"

int main() {
    using series::Weekday;
    assert(series::weekday({1970, 1, 1}) == Weekday::Thursday);
    assert(series::weekday({1969, 12, 31}) == Weekday::Wednesday);
    assert(series::weekday({2024, 2, 29}) == Weekday::Thursday);
    assert(series::weekday({1960, 5, 1}) == Weekday::Sunday);
    assert(series::weekday({2026, 11, 16}) == Weekday::Monday);
}
