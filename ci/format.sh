#!/bin/sh
# Every C file is as clang-format would have it, every text file ends its
# lines cleanly, and every source says its licence in the first lines.
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
echo "$n files"
exit $bad
