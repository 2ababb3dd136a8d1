#!/bin/sh
# Mails the end of a search to $MAILTO with the machine's `mail`; prints it without one.
# The JSON comes on standard input; python3 -c picks what the subject says.
event=$(cat)
subject=$(printf '%s' "$event" | python3 -c '
import json, sys
event = json.load(sys.stdin)
best = event["best"]
value = "no result" if best is None else "%s %s" % (event["metric"], best["value"])
print("hyperopt %s: %s, %s" % (event["name"], event["state"], value))')
if [ -n "$MAILTO" ] && command -v mail > /dev/null; then
  printf '%s\n' "$event" | mail -s "$subject" "$MAILTO"
else
  echo "$subject"
fi
