#include "conf/text.h"

int main() {
    using Parts = std::vector<std::string>;
    assert(conf::split("a,b,c", ',') == (Parts{"a", "b", "c"}));
    assert(conf::split(" a , b ", ',') == (Parts{"a", "b"}));
    assert(conf::split("a,,b", ',') == (Parts{"a", "", "b"}));
    assert(conf::split("a,", ',') == (Parts{"a", ""}));
    assert(conf::split("", ',').empty());
    assert(conf::split("one", '.') == (Parts{"one"}));
}
