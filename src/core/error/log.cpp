#include "core/error/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <iterator>
#include <memory>

namespace ingot::log {
namespace {

std::atomic<Format> current_format{Format::Text};

void set_pattern(spdlog::logger& logger, Format format) {
  logger.set_pattern(format == Format::Text
                         ? "%H:%M:%S %l %v"
                         : R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})");
}

spdlog::logger& logger() {
  // Leaked on purpose: threads may log while static objects are destroyed.
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("ingot", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    set_pattern(*made, Format::Text);
    return made;
  }();
  return *instance;
}

// A JSON string literal.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string text_value(std::string_view value) {
  const bool plain =
      !value.empty() && value.find_first_of(" =\"\\\t\r\n") == std::string_view::npos;
  return plain ? std::string(value) : json_string(value);
}

void emit(spdlog::level::level_enum level, std::string_view event, Fields fields) {
  spdlog::logger& to = logger();
  if (!to.should_log(level)) return;
  std::string line;
  if (current_format.load() == Format::Json) {
    line = "\"event\":" + json_string(event);
    for (const auto& [key, value] : fields)
      line += "," + json_string(key) + ":" + json_string(value);
  } else {
    line = event;
    for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, text_value(value));
  }
  to.log(level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

void configure(Level level, Format format) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err,
                                                   spdlog::level::off};
  current_format.store(format);
  set_pattern(logger(), format);
  logger().set_level(kLevels[static_cast<int>(level)]);
}

bool is_verbose() {
  return logger().should_log(spdlog::level::debug);
}

Wait::Wait(const char* on_what) : on_what_(on_what) {
  if (is_verbose()) start_ = std::chrono::steady_clock::now();
}

Wait::~Wait() {
  if (!is_verbose()) return;
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start_;
  if (waited.count() < 1) return;
  debug("waited", {{"for", on_what_}, {"seconds", fmt::format("{:.1f}", waited.count())}});
}

void debug(std::string_view event, Fields fields) {
  emit(spdlog::level::debug, event, fields);
}
void info(std::string_view event, Fields fields) {
  emit(spdlog::level::info, event, fields);
}
void warn(std::string_view event, Fields fields) {
  emit(spdlog::level::warn, event, fields);
}
void error(std::string_view event, Fields fields) {
  emit(spdlog::level::err, event, fields);
}

}  // namespace ingot::log
