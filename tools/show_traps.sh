#!/bin/sh
# Runs the trap tests against the program of an earlier COMMIT, where every one must fail:
#   tools/show_traps.sh COMMIT [GTEST_FILTER]
# The program is built once in build/traps/COMMIT and kept. Exit code 1 when a test passes there.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
commit=$(git rev-parse --short=12 "${1:?usage: tools/show_traps.sh COMMIT [GTEST_FILTER]}^{commit}")
tree=$PWD/build/traps/$commit
program=$tree/build/cpu/ingot
if [ ! -x "$program" ]; then
  [ -e "$tree/.git" ] || git worktree add --detach "$tree" "$commit"
  ln -sfn "$PWD/.venv" "$tree/.venv"
  (cd "$tree" && cmake --preset cpu && ninja -C build/cpu ingot)
fi
results=build/traps/$commit.json
INGOT_PROGRAM=$program build/cpu/bin/test_traps --gtest_filter="${2:-*}" --gtest_output="json:$results" \
  >"build/traps/$commit.log" 2>&1 || true
exec python3 - "$results" <<'END'
import json
import sys

with open(sys.argv[1]) as file:
    suites = json.load(file)["testsuites"]
passed = ran = 0
for suite in suites:
    for test in suite["testsuite"]:
        if test.get("result") != "COMPLETED":
            continue
        ran += 1
        passes = "failures" not in test
        passed += passes
        print(f"{'PASSES there' if passes else 'fails there as it should':25} {suite['name']}.{test['name']}")
print(f"{ran} trap tests: {ran - passed} fail there as they should, {passed} pass")
sys.exit(1 if passed or not ran else 0)
END
