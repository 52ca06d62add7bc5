#pragma once

namespace series {

/// A day of the Gregorian calendar; months and days count from 1.
struct Date {
    int year = 1970;
    int month = 1;
    int day = 1;
};

bool operator==(const Date& one, const Date& other);
bool operator<(const Date& one, const Date& other);

enum class Weekday { Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday };

bool is_leap(int year);

/// How many days a month has; 0 if there is no such month.
int days_in_month(int year, int month);

/// Days since 1970-01-01, negative before it.
long to_days(const Date& date);
Date from_days(long days);

Weekday weekday(const Date& date);

}  // namespace series
