// class: resources
// seconds: 0.5
#include <condition_variable>
#include <mutex>

int main() {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    for (;;) never.wait(lock);
}
