# Jobs of a scenario: durations, rejected fields with their position, and operations that wait
# forever.
. "$SRC/tests/cli/lib.sh"

scenario() {
	cat >"$1" <<END
fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}
jobs:
  - {name: a, $2}
${3:-}
END
}

# Two messages of half the bytes: 2 (110 ns + 4 * 4122 bytes at 25 B/ns).
scenario ok.yaml "ranks: 2, program: [{allreduce: 32KiB}]"
status 0 "$HEDDLE" sim ok.yaml --json
jq -e '.tables.jobs.rows[0] | .completion == 1.53904 and .slowdown == 1 and
	.messages == 4 and .bytes == 65536' out >jq.out ||
	fail "not the closed form: $(cat out)"
# Rates are those of rows of traffic: where there are none, no zero is.
jq -e '.tables.summary.rows[0] | .offered == null and .delivered == null and
	.packets == 16' out >jq.out ||
	fail "rates of traffic that is not there: $(cat out)"

# Only goals determine the status.
scenario met.yaml "program: [{barrier: 0}]" \
	"goals: [{job: a, completion: 222080ps, slowdown: 1}]"
status 0 "$HEDDLE" sim met.yaml
scenario missed.yaml "program: [{barrier: 0}]" \
	"goals: [{completion: 222079ps}]"
status 1 "$HEDDLE" sim missed.yaml
has out "222.08ns"

# With endless traffic, the run ends with its jobs.
scenario nearby.yaml "program: [{allreduce: 1MiB}]" \
	"traffic: [{name: t, kind: saturating}]"
status 0 "$HEDDLE" sim nearby.yaml --json
jq -e '.tables.jobs.rows[0] | .slowdown > 1.2 and .slowdown < 5' out >jq.out ||
	fail "no slowdown next to other traffic: $(cat out)"

# The same results on any number of threads.
for threads in 1 2 3; do
	"$HEDDLE" sim "$SRC/examples/jobs.yaml" --threads $threads --json \
		>"$threads.json"
	cmp 1.json "$threads.json"
done

# refused TEXT JOB [REST]: one line with file and line, status 3.
refused() {
	scenario bad.yaml "$2" "${3:-}"
	status 3 "$HEDDLE" sim bad.yaml
	empty out
	has err "$1"
	has err "bad.yaml:"
	one_line err
}
refused "5 ranks, but there are 4 hosts" \
	"ranks: 5, program: [{barrier: 0}]"
# A list of names is a placement: a repeated name is an error. A pattern in the list fills the
# remaining ranks.
refused "'h0' is named twice" 'on: "h0,h0,h1", program: [{barrier: 0}]'
refused "'h1' is named twice" 'on: "0..2,h1", program: [{barrier: 0}]'
refused "'h3' is named twice" 'program: [{read: 1KiB, to: "h3,h3"}]'
scenario rest.yaml 'on: "h3,h1..h2,h*", program: [{barrier: 0}]'
status 0 "$HEDDLE" sim rest.yaml --json
jq -e '[.tables.ranks.rows[].host] == ["h3", "h1", "h2", "h0"]' out >jq.out ||
	fail "ranks are not where 'on' has them: $(cat out)"
refused "needs a program or a goal" "ranks: 2"
refused "without an operation" "program: [{groups: 2}]"
refused "compute and allreduce in one step" \
	"program: [{compute: 1us, allreduce: 1KiB}]"
refused "no algorithm 'rign'" \
	"program: [{allreduce: 1KiB, algorithm: rign}]"
refused "needs servers" "program: [{write: 1KiB}]"
refused "groups of one size" "program: [{allgather: 1KiB, groups: 3}]"
refused "power of two" \
	"ranks: 3, program: [{allgather: 1KiB, algorithm: doubling}]"
refused "does not have 4 places" "program: [{halo: 1KiB, grid: 3x3}]"
refused "is not a grid" "program: [{halo: 1KiB, grid: 2+2}]"
refused "no class 'mpi'" "class: mpi, program: [{barrier: 0}]"
refused "no job 'b'" "program: [{barrier: 0}]" \
	"goals: [{job: b, completion: 1us}]"
refused "none.goal" "goal: none.goal"
refused "2TiB" "program: [{allgather: 2TiB}]"
refused "2^40" "program: [{alltoall: 1TiB}]"

# Errors in files have the line of the file.
goal() {
	printf 'num_ranks 2\nrank 0 {\n%s\n}\n' "$2" >x.goal
	refused "x.goal:$1" "goal: x.goal"
	has err "$3"
}
goal 3 "send 1b to 0" "itself"
goal 3 "send 1099511627777b to 1" "size"
goal 4 "a: calc 1
a requires b" "'b'"
goal 5 "a: calc 1
b: calc 1
a requires b
b requires a" "circle"

# Operations that hang are named, and the status is 1.
printf 'num_ranks 2\nrank 1 {\nrecv 5b from 0\n}\n' >x.goal
scenario hangs.yaml "goal: x.goal"
status 1 "$HEDDLE" sim hangs.yaml
has out "no message arrives for it"
has out "x.goal:3"
has out "1 of 2 ranks"

# A job that never begins is reported; neither warm-up nor the measured time, which jobs do not
# have, prevents a short run.
scenario late.yaml "start: 1ms, program: [{barrier: 0}]" "run: {horizon: 100us}"
status 1 "$HEDDLE" sim late.yaml
has out "never begins: its start is at 1ms, and run.horizon ends the run at 100us"

# What goes to a group has a GRH with the group's GID in captures, and what is
# of any size is padded: as others' tools read it.
scenario group.yaml "program: [{broadcast: 5001, algorithm: multicast},
	{allreduce: 9, algorithm: in-network}, {alltoall: 3}]"
status 0 "$HEDDLE" sim group.yaml --pcap group.pcap
status 0 "$HEDDLE" decode -s group.pcap
tshark --disable-heuristic rpcrdma_infiniband -r group.pcap -T fields \
	-e infiniband.lrh.dlid -e infiniband.grh.dgid \
	-e infiniband.bth.padcnt 2>tshark.err | tr '\t' ' ' | sort | uniq -c |
	sed 's/^ *//' >groups
# Packets of 4096 and 905 bytes over four cables each; 9 bytes of each rank to
# the hub and of the hub to each; twelve messages of 3 bytes over two cables.
cat >expected <<'END'
6 1  1
6 3  1
6 4  1
4 49152 ff12:401b:ffff::c000 0
4 49152 ff12:401b:ffff::c000 3
8 49153 ff12:401b:ffff::c001 3
6 5  1
END
cmp groups expected || fail "$(cat groups tshark.err)"
scenario two.yaml "program: [{broadcast: 5001, algorithm: multicast}]"
status 3 "$HEDDLE" sim two.yaml --pcap two.pcap \
	--set fabric.packet.overhead=66 --set fabric.packet.multicast_grh=yes
has err "two GRHs"

scenario rc.yaml "transport: rc, program: [{barrier: 0}]"
status 3 "$HEDDLE" sim rc.yaml --pcap rc.pcap
has err "over queue pairs"

# heddle job show: sums, pairs, and the time on an ideal network: 1 us and
# 25 bytes a ns.
cat >x.goal <<'END'
num_ranks 3
rank 0 {
a: calc 100
b: send 25000b to 1
b requires a
send 50b to 2
}
rank 1 {
recv 25000b from 0
}
rank 2 {
recv 50b from 0
}
END
status 0 "$HEDDLE" job show x.goal --json
jq -e '.tables.job.rows[0] == {ranks: 3, operations: 5, sends: 2, receives: 2,
		computations: 1, dependencies: 1, bytes: 25050, computing: 0.1} and
	.tables.pairs.rows[0] == {from: 0, to: 1, messages: 1, bytes: 25000} and
	(.tables["critical path"].rows[0] | .completion == 2.1 and
	.compute == 0.1 and .messages == 2 and .number == 1)' out >jq.out ||
	fail "not what the file does: $(cat out)"
status 0 "$HEDDLE" job show x.goal --goal
"$HEDDLE" job show out --goal >again.goal
cmp out again.goal
printf 'num_ranks 2\nrank 1 {\nrecv 5b from 0\n}\n' >x.goal
status 1 "$HEDDLE" job show x.goal
has out "the job does not come to its end: 1 of 2 ranks are done"
grep -q "^ *1  receive  *x.goal:3  rank 0  *5  no message arrives for it" out ||
	fail "what hangs is not named: $(cat out)"
{
	echo 'num_ranks 1 rank 0 {'
	for _ in 1 2 3 4 5 6 7 8 9 10; do echo calc 1000000000000000; done
	echo '}'
} >x.goal
status 3 "$HEDDLE" job show x.goal
has err "x.goal:11: the job takes more than 106 days"
echo 'num_ranks 2 rank 0 { send 1b to 0 }' >x.goal
status 3 "$HEDDLE" job show x.goal
has err "x.goal:1: rank 0 sends to itself"

# A field without a meaning for a step is rejected; its default is not.
n=0
while read -r field step; do
	cat >fields.yaml <<END
fabric: {topology: {kind: star, hosts: 4}}
jobs:
- name: a
  program:
  - {$step,
     $(echo "$field" | tr = ' ')}
END
	sed -i 's/^     \([a-z]*\) /     \1: /' fields.yaml
	status 3 "$HEDDLE" sim fields.yaml
	one_line err
	has err "fields.yaml:6:"
	has err "'${field%%=*}' has no meaning for ${step%%:*} by"
	n=$((n + 1))
done <<'END'
root=1 allreduce: 4KiB
root=1 barrier: 0
root=1 alltoall: 1KiB
segment=1KiB allreduce: 4KiB
segment=1KiB allreduce: 4KiB, algorithm: doubling
segment=1KiB broadcast: 4KiB
grid=2x2 allgather: 4KiB
groups=2 compute: 1us
layout=strides compute: 1us
groups=2 write: 4KiB, to: h3
request=4KiB reduce: 4KiB
outstanding=2 shift: 4KiB
END
[ "$n" -eq 12 ]
cat >fields.yaml <<END
fabric: {topology: {kind: star, hosts: 4}}
jobs:
- {name: a, program: [{allreduce: 4KiB, root: 0, groups: 1, layout: blocks,
   segment: none, request: 1MiB, outstanding: 8}]}
END
status 0 "$HEDDLE" sim fields.yaml

# A trace names the sender.
status 0 "$HEDDLE" sim ok.yaml --trace trace
grep -q " sends h0 'job a' #" trace || fail "a trace does not name the job"
lacks trace "queue pair"

# The numbers of docs/jobs.md are those that the commands give: of each job its
# completion and its slowdown, as cells of a row.
documented() {
	status 0 "$HEDDLE" sim "$@" --json
	cells=$(jq -r '.tables.jobs.rows[] | [.completion, .slowdown] | @tsv' out |
		awk '{ printf " | %.2f us | %.3f", $1, $2 }')
	grep -qF -- "$cells |" "$SRC/docs/jobs.md" ||
		fail "docs/jobs.md does not say '$cells' of heddle sim $*"
}
documented "$SRC/examples/jobs.yaml"
sed '/^goals:/,$d' "$SRC/examples/jobs.yaml" >no-goals.yaml
documented no-goals.yaml --set jobs.train.class=storage
documented "$SRC/examples/job-interference.yaml"
documented "$SRC/examples/job-interference.yaml" --set congestion.algorithm=cct
documented "$SRC/examples/job-interference.yaml" --set jobs.train.class=mpi

# The same of messages over queue pairs: a row for each transport.
errors=$SRC/examples/job-errors.yaml
errors_time() {
	"$HEDDLE" sim "$errors" --json "$@" |
		jq '.tables.jobs.rows[0].completion' |
		awk '{ printf "%s", $1 == "null" ? "never" : sprintf("%.2f us", $1) }'
}
errors_row() {
	cells="| $(errors_time --set faults.ber=0 "$@") | $(errors_time "$@") |"
	grep -qF -- "$cells" "$SRC/docs/jobs.md" ||
		fail "docs/jobs.md does not say '$cells' of job-errors.yaml $*"
}
errors_row --set jobs.train.transport=plain
errors_row --set jobs.train.ack_timeout=65us
errors_row

# On any number of threads, next to rows over queue pairs and with congestion
# control.
cat >rc.yaml <<'END'
fabric: {topology: {kind: xgft, down: "4,4", up: "1,2"}, link: {rate: 4x HDR}}
faults: {ber: 1e-7}
congestion: {algorithm: cct}
traffic: [{name: x, kind: poisson, rate: 20Gb/s, payload: 2048, pattern: permutation, transport: rc}]
jobs:
- {name: a, transport: rc, ack_timeout: 33us, program: [{allreduce: 256KiB}, {alltoall: 32KiB, algorithm: linear}]}
END
for n in 1 2 3; do
	status 0 "$HEDDLE" sim rc.yaml --threads $n --all --json
	cp out rc.$n
	cmp rc.1 rc.$n || fail "$n threads compute something else"
done
jq -e '.tables["job queue pairs"].rows[0].retries > 0' rc.1 >jq.out ||
	fail "nothing was sent again"
has rc.1 '"queue pairs"'

# Options that jobs with queue pairs do not support.
cat >routed.yaml <<'END'
fabric: {topology: {kind: routed, subnets: 2, hosts: 4, link: 4x EDR}}
jobs:
- {name: a, transport: rc, program: [{allreduce: 64KiB}]}
END
status 3 "$HEDDLE" sim routed.yaml
has err "routed.yaml:3:24: job 'a': queue pairs cross no router, as there is between 'h3' and 'h4'"
status 2 "$HEDDLE" sim rc.yaml --set jobs.a.transport=uc
has err "'uc' is not one of plain, rc"
status 3 "$HEDDLE" sim rc.yaml --set jobs.a.transport=plain
has err "'ack_timeout' has no meaning when jobs[].transport is plain"

# A cable stays pulled: the table names the waiting operations and no false deadlock.
cat >pulled.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}
jobs: [{name: a, program: [{shift: 100000}]}]
faults: {events: [{at: 1us, kind: link-down, port: "h2:1"}]}
END
status 1 "$HEDDLE" sim pulled.yaml --json
jq -e '.tables as $t | ($t | has("deadlock") | not) and
	(.notes | any(startswith("the fabric is blocked at "))) and
	([$t["failed operations"].rows[] | [.rank, .operation, .problem]] == [
		[1, "send", "packets of it are lost"],
		[2, "receive", "its message does not arrive"],
		[2, "send", "it is not sent"],
		[3, "receive", "its message does not arrive"]])' out ||
	fail "a pulled cable: $(cat out)"

# Jobs that switches reduce for: as many trees as there are at once, and no more
# because each job runs alone, too.
cat >trees.yaml <<'YAML'
fabric: {topology: {kind: fat-tree, radix: 4, levels: 2}, reduction: {trees: 2}}
jobs:
  - {name: a, on: "h0..h3", program: [{allreduce: 4KiB, algorithm: in-network}]}
  - {name: b, on: "h4..h7", program: [{allreduce: 4KiB, algorithm: in-network}]}
YAML
status 0 "$HEDDLE" sim trees.yaml --json
jq -e '[.tables.jobs.rows[].alone] | length == 2 and all(. > 0)' out >/dev/null ||
	fail "jobs that reduce do not run alone"
status 3 "$HEDDLE" sim trees.yaml --set fabric.reduction.trees=1
has err "job 'b': switch 's2-0' has 1 aggregation trees already"

# A stuck sink holds packets in the switch and, at the same time, those behind them in the host:
# together they wait no longer than the message takes.
cat >stuck.yaml <<'YAML'
fabric: {topology: {kind: star, hosts: 2}, link: {rate: 100Gb/s}, switch: {input_buffer: 1 packets}}
jobs: [{name: j, program: [{broadcast: 64KiB}]}]
faults: {events: [{at: 1ns, kind: sink-stuck, port: h1}, {at: 50us, kind: sink-free, port: h1}]}
YAML
status 0 "$HEDDLE" sim stuck.yaml --json --all
jq -e '.tables as $t | $t["path messages"].rows[0] as $m |
	$m.held + $m.waited > $m.end and
	$t["path links"].rows == [{job: "j", link: "hub:2", to: "h1", messages: 1,
		waited: $m.end, share: 100}]' out >/dev/null || fail "path links: $(cat out)"
