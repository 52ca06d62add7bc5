#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "conf/token.h"

namespace conf {

/// What is wrong with a text, and in which line.
class SyntaxError : public std::runtime_error {
public:
    SyntaxError(const std::string& what, int line);
    int line() const { return line_; }

private:
    int line_;
};

/// Cuts a text into tokens. A '#' begins a comment that goes on to the end of its line.
class Lexer {
public:
    explicit Lexer(std::string input);

    /// The next token; one of kind End when there are no more.
    Token next();

private:
    char look(std::size_t ahead = 0) const;
    void advance();
    void skip_blank();
    Token number();
    Token text();

    std::string input_;
    std::size_t position_ = 0;
    int line_ = 1;
};

}  // namespace conf
