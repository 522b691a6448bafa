# The exact wording of each message, once: messages.txt has an exit status, a
# command line and the line on standard error. A command line that is wrong
# whatever the files contain is a usage error, 2: an unknown name, a value of
# the wrong kind, options that exclude each other. Rejected input, and names
# that it does not contain, are 3. Nothing is written to standard output.
. "$SRC/tests/cli/lib.sh"
quick=$SRC/examples/quickstart.yaml
incast=$SRC/examples/incast.yaml
jobs=$SRC/examples/jobs.yaml
net=$SRC/tests/fixtures/two-switches.ibnet
binary=$SRC/tests/fixtures/rxe.pcap
printf 'unknown h1 DB 1Mb/s\n' >requests
printf 'short\n' >short
sed 's/link: .*/link: "4x HDR, vls: 3"/' "$SRC/src/hca/profiles/ideal.yaml" \
	>pasted.yaml
XDG_RUNTIME_DIR=$PWD
export XDG_RUNTIME_DIR
n=0

# A usage error ends with a hint that names the help of the command.
whole() {
	case $1 in
	*"--help' lists them" | 'heddle: '*) printf '%s\n' "$1" ;;
	*) printf "%s; '%s --help' shows how\n" "$1" "${1%%:*}" ;;
	esac
}

while IFS= read -r row; do
	case $row in '' | '#'*) continue ;; esac
	IFS= read -r message
	eval "set -- ${row#? }"
	status "${row%% *}" "$HEDDLE" "$@" </dev/null
	empty out
	whole "$message" >expected
	sed "s|$PWD/||g; s|$SRC/||g" err >got
	cmp -s expected got || {
		echo "heddle ${row#? }"
		diff expected got || :
		different=yes
	}
	n=$((n + 1))
done <"$SRC/tests/cli/messages.txt"
[ -z "${different:-}" ] || fail "messages differ from messages.txt"
[ "$n" -ge 230 ] || fail "only $n messages"
[ ! -e x.html ] || fail "a refused command wrote a file"
