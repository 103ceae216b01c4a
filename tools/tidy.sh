#!/bin/sh
# tidy.sh [FILE…]: clang-tidy 16 with .clang-tidy; by default over all sources but the kernels,
# whose `#pragma GCC target` clang does not follow.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(find src -name '*.cpp' -not -path 'src/ops/cpu/*' | sort)
clang-tidy -p build/cpu-lint --quiet "$@"
