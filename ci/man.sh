#!/bin/sh
# Man pages, ours and the generated ones of a build, make groff say nothing.
# Usage: man.sh BUILD. groff exits 0 on warnings, so its words are counted.
set -eu
cd "$(dirname "$0")/.."
n=0 bad=0
for page in "$1"/man/*.[1-8] man/*.[1-8]; do
	[ -f "$page" ] || continue
	n=$((n + 1))
	words=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
	if [ -n "$words" ]; then
		printf '%s\n' "$words"
		bad=1
	fi
	for section in NAME SYNOPSIS; do
		grep -q "^\.SH $section" "$page" ||
			{ echo "$page: no section $section"; bad=1; }
	done
done
[ "$n" -gt 0 ] || { echo "man: nothing to check"; exit 1; }
echo "$n pages"
exit $bad
