#include "conf/lexer.h"

#include <utility>

#include "conf/detail/ascii.h"

namespace conf {

SyntaxError::SyntaxError(const std::string& what, int line)
    : std::runtime_error(what), line_(line) {}

Lexer::Lexer(std::string input) : input_(std::move(input)) {}

char Lexer::look(std::size_t ahead) const {
    return position_ + ahead < input_.size() ? input_[position_ + ahead] : '\0';
}

void Lexer::advance() {
    if (look() == '\n') ++line_;
    ++position_;
}

// HOLE skip_blank
void Lexer::skip_blank() {
    while (true) {
        const char letter = look();
        if (detail::is_blank(letter) || letter == '\n') {
            advance();
        } else if (letter == '#') {
            while (look() != '\n' && look() != '\0') advance();
        } else {
            return;
        }
    }
}
// END skip_blank

// HOLE number
Token Lexer::number() {
    Token token{Kind::Number, "", line_};
    if (look() == '-') {
        token.text += '-';
        advance();
    }
    while (detail::is_digit(look()) || (look() == '.' && detail::is_digit(look(1)))) {
        token.text += look();
        advance();
    }
    return token;
}
// END number

// HOLE text
Token Lexer::text() {
    Token token{Kind::Text, "", line_};
    advance();
    while (look() != '"') {
        if (look() == '\\') advance();
        if (look() == '\0') throw SyntaxError("a text without an end", token.line);
        token.text += look();
        advance();
    }
    advance();
    return token;
}
// END text

Token Lexer::next() {
    skip_blank();
    const char letter = look();
    if (letter == '\0') return Token{Kind::End, "", line_};
    if (letter == '"') return text();
    if (detail::is_digit(letter) || (letter == '-' && detail::is_digit(look(1)))) return number();
    if (!detail::is_letter(letter)) {
        Token token{Kind::Punct, std::string(1, letter), line_};
        advance();
        return token;
    }
    Token token{Kind::Name, "", line_};
    while (detail::is_letter(look()) || detail::is_digit(look())) {
        token.text += look();
        advance();
    }
    return token;
}

}  // namespace conf
