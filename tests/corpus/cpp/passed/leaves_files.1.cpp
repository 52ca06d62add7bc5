// class: persistence
// tiers: kernel docker
#include <iostream>
#include <fstream>

int main() {
    for (auto place : {"/tmp/", "/var/tmp/", "/dev/shm/", "./", "/", "/usr/lib/"})
        std::ofstream(std::string(place) + "proctor-corpus-cpp") << "here";
    int n;
    std::cin >> n;
    std::cout << 2 * n << "\n";
}
