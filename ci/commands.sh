#!/bin/sh
# A command is options, a call and a table: at most 165 lines of C.
set -eu
cd "$(dirname "$0")/.."
most=165
n=0 bad=0
for file in src/cli/cmd_*.c; do
	[ -f "$file" ] || { echo "commands: nothing to check"; exit 1; }
	lines=$(wc -l <"$file")
	n=$((n + 1))
	[ "$lines" -le "$most" ] || {
		echo "commands: $file has $lines lines, not at most $most"
		bad=1
	}
done
echo "$n commands"
exit "$bad"
