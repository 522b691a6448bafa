#!/bin/sh
# 'make test' fails for a change and for nothing else: no test draws from the
# clock, the process's number, the environment or the system's randomness. A
# test's seed is fixed; src/base/seeds_for_tests.h alone looks whether a run is
# a long one and may draw fresh cases. Names of scratch files may come from
# mktemp, ports from port_lib.sh. Nor does it depend on what else the machine
# does: a limit of time in a script is 300 seconds or more, what waits or is
# waited for has the PATIENCE of tests/cli/lib.sh, who asks OpenSM waits as long
# for its answer (saquery -t), and OpenSM's log is written line by line (-d 2)
# unless it ends by itself (-o).
set -eu
cd "$(dirname "$0")/.."

c='(^|[^[:alnum:]_.])(time|clock|clock_gettime|gettimeofday|timespec_get'
c="$c|getpid|getppid|getrandom|getentropy|arc4random[a-z_]*|s?random|s?rand"
c="$c|[jln]rand48|secure_getenv|getenv)\\(|/dev/u?random"
sh='\$\$|RANDOM|EPOCH(SECONDS|REALTIME)|/dev/u?random|(^|[^[:alnum:]_-])'
sh="$sh(date|shuf)[[:space:]]|HD_SEED|(^|[^[:alnum:]_-])(timeout ([12]?[0-9])?[0-9]"
sh="$sh|sleep [0-9]+[0-9])[[:space:]]|tries\"? -l[te] [0-9]"
sh="$sh|(^|[^[:alnum:]_-])opensm -([^cdo-]|d [^2])"
sh="$sh|(on [a-z0-9]+|timeout 300) saquery( [^-]| -[^t]|$)"
js='Date\.now|new Date\(\)|Math\.random|performance\.now|process\.(pid|env)'
js="$js|randomBytes|randomUUID|getRandomValues"
# A generator with a seed is fine, the one that all share is not.
py='(^|[^[:alnum:]_])(import (secrets|time|uuid)|urandom|getpid|from random)'
py="$py|random\\.([a-z]|SystemRandom|Random\\(\\))"
py="$py|environ(\\[|\\.get\\()[\"'](HD_[A-KM-Z]|[^H])"

# What is measured, not drawn (the speed of ours, and of a page; the fabric's own
# time), what tests tell libraries that they preload, and the test of this script.
exempt='^(src/base/seeds_for_tests\.h|tests/bench/.*|web/test/browser\.mjs'
exempt="$exempt|tests/attack/failing_malloc\\.c|tests/cli/raise_at\\.c"
exempt="$exempt|tests/cli/verbs_((late|rpc|waits)\\.c|witness\\.[ch])|tests/cli/checks\\.sh)\$"

checked=0 bad=0
# look PATTERN FILE...: git's patterns of paths.
look() {
	pattern=$1
	shift
	for file in $(git ls-files "$@" | grep -vE "$exempt"); do
		checked=$((checked + 1))
		! grep -nHE "$pattern" "$file" || bad=1
	done
}
look "$c" 'src/*_test.c' 'src/*_for_tests.[ch]' 'tests/*.[ch]'
look "$sh" 'tests/*.sh' 'src/*.sh'
look "$js" 'tests/*.mjs' 'tests/*.js' 'web/test/*'
look "$py" 'tests/*.py'
[ "$bad" -eq 0 ] ||
	echo "draws: a test depends on these; see src/base/seeds_for_tests.h"
[ "$checked" -gt 0 ] || { echo "draws: nothing to check"; exit 1; }
echo "$checked tests"
exit $bad
