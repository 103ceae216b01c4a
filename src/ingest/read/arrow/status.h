// Arrow's ways of failing as one: std::runtime_error with one line.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace ingot::arrow_module {

inline void unwrap(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <class T>
T unwrap(arrow::Result<T> result) {
  unwrap(result.status());
  return std::move(result).ValueUnsafe();
}

template <class Call>
auto translated(Call call) -> decltype(call()) {
  std::string message;
  try {
    return call();
  } catch (const std::exception& error) {
    message = error.what();
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  throw std::runtime_error(message);
}

}  // namespace ingot::arrow_module
