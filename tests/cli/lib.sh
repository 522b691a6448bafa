# Functions for script tests: . "$SRC/tests/cli/lib.sh". Each ends the test with one line that
# describes the failure.

# OpenSM lives there, and an ordinary user's path may not.
export PATH="$PATH:/usr/sbin:/sbin"

# The tools around the program write and read numbers as it does; it has no
# locale (cli.front_door).
export LC_ALL=C.UTF-8

# How often to look again for what is to happen: minutes of looks, for a
# machine with other work is slow, and no failure. What hangs ctest ends.
PATIENCE=3000

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# is_ours NUMBER: a child of this shell has it. The number of a child that was
# waited for is free: after some thousands of processes another process has it.
is_ours() {
	read -r self _ </proc/self/stat
	grep -q "^PPid:.$self\$" "/proc/$1/status" 2>/dev/null
}

# status N COMMAND...: it ends with N; output in ./out, messages in ./err.
status() {
	wanted=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$wanted" ] || {
		cat out err >&2
		fail "'$*' ended with $got, not $wanted"
	}
}

# jq -e ...: as always, but what finds nothing to say anything of is not true;
# jq itself (1.6) is content with an empty file.
jq() (
	for word; do
		case $word in
		--*) ;;
		-*e*)
			status=0
			found=$(command jq "$@") || status=$?
			printf '%s\n' "$found"
			[ -n "$found" ] || exit 4
			exit $status
			;;
		esac
	done
	command jq "$@"
)

# has FILE TEXT: the text is in the file, literally.
has() {
	grep -qF -- "$2" "$1" || {
		cat "$1" >&2
		fail "no '$2' in $1"
	}
}

lacks() {
	! grep -qF -- "$2" "$1" || {
		cat "$1" >&2
		fail "'$2' in $1"
	}
}

# one_line FILE: the message of a refusal has one line.
one_line() {
	[ "$(wc -l <"$1")" -eq 1 ] || {
		cat "$1" >&2
		fail "$1 is not one line"
	}
}

empty() {
	[ ! -s "$1" ] || {
		cat "$1" >&2
		fail "$1 is not empty"
	}
}
