#include "series/matrix.h"

int main() {
    series::Matrix matrix(2, 3);
    matrix.at(0, 2) = 5;
    matrix.at(1, 0) = 7;
    const auto turned = series::transpose(matrix);
    assert(turned.rows() == 3 && turned.columns() == 2);
    assert(turned.at(2, 0) == 5 && turned.at(0, 1) == 7 && turned.at(1, 1) == 0);
    assert(series::transpose(turned) == matrix);
}
