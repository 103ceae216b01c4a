#include "cli/start/nodelist.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits at the front, taken away.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<int> take_count(std::string_view& text) {
  const std::string_view digits = take_digits(text);
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool read = error == std::errc() && end == digits.data() + digits.size();
  return read ? std::optional(value) : std::nullopt;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Of "3-5,9]…", which is taken away to behind the bracket: "3"; numbers keep their zeros.
std::optional<std::string_view> take_first_number(std::string_view& text) {
  std::optional<std::string_view> first;
  do {
    const std::string_view from = take_digits(text);
    if (from.empty()) return std::nullopt;
    if (take(text, "-") && take_digits(text).empty()) return std::nullopt;
    if (!first) first = from;
  } while (take(text, ","));
  return take(text, "]") ? first : std::nullopt;
}

}  // namespace

std::string first_host(std::string_view nodelist) {
  std::string host;
  bool sound = true;
  for (std::string_view rest = nodelist; sound && !rest.empty() && rest.front() != ',';) {
    if (take(rest, "[")) {
      const auto number = take_first_number(rest);
      sound = number.has_value();
      if (sound) host += *number;
      continue;
    }
    const char c = rest.front();
    sound = c > ' ' && c != ']' && c != 127;
    host += c;
    rest.remove_prefix(1);
  }
  check(sound && !host.empty(), ErrorCode::Config,
        "a list of nodes: expected names such as node[3-5,9],gpu1, got «{}»", nodelist);
  return host;
}

int count_on_node(std::string_view counts, int node) {
  int first = 0;  // node that the next count is of
  for (std::string_view rest = counts;;) {
    const auto count = take_count(rest);
    std::optional<int> times = 1;
    if (take(rest, "(x")) {
      times = take_count(rest);
      if (!take(rest, ")")) times.reset();
    }
    check(count && times && *times >= 1 && *times <= (1 << 24), ErrorCode::Config,
          "tasks of nodes: expected counts such as 4(x2),3, got «{}»", counts);
    if (node - first < *times) return *count;
    first += *times;
    check(take(rest, ","), ErrorCode::Config, "tasks of nodes: «{}» says nothing of node {}",
          counts, node);
  }
}

}  // namespace ingot::cli
