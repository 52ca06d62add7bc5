#pragma once

namespace conf::detail {

inline bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }
inline bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
inline bool is_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

}  // namespace conf::detail
