// Each test here is a way in which a user was caught; docs/traps.md lists them. The program is
// $INGOT_PROGRAM where that is set: tools/show_traps.sh runs the tests against an earlier commit's
// program, where each must fail.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/run_fixture.h"

namespace ingot::test {

class Trap : public RunFixture {
 protected:
  // Through `sh -c`, for redirections and limits; the program is "$INGOT".
  Outcome shell(const std::string& script) const {
    Process process(
        root_, {"env", "INGOT=" + program(), "sh", "-c", "cd '" + root_.string() + "'; " + script});
    const int code = process.wait();
    return {code, process.out(), process.err()};
  }
  // The JSON that is the last line of what a command with --json says.
  static nlohmann::json result_of(const Outcome& outcome) {
    const std::string out = outcome.out.substr(0, outcome.out.find_last_not_of('\n') + 1);
    const auto result = nlohmann::json::parse(out.substr(out.rfind('\n') + 1), nullptr, false);
    EXPECT_FALSE(result.is_discarded()) << outcome.out << outcome.err;
    return result.is_discarded() ? nlohmann::json::object() : result;
  }
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ingot::test
