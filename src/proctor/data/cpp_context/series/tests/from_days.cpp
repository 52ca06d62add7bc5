#include "series/date.h"

int main() {
    assert(series::from_days(0) == (series::Date{1970, 1, 1}));
    assert(series::from_days(-1) == (series::Date{1969, 12, 31}));
    assert(series::from_days(11016) == (series::Date{2000, 2, 29}));
    assert(series::from_days(19782) == (series::Date{2024, 2, 29}));
    for (long days = -4000; days < 4000; days += 37) assert(series::to_days(series::from_days(days)) == days);
}
