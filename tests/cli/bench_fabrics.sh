# Every fabric type runs every kind of benchmark: each combination ends soon, with a row for the
# test or with one line that has the reason.
. "$SRC/tests/cli/lib.sh"

two='{name: t, kind: cbr, source: h0, destination: h1, payload: 64, rate: 1Mb/s}'
incast='{name: t, kind: cbr, pattern: incast, destination: h0, payload: 64, rate: 1Mb/s}'
alone='{name: t, kind: cbr, pattern: incast, source: h0, destination: h0, payload: 64, rate: 1Mb/s}'

# scenario FILE TOPOLOGY ROW
scenario() {
	printf 'fabric:\n  topology: %s\ntraffic:\n  - %s\n' "$2" "$3" >"$1"
}

# A host without a cable is not a host of the benchmark; the fourth port has no cable.
"$HEDDLE" topo gen star --hosts 2 -o loose.topo
cat >>loose.topo <<'END'

caguid=0x9999
Ca	1 "H-9999"		# "h9 HCA-1"
END

tried=0 done=0 turn=0
for topology in '{kind: star, hosts: 0}' '{kind: star, hosts: 1}' \
	'{kind: star, hosts: 2}' '{kind: star, hosts: 3}' \
	'{kind: back-to-back}' '{kind: mesh, columns: 1, rows: 1, hosts: 2}' \
	'{kind: routed, subnets: 2, hosts: 1}' \
	'{kind: routed, subnets: 2, hosts: 2}' '{file: loose.topo}'; do
	for row in "$two" "$incast" "$alone"; do
		scenario x.yaml "$topology" "$row"
		for test in send-lat write-bw ud-bw multicast-lat load-bw \
			threads-bw sl-lat qp-create; do
			# With sanitizers every third pair, in turn.
			turn=$((turn + 1))
			[ "${HD_LIGHT:-0}" = 0 ] || [ $((turn % 3)) = 0 ] ||
				continue
			got=0
			timeout 300 "$HEDDLE" bench $test -n 3 --fabric x.yaml \
				--size 64 --json >out 2>err || got=$?
			tried=$((tried + 1))
			case $got in
			0)
				jq -e --arg t $test '.tables[$t].rows | length > 0' \
					out >/dev/null || fail "$test on $topology: no row"
				done=$((done + 1))
				;;
			3)
				one_line err
				empty out
				;;
			*)
				cat err
				fail "$test on $topology with $row ended with $got"
				;;
			esac
		done
	done
done
[ $((4 * done)) -ge "$tried" ] || fail "only $done of $tried could be measured"

# Management packets have priority: nothing is left of a link that they fill.
scenario x.yaml '{kind: star, hosts: 3}' \
	'{name: t, kind: poisson, load: 300%, pattern: incast, management: true}'
echo 'run: {warmup: 0us, measure: 4us, horizon: 20us}' >>x.yaml
status 3 "$HEDDLE" bench write-bw --size 64 -n 2 --fabric x.yaml --memory 2GB
one_line err
has err "no program went on for run.horizon"

scenario x.yaml '{kind: routed, subnets: 2, hosts: 1}' "$incast"
status 3 "$HEDDLE" bench send-lat --size 64 -n 2 --fabric x.yaml
has err 'they are in different subnets, and packets of adapters cross no router'
# Hosts that do not take part may be at any position.
scenario x.yaml '{kind: routed, subnets: 2, hosts: 2}' "$two"
status 0 "$HEDDLE" bench send-lat --size 64 -n 2 --fabric x.yaml
scenario x.yaml '{kind: star, hosts: 4}' "$alone"
for command in 'bench send-lat --size 64 --fabric' sim 'cc compare'; do
	status 3 "$HEDDLE" $command x.yaml
	has err "traffic 't' has no flow"
	one_line err
done

# A datagram is one packet: larger messages are refused, not omitted.
status 3 "$HEDDLE" bench ud-lat --size 4KiB --pcap none.pcap
has err 'ud-lat: a datagram is one packet, of at most 1024 bytes'
one_line err
[ ! -e none.pcap ] || fail "a capture of nothing"

# Queues have room for the answers of all peers, independent of the window.
status 0 "$HEDDLE" bench multicast-lat --window 1 --json
jq -e '.tables["multicast-lat"].rows | map(.receivers) == [1, 2, 4, 7]' out >/dev/null

# Queue pairs obey congestion control: every packet is marked, so the index
# goes to the end of the table, and with a delay of three packets after each
# the bandwidth is a quarter.
cat >paced.yaml <<'EOF'
fabric:
  topology: {kind: star, hosts: 2}
  link: {rate: 100Gb/s}
  switch: {input_buffer: 64KiB}
  host: {input_buffer: 64KiB}
traffic: [{name: t, kind: cbr, pattern: pairs, source: 1, destination: 0, rate: 1Mb/s, payload: 64}]
congestion:
  algorithm: cct
  marking: {rule: threshold, depth: 64}
  cct: {table: "0:0,0:3", timer: 0}
EOF
bandwidth() {
	status 0 "$HEDDLE" bench --profile ideal --fabric paced.yaml \
		--set "$1" write-bw --size 1MiB
	awk '$1 == 1048576 {print $4}' out
}
full=$(bandwidth congestion.algorithm=marks)
for set in congestion.algorithm=cct congestion.echo=cnp congestion.cct.per=sl; do
	quarter=$(bandwidth "$set")
	awk -v f="$full" -v q="$quarter" \
		'BEGIN {exit !(4 * q > f * 0.999 && 4 * q < f * 1.001)}' ||
		fail "$set: $quarter is no quarter of $full MiB/s"
done
