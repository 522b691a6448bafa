#!/bin/bash
# The table of docs/verbs.md: what suites of others say about the software adapter and the subnet
# manager, from the tests that run them and from FILEs with the output of ci/suites.sh.
# Usage: suite_counts.sh [PRESET [FILE...]]
set -eu -o pipefail
cd "$(dirname "$0")/.."
tests='cli.live_(pyverbs|sa|verbs|verbs_libraries)$'

printf '| suite | tests | passed | skipped |\n| --- | --- | --- | --- |\n'
{
	ctest --preset "${1:-release}" -R "$tests" -V
	[ $# -lt 2 ] || cat -- "${@:2}"
} |
	sed -n 's/^\([0-9]*: \)\{0,1\}suite: \([^ ]*\) \([0-9]*\) \([0-9]*\) \([0-9]*\)$/| \2 | \3 | \4 | \5 |/p' |
	sort
