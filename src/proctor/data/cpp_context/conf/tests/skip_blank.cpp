#include "conf/lexer.h"

int main() {
    conf::Lexer lexer("  # first\n\t# second\n\n name # last");
    conf::Token name = lexer.next();
    assert(name.kind == conf::Kind::Name && name.text == "name");
    assert(name.line == 4);
    assert(lexer.next().kind == conf::Kind::End);
    assert(conf::Lexer("").next().kind == conf::Kind::End);
    assert(conf::Lexer("\r\n=").next().is('='));
}
