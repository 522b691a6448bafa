# Verbs with random arguments from many programs at once, and programs that are killed at any moment:
# errno values are those of the manual pages, and the daemon keeps nothing of those that are gone.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
programs_drawn=24 kills=100
[ "${HD_LONG:-0}" != 1 ] || programs_drawn=200 kills=10000
stay 'fat-tree --radix 4 --levels 2'
"$HEDDLE" live sm h0 --engine minhop >manager 2>&1 &
programs="$programs $!"
until on h7 ibv_devinfo 2>/dev/null | grep -q PORT_ACTIVE; do
	sleep 0.1
done
held() { # descriptors and mappings of the daemon
	echo "$(ls "/proc/$daemon/fd" | wc -l) $(grep -c heddle "/proc/$daemon/maps")"
}
before=$(held)

# draw SEED: it ends by itself, and says what is wrong.
draw() {
	on h$(($1 % 8)) "$VERBS_CALLS" "$1" 3000 >"said.$1" 2>&1 ||
		echo "seed $1: $(tail -n 2 "said.$1")" >>wrong
}
: >wrong
for first in $(seq 1 8 $programs_drawn); do
	jobs=
	for i in 0 1 2 3 4 5 6 7; do
		draw $((first + i)) &
		jobs="$jobs $!"
	done
	wait $jobs
done
[ ! -s wrong ] || fail "$(cat wrong)"

# Programs that are killed, each within a tenth of a second.
for i in $(seq $kills); do
	"$HEDDLE" live exec h$((i % 8)) -- "$VERBS_CALLS" "$i" 1000000 >killed 2>&1 &
	victim=$!
	sleep "0.0$((i % 10))"
	# On a busy machine it may have ended by itself.
	kill -9 $victim 2>/dev/null || true
	got=0
	wait $victim 2>/dev/null || got=$?
	[ $got -eq 137 ] || [ $got -eq 0 ] || fail "seed $i: status $got: $(cat killed)"
done
tries=0
until held | awk -v before="$before" '{ split(before, b)
	exit !($1 <= b[1] && $2 <= b[2]) }'; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "the daemon holds '$(held)', before '$before'"
	sleep 0.1
done
kill -0 "$daemon" || fail "the daemon has ended"
on h3 "$VERBS_CALLS" 7 1000 || fail "after that: an adapter fails"
