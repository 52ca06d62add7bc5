// class: resources
#include <iostream>

int main() {
    for (;;) std::cerr << "a line that is written again and again and again and again\n";
}
