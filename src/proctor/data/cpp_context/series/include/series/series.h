#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "series/date.h"

namespace series {

struct Point {
    Date date;
    double value = 0.0;
};

/// Values by day, the earliest first.
class Series {
public:
    /// Adds a value; throws std::invalid_argument if its day is not behind the last one.
    void push(const Date& date, double value);

    std::size_t size() const { return points_.size(); }
    const std::vector<Point>& points() const { return points_; }

    /// The last value on a day or before it.
    std::optional<double> value_on(const Date& date) const;

    /// The mean of all values from one day to another, both included.
    std::optional<double> mean(const Date& from, const Date& to) const;

    /// The last value of every week, weeks begin on Monday.
    Series weekly() const;

private:
    std::vector<Point> points_;
};

}  // namespace series
