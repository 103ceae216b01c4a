#!/bin/sh
# fuzz.sh SECONDS: every fuzz target in turn, from the committed corpus and what earlier runs found.
# A crashing input is left in build/cpu-fuzz/found; fix the bug, then add the input to the corpus.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/cpu-fuzz/found
for program in build/cpu-fuzz/bin/fuzz_*; do
  name=${program##*/fuzz_}
  grown=build/cpu-fuzz/corpus/$name
  mkdir -p "$grown" "tests/fuzz/corpus/$name"
  echo "== $name" >&2
  "$program" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/cpu-fuzz/found/$name-" "$grown" "tests/fuzz/corpus/$name"
done
