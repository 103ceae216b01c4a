#!/bin/sh
# format.sh --check|--fix: clang-format 14 over the C++ sources; other versions lay out differently.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
clang-format --version 2>/dev/null | grep -q "version 14\." || { echo "no clang-format 14; ./run format installs it"; exit 77; }
case $1 in
  --check) mode="--dry-run --Werror" ;;
  --fix) mode=-i ;;
  *) echo "usage: format.sh --check|--fix" >&2; exit 2 ;;
esac
find src tests bench -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.def' | sort | xargs -r clang-format --style=file $mode
