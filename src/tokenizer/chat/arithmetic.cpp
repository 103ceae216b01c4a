#include "tokenizer/chat/arithmetic.h"

#include <cmath>

#include "core/error/error.h"

namespace ingot::chat {
namespace {

constexpr char kTooLarge[] = "a number that is too large";

int64_t floor_divide(int64_t a, int64_t b) {
  check(b != 0, ErrorCode::Data, "division by zero");
  check(b != -1 || a != INT64_MIN, ErrorCode::Data, kTooLarge);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent && base != 1 && base != 0; ++i) {
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    check(!__builtin_mul_overflow(result, base, &result), ErrorCode::Data, kTooLarge);
  }
  return exponent > 0 && base == 0 ? 0 : result;
}

}  // namespace

Value calculate(std::string_view op, const Value& a, const Value& b) {
  const bool whole = a.as_float() == nullptr && b.as_float() == nullptr;
  if (op == "/" || !whole) {
    const double x = a.number(), y = b.number();
    check(y != 0 || (op != "/" && op != "//" && op != "%"), ErrorCode::Data, "division by zero");
    if (op == "+") return Value::Data(x + y);
    if (op == "-") return Value::Data(x - y);
    if (op == "*") return Value::Data(x * y);
    if (op == "/") return Value::Data(x / y);
    if (op == "//" || op == "%") {  // by the remainder, which is exact
      double rest = std::fmod(x, y);
      if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
      if (op == "%") return Value::Data(rest == 0 ? std::copysign(0.0, y) : rest);
      return Value::Data(std::round((x - rest) / y));
    }
    return Value::Data(std::pow(x, y));
  }
  const auto integer = [](const Value& value) {
    return value.as_bool() != nullptr ? int64_t{*value.as_bool()} : *value.as_integer();
  };
  const int64_t x = integer(a), y = integer(b);
  if (op == "+" || op == "-" || op == "*") {
    int64_t result = 0;
    const bool overflow = op == "+"   ? __builtin_add_overflow(x, y, &result)
                          : op == "-" ? __builtin_sub_overflow(x, y, &result)
                                      : __builtin_mul_overflow(x, y, &result);
    check(!overflow, ErrorCode::Data, kTooLarge);
    return Value::Data(result);
  }
  if (op == "//") return Value::Data(floor_divide(x, y));
  if (op == "%") return Value::Data(x - y * floor_divide(x, y));
  if (y < 0) return Value::Data(std::pow(static_cast<double>(x), static_cast<double>(y)));
  return Value::Data(power(x, y));
}

}  // namespace ingot::chat
