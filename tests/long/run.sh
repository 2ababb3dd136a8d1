#!/bin/bash
# What takes too long for each change: run by hand, or at night, on an idle machine.
#   tests/long/run.sh BUILD_DIR [ROUNDS]
set -eu
build=$(realpath "${1:?build folder}")
rounds=${2:-1000}
here=$(dirname "$(realpath "$0")")
cd "$here/../e2e"
python3 kill_rounds.py "$build" --rounds "$rounds" --seed "$(date +%Y%m%d)"
for fuzzer in config_fuzz protocol_fuzz report_fuzz; do
  echo "== $fuzzer"
  timeout 600 "$build/tests/$fuzzer" 20000000 "$(date +%s)" || [ $? -eq 124 ]
done
python3 "$here/../bench/sweep_bench.py" "$build" /dev/shm /var/tmp
"$build/bench/controller_bench"
