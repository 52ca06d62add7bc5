#include <string>

int main() {
    std::string text = 3.5 + nullptr;
}
