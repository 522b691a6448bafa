# Memory: a known requirement is checked before a run starts; a run that exceeds its limit ends in
# time and keeps its results so far.
. "$SRC/tests/cli/lib.sh"

cat >overload.yaml <<'END'
fabric: {topology: {kind: star, hosts: 16}}
traffic:
  - {name: t, kind: poisson, pattern: incast, destination: h0, load: 100%,
     payload: 64}
run: {warmup: 1us, measure: 500ms}
END

# Sources that are offered more than they can send.
status 4 "$HEDDLE" sim overload.yaml --memory 60MB
one_line err
has err 'packets wait in the fabric'
has err 'of them at h'
has out '# note: out of memory at'
has out 'delivered'

# In its warm-up: nothing was measured, on one thread or several.
sed 's/kind: star, hosts: 16/kind: star, switches: 3, hosts: 4/
s/warmup: 1us/warmup: 400ms/' overload.yaml >cold.yaml
for threads in 1 3; do
	status 4 "$HEDDLE" sim cold.yaml --memory 60MB --json --all \
		--threads $threads
	jq -e '.notes[] | select(test("in its warm-up"))' out >note ||
		fail "$threads threads: no note of a run that ends in its warm-up"
	[ "$(jq '[.tables.ports.rows[].packets] | add' out)" -eq 0 ] ||
		fail "$threads threads: ports counted what the warm-up has"
done

# What is in use is ours: a BLAS takes memory and starts threads at any time.
! ldd "$HEDDLE" | grep -qi blas || fail 'every run brings a BLAS'

# What was recorded before stays, and this much of the run is there too.
rm -f runs.db
sed 's/500ms}/20us}/' overload.yaml >short.yaml
status 0 "$HEDDLE" sim short.yaml -q --db runs.db
status 4 "$HEDDLE" sim overload.yaml -q --db runs.db --memory 60MB --json
[ "$(jq -r '.notes[]' out | grep -c 'out of memory')" -eq 1 ] ||
	fail 'JSON does not say why the run ended'
status 0 "$HEDDLE" report --db runs.db --csv
[ "$(grep -c ',sim,' out)" -eq 2 ] || fail 'a run is not in the database'

# A limit that is not reached changes nothing.
"$HEDDLE" sim short.yaml --checksum >without
"$HEDDLE" sim short.yaml --checksum --memory 1GB >with
cmp -s without with || fail 'a limit changed the run'

# Known in advance: refused at once, with the number.
status 4 "$HEDDLE" model credit --upstream 1000 --downstream 1000 \
	--memory 500MB
one_line err
has err 'needs about 1.5 GB of memory; --memory leaves'
empty out

# Whatever else grows is named, by commands that have no results yet.
status 4 "$HEDDLE" route 'fat-tree --radix 36 --levels 3' --memory 10MB
one_line err
has err 'out of memory: nodes and cables need'
status 4 "$HEDDLE" bench send-lat --size 64 -n 1000 --fabric overload.yaml \
	--memory 60MB
one_line err
has err 'out of memory: packets in the simulated fabric need'

# A connection of a job that is not used takes at most 8 KB: 128 ranks have
# 16,256 to each other. (The job never begins, which is status 1. A sanitizer
# puts something around every piece.)
each=8
! nm -D "$HEDDLE" | grep -q __asan_init || each=24
cat >pairs.yaml <<'END'
fabric: {topology: {kind: star, hosts: 128}}
jobs: [{name: a, transport: rc, start: 1ms, alone: false,
  program: [{alltoall: 64}]}]
run: {horizon: 10us}
END
status 1 "$HEDDLE" sim pairs.yaml --memory $((20 + 16256 * each / 1000))MB
has out "never begins"
