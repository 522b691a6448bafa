#!/bin/sh
# A folder of src/ may include itself, what its row names, and what those
# know. This table is the architecture; tests are exempt.
set -eu
cd "$(dirname "$0")/.."

knows() {
	case $1 in
	base) ;;
	wire | measure | model | topo | cc) echo base ;;
	subnet) echo topo ;;
	qos) echo subnet model ;;
	scenario) echo base topo qos ;;
	fabric) echo cc scenario ;;
	sim) echo wire measure cc fabric ;;
	transport) echo wire ;;
	verbs) echo transport sim ;;
	bench) echo verbs ;;
	report) echo measure ;;
	paper) echo bench report ;;
	cli) echo paper report ;;
	*) echo "layers: no row for src/$1" >&2 && return 1 ;;
	esac
}

# What a folder may include: itself and, transitively, what it knows.
reach() {
	for known in $(knows "$1"); do
		reach "$known"
	done
	echo "$1"
}

checked=0 bad=0
for dir in src/*/; do
	layer=$(basename "$dir")
	allowed=$(reach "$layer" | sort -u | paste -sd '|')
	files=$(find "$dir" -name '*.[ch]' ! -name '*_test.c')
	[ -n "$files" ] || continue
	for file in $files; do
		checked=$((checked + 1))
		if grep -nHE '^#include "' "$file" |
			grep -vE "#include \"($allowed)/"; then
			echo "layers: src/$layer may include only: $allowed" >&2
			bad=1
		fi
	done
done
[ "$checked" -gt 0 ] || { echo "layers: nothing to check" >&2; exit 1; }
echo "$checked files"
exit "$bad"
