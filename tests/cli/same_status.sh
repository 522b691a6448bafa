# The exit status does not depend on the format of the output: every command
# that judges goals, with every option that chooses a format or a place.
. "$SRC/tests/cli/lib.sh"
formats=$("$HEDDLE" sim --help | sed -n "s,.*--format auto|,,p" | tr "|" " ")
[ -n "$formats" ] || fail "no formats in the help"

cat >met.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic: [{name: a, kind: poisson, load: 10%, payload: 256}]
goals: [{row: a, p99: 1ms}]
run: {measure: 10us}
END
sed 's/p99: 1ms/p99: 1ns/' met.yaml >missed.yaml
cat >unfinished.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
jobs: [{name: j, alone: false, program: [{alltoall: 1MiB}]}]
run: {horizon: 10us}
END
cp "$SRC/examples/ring-deadlock.yaml" deadlock.yaml
# Nothing is delivered after this warm-up: it is over before.
sed 's/^run:.*/run: {warmup: 900ms, measure: 1ms}/' deadlock.yaml >stuck.yaml

# each STATUS COMMAND...: with every option that says how or where to write.
tried=0
each() {
	want=$1
	shift
	for option in '' --json --csv '-o out.json' '-o out.csv' '-o out.txt' \
		'--html out.html' '--db out.db' -q $own; do
		rm -f out.db
		# shellcheck disable=SC2086 # an option and its value
		status "$want" "$HEDDLE" "$@" $option
		tried=$((tried + 1))
	done
	for format in $formats; do
		status "$want" "$HEDDLE" "$@" --format "$format"
		tried=$((tried + 1))
	done
}

own='--all --checksum --counters'
each 0 sim met.yaml
for file in missed unfinished deadlock stuck; do
	each 1 sim $file.yaml
	"$HEDDLE" sim $file.yaml --checksum >sum || :
	[ "$(cat sum)" != 0000000000000000 ] || fail "$file: the checksum is 0"
done

# A job whose receive is never matched, and one that ends.
printf 'num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n' >well.goal
sed 's/tag 0/tag 1/;t' well.goal | sed '3s/tag 1/tag 2/' >stuck.goal
own='--all --goal'
each 0 job show well.goal
each 1 job show stuck.goal

# Routes that can lock up.
own='--dump=lfts'
each 1 route 'ring --switches=6 --hosts=1' -e minhop --check
each 0 route 'ring --switches=6 --hosts=1' -e updn --check

# Cut by --memory: what came before is shown, and has a checksum.
cat >overload.yaml <<'END'
fabric: {topology: {kind: star, hosts: 16}}
traffic:
  - {name: t, kind: poisson, pattern: incast, destination: h0, load: 100%,
     payload: 64}
run: {warmup: 400ms, measure: 500ms}
END
for option in --json --checksum --counters; do
	status 4 "$HEDDLE" sim overload.yaml --memory 40MB $option
	[ "$(head -1 out)" != 0000000000000000 ] || fail 'the checksum is 0'
done
echo "same_status: $tried command lines"
