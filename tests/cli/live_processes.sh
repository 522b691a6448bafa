# Programs that fork with both clocks, in C and in Python, and every flag of verbs.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
echo 'fabric: {topology: {kind: star, hosts: 2}}' >two.yaml
for clock in free simulated; do
	"$HEDDLE" live up two.yaml --sm minhop --clock $clock -q
	on h1 "$FORK" >said || fail "$clock: $(cat said)"
	on h1 "$FLAGS" >said || fail "$clock: $(cat said)"
	# Python cannot load a library that was built with sanitizers.
	nm -D "${HEDDLE%/*}/libheddle-verbs.so" | grep -q __asan_init ||
		on h1 python3 "$SRC/tests/cli/live_fork.py" >said 2>&1 ||
		fail "$clock: $(cat said)"
	"$HEDDLE" live down -q
done
