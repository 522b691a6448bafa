# Words for tests of adapters that speak RoCEv2: after lib.sh. A cable of its
# own: its sockets are in ./cable, whose path is short.
cable=$(mktemp -d /tmp/heddle-roce.XXXXXXXX)
. "$SRC/tests/cli/end_lib.sh"
leave() {
	rm -rf "$cable"
}

# end_at LOCAL PROGRAM...: with that socket; $mtu and $lose, if they are set.
end_at() {
	local=$1
	shift
	timeout 300 "$HEDDLE" live roce --address 10.0.0."${number:-1}" \
		--local "$local" --remote "$cable/$((3 - ${number:-1}))" \
		--mtu "${mtu:-1024}" --lose "${lose:-0}" -- "$@"
}

# end 1|2 PROGRAM...: at that end of the cable.
end() {
	number=$1
	shift
	end_at "$cable/$number" "$@"
}

. "$SRC/tests/cli/port_lib.sh"

# between TOOL OPTION...: its server at one end, its client at the other; what
# they say is in ./server and ./client.
between() {
	pick_port
	end 1 "$@" -p "$port" >server 2>&1 &
	server=$!
	programs="$programs $server"
	wait_for_port
	end 2 "$@" -p "$port" 127.0.0.1 >client 2>&1 ||
		fail "client of $*: $(tail -n 5 client server)"
	wait "$server" || fail "server of $*: $(tail -n 5 server client)"
}

# exchange WHAT GID: programs at both ends that compare what they send.
exchange() {
	pick_port
	end 1 "$EXCHANGE" "$1" "$2" "$port" >server 2>&1 &
	server=$!
	programs="$programs $server"
	end 2 "$EXCHANGE" "$1" "$2" "$port" 127.0.0.1 >client 2>&1 ||
		fail "exchange $*: $(cat client server)"
	wait "$server" || fail "exchange $*: $(cat server client)"
	grep -qx "[1-9][0-9]* exchanges, MTU ${mtu:-1024}" client ||
		fail "exchange $*: $(cat client)"
}
