# Functions for tests of live fabrics: . "$SRC/tests/cli/live_lib.sh", after lib.sh. Each test has a
# fabric of its own in a folder of its own; OpenSM writes to ./log, ./cache and ./dumps. All of it
# is removed with the test.
for tool in opensm ibnetdiscover smpquery saquery perfquery; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done
# A socket's path has a hundred letters at most.
XDG_RUNTIME_DIR=$(mktemp -d /tmp/heddle-live.XXXXXXXX)
export XDG_RUNTIME_DIR
export OSM_CACHE_DIR="$PWD/cache" OSM_TMP_DIR="$PWD/dumps"
rm -rf cache dumps log
mkdir cache dumps
. "$SRC/tests/cli/end_lib.sh"
leave() {
	for fabric in "$XDG_RUNTIME_DIR"/heddle-*; do
		"$HEDDLE" live down -q --name "${fabric##*/heddle-}" \
			2>/dev/null || true
	done
	rm -rf "$XDG_RUNTIME_DIR"
}

# on HOST PROGRAM...: it ends within a minute.
on() {
	host=$1
	shift
	timeout 300 "$HEDDLE" live exec "$host" -- "$@"
}

# stay FABRIC: it is up, and its daemon a child of ours, in $daemon.
stay() {
	"$HEDDLE" live up "$1" --foreground &
	daemon=$!
	programs="$programs $daemon"
	tries=0
	until "$HEDDLE" live show >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "it does not come up"
		sleep 0.05
	done
}

# fabric_processes: the numbers of those that run our fabrics.
fabric_processes() {
	for process in /proc/[0-9]*; do
		tr '\0' '\n' 2>/dev/null <"$process/environ" |
			grep -qx "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" || continue
		tr '\0' ' ' 2>/dev/null <"$process/cmdline" |
			grep -q ' live up ' || continue
		echo "${process#/proc/}"
	done
}

# manage HOST LOG OPTION...: OpenSM there, its process in $manager. Its log is
# there line by line: it keeps the second "SUBNET UP" to itself otherwise.
manage() {
	host=$1 log=$2
	shift 2
	: >"$log"
	"$HEDDLE" live exec "$host" -- opensm -d 2 -f "$PWD/$log" "$@" \
		>"$log.out" 2>&1 &
	manager=$!
	programs="$programs $manager"
}

# wait_for N TEXT [LOG]: waits until the log has the text N times.
wait_for() {
	tries=0
	until [ "$(grep -c -- "$2" "${3:-log}")" -ge "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no '$2': $(tail -3 "${3:-log}")"
		sleep 0.1
	done
}

# settle [LOG]: until OpenSM has swept after trap 144 (its own port runs a manager now).
# The trap comes during the first sweep or a second later; its sweep writes tables again and
# reaches switches by other ports.
settle() {
	tries=0
	until awk '/SUBNET UP/ { n++; done = told } /num:144/ { told = 1 }
		END { exit !(done && n > 1) }' "${1:-log}"; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "no second sweep: $(tail -3 "${1:-log}")"
		sleep 0.1
	done
}

# no_more TEXT [LOG]: until three seconds pass without a new line that has TEXT. Traps that are not
# repressed come each second.
no_more() {
	tries=0
	until n=$(grep -c -- "$1" "${2:-log}") && sleep 3 &&
		[ "$(grep -c -- "$1" "${2:-log}")" -eq "$n" ]; do
		tries=$((tries + 1))
		[ $tries -lt $PATIENCE ] || fail "'$1' continues: $(tail -3 "${2:-log}")"
	done
}

# control_of_sl_0 CCT: congestion control of SL 0 by this table, for OpenSM.
control_of_sl_0() {
	cat <<END
congestion_control TRUE
cc_key 0x0
cc_sw_cong_setting_control_map 0x1F
cc_sw_cong_setting_threshold 0x0F
cc_sw_cong_setting_packet_size 8
cc_sw_cong_setting_marking_rate 0
cc_ca_cong_setting_port_control 0x0001
cc_ca_cong_setting_control_map 0x0001
cc_ca_cong_setting_ccti_timer 0 150
cc_ca_cong_setting_ccti_increase 0 1
cc_cct $1
END
}

# lid_of NODE: that of a switch's port 0 or an adapter's first port.
lid_of() {
	"$HEDDLE" live show --csv |
		sed -n "s/^$1,[01],active,\([1-9][0-9]*\),.*/\1/p" | head -n 1
}

# routes <FILE: "GUID LID PORT" of a dump by OpenSM or dump_fts.
routes() {
	awk '/^Unicast/ { for (i = 1; i < NF; i++)
			if ($i == "guid") guid = $(i + 1) }
		/^0x/ && $2 + 0 >= 0 && $2 !~ /UNREACH/ {
			print tolower(guid), $1, $2 + 0 }' | sort
}
