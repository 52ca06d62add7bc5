#include "series/date.h"

#include <tuple>

namespace series {

bool operator==(const Date& one, const Date& other) {
    return std::tie(one.year, one.month, one.day) == std::tie(other.year, other.month, other.day);
}

bool operator<(const Date& one, const Date& other) {
    return std::tie(one.year, one.month, one.day) < std::tie(other.year, other.month, other.day);
}

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// HOLE days_in_month
int days_in_month(int year, int month) {
    if (month < 1 || month > 12) return 0;
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}
// END days_in_month

// HOLE to_days
long to_days(const Date& date) {
    long days = date.day - 1;
    for (int month = 1; month < date.month; ++month) days += days_in_month(date.year, month);
    for (int year = 1970; year < date.year; ++year) days += is_leap(year) ? 366 : 365;
    for (int year = date.year; year < 1970; ++year) days -= is_leap(year) ? 366 : 365;
    return days;
}
// END to_days

// HOLE from_days
Date from_days(long days) {
    Date date;
    while (days < 0) days += is_leap(--date.year) ? 366 : 365;
    while (days >= (is_leap(date.year) ? 366 : 365)) days -= is_leap(date.year++) ? 366 : 365;
    while (days >= days_in_month(date.year, date.month)) {
        days -= days_in_month(date.year, date.month++);
    }
    date.day = static_cast<int>(days) + 1;
    return date;
}
// END from_days

// HOLE weekday
Weekday weekday(const Date& date) {
    const long since = (to_days(date) + 3) % 7;  // 1970-01-01 was a Thursday
    return static_cast<Weekday>(since < 0 ? since + 7 : since);
}
// END weekday

}  // namespace series
