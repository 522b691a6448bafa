#!/bin/bash
# The table of docs/verbs.md: what suites of others say about the software adapter and the subnet
# manager, from the tests that run them. Usage: suite_counts.sh [PRESET]
set -eu -o pipefail
cd "$(dirname "$0")/.."
tests='cli.live_(pyverbs|sa|verbs|verbs_libraries)$'

printf '| suite | tests | passed | skipped |\n| --- | --- | --- | --- |\n'
ctest --preset "${1:-release}" -R "$tests" -V |
	sed -n 's/^[0-9]*: suite: \([^ ]*\) \([0-9]*\) \([0-9]*\) \([0-9]*\)$/| \1 | \2 | \3 | \4 |/p' |
	sort
