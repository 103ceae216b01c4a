#include "tokenizer/chat/percent_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/chat/arguments.h"
#include "tokenizer/chat/text_case.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot::chat {
namespace {

struct Place {
  bool left = false, plus = false, space = false, alternate = false, zeros = false;
  int64_t width = 0, precision = -1;  // -1: not given
  char kind = 0;
};

// A number before it is filled up: "-", "0x", "ff".
struct Number {
  std::string sign, prefix, digits;
};

std::string sign_of(const Place& place, bool negative) {
  if (negative) return "-";
  return place.plus ? "+" : place.space ? " " : "";
}

int64_t whole_of(const Value& value, char kind) {
  const double* real = value.as_float();
  if (real == nullptr) return integer_of(value, "%");
  check(kind == 'd' || kind == 'i' || kind == 'u', ErrorCode::Data,
        "%: «%{}» expected an integer, got a float", kind);
  constexpr double kBeyond = 9.2e18;
  check(std::abs(*real) < kBeyond, ErrorCode::Data, "%: a number that is too large");
  return static_cast<int64_t>(*real);
}

Number integer(const Value& value, const Place& place) {
  const int64_t whole = whole_of(value, place.kind);
  const uint64_t size =
      whole < 0 ? uint64_t{0} - static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole);
  Number number{sign_of(place, whole < 0), "", ""};
  switch (place.kind) {
    case 'x':
      number.digits = fmt::format("{:x}", size);
      break;
    case 'X':
      number.digits = fmt::format("{:X}", size);
      break;
    case 'o':
      number.digits = fmt::format("{:o}", size);
      break;
    default:
      number.digits = std::to_string(size);
      if (place.precision < 0) break;
  }
  const bool has_prefix = place.kind == 'x' || place.kind == 'X' || place.kind == 'o';
  if (place.alternate && has_prefix) number.prefix = std::string("0") + place.kind;
  const auto least = static_cast<size_t>(std::max<int64_t>(place.precision, 0));
  if (number.digits.size() < least) number.digits.insert(0, least - number.digits.size(), '0');
  return number;
}

std::string without_point(double size, char kind, int precision) {
  if (kind == 'e' || kind == 'E') return fmt::format("{:.{}e}", size, precision);
  if (kind == 'f' || kind == 'F') return fmt::format("{:.{}f}", size, precision);
  return fmt::format("{:.{}g}", size, std::max(precision, 1));
}

// With #: the point stands there and zeros stay, as C has it.
std::string with_point(double size, char kind, int precision) {
  const auto print = [&](char* to, size_t bytes) {
    if (kind == 'e' || kind == 'E') return std::snprintf(to, bytes, "%#.*e", precision, size);
    if (kind == 'f' || kind == 'F') return std::snprintf(to, bytes, "%#.*f", precision, size);
    return std::snprintf(to, bytes, "%#.*g", precision, size);
  };
  std::string digits(static_cast<size_t>(print(nullptr, 0)) + 1, '\0');
  print(digits.data(), digits.size());
  digits.pop_back();
  return digits;
}

Number real(const Value& value, const Place& place) {
  const double given = value.number();
  const bool negative = std::signbit(given) && !std::isnan(given);
  const int precision = static_cast<int>(place.precision < 0 ? 6 : place.precision);
  const double size = std::abs(given);
  std::string digits = place.alternate ? with_point(size, place.kind, precision)
                                       : without_point(size, place.kind, precision);
  const bool capitals = place.kind == 'E' || place.kind == 'F' || place.kind == 'G';
  return {sign_of(place, negative), "", capitals ? upper(digits) : digits};
}

std::string character(const Value& value) {
  if (const std::string* text = value.as_text()) {
    check(characters_of(*text).size() == 1, ErrorCode::Data, "%: «%c» expected one character");
    return *text;
  }
  check(value.as_float() == nullptr && value.is_number(), ErrorCode::Data,
        "%: «%c» expected a character, got {}", kind_of(value));
  const int64_t code = integer_of(value, "%");
  const bool is_surrogate = 0xD800 <= code && code <= 0xDFFF;
  check(0 <= code && code < 0x110000 && !is_surrogate, ErrorCode::Data,
        "%: «%c» expected the number of a character, got {}", code);
  std::string text;
  text::append_character(text, static_cast<uint32_t>(code));
  return text;
}

// ascii() of Python's, of what repr() gave.
std::string ascii(std::string_view text) {
  std::string out;
  for (const std::string_view one : characters_of(text)) {
    const uint32_t code = first_character(one).code_point;
    if (code < 0x80) {
      out += one;
    } else if (code < 0x100) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
  }
  return out;
}

std::string text(const Value& value, const Place& place) {
  if (place.kind == 'c') return character(value);
  const std::string whole = place.kind == 's'   ? value.str()
                            : place.kind == 'r' ? value.repr()
                                                : ascii(value.repr());
  if (place.precision < 0) return whole;
  std::string cut;
  int64_t count = 0;
  for (const std::string_view one : characters_of(whole))
    if (count++ < place.precision) cut += one;
  return cut;
}

class Formatter {
 public:
  Formatter(std::string_view format, const PercentValues& values, size_t most_bytes)
      : rest_(format), values_(values), most_bytes_(most_bytes) {}

  std::string all() {
    std::string out;
    while (!rest_.empty()) {
      const size_t next = std::min(rest_.find('%'), rest_.size());
      out += rest_.substr(0, next);
      rest_.remove_prefix(next);
      if (!rest_.empty()) out += one();
      check_size(out.size(), most_bytes_);
    }
    check(used_ == values_.by_place.size() || values_.by_name != nullptr, ErrorCode::Data,
          "%: more values than the format has places");
    return out;
  }

 private:
  char take() {
    check(!rest_.empty(), ErrorCode::Data, "%: an incomplete format");
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  bool skip(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string one() {
    take();  // %
    if (skip("%")) return "%";
    const Value* named = rest_.starts_with('(') ? &by_name() : nullptr;
    Place place;
    read_flags(place);
    place.width = count();
    if (place.width < 0) place.left = true;
    place.width = std::abs(place.width);
    if (skip(".")) place.precision = std::max<int64_t>(count(), 0);
    skip("hlL");
    place.kind = take();
    check(std::string_view("diuoxXeEfFgGcrsa").find(place.kind) != std::string_view::npos,
          ErrorCode::Data, "%: «%{}» is no kind of format", place.kind);
    check_size(static_cast<size_t>(place.width), most_bytes_);
    check_size(static_cast<size_t>(std::max<int64_t>(place.precision, 0)), most_bytes_);
    return filled(named != nullptr ? *named : next(), place);
  }

  void read_flags(Place& place) {
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      switch (rest_.front()) {
        case '-':
          place.left = true;
          break;
        case '+':
          place.plus = true;
          break;
        case ' ':
          place.space = true;
          break;
        case '#':
          place.alternate = true;
          break;
        case '0':
          place.zeros = true;
          break;
        default:
          return;
      }
    }
  }

  // Digits, or * for one of the values; 0 where neither is there.
  int64_t count() {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (skip("*")) {
      const Value& value = next();
      check(value.as_integer() != nullptr, ErrorCode::Data, "%: «*» expected an integer");
      return std::clamp(*value.as_integer(), -kMost, kMost);
    }
    int64_t count = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9')
      count = std::min(kMost, count * 10 + (take() - '0'));
    return count;
  }

  const Value& next() {
    check(used_ < values_.by_place.size(), ErrorCode::Data, "%: not enough values for the format");
    return values_.by_place[used_++];
  }

  const Value& by_name() {
    int depth = 0;
    size_t end = 0;
    for (; end < rest_.size(); ++end) {
      depth += rest_[end] == '(' ? 1 : rest_[end] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    check(end < rest_.size(), ErrorCode::Data, "%: a name that does not end");
    const std::string_view name = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    const Value* value = values_.by_name == nullptr ? nullptr : values_.by_name->find(name);
    check(value != nullptr, ErrorCode::Data, "%: there is no value «{}»", name);
    return *value;
  }

  static std::string filled(const Value& value, const Place& place) {
    Number number;
    bool is_number = true;
    if (std::string_view("diuoxX").find(place.kind) != std::string_view::npos ||
        std::string_view("eEfFgG").find(place.kind) != std::string_view::npos) {
      check(value.is_number(), ErrorCode::Data, "%: «%{}» expected a number, got {}", place.kind,
            kind_of(value));
      const bool whole = std::string_view("diuoxX").find(place.kind) != std::string_view::npos;
      number = whole ? integer(value, place) : real(value, place);
    } else {
      is_number = false;
      number.digits = text(value, place);
    }
    const auto& [sign, prefix, digits] = number;
    const auto width = static_cast<size_t>(place.width);
    const size_t size = sign.size() + prefix.size() + characters_of(digits).size();
    const std::string fill(width > size ? width - size : 0,
                           is_number && place.zeros && !place.left ? '0' : ' ');
    if (place.left) return sign + prefix + digits + fill;
    if (is_number && place.zeros) return sign + prefix + fill + digits;
    return fill + sign + prefix + digits;
  }

  std::string_view rest_;
  const PercentValues& values_;
  size_t most_bytes_, used_ = 0;
};

}  // namespace

std::string formatted_by_percent(std::string_view format, const PercentValues& values,
                                 size_t most_bytes) {
  return Formatter(format, values, most_bytes).all();
}

}  // namespace ingot::chat
