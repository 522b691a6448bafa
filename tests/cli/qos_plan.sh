# Plans from goals pass lint and meet the goals in simulation. Each finding of lint has a file with
# only this finding, and a file without.
. "$SRC/tests/cli/lib.sh"
lint=$SRC/tests/fixtures/lint
n=0
for good in "$lint"/W*-fixed.conf; do
	name=$(basename "$good" -fixed.conf)
	code=${name%%-*}
	options() { # NAME: the policy and the classes of a file, if it has some
		[ ! -e "$lint/$1.policy" ] || echo "--policy $lint/$1.policy"
		[ ! -e "$lint/$1.class" ] || sed 's/[^ ]*=/--class &/g' "$lint/$1.class"
	}
	status 1 "$HEDDLE" qos lint "$lint/$name.conf" $(options "$name") --json
	[ "$(jq -r '[.tables.findings.rows[].code] | unique | join(" ")' out)" = \
		"$code" ] || fail "$name: $(jq -c '.tables.findings.rows' out)"
	# The newer findings state effect and line, and the line is right where it is the only fault.
	case $code in
	W15 | W17 | W18)
		jq -e 'all(.tables.findings.rows[]; (.effect | test("[0-9]")) and (.write | length > 0))' \
			out >jq.out || fail "$name: $(jq -c '.tables.findings.rows' out)"
		write=$(jq -r '.tables.findings.rows[-1].write' out)
		grep -v "^${write%% *} " "$lint/$name.conf" >written.conf
		echo "$write" >>written.conf
		"$HEDDLE" qos lint written.conf --json >out || [ $? -eq 1 ] || fail "$name, written"
		jq -e --arg code "$code" 'all(.tables.findings.rows[]; .code != $code)' out >jq.out ||
			fail "$name, written: $(cat written.conf; jq -c '.tables.findings.rows' out)"
		;;
	esac
	status 0 "$HEDDLE" qos lint "$good" $(options "$name-fixed")
	n=$((n + 1))
done
[ $n -ge 40 ] || fail "$n faults, of 40"
for good in "$lint"/correct-*.conf; do
	status 0 "$HEDDLE" qos lint "$good"
done

cat >goals.yaml <<END
mpi: at least 70 %, packets 2KiB
mds: latency 20us, packets 256, senders 8
backup: leftovers
END
# within SECONDS COMMAND...: of processor time; the clock would tell another story
# under load.
within() (
	ulimit -t "$1"
	shift
	"$@"
)
# On 648 hosts a plan takes less than a second, its verification less than 60.
tree='fat-tree --radix 36 --levels 2'
status 0 within 1 "$HEDDLE" qos plan --goals goals.yaml "$tree"
has out 'latency 20 us'
status 0 "$HEDDLE" qos plan --goals goals.yaml "$tree" --conf -o plan.conf
status 0 "$HEDDLE" qos lint plan.conf
# SLs without a class go with the leftovers; SL 0, of programs that set none, is the largest class.
has plan.conf 'qos_sl2vl 0,1,2,2,2,2,2,2,2,2,2,2,2,2,2,2'
status 0 "$HEDDLE" qos plan --goals goals.yaml "$tree" --json
jq -e '[.tables.classes.rows[] | .sl] == [0, 1, 2]' out || fail "SLs: $(cat out)"
has out "programs that set no SL use SL 0, class 'mpi'"
status 0 within 60 "$HEDDLE" qos plan --goals goals.yaml "$tree" --verify
[ "$(grep -c 'met$' out)" -eq 3 ] || fail "a goal is missed: $(cat out)"
lacks out missed
tree='fat-tree --radix 8 --levels 2'
status 0 "$HEDDLE" qos plan --goals goals.yaml "$tree" --verify --json
[ "$(jq -r '[.tables.goals.rows[].verdict] | unique[]' out)" = met ] ||
	fail "a goal is missed: $(jq -c .tables.goals.rows out)"
# More shapes of goals, all of which pass lint; what cannot be is refused.
for goals in 'a: 50%|b: 25%, packets 256|c: 25%, packets 512' \
	'a: latency 90us, 30%|b: latency 90us, 20%, packets 1KiB|c: leftovers' \
	'a: 97%|b: leftovers'; do
	echo "$goals" | tr '|' '\n' >more.yaml
	status 0 "$HEDDLE" qos plan --goals more.yaml star --conf -o more.conf
	status 0 "$HEDDLE" qos lint more.conf
done
printf 'a: 80%%\nb: 60%%\n' >much.yaml
status 3 "$HEDDLE" qos plan --goals much.yaml star
has err 'a 80% + b 60% is 140% of the link; nearest: a 57.1%, b 42.8%'
printf 'a: latency 10ns\n' >soon.yaml
status 3 "$HEDDLE" qos plan --goals soon.yaml star
has err 'on an idle fabric, which is the nearest'
has err "soon.yaml: class 'a'"
printf 'a: 10%%\nb: soon\n' >odd.yaml
status 3 "$HEDDLE" qos plan --goals odd.yaml star
has err "odd.yaml:2: class 'b': unknown goal 'soon'"
status 2 "$HEDDLE" qos plan --goals goals.yaml star mesh
status 2 "$HEDDLE" qos plan --verify a=10%
status 3 "$HEDDLE" qos plan --goals missing star
# A goal that the simulation misses ends with 1: one packet of the others may be
# under way on each link.
printf 'a: latency 340ns, packets 256, senders 1\nb: 90%%\n' >tight.yaml
status 1 "$HEDDLE" qos plan --goals tight.yaml "$tree" --verify
has out missed
status 1 "$HEDDLE" qos plan --goals tight.yaml "$tree" --verify --conf
has out 'qos TRUE'

# A latency counts with all senders that may burst together: the limit of 0 lets
# a packet of 4122 bytes pass after each of 282, and 63 of them are 63 * 4404
# bytes at 25 GB/s, 11.1 us: so with a goal of 15 us. For 2 us the limit rises,
# so that fewer of them pass. The bound is never below what the verification
# sees, and both decide; fewer senders are sooner.
cat >burst.yaml <<END
mpi: at least 50 %, packets 2KiB
mds: latency 1us, packets 256
ost: at least 20 %, packets 4KiB
backup: leftovers
END
star='star --hosts 64'
for latency in 500ns 2us 15us; do
	sed "s/1us/$latency/" burst.yaml >goals.yaml
	"$HEDDLE" qos plan --goals goals.yaml "$star" --verify --json >out || :
	jq -e --arg l $latency '.tables.tables.rows[0]."high limit" as $limit |
		.tables.goals.rows[1] | .senders == 63 and
		.bound >= ."most latency" and (if $l == "15us" then
			$limit == 0 and ."most latency" > 11 and .bound < 12
		else true end) and .verdict == (if $l == "500ns" then
			"missed" else "met" end)' out >jq.out ||
		fail "$latency: $(jq -c '.tables | .tables, .goals.rows[1]' out)"
done
# Traffic, jobs and goals of a scenario are left out: only its fabric counts.
sed 's/1us/15us/' burst.yaml >goals.yaml
echo 'fabric: {topology: {kind: star, hosts: 16}}' >fabric.yaml
cat fabric.yaml - >loaded.yaml <<END
traffic: [{name: noise, kind: saturating}]
jobs: [{name: train, on: all, program: [{allreduce: 64KiB}]}]
goals: [{row: noise, p99: 1us}, {job: train, completion: 1us}]
END
for scenario in fabric loaded; do
	status 0 "$HEDDLE" qos plan --goals goals.yaml $scenario.yaml --verify --json
	jq .tables out >$scenario.json
done
cmp fabric.json loaded.json || fail "a scenario's traffic and jobs change its plan"
# Without a simulation, the bound alone misses the goal.
sed 's/1us/500ns/' burst.yaml >goals.yaml
status 1 "$HEDDLE" qos plan --goals goals.yaml "$star"
sed 's/packets 256/packets 256, senders 2/' burst.yaml >goals.yaml
status 0 "$HEDDLE" qos plan --goals goals.yaml "$star" --verify --json
jq -e '.tables.goals.rows[1].senders == 2' out >jq.out || fail "$(cat out)"
sed 's/packets 256/packets 256, senders 64/' burst.yaml >goals.yaml
status 3 "$HEDDLE" qos plan --goals goals.yaml "$star"
has err "class 'mds' has 64 senders; there are 63 hosts that can send to one"
for wrong in 'a: 5%, senders 3' 'a: latency 1us, senders 0' \
	'a: latency 1us, senders 2, senders 3'; do
	echo "$wrong" >goals.yaml
	status 3 "$HEDDLE" qos plan --goals goals.yaml "$star"
	has err 'goals.yaml:1: '
done

# SLs: pinned ones, SL 0 for the default class, the lowest free ones for others.
sls() { # SLS WORDS...: of the classes, in their order
	expected=$1
	shift
	status 0 "$HEDDLE" qos plan "$@" --json
	[ "$(jq -r '[.tables.classes.rows[].sl] | join(" ")' out)" = "$expected" ] ||
		fail "$*: $(jq -c .tables.classes.rows out)"
}
sls '1 0 2' mds=10%,latency,256 mpi=60% ost=30%
sls '1 2 0' mds=10%,latency,256 mpi=60% ost=30%,default
sls '0 1' a=10%,latency b=10%,latency,sl=1
sls '3 0 1' mds=10%,latency,sl=3 mpi=60% ost=30%
sls '0 1 2' mds=10%,latency,sl=0 mpi=60% ost=30%
sls '5 4' a=40%,sl=5 b=60%,sl=4
has out 'no class has SL 0: programs that set no SL use VL'
for refused in 'a=10%,default b=10%,sl=0' 'a=10%,default b=10%,default' 'a=10%,sl=2 b=10%,sl=2' \
	'a=10%,default,sl=1 b=10%' 'a=10%,sl=16 b=10%' 'a=10%,sl= b=10%'; do
	status 3 "$HEDDLE" qos plan $refused
	one_line err
done
printf 'a: 50%%, sl 4\nb: 30%%, default\nc: leftovers\n' >pinned.yaml
status 0 "$HEDDLE" qos plan --goals pinned.yaml star --verify --json
[ "$(jq -r '[.tables.classes.rows[].sl] | join(" ")' out)" = '4 0 1' ] || fail "$(cat out)"
echo 'a: 50%, sl 16' >pinned.yaml
status 3 "$HEDDLE" qos plan --goals pinned.yaml star
has err "pinned.yaml:1: class 'a': an SL is 0 to 15"

# Against a running configuration: keys, and classes; the plan itself changes nothing.
printf 'qos TRUE\nmax_op_vls 1\nqos_ca_sl2vl 0,1\n' >running.conf
status 0 "$HEDDLE" qos plan a=60% b=40% --against running.conf --json
jq -e '[.tables.keys.rows[] | [.line, .key, .running, .planned]] == [
	[2, "max_op_vls", "1", "4"], [null, "qos_high_limit", "absent", "0"],
	[null, "qos_vlarb_high", "absent", "0:0"], [null, "qos_vlarb_low", "absent", "0:195,1:130"],
	[null, "qos_sl2vl", "absent", "0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"],
	[3, "qos_ca_sl2vl", "0,1", "remove"]]' out || fail "keys: $(jq -c .tables.keys.rows out)"
jq -e '[.tables.differences.rows[] | select(.class == "a" and .what == "share [%]") |
	[.before, (.after | round)]] == [[50, 60]]' out ||
	fail "classes: $(jq -c .tables.differences.rows out)"
status 0 "$HEDDLE" qos plan a=60% b=40% --conf -o same.conf
status 0 "$HEDDLE" qos plan a=60% b=40% --against same.conf --json
jq -e '.tables.keys.rows == [] and .tables.differences.rows == []' out || fail "same: $(cat out)"
status 2 "$HEDDLE" qos plan a=60% b=40% --against same.conf --conf
status 3 "$HEDDLE" qos plan a=60% b=40% --against missing.conf
one_line err
