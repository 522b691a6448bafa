# Goals become tables, tables become opensm.conf, connections are admitted or rejected with the
# link, and invalid input gives one line.
. "$SRC/tests/cli/lib.sh"
net=$SRC/tests/fixtures/two-switches.ibnet

# The plan's own configuration lints clean, and a mistake in it is found.
status 0 "$HEDDLE" qos plan --conf mpi=70% ost=30% -o plan.conf
status 0 "$HEDDLE" qos lint plan.conf
sed 's/^qos_sl2vl .*/qos_sl2vl 0,1,2,3/' plan.conf >short.conf
status 1 "$HEDDLE" qos lint short.conf
has out 'SL4 and above go to VL0'

# Weights are whole packets: 65 blocks of 4 KiB payload.
status 0 "$HEDDLE" qos plan --json a=50% b=50%
has out '"65"'

status 3 "$HEDDLE" qos plan a=70% b=40%
one_line err
has err 'the shares add up to 110% of the link'
status 3 "$HEDDLE" qos plan --entries 8 a=2% b=98%
one_line err
has err "96.55% at most: this takes 11 entries"
status 2 "$HEDDLE" qos plan --entries 65 a=2% b=98%
# Nothing of a plan is dropped by ports with eight entries.
status 0 "$HEDDLE" qos plan --entries 8 --conf a=30% b=20% c=15% d=10% e=10% \
	f=10% g=5% -o small.conf
status 0 "$HEDDLE" qos lint --entries 8 small.conf
status 3 "$HEDDLE" qos plan mpi
one_line err
status 2 "$HEDDLE" qos plan
status 2 "$HEDDLE" qos plan --vls 3 a=10%

# Slots of paper 000 at 2.5 Gb/s: 64 Kb/s is 1, 64 Mb/s 418, 300 Mb/s 1959.
status 0 "$HEDDLE" qos table --link 2.5Gb/s --csv DB:64Kb/s DB:64Mb/s DB:300Mb/s
has out 'DB:64Mb/s,2,2,418'
has out 'DB:300Mb/s,3,3,1959'
status 1 "$HEDDLE" qos table --link 1Gb/s DB:900Mb/s
status 3 "$HEDDLE" qos table BE:1Gb/s
one_line err

# Admission names the link, saves the admitted connections, and loads them again.
printf 'h0 h3 DB 5Gb/s\nh1 h3 DB 3Gb/s\n' >flows
status 1 "$HEDDLE" qos admit --requests flows --save saved "$net"
has out "link 's1'[3] -> 's2'[3] is full"
status 0 "$HEDDLE" qos admit --from saved "$net"
has out 'live:           1'
# A host more: LIDs move, the reservation does not. A host less, or another
# host under its GUID: refused.
"$HEDDLE" topo gen star --hosts 3 -o three.ibnet
"$HEDDLE" topo gen star --hosts 4 -o four.ibnet
printf 'h0 h2 DB 1Gb/s\n' >flows
status 0 "$HEDDLE" qos admit --requests flows --save moved three.ibnet
status 0 "$HEDDLE" qos admit --from moved --save again four.ibnet
cmp moved again || fail "the reservation was moved: $(cat again)"
grep -q '"h2"' again || fail "no names: $(cat again)"
"$HEDDLE" topo gen star --hosts 2 -o two.ibnet
status 3 "$HEDDLE" qos admit --from moved two.ibnet
one_line err
has err "moved:3: no end port has GUID"
sed 's/"h2"/"hx"/; s/"h1"/"h2"/; s/"hx"/"h1"/' three.ibnet >swapped.ibnet
status 3 "$HEDDLE" qos admit --from moved swapped.ibnet
one_line err
has err "is that of 'h1' now, and 'h2' has another"
# One link is one link: a port's tables and a fabric with its VLs give the same
# answers, though entries run short, and classes have the same VLs.
awk 'function draw() { x = x * 16807 % 2147483647; return x / 2147483647 }
	BEGIN { x = 3; for (i = 0; i < 60; i++)
	print (draw() < 0.5 ? "DB" : "DBTS"), int(exp(draw() * 19)) + 1 }' >asked
awk '{ print "h1 h0", $1, $2 "b/s" }' asked >flows
for vls in 1 2 4 8 15; do
	# shellcheck disable=SC2046 # one word for each connection
	"$HEDDLE" qos table --vls $vls --link 2Gb/s --best-effort 84% --json \
		$(awk '{ print $1 ":" $2 "b/s" }' asked) >out || [ $? -eq 1 ]
	jq -c '[.tables.connections.rows[].admitted], .notes' out >alone
	"$HEDDLE" qos admit --requests flows --overhead 0 --margin 0 --best-effort 84% --json \
		--set qos.vls=$vls 'star --hosts 2 --link=1xSDR' >out || [ $? -eq 1 ]
	jq -c '[.tables.requests.rows[].admitted], .notes' out >fabric
	cmp alone fabric || fail "$vls VLs: $(cat alone fabric)"
done
# Ways across a router have a part in each subnet; their bounds add up.
"$HEDDLE" topo gen routed --subnets 2 -o apart.topo
printf 'h0 h7 DB 1Gb/s\n' >flows
status 0 "$HEDDLE" qos admit apart.topo --requests flows
status 0 "$HEDDLE" qos bound apart.topo flows --json
jq -e '.tables | .flows.rows[0].bound as $all | [.parts.rows[].subnet] == [0, 1] and
	([.parts.rows[].bound] | add - $all | fabs) < 1e-9' out >jq.out ||
	fail "parts: $(jq -c .tables out)"
printf 'h0 h9 DB 5Gb/s\n' >flows
status 3 "$HEDDLE" qos admit --requests flows "$net"
one_line err
has err "no end port is called 'h9'"

# No pairs, no connections; and a cable has one speed at both ends.
for hosts in 0 1; do
	status 3 "$HEDDLE" qos admit --random 3 "star --hosts $hosts"
	one_line err
	has err "connections need two hosts with a cable, the fabric has $hosts"
done
printf 'h0 h0 DB 1Mb/s\n' >flows
for command in "admit --requests flows" bound "reserve --requests flows"; do
	requests=
	[ "$command" != bound ] || requests=flows
	# shellcheck disable=SC2086 # words
	status 3 "$HEDDLE" qos $command "$net" $requests
	one_line err
	has err "flows:1: 'h0' asks for a way to itself"
done
"$HEDDLE" topo gen star --hosts 3 --link '4x QDR' -o uneven.ibnet
sed -i '11s/QDR/SDR/' uneven.ibnet
for command in "qos admit --random 5" "topo show" "route"; do
	status 3 "$HEDDLE" $command uneven.ibnet
	one_line err
	has err "uneven.ibnet:11: the ends of a cable have no speed in common"
done

# Statistically more sources fit than by their peaks. More than 10 of 21, on a
# fifth of the time each, are on in 0.097 % of the time: the binomial tail. By
# peaks 8 of 816 slots fit: best effort has 32 of 64 entries, the six other VLs
# one each, and 26 entries are 6,630 slots.
"$HEDDLE" topo gen star --hosts 31 --link '4x SDR' -o hub.ibnet
for i in $(seq 30); do echo "h$i h0 DB 400Mb/s~80Mb/s"; done >flows
status 1 "$HEDDLE" qos admit --violations 2% --best-effort 50% --overhead 0 --margin 0 \
	--requests flows --json hub.ibnet
jq -e '([.tables.requests.rows[] | select(.admitted)] | length) == 21 and
	([.tables.requests.rows[] | select(.["by peak"])] | length) == 8 and
	(.tables.violations.rows | length) == 1 and
	(.tables.violations.rows[0] | .sources == 21 and .asked == 2 and
		.bound <= 2 and .bound > 0.097 and
		(.seen - 0.097 | fabs) < 3 * .["seen +-"] and
		.["seen +-"] < 0.05)' out >jq.out ||
	fail "statistical admission: $(jq -c .tables.violations out)"
has out "link 'hub'[1] could be asked for too much"
head -n 21 flows >fewer
status 0 "$HEDDLE" qos admit --violations 2% --best-effort 50% --overhead 0 --margin 0 \
	--requests fewer hub.ibnet
status 2 "$HEDDLE" qos admit --violations 100% --requests flows hub.ibnet
status 2 "$HEDDLE" qos admit --violations 2% --random 5 hub.ibnet
rm -f file
for other in --save --from; do
	status 2 "$HEDDLE" qos admit --violations 2% --requests flows $other file hub.ibnet
	[ ! -e file ] || fail "$other wrote a file"
done
printf 'h0 h3 DB 1Gb/s~2Gb/s\n' >flows
status 3 "$HEDDLE" qos admit --violations 2% --requests flows hub.ibnet
one_line err
has err 'flows:1: a mean rate cannot be above its peak'

# Bounds: a latency is held against the bound; fifo has none.
printf 'h0 h3 DBTS 32Mb/s 4KiB 200us\nh1 h3 DB 64Mb/s 8KiB\n' >flows
status 0 "$HEDDLE" qos bound "$net" flows
has out 'grouped[us]'
printf 'h0 h3 DBTS 32Mb/s 4KiB 1us\n' >flows
status 1 "$HEDDLE" qos bound "$net" flows
has out 'its deadline of 1.000 us would be missed: bound '
# A burst is payload: one packet of 2 KiB has 2074 bytes on the wire in all commands, and takes 2074
# ns on each of three links of 8 Gb/s.
printf 'h0 h3 DB 8Mb/s\nh0 h3 DB 8Mb/s 2KiB\nh0 h3 DB 8Mb/s 4KiB\n' >flows
for n in 1 2 3; do
	sed -n ${n}p flows >one
	status 0 "$HEDDLE" qos bound --json "$net" one
	jq '.tables.flows.rows[0].bound' out
done >alone
awk '{ b[NR] = $1 } END { exit !(b[1] == b[2] && b[3] > b[2] + 2) }' alone ||
	fail "bursts: $(cat alone)"
# The flow whose deadline would be missed is named.
printf 'h0 h3 DB 8Mb/s\n\nh1 h3 DBTS 8Mb/s 2KiB 30us\nh1 h3 DBTS 8Mb/s 64KiB 10ms\n' >flows
status 1 "$HEDDLE" qos bound "$net" flows
has out "the deadline of 'h1' -> 'h3' of 30.000 us would be missed: bound "
printf 'h0 h3 DBTS 32Mb/s 4KiB 1us\n' >flows
status 1 "$HEDDLE" qos bound --order fifo "$net" flows
has out 'there is no bound (order: fifo'
# With a crossbar the same flows get a larger bound, and the buffers that it needs.
printf 'h0 h3 DB 32Mb/s 4KiB\n' >cross
for queueing in input cioq; do
	status 0 "$HEDDLE" qos bound --queueing $queueing --json "$net" cross
	jq '.tables.flows.rows[0].bound' out
done >promised
jq -e '[.tables.hops.rows[] | .output != null] == [false, true, true]' out \
	>jq.out || fail "output queues: $(jq -c .tables.hops.rows out)"
awk 'NR == 1 { first = $1 } END { exit !(NR == 2 && $1 > first) }' promised ||
	fail "bounds with a crossbar: $(cat promised)"
status 2 "$HEDDLE" qos bound --queueing cioq --speedup 0.5 "$net" cross
printf 'h0 h3 DBTS\n' >flows
status 3 "$HEDDLE" qos bound "$net" flows
has err 'flows:1: 3 words'

# The evaluation of a small fabric: connections that fit, and results of all of them.
status 0 "$HEDDLE" qos evaluate --mix high --switches 8 --topology mesh \
	--size 4096 --csv
has out '1x,mesh,8,4096,1,,'
status 0 "$HEDDLE" qos evaluate --establish --seeds 2 --mix high --switches 8 \
	--topology mesh --size 4096 --tried 100 --json
jq -e '[.tables.runs.rows[] | .established == 100] == [true, true]' out \
	>jq.out || fail "establishing: $(jq -c .tables.runs.rows out)"
status 2 "$HEDDLE" qos evaluate --rule never
# Headers without slots: 8 bytes next to 256 are 3 % more than was reserved.
status 0 "$HEDDLE" qos evaluate --mix high --switches 8 \
	--topology mesh --size 256 --reserve payload --json
jq -e '.tables.runs.rows[0] | (.delivered / .reserved * 256 / 264 - 1 |
	fabs) < 0.002 and .most > 80' out >jq.out ||
	fail "reserving payload only: $(jq -c .tables.runs.rows out)"
# Fewer retries establish fewer connections.
for retries in 10 3000; do
	status 0 "$HEDDLE" qos evaluate --mix high --switches 8 \
		--topology mesh --size 4096 --retries $retries --json
	jq '.tables.runs.rows[0].established' out
done >established
[ "$(head -n 1 established)" -lt "$(tail -n 1 established)" ] ||
	fail "retries: $(cat established)"

# A file without any QoS key is valid, but reported.
printf 'guid 0x1\n' >other.conf
status 0 "$HEDDLE" qos lint other.conf
has out 'no QoS key is in this file'
printf 'qos TRUE\n' >other.conf
"$HEDDLE" qos lint other.conf >out 2>&1 || true
! grep -q 'no QoS key' out || fail "a QoS key was not seen"

# DiffServ: RFC 2597's and 3246's code points, and what four VLs lose.
status 0 "$HEDDLE" qos diffserv --csv
has out 'EF,46,184,DBTS,0,0'
has out 'AF41,34,136,DB,1,1'
has out 'AF13,14,56,DB,4,4'
has out 'default,0,0,BE,5,5'
has out 'LE,1,4,CH,6,6'
has out '1,AF41,136'
status 0 "$HEDDLE" qos diffserv --vls 4
has out "drop precedence has no counterpart"
has out "AF1 to AF4 share an SL"
status 0 "$HEDDLE" qos diffserv --vls 4 --csv
has out 'AF41,34,136,DB,1,1'
has out 'AF13,14,56,DB,1,1'
has out 'LE,1,4,CH,3,3'
status 2 "$HEDDLE" qos diffserv --vls 3
status 2 "$HEDDLE" qos diffserv EF

# Signalling over three subnets of 8 Gb/s. The source's own link has room for
# 16320 - 3264 (best effort) - 6 (the other VLs) - 11016 (5.4 Gb/s) = 2034 slots,
# not for 4080.
"$HEDDLE" topo gen routed --subnets 3 --link '4x SDR' -o routed.topo
printf 'h0 h1 DB 5400Mb/s\nh0 h11 DB 2Gb/s\nh4 h11 DBTS 1Gb/s\n' >flows
status 1 "$HEDDLE" qos reserve --requests flows --overhead 0 --margin 0 routed.topo --json
jq -e '.tables as $t | [$t.flows.rows[].confirmed] == [true, false, true] and
	([$t.messages.rows[] | select(.flow == 2) | .message] ==
		["PATH", "PATH", "PATH", "PATH", "RESV", "RESV", "RESV",
		"RESV_ERROR", "RESV_ERROR", "RESV_ERROR"]) and
	([$t.messages.rows[] | select(.message == "RESV_ERROR") | .why] |
		unique | length == 1 and (.[0] | test("needs 4080 slots, has 2034"))) and
	([$t.managers.rows[] | select(.time == 0) | .reserved] == [1, 1, 1]) and
	([$t.managers.rows[] | select(.time == 30) | ."flows known"] == [0, 0, 0])' \
	out >jq.out || fail "signalling: $(jq -c .tables out)"
# With headers packets of 2048 have 33 blocks of 64, and 34 with a GRH to other
# subnets: 11361 and 4335 slots.
status 1 "$HEDDLE" qos reserve --requests flows --margin 0 routed.topo
has out 'needs 4335 slots, has 1689'
# A refreshed reservation is kept; TEAR ends it at once.
printf 'h0 h11 DB 2Gb/s\n' >flows
status 0 "$HEDDLE" qos reserve --requests flows --until 25s routed.topo --csv
has out '50,2,0,0'
status 0 "$HEDDLE" qos reserve --requests flows --until 20s --tear routed.topo --json
jq -e '[.tables.managers.rows[].time] | max == 20' out >jq.out ||
	fail "teardown: $(jq -c .tables.managers out)"
printf 'h0 unknown DB 2Gb/s\n' >flows
status 3 "$HEDDLE" qos reserve --requests flows routed.topo
has err "flows:1: no end port is called 'unknown'"
status 2 "$HEDDLE" qos reserve --requests flows --repeat 0s routed.topo

# Classification: the SL of a policy file, and the line that decides.
printf 'qos-ulps\n sdp : 3\n any, target-port-guid 0x0-0xffffffffffffffff : 5\n default : 1\nend-qos-ulps\n' >policy
status 0 "$HEDDLE" qos classify --service-id 0x10001 --csv policy
has out '3,2,'
status 0 "$HEDDLE" qos classify --csv policy
has out '1,4,'
status 0 "$HEDDLE" qos classify --fabric "$net" --source h0 --destination h3 --csv policy
has out '5,3,'
printf 'qos-ulps\n sdp : 99\nend-qos-ulps\n' >policy
status 3 "$HEDDLE" qos classify policy
has err 'policy:2:'
# A group is reserved once on each link of its tree: three times 600 Mb/s do not fit the sender's
# link of 2 Gb/s (20 % for best effort); one flow to three members fits, twice, also from a host
# outside the group; and reservations can be loaded.
"$HEDDLE" topo gen star --hosts 5 --link '1x SDR' -o star.ibnet
for member in h1 h2 h3; do
	echo "h0 $member DB 600Mb/s"
done >singles
status 1 "$HEDDLE" qos admit --requests singles star.ibnet --json
jq -e '[.tables.requests.rows[].admitted] == [true, true, false]' out ||
	fail "singles: $(cat out)"
printf 'h0 group:g DB 600Mb/s\nh4 group:g DB 600Mb/s\n' >many
status 0 "$HEDDLE" qos admit --requests many --group g:shared=h1,h2,h3 --margin 0 \
	--save saved star.ibnet --json
jq -e '.tables.groups.rows == [{"group": "g", "tree": "shared",
	"MLID": 49152, "members": 3, "senders besides": 2}]' out ||
	fail "group: $(cat out)"
# 600 Mb/s with 66 bytes to 2048 are 637.5 in whole blocks: a third does not fit h1's link.
echo 'h2 group:g DB 600Mb/s' >third
status 1 "$HEDDLE" qos admit --from saved --requests third --margin 0 \
	--group g:shared=h1,h2,h3 star.ibnet
has out 'is full'
status 3 "$HEDDLE" qos admit --requests many star.ibnet
one_line err
has err "no group is called 'group:g'"
status 3 "$HEDDLE" qos admit --requests many --group g:shortest@h4=h1,h2 \
	star.ibnet
has err 'has another source'
status 3 "$HEDDLE" qos admit --requests many --group g=h1 star.ibnet
has err 'is not a group'
# The sender's way to the tree is found again, switches away.
echo 'h15 group:g DB 600Mb/s' >far
"$HEDDLE" topo gen mesh --hosts 1 --link '1x SDR' -o mesh.ibnet
status 0 "$HEDDLE" qos admit --requests far --group g:shared=h0,h1 \
	--save saved mesh.ibnet
status 0 "$HEDDLE" qos admit --from saved --group g:shared=h0,h1 mesh.ibnet \
	--json
jq -e '.tables.summary.rows[0].live == 1' out || fail "loaded: $(cat out)"

# A bound for each member of a group: alone on a star, what a flow to that member
# would have, if its packets had a GRH too; and 60 % of the sender's link for all three of them, which three
# flows do not get.
echo 'h0 h1 DB 1.2Gb/s' >one
echo 'h0 group:g DB 1.2Gb/s' >group
status 0 "$HEDDLE" qos bound --overhead 66 star.ibnet one --json
told=$(jq '.tables.flows.rows[0].bound' out)
status 0 "$HEDDLE" qos bound --group g:shared=h1,h2,h3 star.ibnet group --json
jq -e --argjson told "$told" '[.tables.flows.rows[] | .flow, .bound] ==
	["h0 -> h1", $told, "h0 -> h2", $told, "h0 -> h3", $told]' out ||
	fail "group bound: $(cat out)"
printf 'h0 h1 DB 1.2Gb/s\nh0 h2 DB 1.2Gb/s\n' >two
status 1 "$HEDDLE" qos bound star.ibnet two
has out 'is full'
# Reserved unicast next to it: a member's link that is full refuses the group.
printf 'h4 h2 DB 1.2Gb/s\nh0 group:g DB 1.2Gb/s\nh0 h1 DB 1.2Gb/s\n' >nearby
status 1 "$HEDDLE" qos bound --group g:shared=h1,h2,h3 star.ibnet nearby --json
jq -e '[.tables.flows.rows[].admitted] == [true, false, true]' out ||
	fail "next to: $(cat out)"

# A job's reservation counts before any request, in sim, admit and bound: 1 Gb/s in packets of
# 65 blocks and 5 % are 2176 of the 13056 slots that best effort leaves, and each film takes 2872.
cat >job.yaml <<'Y'
fabric: {topology: {kind: star, hosts: 4}, link: {rate: 8Gb/s}}
qos:
  vls: 15
  classes:
  - {name: train, sl: 6, kind: DB}
  - {name: film, sl: 2, kind: DB}
  - {name: rest, sl: 8, kind: BE}
traffic:
- {name: film0, class: film, kind: cbr, rate: 1.3Gb/s, payload: 2048, source: h0, destination: h1, pattern: pairs}
- {name: film1, class: film, kind: cbr, rate: 1.3Gb/s, payload: 2048, source: h0, destination: h1, pattern: pairs}
- {name: film2, class: film, kind: cbr, rate: 1.3Gb/s, payload: 2048, source: h0, destination: h1, pattern: pairs}
- {name: film3, class: film, kind: cbr, rate: 1.3Gb/s, payload: 2048, source: h0, destination: h1, pattern: pairs}
- {name: film4, class: film, kind: cbr, rate: 1.3Gb/s, payload: 2048, source: h0, destination: h1, pattern: pairs}
jobs:
- {name: train, class: train, reserve: 1Gb/s, on: "0..3", program: [{alltoall: 64KiB}]}
run: {measure: 100us, horizon: 10ms}
Y
for _ in 1 2 3 4 5; do echo 'h0 h1 film 1.3Gb/s'; done >films
agree() { # ANSWERS OPTIONS...: the three admissions
	answers=$1
	shift
	status 0 "$HEDDLE" sim job.yaml --json "$@"
	jq -e --argjson wanted "$answers" '[.tables.connections.rows[] |
		select(.traffic != "train") | .admitted] == $wanted' out || fail "sim: $(cat out)"
	status 1 "$HEDDLE" qos admit --requests films job.yaml --json "$@"
	jq -e --argjson wanted "$answers" '[.tables.requests.rows[].admitted |
		if . then 1 else 0 end] == $wanted' out || fail "admit: $(cat out)"
	status 1 "$HEDDLE" qos bound job.yaml films --json "$@"
	jq -e --argjson wanted "$answers" '[.tables.flows.rows[].admitted |
		if . then 1 else 0 end] == $wanted' out || fail "bound: $(cat out)"
}
agree '[1,1,1,0,0]'
agree '[1,1,1,1,0]' --set jobs.train.class=rest --set jobs.train.reserve=none
status 1 "$HEDDLE" qos admit --requests films job.yaml --json
jq -e '.tables.jobs.rows == [{job: "train", sl: 6, hosts: 4, "rate per host": 1066.40625, links: 8}]' \
	out || fail "jobs: $(cat out)"
status 0 "$HEDDLE" sim job.yaml --json
jq -e '.tables.connections.rows[] | select(.traffic == "train") |
	.kind == "DB" and .asked == 1 and .admitted == 1 and .blocking == 0 and .broken == 0 and
	.held == 1' out || fail "job: $(cat out)"
status 3 "$HEDDLE" qos admit --requests films --set jobs.train.reserve=7Gb/s job.yaml
one_line err
has err "the reservation of job 'train' is refused: link 'hub'[1] -> 'h0'[1] is full: needs 15229"
status 3 "$HEDDLE" qos admit --requests films --violations 1% job.yaml
one_line err
has err "does not count the reservation of job 'train'"

# Acknowledgements of messages of 5 blocks are one block each: 1071 slots of the reverse path, with
# which 12150 do not fit next to best effort.
for rc in '' ' 256 rc'; do
	printf 'h0 h1 film 2Gb/s%s\nh1 h0 film 5.5Gb/s\n' "$rc" >reverse
	status $([ -n "$rc" ] && echo 1 || echo 0) "$HEDDLE" qos admit --requests reverse job.yaml \
		--set jobs.train.class=rest --set jobs.train.reserve=none
done
has out "link 'h1'[1] -> 'hub'[2] is full: needs 12150 slots"
status 3 "$HEDDLE" qos admit --requests reverse --save saved job.yaml \
	--set jobs.train.class=rest --set jobs.train.reserve=none
one_line err
has err 'cannot be saved'
echo 'h0 h1 film 1Gb/s 4KiB 100us rc' >wrong
status 3 "$HEDDLE" qos admit --requests wrong job.yaml
one_line err
has err 'wrong:1: an rc connection has no latency'
