// Each test here is a way in which a user was caught; docs/traps.md lists them. The program is
// $INGOT_PROGRAM where that is set: tools/show_traps.sh runs the tests against an earlier commit's
// program, where each must fail.
#pragma once

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
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ingot::test
