# Every command, and every command of a command, has help with examples that
# fits a terminal, refuses unknown options with the nearest one, and has its
# place in the man pages and in completion.
. "$SRC/tests/cli/lib.sh"
build=$(dirname "$HEDDLE")
status 0 "$HEDDLE" --help
cp out help

# The names under "Commands:" of the help in file $1.
listed() {
	awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' "$1"
}

check_help() {
	status 0 "$HEDDLE" "$@" --help
	empty err
	has out "Usage: heddle $*"
	# An example stays on one line, to be copied.
	[ "$(grep -v '^  heddle ' out | wc -L)" -le 80 ] ||
		fail "help of '$*' is wider than 80"
	! grep -q '[[:cntrl:]]' out || fail "help of '$*' has odd letters"
	cp out help.own
	status 0 "$HEDDLE" help "$@"
	cmp out help.own
	status 2 "$HEDDLE" "$@" --hepl
	one_line err
	has err "did you mean '--help'?"
	empty out
	# A word where none belongs may be an option's, and is not ignored.
	if grep -qx "Usage: heddle $* \[OPTION...\]" help.own; then
		wordless=$((wordless + 1))
		status 2 "$HEDDLE" "$@" surely-no-word
		one_line err
	fi
}
wordless=0

n=0
"$HEDDLE" --commands >all
for command in $(grep -v " " all); do
	n=$((n + 1))
	listed help | grep -qx "$command" || fail "help lacks $command"
	check_help "$command"
	groups=$(listed help.own)
	[ -n "$groups" ] || has help.own "Examples:"
	for sub in $groups; do
		check_help "$command" "$sub"
		has help.own "Examples:"
		escaped=$(echo "$sub" | sed 's/-/\\-/g')
		has "$build/man/heddle-$command.1" "heddle $command $escaped"
		has "$build/man/heddle-$command-$sub.1" "heddle $command $escaped"
		grep -qx "$command $sub" all || fail "no '$command $sub' in all"
		has "$build/completion/heddle" "'$command $sub')"
	done
	[ -s "$build/man/heddle-$command.1" ] || fail "no man page of $command"
	has "$build/man/heddle.1" "$(echo "heddle-$command" | sed 's/-/\\-/g')"
	has "$build/completion/heddle" "'$command')"
done
[ "$n" -gt 0 ] || fail "there is no command"
[ "$wordless" -gt 5 ] || fail "only $wordless commands take no words"
[ "$n" -eq "$(listed help | wc -l)" ] || fail "help lists others"
bash -n "$build/completion/heddle"
