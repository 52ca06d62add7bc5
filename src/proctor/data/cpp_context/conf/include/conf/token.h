#pragma once

#include <string>

namespace conf {

enum class Kind { Name, Number, Text, Punct, End };

struct Token {
    Kind kind = Kind::End;
    std::string text;
    int line = 1;

    bool is(char punct) const { return kind == Kind::Punct && text.size() == 1 && text[0] == punct; }
};

}  // namespace conf
