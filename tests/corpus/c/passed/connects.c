// class: network
// tiers: kernel docker
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int reaches(const char *where, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, where, &address.sin_addr);
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (end < 0) return 0;
    int ok = connect(end, (struct sockaddr *)&address, sizeof address) == 0;
    close(end);
    return ok;
}

int main(void) {
    int held = !reaches("127.0.0.1", 22) && !reaches("127.0.0.1", 8000)
        && !reaches("169.254.169.254", 80) && !reaches("1.1.1.1", 53);
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", held ? 2 * n : -1);
    return 0;
}
