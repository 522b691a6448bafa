# A fabric has the same results, byte by byte, for each of its forms: the arguments of a generator,
# a file of 'topo gen', or a scenario with either; in any order of its nodes.
. "$SRC/tests/cli/lib.sh"
rounds=1
[ "${HD_LONG:-0}" = 0 ] || rounds=20
seed=1
draw() { # draw LOW HIGH: the next number of a fixed sequence, in $drawn
	seed=$((seed * 1103515245 + 12345 & 2147483647))
	drawn=$(($1 + seed / 65536 % ($2 - $1 + 1)))
}
engines="minhop updn dfsssp lash"
n=0

# both NAME COMMAND...: runs the command with the generator (A) and with the file (B).
both() {
	what=$1 one=0 two=0
	shift
	"$HEDDLE" "$@" >wanted 2>wanted.err || one=$?
	for word; do
		shift
		case $word in
		"$words") word=copy.net ;;
		made.yaml) word=read.yaml ;;
		esac
		set -- "$@" "$word"
	done
	"$HEDDLE" "$@" >got 2>got.err || two=$?
	# The file's own text and name are no results.
	for file in wanted got wanted.err got.err; do
		sed -i 's/^  "scenario": .*//; s/^heddle: [^ ]*: /heddle: /' $file
	done
	cmp wanted got && cmp wanted.err got.err && [ $one -eq $two ] ||
		fail "$words: $what: $* ($one, $two)"
	n=$((n + 1))
}

# try WORDS: those with LOW..HIGH have a number drawn.
try() {
	for word; do
		shift
		while :; do
			case $word in
			*[0-9]..[0-9]*) ;;
			*) break ;;
			esac
			low=${word%%..*} high=${word#*..}
			low=${low##*[!0-9]} high=${high%%[!0-9]*}
			draw $low $high
			word=${word%%$low..$high*}$drawn${word#*..$high}
		done
		set -- "$@" "$word"
	done
	"$HEDDLE" topo gen "$@" >copy.net
	words="$*"
	echo "$1" >>tried
	from=h0 to=h1
	[ "$1" != two-switch ] || from=A1 to=B1
	[ "$1" != node-mesh ] || from=s-0-0 to=s-1-0
	[ "$1" != blrm ] || from=N1 to=N4
	yaml=$(for word; do
		case $word in
		--*) echo "$word" | sed "s/^--//; :a; s/^\([^=]*\)-/\1_/; ta
			s/=\(.*\)/: '\1'/" ;;
		*) echo "kind: $word" ;;
		esac
	done | paste -sd,)
	cat >made.yaml <<-EOF
	fabric: {topology: {$yaml}}
	traffic:
	- {name: a, kind: poisson, load: 30%, payload: 512}
	- {name: b, kind: cbr, load: 10%, source: 50%, pattern: hotspot}
	run: {warmup: 2us, measure: 10us}
	EOF
	sed 's/topology: {.*}}/topology: copy.net}/' made.yaml >read.yaml
	for engine in $engines; do
		both route route "$words" -e $engine --check --load 2 --json
		both tables route "$words" -e $engine --dump json
		both sim sim made.yaml --set fabric.routing=$engine --all
	done
	printf '%s %s DB 100Mb/s\n' "$from" "$to" "$to" "$from" >flows
	both admit qos admit --random 30 "$words" --json
	both admit qos admit --random 30 made.yaml
	both bound qos bound "$words" flows --json
	[ $one -le 1 ] || fail "$words: no bound: $(cat wanted.err)"
	both mcast mcast compare made.yaml --members 50% --json
	both mcast mcast compare made.yaml --sources 3 --members 50%
	in_any_order
	# A scenario is judged by the routes that it runs.
	"$HEDDLE" route "$words" --dump lfts >wanted
	"$HEDDLE" route made.yaml --dump lfts >got
	cmp wanted got || fail "$words: the scenario has other routes"
}

# The nodes of copy.net in another order, without the comment that names its
# generator: the same LIDs and routes. Two of these files give equal output.
in_any_order() {
	for first in 0 1; do
		grep -v '^#' copy.net | awk -v first=$first 'BEGIN { RS = ""
				ORS = "\n\n" }
			{ node[NR] = $0 }
			END { for (i = NR - first; i > 0; i -= 2) print node[i]
				for (i = NR + first - 1; i > 0; i -= 2)
					print node[i] }' >order$first.net
		sed "s/topology: {.*}}/topology: order$first.net}/" made.yaml \
			>order$first.yaml
	done
	! cmp -s order0.net order1.net || fail "$words: no other order"
	for engine in $engines; do
		# Dumps list switches in the order of the file. Without the name
		# of the topology kind, lash derives it from the links.
		for file in copy order0 order1; do
			"$HEDDLE" route $file.net -e $engine --dump lfts |
				awk '/^Unicast/ { sw = $0 } /^0x/ { print sw, $0 }' |
				sort >lfts.$file
		done
		[ $engine = lash ] || cmp lfts.copy lfts.order0 ||
			fail "$words: other routes by $engine in another order"
		cmp lfts.order1 lfts.order0 ||
			fail "$words: other routes by $engine in another order"
		n=$((n + 2))
		same "sim FILE.yaml --set fabric.routing=$engine --all --json"
		same "route FILE.net -e $engine --check --load 2 --json"
	done
	same "route FILE.net --dump json"
	same "qos admit --random 30 FILE.net --json"
	same "qos bound FILE.net flows --json"
	same "mcast compare FILE.yaml --sources 3 --members 50% --json"
	same "topo show FILE.net --json"
}

# same WORDS: the same of both orders of the file.
same() {
	for order in 0 1; do
		code=0
		"$HEDDLE" $(echo "$1" | sed "s/FILE/order$order/") \
			>of$order 2>&1 || code=$?
		echo $code >>of$order
		sed -i 's/order[01]//g; s/^  "scenario": .*//' of$order
	done
	cmp of0 of1 || fail "$words: $1 differs with the order of nodes"
	n=$((n + 1))
}

while [ $rounds -gt 0 ]; do
	rounds=$((rounds - 1))
	try mesh --columns=2..4 --rows=2..4 --hosts=1..3
	try torus --sizes=3..4x3..4 --hosts=1
	try ring --switches=3..7 --hosts=1..2
	try star --hosts=2..6 --host-ports=1..2
	try irregular --switches=6..9 --degree=3 --hosts=2
	try fat-tree --radix=4 --levels=2..3
	try dragonfly --routers=3 --globals=1 --hosts=1
	try routed --subnets=2..4
	try two-switch --remote=2..4 --local=2..4
	try xgft --down=3,2..3 --up=1,2
	try node-mesh --columns=2..3 --rows=2..4
	try hypercube --dimensions=2..4 --hosts=1
	try tree --arity=2..3 --levels=2
	try dragonfly-plus --leaves=2 --spines=2 --globals=1 --hosts=1
	try back-to-back --cables=1..2
	try rail --rails=2..3 --units=2 --hosts=1..2 --spines=2
	try blrm
done
"$HEDDLE" topo gen --help | sed -n '/^  mesh /,/^$/s/^  \([a-z-]*\) .*/\1/p' >kinds
[ -s kinds ] || fail "the help names no kinds"
while read -r kind; do
	grep -qx -e "$kind" tried || fail "kind $kind is not compared"
done <kinds
[ $n -ge 200 ] || fail "only $n comparisons"
