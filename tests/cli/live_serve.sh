# 'heddle serve --live' shows the same as unmodified tools on a live fabric: port states that OpenSM
# has set, the counters of perfquery, and links that the page or other tools take down.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v curl >/dev/null || fail "curl is not installed"

cat >load.yaml <<'END'
fabric: {topology: {kind: fat-tree, radix: 4, levels: 2, link: 4x HDR}}
traffic:
  - {name: all, kind: poisson, payload: 2KiB, load: 40%}
run: {measure: 100us}
END
status 3 "$HEDDLE" serve --live fabric
one_line err
has err "no fabric runs"

"$HEDDLE" live up load.yaml -q
rm -f url
"$HEDDLE" serve --live fabric --listen 127.0.0.1:0 >url &
programs="$programs $!"
tries=0
until [ -s url ]; do
	tries=$((tries + 1))
	[ $tries -lt $PATIENCE ] || fail "nothing is served"
	sleep 0.1
done
url=$(cat url)
get() {
	curl -sSf --max-time 60 "$url$1" >"$2" || fail "no $1"
}
# post PATH STATUS: into ./answer.
post() {
	got=$(curl -sS --max-time 60 -X POST -H 'X-Heddle: 1' -o answer \
		-w '%{http_code}' "$url$1")
	[ "$got" = "$2" ] || fail "$1: $got, not $2: $(cat answer)"
}
# metric NAME NODE PORT: its value.
metric() {
	sed -n "s/^node_infiniband_$1{device=\"$2\",port=\"$3\"} //p" metrics
}
# is NAME NODE PORT VALUE
is() {
	[ "$(metric "$1" "$2" "$3")" = "$4" ] ||
		fail "$1 of $2:$3 is $(metric "$1" "$2" "$3"), not $4"
}

# ---- before a manager: links are trained, nothing is programmed
get metrics metrics
[ "$(grep -c '^node_infiniband_state_id.* 2$' metrics)" -eq 32 ] ||
	fail "not all 32 ends of the 16 cables are in Init"
get fabric.json fabric
lacks fabric '"forwarding"'

# ---- after it, and traffic: the same counts as perfquery's, port by port
manage h0 log -F /dev/null
settle
get metrics metrics
[ "$(grep -c '^node_infiniband_state_id.* 4$' metrics)" -eq 32 ] ||
	fail "not all are Active"
get fabric.json fabric
has fabric '"forwarding"'
"$HEDDLE" live traffic load.yaml >traffic
get metrics metrics
compared=0
for port in h3/1 s1-0/1 s1-0/3 s2-1/2; do
	node=${port%/*} number=${port#*/}
	on h0 perfquery -x "$(lid_of "$node")" "$number" >counters
	while read -r of name factor; do
		value=$(sed -n "s/^$name:\.*//p" counters)
		is "$of" "$node" "$number" $((value * factor))
		[ "$value" -eq 0 ] || compared=$((compared + 1))
	done <<-END
		port_data_transmitted_bytes_total PortXmitData 4
		port_data_received_bytes_total PortRcvData 4
		port_packets_transmitted_total PortXmitPkts 1
		port_packets_received_total PortRcvPkts 1
		port_transmit_wait_total PortXmitWait 1
	END
done
[ $compared -ge 16 ] || fail "only $compared counters count"

# ---- errors, resets, speeds
"$HEDDLE" live inject-error h3 SymbolErrorCounter 7
get metrics metrics
is symbol_error_total h3 1 7
get state.json state
has state '"SymbolErrorCounter"'
on h0 perfquery -x -R "$(lid_of h3)" 1 >out
on h0 perfquery -R "$(lid_of h3)" 1 >out
get metrics metrics
is symbol_error_total h3 1 0
is port_packets_transmitted_total h3 1 0
is rate_bytes_per_second h3 1 25000000000
"$HEDDLE" live link h3 speed EDR
get metrics metrics
is rate_bytes_per_second h3 1 12500000000

# ---- cables: by their number in the page's table of links; h7's is the last
post 'cut?link=31' 200
"$HEDDLE" live show --csv >ports
grep -q '^h7,1,down,' ports || fail "h7 is not cut: $(grep '^h7,' ports)"
get metrics metrics
is state_id h7 1 1
is link_downed_total h7 1 1
get state.json state
has state '"link-down h7"'
post 'mend?link=31' 200
"$HEDDLE" live show --csv >ports
! grep -q '^h7,1,down,' ports || fail "h7 is still cut"

# ---- what is the manager's, or a run's
post 'weights?low=0:1' 409
post 'pause' 409
post 'cut?link=32' 404
one_line answer

# ---- another fabric of the name is another
kill "$manager"
wait "$manager" || true
"$HEDDLE" live down
got=$(curl -sS -o answer -w '%{http_code}' "${url}metrics")
[ "$got" = 404 ] || fail "$got from a fabric that is gone"
one_line answer
sed 's/radix: 4/radix: 6/' load.yaml >larger.yaml
"$HEDDLE" live up larger.yaml -q --sm minhop
get metrics metrics
is state_id h17 1 4
