#!/bin/sh
# format.sh --check|--fix: clang-format 14 over the C++ sources; other versions lay out differently.
set -eu
cd "$(dirname "$0")/.."
command -v clang-format-14 >/dev/null || { echo "clang-format-14 is not installed; ./run format installs it"; exit 77; }
case $1 in
  --check) mode="--dry-run --Werror" ;;
  --fix) mode=-i ;;
  *) echo "usage: format.sh --check|--fix" >&2; exit 2 ;;
esac
find src tests bench -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.def' | sort | xargs -r clang-format-14 --style=file $mode
