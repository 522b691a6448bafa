# Words for tests of programs that meet at a TCP port: after lib.sh.
# pick_port: an unused TCP port, in $port.
pick_port() {
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
}

# Wait until a program listens on $port.
wait_for_port() {
	tries=0
	until awk -v at="$(printf ':%04X' "$port")" '$4 == "0A" &&
		substr($2, length($2) - 4) == at { found = 1 }
		END { exit !found }' /proc/net/tcp /proc/net/tcp6; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no server at port $port: $(cat server)"
		sleep 0.05
	done
}
