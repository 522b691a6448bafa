#!/bin/bash
# Runs a suite of others on a live fabric: its programs are in FOLDER, one line per test on standard
# output ('ok', 'skip' or 'BAD' and the test), last a line for the table of docs/verbs.md.
#
#	suites.sh fabtests FOLDER [PROVIDER]	an installed fabtests (FOLDER/bin); 'verbs' by default
#	suites.sh mpi FOLDER [RANKS]		programs that end with status 0 if they pass, with Open MPI;
#						a list FOLDER/testlist ("PROGRAM RANKS") as MPICH has it
#
# MPI programs run with shared memory first: a test that fails there does not count.
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
heddle=${HEDDLE:-$PWD/build/release/heddle}
suite=$1 folder=$(cd "$2" && pwd) || exit 1
work=$(mktemp -d /tmp/heddle-suites.XXXXXXXX)
export XDG_RUNTIME_DIR=$work
trap '"$heddle" live down -q; rm -rf "$work"' EXIT
"$heddle" live up 'fat-tree --radix 4 --levels 2' --sm minhop -q || exit 1
n=0 passed=0 skipped=0
verdict() { # ok|skip|BAD TEST
	echo "$1 $2"
	n=$((n + 1))
	case $1 in ok) passed=$((passed + 1)) ;; skip) skipped=$((skipped + 1)) ;; esac
}

# ---- fabtests: a server on h0 and a client on h5. Both exit with ENODATA or ENOSYS if the provider
# lacks what the test is about. A client that comes before its server listens fails, and some tests
# end without waiting for their peer, so that a test has three attempts with longer pauses; more
# than one is reported.
pair() { # PROGRAM OPTION...
	local pause server
	attempts=0
	for pause in 1 3 9; do
		attempts=$((attempts + 1))
		timeout 120 "$heddle" live exec h0 -- "$folder/bin/$1" "${@:2}" -p "$provider" -s h0 \
			>"$work/server" 2>&1 &
		server=$!
		sleep $pause
		timeout 120 "$heddle" live exec h5 -- "$folder/bin/$1" "${@:2}" -p "$provider" -s h5 h0 \
			>"$work/client" 2>&1
		client_status=$?
		[ $client_status -eq 0 ] || kill $server 2>/dev/null
		wait $server
		server_status=$?
		case $client_status.$server_status in 0.0 | 38.* | 61.*) break ;; esac
	done
}
# listed KIND: the list of the suite's own script, without what the provider's file excludes.
listed() {
	sed -n "/^$1_tests=(/,/^)/s/^\t\"\(.*\)\"\$/\1/p" "$folder/bin/runfabtests.sh" |
		grep -vEf "$work/excluded" | sed 's/SERVER_ADDR/h0/; s/GOOD_ADDR/h5/'
}
# alone PROGRAM OPTION...: on h0.
alone() {
	timeout 120 "$heddle" live exec h0 -- "$folder/bin/$1" "${@:2}" -p "$provider" \
		>"$work/server" 2>&1
}
fabtests() {
	local client_status server_status attempts test
	local excluded=$folder/share/fabtests/test_configs/${provider##*;}/${provider##*;}.exclude
	[ -r "$excluded" ] || { echo "suites: no '$excluded'" >&2; exit 1; }
	grep -v '^#\|^[[:space:]]*$' "$excluded" >"$work/excluded"
	while read -r test; do
		alone $test </dev/null
		case $?.$test in
		0.* | 61.*g00n13s) verdict ok "$test" ;; # an unknown provider is refused
		61.* | 38.*) verdict skip "$test" ;;
		*) verdict BAD "$test: $(tail -n 2 "$work/server" | tr '\n' ' ')" ;;
		esac
	done < <(listed unit; listed neg_unit)
	while read -r test; do
		pair $test </dev/null
		case $client_status.$server_status in
		0.0) verdict ok "$test$([ $attempts -eq 1 ] || echo ", attempt $attempts")" ;;
		61.* | 38.*) verdict skip "$test" ;;
		*) verdict BAD "$test: $(tail -qn 2 "$work/client" "$work/server" | tr '\n' ' ')" ;;
		esac
	done < <(listed functional; listed short)
}

# ---- MPI
ranks() { # HOSTS PROGRAM RANKS ARGUMENT...
	timeout 300 $1 mpirun --allow-run-as-root --oversubscribe -n "$3" "$2" "${@:4}" \
		>"$work/out" 2>&1 </dev/null
}
mpi() {
	local program count rest
	if [ -r "$folder/testlist" ]; then
		awk '!/^#/ && $2 ~ /^[0-9]+$/ { print $1, $2 }' "$folder/testlist"
	else
		find "$folder" -maxdepth 1 -type f -executable -printf "%f ${1:-4}\n" | sort
	fi >"$work/list"
	while read -r program count rest; do
		[ -x "$folder/$program" ] || continue
		if ! ranks "" "$folder/$program" "$count"; then
			verdict skip "$program $count: fails with shared memory"
		elif ranks "$heddle live exec all --" "$folder/$program" "$count"; then
			verdict ok "$program $count"
		else
			verdict BAD "$program $count: $(tail -n 2 "$work/out" | tr '\n' ' ')"
		fi
	done <"$work/list"
}

case $suite in
fabtests)
	provider=${3:-verbs}
	fabtests
	suite=fabtests-${provider//;/-}
	;;
mpi) mpi "${3:-}" ;;
*) echo "suites: no suite '$suite'" >&2; exit 2 ;;
esac
echo "suite: $suite $n $passed $skipped"
[ "$n" -gt 0 ] && [ $((passed + skipped)) -eq "$n" ]
