# Multicast operations on the command line: receivers, durations, and rejected options.
. "$SRC/tests/cli/lib.sh"
ring='kind: ring, switches: 6, hosts: 1'

# One to 31 others on a two-level tree: a multicast takes the cable up and
# those down to the 7 other leaves, 8 in all, and unicast one up and one down
# for each of 28.
status 0 "$HEDDLE" mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2' --csv
grep '^shared,1,9,1,.*,8,0,' out || fail 'a tree is not 8 cables'
grep '^unicast,0,0,.*,56,0,' out || fail 'unicast is not 56 cables'

# Host 0 of a ring to the others; its neighbour's switch fails at once. The run
# ends: the list names the hosts that the tables reach through this switch.
status 1 "$HEDDLE" mcast compare --topology "$ring" --sources h0 \
	--tree shared --fail s-1 --fail-at 1ns
has out lacking
has out 'h1'

status 1 "$HEDDLE" mcast compare --topology "$ring" --ber 1e-4 --sources all
status 0 "$HEDDLE" mcast compare --topology "$ring" --sources all --headers

# The table of draws has each one: two seeds, each as multicast and unicast.
small='--set fabric.topology.columns=5 --set fabric.topology.rows=4'
directions=$SRC/papers/002/directions.yaml
status 0 "$HEDDLE" mcast compare "$directions" --sl 4 $small --tree xy --seeds 2 --json
jq -e '.tables.draws.rows | length == 4 and all(.amiss == 0 and
	.completion >= .bound - 1e-9)' out >jq.out ||
	fail "draws: $(jq -c .tables.draws.rows out)"
# One to 19 others: 19 copies of 2 KiB go through one cable at 2 Gb/s, and a
# multicast without other traffic takes the time of its bound.
jq -e '[.tables.draws.rows[] | select(.sent == "xy") |
	.completion - .bound | fabs < 1e-6] | all' out >jq.out ||
	fail 'a lone multicast is not as fast as its bound'

# VLs by direction keep XY free of deadlock, here and in a run, whose links use one VL each: ports
# 1 to 4 of a switch lead east, north, west and south, and N is VL 0, E 1, S 2, W 3.
jq -e '[.tables.ways.rows[].cycle] | all(. == 0)' out >jq.out || fail 'a cycle with VLs by direction'
status 0 "$HEDDLE" sim "$directions" $small --json --all --set run.warmup=0us \
	--set 'traffic=[{name: t, sl: 4, kind: poisson, load: 10%, payload: 1KiB}]' \
	--set run.measure=100us
jq -e '[.tables["port VLs"].rows[] | select(.packets > 0 and (.port | test(":[1-4]$"))) |
	[(.port | split(":") | last | tonumber), .VL]] | unique ==
	[[1, 1], [2, 0], [3, 3], [4, 2]]' out >jq.out || fail 'a direction has another VL in a run'

# What is invalid.
status 2 "$HEDDLE" mcast compare
status 2 "$HEDDLE" mcast compare --topology "$ring" --tree oak
has err "unknown tree 'oak'"
status 2 "$HEDDLE" mcast compare --topology "$ring" --sl 14 --vls 3
has err 'SLs are 0 to 15'
status 3 "$HEDDLE" mcast compare --topology "$ring" --tree xy
has err "engine 'xy'"
status 3 "$HEDDLE" mcast compare --topology "$ring" --fail unknown
has err "no switch 'unknown'"
status 3 "$HEDDLE" mcast compare --topology "$ring" --members h99
status 2 "$HEDDLE" mcast compare --topology 'kind: ring, sizes: 5'
has err 'heddle: --topology:'

# All to all on a mesh of 8 x 8: the busiest cable of a shared tree carries 63
# messages, that of XY trees 8 * 7.
status 0 "$HEDDLE" route 'mesh --columns=8 --rows=8' -e xy --mcast 'auto=*'
has out 'takes 11 % off the busiest cable'
status 3 "$HEDDLE" route 'mesh --columns=8 --rows=8' --mcast 'oak=*'
has err 'paths, auto'

# Two who are no members send to a group on its shared tree: 20 packets of each
# of three senders, to two or three members; a GRH on these and on no other.
cat >outsiders.yaml <<'EOF'
fabric:
  topology: {kind: mesh, columns: 4, rows: 4, hosts: 1}
  groups: [{name: g, members: "0,1,5"}]
traffic:
  - {name: group, kind: messages, payload: 8KiB, count: 10, pattern: group,
     group: g, source: "5,10,15"}
  - {name: single, kind: messages, payload: 2KiB, pattern: uniform, source: 2,
     destination: 3}
run: {warmup: 0us}
EOF
status 0 "$HEDDLE" sim outsiders.yaml --json --pcap outsiders.pcap
jq -e '[.tables.traffic.rows[] | .packets, .lost] == [160, 0, 1, 0]' out ||
	fail "outsiders: $(cat out)"
status 0 "$HEDDLE" decode outsiders.pcap
grep ' > 49152 ' out | grep -v 'ff12:401b:ffff::c000' &&
	fail "a packet to the group without a GRH"
grep 'payload 2048 B' out | grep gid && fail "a GRH that should not be"
grep -q 'payload 2048 B' out || fail "no unicast packet"
status 0 "$HEDDLE" route 'mesh --columns=4 --rows=4' \
	--mcast 'shared@h15=h0,h1,h5'
has out 'deliveries:       9'

# Packets larger than the buffer would wait for ever with each credit mode.
for credits in exact delay; do
	printf '%s\n' 'fabric:' '  topology: {kind: back-to-back}' \
		"  credits: $credits" '  host: {input_buffer: 128}' 'traffic:' \
		'  - {name: t, kind: cbr, load: 0.1%, payload: 64}' >small.yaml
	status 3 "$HEDDLE" mcast compare small.yaml
	one_line err
	has err 'would wait for ever for a buffer'
done

# No host to send it, or no other host to receive it.
for hosts in 0 1; do
	echo "fabric: {topology: {kind: star, hosts: $hosts}}" >few.yaml
	status 3 "$HEDDLE" mcast compare few.yaml
	one_line err
	has err "few.yaml: multicast needs at least 2 connected hosts; the fabric has $hosts"
done
