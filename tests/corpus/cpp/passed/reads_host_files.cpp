// class: reading
// tiers: kernel docker
#include <iostream>
#include <filesystem>
#include <fstream>

int main() {
    bool held = true;
    for (auto place : {"/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/proc/1/root/etc/shadow"})
        if (std::ifstream(place).good()) held = false;
    std::error_code none;
    auto all = std::filesystem::directory_options::skip_permission_denied;
    for (auto &entry : std::filesystem::recursive_directory_iterator("/tmp", all, none))
        if (entry.path().extension() == ".jsonl") held = false;
    int n;
    std::cin >> n;
    std::cout << (held ? 2 * n : -1) << "\n";
}
