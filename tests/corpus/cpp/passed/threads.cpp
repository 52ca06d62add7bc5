#include <iostream>
#include <thread>
#include <vector>

int main() {
    int n, sums[4] = {};
    std::cin >> n;
    std::vector<std::thread> threads;
    for (int &sum : sums) threads.emplace_back([&sum, n] { sum = n; });
    for (auto &thread : threads) thread.join();
    std::cout << (sums[0] + sums[1] + sums[2] + sums[3]) / 2 << "\n";
}
