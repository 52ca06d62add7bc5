#include "conf/config.h"

int main() {
    conf::Config one, other;
    one.set("a", "x", "1");
    one.set("a", "y", "2");
    other.set("a", "y", "3");
    other.set("b", "z", "4");
    one.merge(other);
    assert(one.section("a")->at("x") == "1");
    assert(one.section("a")->at("y") == "3");
    assert(one.section("b")->at("z") == "4");
    assert(other.section("a")->size() == 1);
}
