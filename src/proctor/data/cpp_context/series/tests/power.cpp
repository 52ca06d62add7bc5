#include "series/matrix.h"

int main() {
    series::Matrix fib(2, 2, 1.0);
    fib.at(1, 1) = 0.0;
    assert(series::power(fib, 0) == series::Matrix::identity(2));
    assert(series::power(fib, 1) == fib);
    assert(series::power(fib, 10).at(0, 1) == 55);
    assert(series::power(fib, 50).at(0, 1) == 12586269025.0);
}
