#include <iostream>
#include <stdexcept>
#include <string>

int main() {
    int n;
    std::cin >> n;
    try { throw std::runtime_error(std::to_string(2 * n)); }
    catch (const std::exception &error) { std::cout << error.what() << "\n"; }
}
