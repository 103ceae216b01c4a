#!/bin/sh
# fuzz.sh SECONDS [NAME…]: fuzz targets in turn, all or those named, each for so long, from the
# committed corpus and what earlier runs found. A crashing input, or one that takes 10 s or 2 GB, is
# left in build/cpu-fuzz/found; fix the bug, then add the input to the corpus.
set -eu
cd "$(dirname "$0")/.."
seconds=$1; shift
[ $# != 0 ] || set -- $(cd build/cpu-fuzz/bin && ls fuzz_* | sed 's/^fuzz_//')
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm  # some targets write files
mkdir -p build/cpu-fuzz/found
failed=
for name; do
  grown=build/cpu-fuzz/corpus/$name
  mkdir -p "$grown" "tests/fuzz/corpus/$name"
  echo "== $name" >&2
  build/cpu-fuzz/bin/fuzz_$name -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/cpu-fuzz/found/$name-" "$grown" "tests/fuzz/corpus/$name" || failed="$failed $name"
done
[ -z "$failed" ] || { echo "fuzz.sh: inputs in build/cpu-fuzz/found of:$failed" >&2; exit 1; }
