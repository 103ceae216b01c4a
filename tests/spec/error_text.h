// The message a call throws, for tests that promise one.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error/error.h"

namespace ingot {

template <class Call>
std::string error_text(Call call, ErrorCode code = ErrorCode::Config) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.code()), name_of(code));
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
    return text;
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace ingot
