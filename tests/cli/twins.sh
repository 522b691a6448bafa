# A fabric is the same, to the byte of every result, however it is named: by
# the words of a generator, by the file that 'topo gen' wrote of it, or by a
# scenario with either.
. "$SRC/tests/cli/lib.sh"
rounds=1
[ "${HD_LONG:-0}" = 0 ] || rounds=20
seed=1
draw() { # draw LOW HIGH: the next number of a fixed sequence
	seed=$((seed * 1103515245 + 12345 & 2147483647))
	echo $(($1 + seed / 65536 % ($2 - $1 + 1)))
}
engines="minhop updn dfsssp lash"
n=0

# both NAME COMMAND...: the same of the generator (A) and of the file (B).
both() {
	what=$1 one=0 two=0
	shift
	"$HEDDLE" "$@" >wanted 2>wanted.err || one=$?
	for word; do
		shift
		case $word in
		"$words") word=twin.net ;;
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

try() {
	"$HEDDLE" topo gen "$@" >twin.net
	words="$*"
	from=h0 to=h1
	[ "$1" != two-switch ] || from=A1 to=B1
	[ "$1" != node-mesh ] || from=s-0-0 to=s-1-0
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
	sed 's/topology: {.*}}/topology: twin.net}/' made.yaml >read.yaml
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
	# A scenario is judged by the routes that it runs.
	"$HEDDLE" route "$words" --dump lfts >wanted
	"$HEDDLE" route made.yaml --dump lfts >got
	cmp wanted got || fail "$words: the scenario has other routes"
}

while [ $rounds -gt 0 ]; do
	rounds=$((rounds - 1))
	try mesh --columns=$(draw 2 4) --rows=$(draw 2 4) --hosts=$(draw 1 3)
	try torus --sizes=$(draw 3 4)x$(draw 3 4) --hosts=1
	try ring --switches=$(draw 3 7) --hosts=$(draw 1 2)
	try star --hosts=$(draw 2 6) --host-ports=$(draw 1 2)
	try irregular --switches=$(draw 6 9) --degree=3 --hosts=2
	try fat-tree --radix=4 --levels=$(draw 2 3)
	try dragonfly --routers=3 --globals=1 --hosts=1
	try routed --subnets=$(draw 2 4)
	try two-switch --remote=$(draw 2 4) --local=$(draw 2 4)
	try xgft --down=3,$(draw 2 3) --up=1,2
	try node-mesh --columns=$(draw 2 3) --rows=$(draw 2 4)
	try hypercube --dimensions=$(draw 2 4) --hosts=1
done
[ $n -ge 200 ] || fail "only $n comparisons"
