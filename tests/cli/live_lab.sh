# examples/opensm-lab/lab.sh: the same OpenSM programs the same tables again, a changed one is
# reported with the case, and so is one that brings no subnet up.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
lab=$SRC/examples/opensm-lab/lab.sh
export HEDDLE
cases='star.minhop.plain$|torus.minhop.(plain$|qos.cable)'
status 0 "$lab" opensm tables "$cases"
[ "$(grep -c '^recorded ' out)" -eq 3 ] && [ "$(ls tables | wc -l)" -eq 3 ] || fail "$(cat out)"
status 0 "$lab" opensm tables "$cases"
[ "$(grep -c '^same ' out)" -eq 3 ] || fail "$(cat out)"

# Other routes than those of the engine that is asked for, which a star does not have.
printf '#!/bin/sh\nshift 3\nexec opensm -o -R dor "$@"\n' >changed
chmod +x changed
status 1 "$lab" ./changed tables "$cases"
has out 'same     star.minhop.plain'
has out 'differs  torus.minhop.plain'
has out 'differs  torus.minhop.qos.cable'
status 1 "$lab" false tables star.minhop.plain$
has out 'fails    star.minhop.plain'
status 2 "$lab" opensm tables none
has err "'none' matches no case"
