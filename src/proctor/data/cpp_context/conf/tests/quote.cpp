#include "conf/text.h"

int main() {
    assert(conf::quote("") == "\"\"");
    assert(conf::quote("plain") == "\"plain\"");
    assert(conf::quote("a\"b") == "\"a\\\"b\"");
    assert(conf::quote("a\\b") == "\"a\\\\b\"");
    assert(conf::quote("\"\\") == "\"\\\"\\\\\"");
}
