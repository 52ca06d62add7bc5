#include "conf/config.h"

#include "conf/lexer.h"
#include "conf/text.h"

namespace conf {

namespace {

Token expect(Lexer& lexer, Kind kind, const char* what) {
    Token token = lexer.next();
    if (token.kind != kind) throw SyntaxError(std::string("expected ") + what, token.line);
    return token;
}

void expect(Lexer& lexer, char punct) {
    const Token token = lexer.next();
    if (!token.is(punct)) throw SyntaxError(std::string("expected ") + punct, token.line);
}

}  // namespace

// HOLE parse
Config Config::parse(const std::string& text) {
    Config config;
    Lexer lexer(text);
    std::string section;
    for (Token token = lexer.next(); token.kind != Kind::End; token = lexer.next()) {
        if (token.is('[')) {
            section = expect(lexer, Kind::Name, "the name of a section").text;
            expect(lexer, ']');
        } else if (token.kind == Kind::Name) {
            expect(lexer, '=');
            const Token value = lexer.next();
            if (value.kind == Kind::End || value.kind == Kind::Punct) {
                throw SyntaxError("expected a value", value.line);
            }
            config.set(section, token.text, value.text);
        } else {
            throw SyntaxError("expected a key or a section", token.line);
        }
    }
    return config;
}
// END parse

void Config::set(const std::string& section, const std::string& key, const std::string& value) {
    sections_[lower(section)][lower(key)] = value;
}

const Config::Section* Config::section(const std::string& name) const {
    const auto found = sections_.find(lower(name));
    return found == sections_.end() ? nullptr : &found->second;
}

std::vector<std::string> Config::names() const {
    std::vector<std::string> found;
    for (const auto& [name, keys] : sections_) found.push_back(name);
    return found;
}

// HOLE find
std::optional<std::string> Config::find(const std::string& path) const {
    const auto parts = split(path, '.');
    if (parts.size() != 2) return std::nullopt;
    const Section* keys = section(parts[0]);
    if (keys == nullptr) return std::nullopt;
    const auto found = keys->find(lower(parts[1]));
    if (found == keys->end()) return std::nullopt;
    return found->second;
}
// END find

// HOLE merge
void Config::merge(const Config& other) {
    for (const std::string& name : other.names()) {
        for (const auto& [key, value] : *other.section(name)) set(name, key, value);
    }
}
// END merge

// HOLE render
std::string Config::render() const {
    std::string text;
    for (const std::string& name : names()) {
        text += "[" + name + "]\n";
        for (const auto& [key, value] : *section(name)) text += key + " = " + quote(value) + "\n";
    }
    return text;
}
// END render

}  // namespace conf
