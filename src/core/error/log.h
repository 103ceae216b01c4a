// Structured log on stderr: level, event name and key=value fields, or one JSON object per line.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::log {

enum class Level { Debug, Info, Warn, Error, Off };
enum class Format { Text, Json };

// Process-wide sink, set up once by cli; libraries only emit. Thread-safe.
void configure(Level level, Format format);

// Whether debug() prints. Check it before building expensive fields.
bool is_verbose();

using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;
void debug(std::string_view event, Fields fields = {});
void info(std::string_view event, Fields fields = {});
void warn(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});

// Measures a wait from here to the end of the block. debug() logs waits of more than a second.
class Wait {
 public:
  explicit Wait(const char* on_what);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  const char* on_what_;
  std::chrono::steady_clock::time_point start_;  // set only if is_verbose()
};

}  // namespace ingot::log
