# --sweep predicts what OpenSM does when cables fail and return: entry by entry, and block by block
# in the order of its writes.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/ibsim.sh"
needs opensm ibnetdiscover

# settled N: the subnet was brought up N times, and no more than it now is.
settled() {
	until_up "$1"
	before=-1
	until [ "$ups" = "$before" ]; do
		before=$ups
		sleep 0.6
		until_up "$1"
	done
}

bring_up() { # FABRIC [OPENSM OPTIONS...]
	enter_fabric "$@"
	settled 1
	in_fabric ibnetdiscover >found
	cp dumps/opensm-lfts.dump tables
	sweeps=
}

# event down|up NODE PORT: to OpenSM and to us.
event() {
	case $1 in
	down) command=Unlink ;;
	up) command=ReLink ;;
	esac
	seen=$(wc -l <log)
	echo "$command \"$2\"[$3]" >console
	settled $((ups + 1))
	sweeps="$sweeps --sweep $1=$2/$3"
	# shellcheck disable=SC2086 # words
	set -- "$HEDDLE" route found --engine file --routes tables $sweeps
	"$@" --dump opensm >ours
	cmp ours dumps/opensm-lfts.dump || fail "$fabric:$sweeps"
	tail -n "+$seen" log |
		sed -n 's/.*Writing FT block \([0-9]*\) to switch 0x\(.*\)/\1 \2/p' \
			>theirs
	"$@" --json | jq -r '.tables as $t |
		($t.sweeps.rows | length) as $last | $t.writes.rows[] |
		select(.sweep == $last) |
		"\(.block) \(.GUID | ltrimstr("0x0"))"' >ours
	cmp ours theirs || fail "blocks of $fabric:$sweeps"
}

bring_up 'fat-tree --radix 8 --levels 3'
event down s2-3 8
event down s1-4 6
event down s1-15 1 # a host's
event up s2-3 8
event down s3-5 2
leave_fabric
bring_up 'irregular --switches 16 --degree 4 --hosts 2' -l 1
event down s-3 1
event down s-9 2
event up s-3 1
leave_fabric
