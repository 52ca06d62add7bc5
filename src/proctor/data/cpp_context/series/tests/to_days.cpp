#include "series/date.h"

int main() {
    assert(series::to_days({1970, 1, 1}) == 0);
    assert(series::to_days({1970, 2, 1}) == 31);
    assert(series::to_days({1969, 12, 31}) == -1);
    assert(series::to_days({2000, 3, 1}) == 11017);
    assert(series::to_days({2024, 2, 29}) == 19782);
    assert(series::to_days({1968, 1, 1}) == -731);
}
