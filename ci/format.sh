#!/bin/sh
# Every C file is as clang-format would have it, every text file ends its
# lines cleanly, and every source says its licence in the first lines. Comments
# are not torn, as clang-format does to those that are a little too long, and
# the files that they name are there.
set -eu
cd "$(dirname "$0")/.."
n=$(git ls-files '*.c' '*.h' | wc -l)
[ "$n" -gt 0 ] || { echo "format: nothing to check"; exit 1; }
git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror

bad=0
if git grep -nIE '[[:space:]]+$' -- '*.c' '*.h' '*.sh' '*.md' '*.cmake' \
	'*CMakeLists.txt' Makefile ':!tests/fixtures'; then
	echo "format: blanks at the end of these lines"
	bad=1
fi
for file in $(git ls-files '*.c' '*.h'); do
	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' ||
		{ echo "$file: no SPDX line on top"; bad=1; }
done
known=$(mktemp)
trap 'rm -f "$known"' EXIT
{
	git ls-files
	git grep -hoE '^#include <[^>]+' -- '*.c' '*.h'
} | sed 's|.*[/<]||' >"$known"
git ls-files -z '*.c' '*.h' | xargs -0 awk '
	FNR == 1 { inside = begun = 0 }
	FILENAME == ARGV[1] { known[$0] = 1; next }
	begun && /^[ \t]*\*\/$/ { fail("shorten it, so that it ends above") }
	inside && /^[ \t]*\*[A-Za-z]/ { fail("a blank after the star") }
	{
		text = ""
		begun = !inside
		for (line = $0; line != ""; line = at ? substr(line, at + 2) : "") {
			at = index(line, inside ? "*/" : "/*")
			if (inside)
				text = text " " (at ? substr(line, 1, at - 1) : line)
			if (at)
				inside = !inside
		}
		begun = begun && inside && $0 !~ /\/\*$/
		while (match(text, /[a-z][a-z0-9_]+\.[ch]([^a-z0-9_.(]|$)/)) {
			name = substr(text, RSTART, RLENGTH)
			sub(/[^a-z]$/, "", name)
			if (!(name in known))
				fail("there is no " name)
			text = substr(text, RSTART + RLENGTH)
		}
	}
	function fail(why) {
		print FILENAME ":" FNR ": in this comment: " why
		bad = 1
	}
	END { exit bad }' "$known" || bad=1
echo "$n files"
exit $bad
