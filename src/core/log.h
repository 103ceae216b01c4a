// Structured log to stderr: a level, an event name and key=value fields (or one JSON object a
// line).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::log {

enum class Level { Debug, Info, Warn, Error, Off };
enum class Format { Text, Json };

// Process-wide sink set up once by cli; libraries only emit. Thread-safe.
void configure(Level level, Format format);

using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;
void debug(std::string_view event, Fields fields = {});
void info(std::string_view event, Fields fields = {});
void warn(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});

}  // namespace ingot::log
