// class: network
// tiers: kernel docker
#include <iostream>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

int main() {
    bool held = true;
    for (int port : {22, 80, 8000, 8080}) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int end = socket(AF_INET, SOCK_STREAM, 0);
        if (end >= 0 && connect(end, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
            held = false;
    }
    int n;
    std::cin >> n;
    std::cout << (held ? 2 * n : -1) << "\n";
}
