#pragma once

#include <cstddef>
#include <vector>

namespace series {

/// Numbers in rows and columns, counted from 0.
class Matrix {
public:
    Matrix(std::size_t rows, std::size_t columns, double fill = 0.0);
    static Matrix identity(std::size_t size);

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }

    double& at(std::size_t row, std::size_t column) { return cells_.at(row * columns_ + column); }
    double at(std::size_t row, std::size_t column) const {
        return cells_.at(row * columns_ + column);
    }

private:
    std::size_t rows_;
    std::size_t columns_;
    std::vector<double> cells_;
};

bool operator==(const Matrix& one, const Matrix& other);

/// The product; throws std::invalid_argument if the sizes do not fit.
Matrix multiply(const Matrix& one, const Matrix& other);

Matrix transpose(const Matrix& matrix);

/// A square matrix times itself, so many times; in a number of products that grows as the logarithm.
Matrix power(Matrix matrix, unsigned exponent);

}  // namespace series
