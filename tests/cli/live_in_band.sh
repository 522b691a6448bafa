# MADs that take time have the delays of the scenario's cables, links and switches, as exactly as a
# capture shows, and its VL15 buffers. Fields that do not apply to MADs are refused.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v tshark >/dev/null || fail "tshark is not installed"

# h0 - s-0-0 - s-1-0 - h1, with 30 m of slow cable between the switches
cat >long.yaml <<'END'
fabric:
  topology: {kind: mesh, columns: 2, rows: 1, link: 4x EDR}
  link: {propagation: 7ns}
  links:
    - {ports: trunks, rate: 2Gb/s, propagation: 150ns}
  switch: {routing_delay: 250ns, arbitration_delay: 50ns, management_buffer: 320}
  agent_delay: 3us
END

# ask FABRIC: h0 asks h1 and is answered; ns between the six cables crossed are
# in ./steps.
ask() {
	"$HEDDLE" live up "$1" -q --clock simulated --record tape
	on h0 smpquery -D nodedesc 0,1,1,5 >answer || fail "no answer"
	has answer h1
	"$HEDDLE" live down
	"$HEDDLE" live replay tape --pcap tape.pcap
	tshark -r tape.pcap -T fields -e frame.time_relative 2>/dev/null |
		tail -6 | awk 'NR > 1 { printf "%.0f\n", ($1 - was) * 1e9 }
			{ was = $1 }' >steps
}
# takes NS...: those are the steps, but for what a capture rounds.
takes() {
	for wanted; do
		read -r step || fail "no step of $wanted ns"
		[ "$step" -ge $((wanted - 1)) ] &&
			[ "$step" -le $((wanted + 1)) ] ||
			fail "a step of $step ns, not $wanted: $(tr '\n' ' ' <steps)"
	done <steps
}

# 290 bytes are 23.2 ns and 1,160 ns. A switch: 300 ns, and what its output is
# faster than its input (1,136.8 ns); the agent: all of it, and 3 us.
ask long.yaml
takes 450 1444 3030 450 1444
# All as it is by default: 11.6 ns each; 5 ns, 100 ns, and 10 us.
ask 'mesh --columns 2 --rows 1'
takes 105 105 10017 105 105

# ---- room for one, as above, is five blocks
"$HEDDLE" live up long.yaml -q --clock simulated --set fabric.switch.management_buffer=319
! on h0 smpquery -t 50 -D nodedesc 0,1 >answer 2>&1 ||
	fail "a MAD of 290 bytes in 319"
"$HEDDLE" live down

# ---- what packets do in a simulation, and MADs do not
for what in switch.queueing=cioq switch.order=fifo switch.crossbar_reads=2 \
	credits=exact; do
	status 3 "$HEDDLE" live up long.yaml --clock simulated --set "fabric.$what"
	one_line err
	has err "fabric.${what%=*}: '--clock simulated' supports"
	"$HEDDLE" live up long.yaml -q --set "fabric.$what"
	"$HEDDLE" live down
done
status 3 "$HEDDLE" live up long.yaml --clock simulated --set 'fabric.link.rate=9b/s'
has err "1 kb/s"
status 3 "$HEDDLE" live up long.yaml --clock simulated --set 'fabric.links[0].ports=h9'
has err "no node 'h9'"
