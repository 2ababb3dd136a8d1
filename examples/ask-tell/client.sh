#!/bin/sh
# The same in sh: client.sh HYPEROPT [words for ask-tell, as --output DIR]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/to" "$folder/from"
hyperopt=$1
shift
"$hyperopt" ask-tell --config "$here/search.yaml" "$@" <"$folder/to" >"$folder/from" &
exec 3>"$folder/to" 4<"$folder/from"
while echo '{"op":"ask"}' >&3 && read -r asked <&4; do
  trial=$(printf '%s' "$asked" | sed -n 's/.*"trial":\([0-9]*\).*/\1/p')
  [ -n "$trial" ] || break
  layers=$(printf '%s' "$asked" | sed 's/.*"layers":\([0-9]*\).*/\1/')
  loss=$(( (layers - 3) * (layers - 3) ))
  echo "{\"op\":\"tell\",\"trial\":$trial,\"value\":$loss}" >&3
  read -r _ <&4
  echo "trial $trial: $layers layers, loss $loss"
done
exec 3>&-
wait
