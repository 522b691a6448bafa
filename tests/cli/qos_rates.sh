# Bounds and admission count with the rates that a scenario gives its links:
# all of them, or cable by cable. Expected values are arithmetic on bytes and
# rates; packets of 2048 bytes have 26 more, and are charged as 33 blocks of 64.
. "$SRC/tests/cli/lib.sh"
cat >fabric.yaml <<'EOF'
fabric:
  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2}
  routing: xy
  link: {propagation: 7ns}
  switch: {routing_delay: 70ns, arbitration_delay: 30ns}
EOF
seed=1
draw() { # draw LOW HIGH: the next number of a fixed sequence, in $drawn
	seed=$((seed * 1103515245 + 12345 & 2147483647))
	drawn=$(($1 + seed / 65536 % ($2 - $1 + 1)))
}
# pairs N LOW HIGH: random pairs of hosts and rates, in the file random.
pairs() {
	i=0
	: >random
	while [ $i -lt $1 ]; do
		draw 0 11 && from=$drawn
		draw 1 11 && to=$(((from + drawn) % 12))
		draw $2 $3
		echo "h$from h$to DB $drawn" >>random
		i=$((i + 1))
	done
}

# With strict priority of VLs a flow alone waits at each port for a packet of
# others that has begun and for its own burst b, which grows by what comes while it waits:
# d = fixed + (2074 + b) / rate, b' = b + rho d. Every cable has its own rate.
echo 'h0 h11 DB 100Mb/s' >alone
for round in 1 2 3 4 5; do
	rates= links=
	for port in h0 s-0-0:1 s-1-0:1 s-2-0:2 h11; do
		draw 1 40
		rates="$rates${rates:+,}$drawn"
		links="$links${links:+, }{ports: '$port', rate: ${drawn}Gb/s}"
	done
	status 0 "$HEDDLE" qos bound fabric.yaml alone --json --margin 0 \
		--set fabric.arbiter=strict --set fabric.link.rate=9Gb/s --set "fabric.links=[$links]"
	jq -e --argjson rates "[$rates]" '
		[.tables.hops.rows[].bucket] as $got |
		(100e6 / 8 * 2074 / 2048) as $rho |
		([range($rates | length)] | reduce .[] as $i ({b: 2074, d: []};
			((if $i == 0 then 7e-9 else 107e-9 end) +
				(2074 + .b) * 8 / ($rates[$i] * 1e9)) as $d |
			{b: (.b + $rho * $d), d: (.d + [$d * 1e6])}) | .d) as $d |
		($got | length) == ($d | length) and
		([range($d | length) | ($got[.] - $d[.]) / $d[.] | fabs] |
			max < 1e-6)' out >/dev/null ||
		{ cat out; fail "cables of $rates Gb/s: other bounds"; }
done

# With the rates of links and flows times k and what is fixed a k-th, every
# bound is a k-th: nothing in it is anything but bytes, rates and these times.
# With 4 VLs all of DB has one, whatever its rate.
# scaled K: the bounds of random flows, in s$K.
scaled() {
	awk -v k=$1 '{ $4 = $4 * k "Mb/s"; print }' random >flows
	status 0 "$HEDDLE" qos bound fabric.yaml flows --json \
		--set qos.vls=4 --set fabric.link.rate=$((4 * $1))Gb/s \
		--set "fabric.links=[{ports: trunks, rate: $((3 * $1))Gb/s}]" \
		--set fabric.link.propagation=$((40 / $1))ns \
		--set fabric.switch.routing_delay=$((80 / $1))ns \
		--set fabric.switch.arbitration_delay=$((24 / $1))ns
	cp out s$1
}
for round in 1 2 3 4 5 6; do
	pairs 8 1 40
	for k in 1 2 4; do scaled $k; done
	for k in 2 4; do
		jq -e -n --slurpfile a s1 --slurpfile b s$k --argjson k $k '
			def hops(x): [x[0].tables.hops.rows[] |
				.published, .bucket, .grouped, .periodic];
			hops($a) as $x | hops($b) as $y |
			($x | length) > 40 and ([range($x | length) |
				($x[.] - $k * $y[.] | fabs) / $x[.]] |
				max < 1e-6)' >/dev/null ||
			{ cat random; fail "bounds do not scale with the rates"; }
	done
done

# A table has 16320 slots: a connection needs its part of the link's rate.
# needs CABLES RATE LINK: what 30 Gb/s would need on the narrowest cable.
needs() {
	echo "h0 h11 DB 30Gb/s" >large
	status 1 "$HEDDLE" qos admit fabric.yaml --requests large --json --margin 0 \
		--set fabric.link.rate=100Gb/s --set "fabric.links=[$1]"
	jq -e --argjson rate "$2" '.tables.requests.rows[0] |
		(.reason | capture("needs (?<n>[0-9]+) slots").n | tonumber) ==
			(16320 * 30 / $rate * 33 * 64 / 2048 | ceil)' out \
		>/dev/null || { cat out; fail "$1: other slots"; }
	has out "$3"
}
needs "{ports: h0, rate: 8Gb/s}" 8 "'h0'[1] -> "
needs "{ports: 's-1-0:1', rate: 11Gb/s}" 11 "'s-1-0'[1] -> 's-2-0'"
needs "{ports: h11, rate: 5Gb/s}" 5 "-> 'h11'[1]"

# With all rates times k, the same connections are admitted and refused, with
# the same slots; their SL goes by their rate, so that entries are not counted.
for round in 1 2 3; do
	pairs 40 50 900
	for k in 1 3; do
		awk -v k=$k '{ $4 = $4 * k "Mb/s"; print }' random >requests
		status 1 "$HEDDLE" qos admit fabric.yaml --json --fill paper \
			--requests requests --set fabric.link.rate=$((4 * k))Gb/s \
			--set "fabric.links=[{ports: trunks, rate: $((3 * k))Gb/s}]"
		jq -c '[.tables.requests.rows[] | [.admitted, .reason]],
			[.tables.summary.rows[] | .live, .["fullest link"]]' \
			out >of$k
	done
	cmp of1 of3 || fail "three times the rates admit others"
	grep -q true of1 && grep -q false of1 || fail "all alike"
done
