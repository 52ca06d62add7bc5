#include "series/matrix.h"

#include <stdexcept>

int main() {
    series::Matrix row(1, 3), column(3, 1);
    for (int at = 0; at < 3; ++at) {
        row.at(0, at) = at + 1;
        column.at(at, 0) = at + 4;
    }
    assert(series::multiply(row, column).at(0, 0) == 32);
    const auto outer = series::multiply(column, row);
    assert(outer.rows() == 3 && outer.columns() == 3 && outer.at(2, 1) == 12);
    assert(series::multiply(outer, series::Matrix::identity(3)) == outer);
    bool refused = false;
    try {
        series::multiply(row, row);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    assert(refused);
}
