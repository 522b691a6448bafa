# Runs at both ends of the cable of ci/rxe.sh at once: the guest's, where
# programs use the kernel's rxe0, and the host's, where they use an adapter of
# ours. A row says who is the server, the MTU of our port, of how many frames
# ours loses one, and what runs, at both ends the same. The script that sources this
# has set $role, $listen, $connect and $to, and the function run.
failed=0 n=0

# A client, until there is a server.
ask() {
	tries=0
	until run "$@" -p "$connect" "$to" >"$log" 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 20 ] || return 1
		sleep 0.5
	done
}

serve() {
	run "$@" -p "$listen" >"$log" 2>&1
}

# verbs_exchange waits for its server by itself.
both_of_ours() {
	if [ "$server" = "$role" ]; then
		run "$exchange" "$@" "$listen" >"$log" 2>&1
	else
		run "$exchange" "$@" "$connect" "$to" >"$log" 2>&1
	fi
}

step() {
	if [ "$1" = exchange ]; then
		shift
		both_of_ours "$@"
	elif [ "$server" = "$role" ]; then
		serve "$@"
	else
		ask "$@"
	fi
}

while read -r server mtu lose words; do
	n=$((n + 1))
	if step $words; then
		echo "ok $n $words, $server is the server: $(grep -E \
			'exchanges|usec/iter|^ *[0-9]+ +[0-9]+ ' "$log" |
			tail -n 1 | tr -s ' \t' ' ')"
	else
		echo "FAILED $n $words, $server is the server"
		cat "$log"
		failed=1
		break
	fi
done <<'ROWS'
guest 4096 0 exchange all 1
host 4096 0 exchange all 0
host 1024 0 exchange all 1
guest 1024 30 exchange reliable 1
host 4096 20 exchange reliable 1
guest 1024 0 ibv_rc_pingpong -g 1 -c -n 50
host 1024 0 ibv_rc_pingpong -g 0 -c -n 50
guest 1024 0 ibv_rc_pingpong -g 1 -c -e -n 50
guest 1024 0 ibv_uc_pingpong -g 1 -c -n 50
host 1024 0 ibv_uc_pingpong -g 1 -c -n 50
guest 1024 0 ibv_ud_pingpong -g 1 -c -s 1024 -n 50
host 1024 0 ibv_ud_pingpong -g 0 -c -s 1024 -n 50
guest 1024 0 ibv_srq_pingpong -g 1 -c -n 50
host 1024 0 ibv_srq_pingpong -g 1 -c -n 50
guest 1024 0 ib_send_lat -x 1 -F -n 50
host 1024 0 ib_send_lat -x 1 -F -n 50
guest 1024 0 ib_send_lat -x 1 -F -c UD -n 50
host 1024 0 ib_send_lat -x 1 -F -c UD -n 50
guest 1024 0 ib_write_lat -x 1 -F -n 50
host 1024 0 ib_write_lat -x 1 -F -n 50
guest 1024 0 ib_read_lat -x 1 -F -o 16 -n 50
host 1024 0 ib_read_lat -x 1 -F -o 16 -n 50
guest 1024 0 ib_atomic_lat -x 1 -F -o 16 -n 50
host 1024 0 ib_atomic_lat -x 1 -F -o 16 -A CMP_AND_SWAP -n 50
guest 1024 0 ib_write_bw -x 1 -F -n 20
host 1024 0 ib_write_bw -x 1 -F -n 20
guest 1024 0 ib_read_bw -x 1 -F -o 16 -n 20
host 1024 0 ib_read_bw -x 1 -F -o 16 -n 20
ROWS
