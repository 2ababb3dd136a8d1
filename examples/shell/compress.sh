#!/bin/sh
# How small does xz make a file with these settings? Settings come as HYPEROPT_PARAM_<NAME>.
set -eu
settings="lc=$HYPEROPT_PARAM_LC,pb=$HYPEROPT_PARAM_PB"
settings="$settings,mf=$HYPEROPT_PARAM_MATCH_FINDER,nice=$HYPEROPT_PARAM_NICE"
bytes=$(xz --stdout --lzma2="preset=6,dict=512KiB,$settings" "$1" | wc -c)
echo "$settings: $bytes bytes"     # kept in the trial's stdout.log
echo "{\"bytes\": $bytes}" >>"$HYPEROPT_REPORT"
