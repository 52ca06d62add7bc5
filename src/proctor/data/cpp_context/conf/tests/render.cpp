#include "conf/config.h"

int main() {
    conf::Config config;
    assert(config.render().empty());
    config.set("b", "k", "say \"hi\"");
    config.set("a", "z", "1");
    config.set("a", "y", "2");
    assert(config.render() == "[a]\ny = \"2\"\nz = \"1\"\n[b]\nk = \"say \\\"hi\\\"\"\n");
    const auto again = conf::Config::parse(config.render());
    assert(again.section("b")->at("k") == "say \"hi\"");
}
