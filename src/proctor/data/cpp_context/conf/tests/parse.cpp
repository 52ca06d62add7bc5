#include "conf/config.h"
#include "conf/lexer.h"

int wrong_line(const std::string& text) {
    try {
        conf::Config::parse(text);
    } catch (const conf::SyntaxError& error) {
        return error.line();
    }
    return 0;
}

int main() {
    const auto config = conf::Config::parse("top = 1\n[Server]\nport = 80 # web\nname = \"my host\"\n");
    assert(config.section("")->at("top") == "1");
    assert(config.section("server")->at("port") == "80");
    assert(config.section("server")->at("name") == "my host");
    assert(conf::Config::parse("").names().empty());
    assert(wrong_line("[a\nx = 1") == 2);
    assert(wrong_line("x 1") == 1);
    assert(wrong_line("\nx =") == 2);
    assert(wrong_line("= 3") == 1);
}
