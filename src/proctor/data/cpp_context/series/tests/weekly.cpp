#include "series/series.h"

int main() {
    series::Series days;
    assert(days.weekly().size() == 0);
    days.push({2024, 1, 3}, 1);
    days.push({2024, 1, 7}, 2);
    days.push({2024, 1, 8}, 3);
    days.push({2024, 1, 25}, 4);
    const auto weeks = days.weekly();
    assert(weeks.size() == 3);
    assert(weeks.points()[0].date == (series::Date{2024, 1, 1}) && weeks.points()[0].value == 2);
    assert(weeks.points()[1].date == (series::Date{2024, 1, 8}) && weeks.points()[1].value == 3);
    assert(weeks.points()[2].date == (series::Date{2024, 1, 22}) && weeks.points()[2].value == 4);
}
