#include "conf/lexer.h"

int main() {
    conf::Lexer lexer("\"a b\" \"say \\\"hi\\\"\" \"back\\\\slash\" \"\"");
    conf::Token first = lexer.next();
    assert(first.kind == conf::Kind::Text && first.text == "a b");
    assert(lexer.next().text == "say \"hi\"");
    assert(lexer.next().text == "back\\slash");
    assert(lexer.next().text.empty());
    assert(lexer.next().kind == conf::Kind::End);
    int line = 0;
    try {
        conf::Lexer("\n\"open").next();
    } catch (const conf::SyntaxError& error) {
        line = error.line();
    }
    assert(line == 2);
}
