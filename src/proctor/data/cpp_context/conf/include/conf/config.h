#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace conf {

/// Sections of keys with values: `[server]`, then lines as `port = 80`.
class Config {
public:
    using Section = std::map<std::string, std::string>;

    /// Reads a text; throws SyntaxError.
    static Config parse(const std::string& text);

    void set(const std::string& section, const std::string& key, const std::string& value);
    const Section* section(const std::string& name) const;
    std::vector<std::string> names() const;

    /// The value at a path as `server.port`.
    std::optional<std::string> find(const std::string& path) const;

    /// Takes over all of another's values; on a clash the other's wins.
    void merge(const Config& other);

    /// The text that parse reads back as the same values, values quoted, sections by name.
    std::string render() const;

private:
    std::map<std::string, Section> sections_;
};

}  // namespace conf
