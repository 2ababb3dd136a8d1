#!/bin/sh
# A parabola with its lowest point at x = 1.
loss=$(awk -v x="$1" 'BEGIN { print (x - 1) * (x - 1) }')
echo "{\"step\": 1, \"loss\": $loss}" >> "$HYPEROPT_REPORT"
