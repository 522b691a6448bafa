# Functions for tests of programs that connect by a TCP port; sourced after lib.sh. pick_port: an
# unused TCP port, in $port. The kernel assigns it to no connection: otherwise a program that
# connects before its peer listens can reach itself, and another program can get the port first.
# Tests that run at the same time take turns by a locked file.
pick_port() {
	port=$(python3 -c 'import fcntl, os, socket
FIRST, N = 20000, 12000
with open("/tmp/heddle-test-ports-%d" % os.getuid(), "a+") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    f.seek(0)
    port = int(f.read() or FIRST)
    while True:
        port = FIRST + (port + 1 - FIRST) % N
        try:
            socket.socket().bind(("", port))
            break
        except OSError:
            pass
    f.truncate(0)
    f.write("%d" % port)
print(port)')
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
