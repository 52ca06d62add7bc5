#include "conf/config.h"

int main() {
    conf::Config config;
    config.set("Server", "Port", "80");
    assert(config.find("server.port") == "80");
    assert(config.find("SERVER . PORT") == "80");
    assert(!config.find("server.host"));
    assert(!config.find("client.port"));
    assert(!config.find("server"));
    assert(!config.find("server.port.more"));
}
