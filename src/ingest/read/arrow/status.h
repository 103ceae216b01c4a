// Converts all of Arrow's failures to ArrowFailure; the module's own errors pass unchanged.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "ingest/read/arrow_library.h"

namespace ingot::arrow_module {

// An error of the module itself.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline std::string meaning_of(const arrow::Status& status) {
  if (status.IsOutOfMemory()) return "takes more memory than a file may";
  if (status.IsNotImplemented()) return "holds what Arrow does not read";
  return status.IsIOError() ? "cannot be read, or is damaged" : "damaged, or not a parquet file";
}

inline ArrowFailure failure(const std::string& meaning, std::string says) {
  std::replace(says.begin(), says.end(), '\n', ' ');
  return {meaning, std::move(says)};
}

inline void unwrap(const arrow::Status& status) {
  if (!status.ok()) throw failure(meaning_of(status), status.ToString());
}

template <class T>
T unwrap(arrow::Result<T> result) {
  unwrap(result.status());
  return std::move(result).ValueUnsafe();
}

// For calls to libraries that throw.
template <class Call>
auto translated(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const ArrowFailure&) {
    throw;
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& error) {
    throw failure("damaged, or not a parquet file", error.what());
  }
}

}  // namespace ingot::arrow_module
