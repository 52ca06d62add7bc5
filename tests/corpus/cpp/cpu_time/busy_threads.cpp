// class: resources
// seconds: 0.5
#include <thread>
#include <vector>

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back([] { volatile long n = 0; for (;;) n = n + 1; });
    for (auto &thread : threads) thread.join();
}
