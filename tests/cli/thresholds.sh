# Thresholds at outputs of switches: with congestion control, probes, queue pairs and a job in one
# run, and one output against the exact GE queue.
. "$SRC/tests/cli/lib.sh"

file=$SRC/examples/switch-thresholds.yaml
status 0 "$HEDDLE" sim "$file" --json
jq -e '(.tables["job goals"].rows | map(.met) | all) and
	(.tables.marks.rows[0].number > 0) and
	(.tables.admission.rows | map(.answer) == ["admitted"]) and
	(.tables["queue pairs"].rows[0] | .failed == 0 and .completed > 100) and
	([.tables["VL sharing"].rows[] | select(.VL == 0) | .acquired] | add > 0) and
	([.tables["VL sharing"].rows[] | select(.VL == 3) | .acquired] | add == 0)' out >jq.out ||
	fail "$file"
# Without thresholds the job misses its goal.
status 1 "$HEDDLE" sim "$file" --set qos.thresholds=none
# The same results on more threads.
status 0 "$HEDDLE" sim "$file" --format checksum --threads 1
cp out one
status 0 "$HEDDLE" sim "$file" --format checksum --threads 2
cmp out one || fail "another result on two threads"

# At hosts too, where senders are polled: two throttled flows, a queue pair and a job of A1 share
# VL 0, which also uses VL 1 from the second packet that may start on.
cat >hosts.yaml <<END
title: thresholds at a host with senders
fabric: {topology: {kind: two-switch, remote: 4, local: 4, victims: 1}, link: {rate: 1GB/s}}
qos: {vls: 2, high: none, low: "0:1,1:1", thresholds: {mechanism: et, at: 2}}
traffic:
  - {name: one, kind: saturating, pattern: pairs, source: A1, destination: B1}
  - {name: two, kind: saturating, pattern: pairs, source: A1, destination: A2}
  - {name: pair, kind: cbr, rate: 1Gb/s, pattern: pairs, source: A1, destination: A3, transport: rc}
jobs: [{name: train, ranks: 2, on: "A1, B2", repeat: 40, program: [{allreduce: 32KiB}]}]
congestion: {algorithm: fimd}
run: {seed: 1, warmup: 0us, measure: 10ms}
END
status 0 "$HEDDLE" sim hosts.yaml --json
jq -e '.tables["VL sharing"].rows[0] | .port == "A1" and .acquired > 10 and .sharing > 1' out >jq.out ||
	fail "a host: $(jq -c '.tables["VL sharing"].rows' out)"
# The same results on two threads, and from a checkpoint.
status 0 "$HEDDLE" sim hosts.yaml --format checksum --threads 1
cp out one
status 0 "$HEDDLE" sim hosts.yaml --format checksum --threads 2 --checkpoint kept --every-simulated 500us
cmp out one || fail "another result on two threads"
status 0 "$HEDDLE" sim hosts.yaml --format checksum --restart kept
cmp out one || fail "another result after a restart"
status 3 "$HEDDLE" sim hosts.yaml --set qos.thresholds.capacity=9
has err "are not possible with qos.thresholds.capacity"

# "bursty" and "bulk" come over fast links; at the output bursty has every second packet, or two of
# three with the acquired VL 1. A packet of bursty takes 232 ns, one of bulk 2152 ns in the mean: 0.41946
# and 0.76453 per us. The variation of bulk gives the service of bursty a Cs2 of 1.
cat >output.yaml <<END
title: one output
fabric:
  topology: {kind: star, hosts: 3, link: 12x EDR}
  links: [{ports: h2, rate: 2Gb/s}]
  switch: {input_buffer: 128KiB, routing_delay: 0ns, arbitration_delay: 0ns}
  host: {input_buffer: 128KiB}
qos:
  vls: 4
  high: none
  low: "0:1,1:1,2:1"
  thresholds: {mechanism: et, ports: switches, vls: [{vl: 0, at: 8}]}
traffic:
  - {name: bursty, kind: ge, scv: 5, sl: 0, source: h0, destination: h2, pattern: pairs,
     payload: 32, rate: 80Mb/s}
  - {name: bulk, kind: saturating, sl: 2, source: h1, destination: h2, pattern: pairs,
     payload: 512, payload_scv: 1.355}
run: {seed: 1, warmup: 1ms, measure: 900ms}
END
for at in 8 399; do
	sed "s/at: 8/at: $at/" output.yaml >at.yaml
	status 0 "$HEDDLE" sim at.yaml --json
	simulated=$(jq '.tables["VL sharing"].rows[] | select(.VL == 0) | .jobs' out)
	status 0 "$HEDDLE" model et --lambda 0.3125 --mu 0.41946,0.76453 --ca2 5 --cs2 1 \
		--threshold $at --capacity 400 --json
	# The thesis considers an error of 10 % accurate.
	jq -e --argjson sim "$simulated" \
		'.tables.points.rows[0].L | (. - $sim | fabs) <= 0.1 * $sim' out >jq.out ||
		fail "threshold $at: $simulated, not $(jq '.tables.points.rows[0].L' out)"
done
