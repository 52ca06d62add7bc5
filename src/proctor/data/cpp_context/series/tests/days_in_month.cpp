#include "series/date.h"

int main() {
    assert(series::days_in_month(2023, 1) == 31 && series::days_in_month(2023, 4) == 30);
    assert(series::days_in_month(2023, 2) == 28 && series::days_in_month(2024, 2) == 29);
    assert(series::days_in_month(1900, 2) == 28 && series::days_in_month(2000, 2) == 29);
    assert(series::days_in_month(2023, 11) == 30 && series::days_in_month(2023, 12) == 31);
    assert(series::days_in_month(2023, 0) == 0 && series::days_in_month(2023, 13) == 0);
}
