#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conf {

/// The text without blanks at either end.
std::string_view trim(std::string_view text);

/// The parts of a text between separators, each trimmed. An empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);

/// The text with its ASCII letters made small.
std::string lower(std::string_view text);

/// The text in double quotes, with a backslash before every quote and backslash in it.
std::string quote(std::string_view text);

}  // namespace conf
