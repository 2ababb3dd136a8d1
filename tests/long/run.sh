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
python3 "$here/../bench/sweep_bench.py" "$build" --memory 10000 --resume 100000
echo "== dashboard_bench"
report=$(mktemp -d)
python3 "$here/../bench/dashboard_bench.py" "$build" --keep "$report"
python3 "$here/../bench/report_bench.py" "$report/report.html"
rm -r "$report"
for bench in controller_bench asha_bench keeper_bench "store_bench /dev/shm"; do
  echo "== $bench"
  # shellcheck disable=SC2086  # a name and its words
  "$build/bench/"$bench
done
for sampler in random sobol tpe gp auto; do
  echo "== sampler_quality $sampler"
  "$build/bench/sampler_quality" "$sampler" 8 60
done
for history in 100 1000 10000; do
  "$build/bench/sampler_quality" time tpe "$history"
done
for history in 100 400 1000; do
  "$build/bench/sampler_quality" time gp "$history"
done
