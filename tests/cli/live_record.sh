# Recordings of a live fabric: a replay has the same tables, states, counters and MADs on cables;
# Wireshark decodes the captures as MADs.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v tshark >/dev/null || fail "tshark is not installed"
echo 'force_log_flush TRUE' >conf

# counters: all of all ports, as perfquery reads them on two hosts.
look() { # NAME: into NAME.*
	"$HEDDLE" live show --csv -o "$1.show"
	for format in fts mfts sl2vl json; do
		"$HEDDLE" live dump --to $format -o "$1.$format"
	done
	for host in h0 h3; do
		on $host perfquery -x >"$1.$host" || fail "perfquery on $host"
	done
}
same() { # NAME NAME: what look() found
	for kind in show fts mfts sl2vl json h0 h3; do
		cmp "$1.$kind" "$2.$kind" || fail "$kind differs: $1, $2"
	done
}

for clock in free simulated; do
	# ---- a life: OpenSM, a cable, errors, a speed, questions
	"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' -q --record tape --clock $clock
	"$HEDDLE" live capture -o all.pcap
	status 3 "$HEDDLE" live capture -o other.pcap
	has err "a capture already"
	rm -rf cache/* log
	manage h0 log -F conf
	settle
	ups=$(grep -c 'SUBNET UP' log)
	"$HEDDLE" live link s1-0:3 down
	wait_for $((ups + 1)) 'SUBNET UP'
	"$HEDDLE" live inject-error h3 SymbolErrorCounter 7
	on h2 saquery -t 300000 -p >paths || fail "saquery -p"
	"$HEDDLE" live link s1-0:3 up
	wait_for $((ups + 2)) 'SUBNET UP'
	kill "$manager"
	wait "$manager" || true
	look was
	"$HEDDLE" live down

	# ---- once more
	"$HEDDLE" live replay tape -q || fail "no replay"
	look is
	same was is
	on h3 ibnetdiscover >found || fail "no fabric behind the replay"
	"$HEDDLE" live down
	"$HEDDLE" live replay tape --pcap again.pcap
	cmp all.pcap again.pcap || fail "the replay's capture differs"

	# ---- as Wireshark sees it
	tshark -r all.pcap -T fields -e infiniband.lrh.vl \
		-e infiniband.mad.mgmtclass -e infiniband.mad.method \
		-e infiniband.mad.attributeid 2>/dev/null >mads
	for what in '0x0f	0x81	0x01	0x0011' '0x0f	0x81	0x02	0x0015' \
		'0x0f	0x81	0x02	0x0019' '0x0f	0x01	0x05	0x0002' \
		'0x00	0x03	0x92	0x0035'; do
		grep -q "^$what" mads || fail "not captured: $what"
	done
	[ -z "$(tshark -r all.pcap -Y '_ws.malformed' 2>/dev/null)" ] ||
		fail "tshark calls packets malformed"
	"$HEDDLE" decode all.pcap --json -o decoded.json
	! grep -q '"bad"' decoded.json || fail "checksums"
	# On one cable, as many as there are among all.
	"$HEDDLE" live replay tape --pcap one.pcap --port h3
	[ "$(tshark -r one.pcap 2>/dev/null | wc -l)" -gt 20 ] ||
		fail "nothing crossed the cable of h3"
done

# ---- up to a time: before anything happened nothing was there
"$HEDDLE" live replay tape -q --until 1ns
status 3 "$HEDDLE" live dump
has err "no manager has been there yet"
"$HEDDLE" live down

# ---- from a pipe, of which no more than a part is there at once
{ head -c 3000 tape && sleep 0.2 && tail -c +3001 tape; } |
	"$HEDDLE" live replay - -q || fail "no replay of a pipe"
look is
same was is
"$HEDDLE" live down

# ---- files that are none
status 3 "$HEDDLE" live replay nowhere
status 3 "$HEDDLE" live replay conf
has err "no recording of a live fabric"
head -c 5000 tape >cut
status 3 "$HEDDLE" live replay cut
has err "the recording is cut after"
[ "$(wc -l <err)" -eq 1 ] || fail "more than a line"
[ ! -e "$XDG_RUNTIME_DIR/heddle-fabric" ] || fail "a fabric was left"
status 3 "$HEDDLE" live replay cut --pcap cut.pcap
has err "cut: the recording is cut after"
[ ! -e cut.pcap ] || fail "half a capture"
{ cat tape && echo more; } >long
status 3 "$HEDDLE" live replay long
status 3 "$HEDDLE" live replay tape --pcap x.pcap --port unknown
has err "tape: no port 'unknown'"
status 2 "$HEDDLE" live replay tape --port h3
status 2 "$HEDDLE" live up star --pace 0
for fabric in star found; do
	status 4 "$HEDDLE" live up $fabric --record /nowhere/tape
	has err "heddle: /nowhere/tape: cannot be written"
done
status 3 "$HEDDLE" live capture -o x.pcap
has err "no fabric runs"
