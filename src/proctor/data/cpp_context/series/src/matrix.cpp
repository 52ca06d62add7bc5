#include "series/matrix.h"

#include <stdexcept>

namespace series {

Matrix::Matrix(std::size_t rows, std::size_t columns, double fill)
    : rows_(rows), columns_(columns), cells_(rows * columns, fill) {}

Matrix Matrix::identity(std::size_t size) {
    Matrix matrix(size, size);
    for (std::size_t place = 0; place < size; ++place) matrix.at(place, place) = 1.0;
    return matrix;
}

bool operator==(const Matrix& one, const Matrix& other) {
    if (one.rows() != other.rows() || one.columns() != other.columns()) return false;
    for (std::size_t row = 0; row < one.rows(); ++row) {
        for (std::size_t column = 0; column < one.columns(); ++column) {
            if (one.at(row, column) != other.at(row, column)) return false;
        }
    }
    return true;
}

// HOLE multiply
Matrix multiply(const Matrix& one, const Matrix& other) {
    if (one.columns() != other.rows()) throw std::invalid_argument("sizes do not fit");
    Matrix product(one.rows(), other.columns());
    for (std::size_t row = 0; row < one.rows(); ++row) {
        for (std::size_t column = 0; column < other.columns(); ++column) {
            for (std::size_t place = 0; place < one.columns(); ++place) {
                product.at(row, column) += one.at(row, place) * other.at(place, column);
            }
        }
    }
    return product;
}
// END multiply

// HOLE transpose
Matrix transpose(const Matrix& matrix) {
    Matrix turned(matrix.columns(), matrix.rows());
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
        for (std::size_t column = 0; column < matrix.columns(); ++column) {
            turned.at(column, row) = matrix.at(row, column);
        }
    }
    return turned;
}
// END transpose

// HOLE power
Matrix power(Matrix matrix, unsigned exponent) {
    Matrix result = Matrix::identity(matrix.rows());
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) result = multiply(result, matrix);
        matrix = multiply(matrix, matrix);
    }
    return result;
}
// END power

}  // namespace series
