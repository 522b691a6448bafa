# Programs that fork at both paces, in C and in Python, and every flag of verbs.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
echo 'fabric: {topology: {kind: star, hosts: 2}}' >two.yaml
for pace in free timed; do
	"$HEDDLE" live up two.yaml --sm minhop --pace-data $pace -q
	on h1 "$FORK" >said || fail "$pace: $(cat said)"
	on h1 "$FLAGS" >said || fail "$pace: $(cat said)"
	# Python cannot load a library that was built with sanitizers.
	nm -D "${HEDDLE%/*}/libheddle-verbs.so" | grep -q __asan_init ||
		on h1 python3 "$SRC/tests/cli/live_fork.py" >said 2>&1 ||
		fail "$pace: $(cat said)"
	"$HEDDLE" live down -q
done
