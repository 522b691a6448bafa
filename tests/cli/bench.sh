# 'heddle bench': tests by name, perftest's columns, valid JSON, expectations in the exit status,
# comparisons, captures, interrupts.
. "$SRC/tests/cli/lib.sh"

run() { # <status> <argument...>: output in out, messages in err
	want=$1
	shift
	status=0
	"$HEDDLE" "$@" >out 2>err || status=$?
	[ "$status" = "$want" ] || {
		cat out err
		echo "heddle $*: status $status, expected $want"
		exit 1
	}
}

run 0 bench list
for test in send-lat write-bw reuse2-bw mr-register load-bw multicast-lat; do
	grep -q "^  $test " out
done

# Table 1 of the paper, within 5 %: connect, disconnect, posts, polls.
run 0 bench connect disconnect post-recv post-send poll-full poll-empty \
	mr-register --json -o table1.json
jq -e '.tables as $t
	| def near($x; $y): ($x / $y - 1) | fabs < 0.05;
	near($t.connect.rows[0].t_avg; 296)
	and near($t.disconnect.rows[0].t_avg; 1e5)
	and near($t["post-recv"].rows[0].t_avg; 0.6)
	and near($t["post-send"].rows[0].t_avg; 0.9)
	and near($t["poll-full"].rows[0].t_avg; 1.0)
	and near($t["poll-empty"].rows[0].t_avg; 0.3)
	and near($t["mr-register"].rows[-1].t_avg; 14000)' table1.json >/dev/null

# perftest's column names, in text and as keys; inputs and host next to them.
run 0 bench send-lat --size 64
grep -q '#bytes  #iterations  t_min\[usec\]  t_max\[usec\]  t_typical\[usec\]' out
run 0 bench send-bw --size 4KiB
grep -q '#bytes  #iterations  BW peak\[MiB/sec\]  BW average\[MiB/sec\]  MsgRate\[Mpps\]' out
run 0 bench send-lat --size 1..64 --json -o a.json
jq -e '(.tables["send-lat"].rows | length) == 7
	and .tables.host.rows[0].system and .tables.device.rows[0].profile
	and (.tables.inputs.rows[0].mtu == 1024)' a.json >/dev/null
run 0 bench send-lat --size 64 --csv
grep -q '^#bytes,' out || grep -q '#bytes' out

# Expectations set the exit status.
run 0 bench send-lat --size 64 --expect 'p99<7us' --expect 'avg>=1us'
run 1 bench send-lat --size 64 --expect 'p99<5us'
grep -q missed out
run 0 bench send-bw --size 64KiB --expect 'bw>800MB/s'
run 2 bench send-lat --expect 'p98<5us'
grep -q "'p98' is not a metric" err
run 2 bench sendlat
grep -q "did you mean 'send-lat'" err
run 2 bench send-lat --profile mt23109
grep -q "did you mean 'mt23108'" err
run 2 bench send-lat --mtu 1000
run 2 bench
run 4 bench send-lat --device no-such-device
run 2 bench send-lat --connect 127.0.0.1:1
grep -q -- '--device' err

# The same run gives the same bytes; another profile differs.
run 0 bench send-lat --size 1..64 --json -o b.json
cmp a.json b.json
run 0 bench compare a.json b.json
run 0 bench send-lat --size 1..64 --profile connectx-7-like --json -o c.json
run 1 bench compare a.json c.json
grep -q better out
run 3 bench compare a.json table1.json
echo '{' >broken.json
run 3 bench compare a.json broken.json
grep -q 'broken.json:' err
# Output of perftest on a live fabric.
perf=$SRC/tests/fixtures/perftest/write.txt
run 0 bench compare "$perf" "$perf"
[ "$(grep -c ' same$' out)" = 4 ]
grep -q '^  write-lat .* 64 .* 731.650 ' out
grep -q '^  write-bw .* 4096 .* 1133.290 ' out
sed 's/1133.29/2266.58/' "$perf" >faster.txt
run 1 bench compare "$perf" faster.txt
grep -q '^  write-bw .* 100.00 .*better$' out
# 1133.29 MiB/s are 9.506726 Gb/s, whatever the unit is called.
sed 's#BW average.MB/sec.#BW average[Gb/sec]#; s/1133.29/9.506726/' "$perf" >gbits.txt
run 1 bench compare "$perf" gbits.txt
grep -q '^  write-bw .* 4096 .* 1133.290 *1133.290 *-*0.00 ' out
echo nothing >nothing.txt
run 3 bench compare nothing.txt "$perf"
grep -q 'nothing.txt: no result of' err
# Edited numbers of a result are refused or used.
edited() { # STATUS FILTER
	jq "$2" a.json >edited.json
	run "$1" bench compare a.json edited.json
}
for value in -1 1e200 '"x"'; do
	edited 3 ".tables[\"send-lat\"].rows[].t_stdev = $value"
	grep -q "edited.json: a row of send-lat: 't_stdev'" err
done
edited 3 '.tables["send-lat"].rows[0]["#iterations"] = -1'
edited 3 '.tables["send-lat"].rows[1].t_avg = -5'
edited 0 '.tables["send-lat"].rows[0]["#iterations"] = 0'
edited 1 '.tables["send-lat"].rows[] |= (.t_stdev = 1e-100 | .t_avg = 2 * .t_avg)'

# The inputs table shows the number of messages or the duration.
run 0 bench send-lat --size 64 -n 7 --json -o n.json
jq -e '.tables.inputs.rows[0].iterations == "7"' n.json >/dev/null
run 0 bench send-lat --size 64 -D 2ms --json -o n.json
jq -e '.tables.inputs.rows[0].iterations == "2.000 ms"' n.json >/dev/null

# Partitions: only equal keys, and full with limited members, can communicate.
run 0 bench partition --json -o p.json
jq -e '[.tables.partition.rows[].outcome | . == "delivered"]
	== [true, true, false, false]' p.json >/dev/null
jq -e '.tables.partition.rows[2].outcome
	== "a request failed: RETRY_EXC_ERR (12)"' p.json >/dev/null

# A VL of its own helps where links are slow: there a ping-pong waits for at most one packet of 4
# KiB on each link of 200 Gb/s, and not for a full buffer of them.
run 0 bench sl-lat shared-sl-lat --values 0,6 --profile ideal --json -o sl.json
jq -e '.tables | ."sl-lat".rows as $own | ."shared-sl-lat".rows as $shared
	| $own[0].t_avg == $shared[0].t_avg
	and $own[1].t_max < $own[0].t_avg + 0.4
	and $shared[1].t_avg > $own[1].t_avg + 0.4' sl.json >/dev/null

# Queue pairs share by their weights; threads share the link; LogGP's G is the
# bus: 1024 bytes of payload in 170 ns + 1024 B / 8.533 Gb/s.
run 0 bench weights-bw threads-bw loggp --step 8 --json -o w.json
jq -e '([.tables["weights-bw"].rows[].fairness > 0.99] | all)
	and ([.tables["threads-bw"].rows[] | .BW < 1000] | all)
	and (.tables.loggp.rows[0] | (.["1/G"] / 906.2 - 1 | fabs) < 0.02
		and .L > 0 and .["o send"] == 0.9)' w.json >/dev/null

# On a scenario's fabric, together with its traffic. Reliable connections recover from lost packets.
cat >lossy.yaml <<END
fabric:
  topology: {kind: star, hosts: 4, link: 4x SDR}
  host: {input_buffer: 16KiB}
  switch: {input_buffer: 16KiB}
faults: {ber: 2e-7}
traffic:
  - {name: other, kind: cbr, source: h2, destination: h3, payload: 256, rate: 1Mb/s}
END
run 0 bench write-bw --size 64KiB -n 100 --fabric lossy.yaml --json -o lossy.json
run 0 bench write-bw --size 64KiB -n 100 --json -o whole.json
jq -e -n --slurpfile a lossy.json --slurpfile b whole.json \
	'$a[0].tables["write-bw"].rows[0].BW < $b[0].tables["write-bw"].rows[0].BW' \
	>/dev/null
run 3 bench send-lat --fabric no-such.yaml
grep -q 'no-such.yaml' err

# Plots, for a browser.
# A build without npm has no page; the message says so.
if "$HEDDLE" bench send-lat --size 1..64 --html page.html >out 2>err; then
	grep -q '<svg\|<canvas\|<script' page.html
else
	grep -q 'not part of this build' err
fi

# A capture of RC and of UD packets dissects without a complaint.
run 0 bench read-lat --size 4KiB -n 2 --pcap rc.pcap
run 0 bench ud-lat --size 64 -n 2 --pcap ud.pcap
if command -v tshark >/dev/null; then
	for file in rc ud; do
		tshark -r $file.pcap --disable-heuristic rpcrdma_infiniband \
			--disable-protocol smb_direct -T fields \
			-e infiniband.bth.opcode -e _ws.malformed >$file.txt \
			2>/dev/null
		[ "$(wc -l <$file.txt)" -gt 10 ]
		if grep -qi malformed $file.txt; then exit 1; fi
	done
	grep -q '^12' rc.txt # read request
	grep -q '^100' ud.txt # UD send only
	tshark -r rc.pcap -V 2>/dev/null | grep -q 'RDMA READ'
fi

# Parameters of a test have limits; values above them are refused in one line.
run 3 bench segments-lat --values 1000
has err "1000 is not a value of segments"
one_line err
run 3 bench load-bw --values 9 --size 64
has err "contenders 9"
run 3 bench mtu-lat --values 1000
has err "1000 is not a value of mtu"

# Packets that exceed a buffer would wait forever: the path's MTU is smaller there, and a greater
# one is refused. 4 packets of 64 + 26 bytes are 8 blocks of 64 bytes: 256 bytes and headers fit,
# 512 do not.
cat >narrow.yaml <<END
fabric:
  topology: {kind: star, hosts: 4, link: 4x SDR}
  switch: {input_buffer: 512}
  host: {input_buffer: 512}
traffic:
  - {name: other, kind: cbr, source: h2, destination: h3, payload: 64, rate: 1Mb/s}
END
run 0 bench send-bw --size 64KiB -n 10 --fabric narrow.yaml --json -o narrow.json
jq -e '.tables.inputs.rows[0].mtu == 256' narrow.json >/dev/null
run 3 bench send-bw --size 64KiB --mtu 512 --fabric narrow.yaml
has err "an MTU of 512, and ports and buffers have 256"
sed 's/payload: 64/payload: 1/; s/host: {input_buffer: 512}/host: {input_buffer: 64}/' \
	narrow.yaml >narrower.yaml
run 3 bench send-lat --fabric narrower.yaml
has err "no packet of an adapter fits"
one_line err

# An impossible test of a group is omitted with the reason; by name it is rejected, and so is a
# group without any possible test. A window of three million is more than a queue holds; latency
# tests need none.
huge="-D 1us --window 3000000 --size 64"
run 0 bench beyond $huge --json -o beyond.json
jq -e '(.tables | has("ud-lat") and has("partition") and (has("ud-bw") | not))
	and ([.notes[] | select(startswith("left out: ud-bw, 64 bytes: cannot create"))]
		| length == 1)' beyond.json >/dev/null
run 3 bench ud-bw $huge
has err "ud-bw, 64 bytes: cannot create a completion queue"
one_line err
run 3 bench beyond --mtu 4096 --fabric narrow.yaml
has err "an MTU of 4096, and ports and buffers have 256"
one_line err

# The peak is over any run of messages, from posting its first until the
# completion of its last: no less than the average, no more than the link of
# 1000 MB/s and, both ways, twice that.
run 0 bench send-bw write-bw read-bw write-bidir fairness-bw --size 4KiB..64KiB \
	--step 4 --json -o peaks.json
jq -e '[.tables["send-bw"].rows[], .tables["write-bw"].rows[],
	.tables["read-bw"].rows[], .tables["fairness-bw"].rows[]
	| ."BW peak" >= ."BW average" and ."BW peak" * 1.048576 < 1000] | all' \
	peaks.json >/dev/null
jq -e '[.tables["write-bidir"].rows[]
	| ."BW peak" >= ."BW average" and ."BW peak" * 1.048576 < 2000
		and ."BW min window" > 0.9 * ."BW average"] | all' \
	peaks.json >/dev/null

# An interrupt at any time ends the program with the results so far and leaves no temporary files.
# An interrupt before the work begins leaves nothing.
ended=0
for seconds in 0.2 0.4 0.8 1.6 3.2 6.4; do
	status=0
	timeout --preserve-status -s INT $seconds "$HEDDLE" bench event-lat \
		load-bw write-lat multicast-lat all --json >part.json 2>err ||
		status=$?
	[ "$status" = 130 ] || {
		cat err
		fail "an interrupt after $seconds s ended with $status"
	}
	empty err
	[ -s part.json ] || continue
	jq -e '.notes | map(select(startswith("interrupted"))) | length == 1' \
		part.json >/dev/null
	ended=$((ended + 1))
	[ $ended -lt 3 ] || break
done
[ $ended -gt 0 ] || fail "no interrupt came after the beginning"
