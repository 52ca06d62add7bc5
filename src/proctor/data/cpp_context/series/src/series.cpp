#include "series/series.h"

#include <algorithm>
#include <stdexcept>

namespace series {

void Series::push(const Date& date, double value) {
    if (!points_.empty() && !(points_.back().date < date)) {
        throw std::invalid_argument("days must go forward");
    }
    points_.push_back(Point{date, value});
}

// HOLE value_on
std::optional<double> Series::value_on(const Date& date) const {
    const auto after = std::upper_bound(
        points_.begin(), points_.end(), date,
        [](const Date& day, const Point& point) { return day < point.date; });
    if (after == points_.begin()) return std::nullopt;
    return (after - 1)->value;
}
// END value_on

// HOLE mean
std::optional<double> Series::mean(const Date& from, const Date& to) const {
    double sum = 0.0;
    int count = 0;
    for (const Point& point : points_) {
        if (point.date < from || to < point.date) continue;
        sum += point.value;
        ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
}
// END mean

// HOLE weekly
Series Series::weekly() const {
    Series weeks;
    for (std::size_t at = 0; at < points_.size(); ++at) {
        const Date& date = points_[at].date;
        const long monday = to_days(date) - static_cast<int>(weekday(date));
        const bool last = at + 1 == points_.size() || to_days(points_[at + 1].date) >= monday + 7;
        if (last) weeks.push(from_days(monday), points_[at].value);
    }
    return weeks;
}
// END weekly

}  // namespace series
