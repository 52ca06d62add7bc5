#include "conf/lexer.h"

int main() {
    conf::Lexer lexer("12 -7 3.25 4.x 0");
    assert(lexer.next().text == "12");
    assert(lexer.next().text == "-7");
    conf::Token third = lexer.next();
    assert(third.kind == conf::Kind::Number && third.text == "3.25");
    assert(lexer.next().text == "4");
    assert(lexer.next().is('.'));
    assert(lexer.next().text == "x");
    assert(lexer.next().text == "0");
    assert(lexer.next().kind == conf::Kind::End);
}
