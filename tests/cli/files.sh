# No output replaces an input or another output, under any name of the file: one line, and every
# file is unchanged. The test uses the options of all commands that name files, as shown in their
# help, so that none is missing.
. "$SRC/tests/cli/lib.sh"

# commands_of WORDS...: the commands that help lists, with those below them.
commands_of() {
	"$HEDDLE" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' |
		while read -r name; do
			if "$HEDDLE" "$@" "$name" --help | grep -q '^Commands:'; then
				commands_of "$@" "$name"
			else
				echo "$@" "$name"
			fi
		done
}

commands_of >commands
[ "$(wc -l <commands)" -gt 40 ] || fail "where are the commands? $(cat commands)"
rm -f input link again goal.link reserved state
echo 'precious' >input
cp input before
ln -s input link
ln input again

# refused STATUS TEXT WORDS...: refused in one line, and the input is unchanged.
refused() {
	wanted=$1 text=$2
	shift 2
	status "$wanted" "$HEDDLE" "$@" </dev/null
	one_line err
	has err "$text"
	empty out
	[ ! -e before ] || cmp input before || fail "'$*' wrote over its input"
}

# Whatever option names a FILE, it is not that of --output (or of --db).
n=0 share=1 turn=0
[ "${HD_LIGHT:-0}" = 0 ] || share=6
while read -r command; do
	# shellcheck disable=SC2086
	"$HEDDLE" $command --help |
		sed -n 's/^  *\(-[a-z], \)*--\([a-z0-9-]*\) .*\(FILE\|SCENARIO\).*/\2/p' |
		sort -u >options
	while read -r option; do
		turn=$((turn + 1))
		[ $((turn % share)) = 0 ] || continue
		other=output
		[ "$option" != output ] || other=html
		grep -qx "$other" options || continue
		set -- link
		[ "$command" != sim ] ||
			set -- input link again ./input "$PWD/link"
		for name; do
			# shellcheck disable=SC2086
			refused 2 "--$other" $command "--$option" "$name" \
				"--$other" input
			has err "--$option"
			n=$((n + 1))
		done
	done <options
done <commands
[ $((n * share)) -gt 150 ] || fail "only $n options that name files"

# Files that a command or its scenario reads cannot be outputs either.
topology='fabric: {topology: {kind: star, hosts: 2}}'
cat >input <<END
$topology
jobs: [{name: a, goal: trace.goal}]
END
cat >trace.goal <<'END'
num_ranks 2
rank 0 { send 4096b to 1 }
rank 1 { recv 4096b from 0 }
END
cp input before
cp trace.goal goal.before
ln -s trace.goal goal.link
for option in output html pcap trace checkpoint; do
	refused 3 "input: is an input; --$option would overwrite it" \
		sim input "--$option" link
	for name in trace.goal goal.link; do
		refused 3 "is an input" sim input --csv "--$option" $name
	done
	cmp trace.goal goal.before || fail "--$option wrote over the goal file"
done
refused 3 "is an input; --output would overwrite it" sweep input --vary run.seed=1,2 -o input
# A file that is no database is not converted into one.
refused 3 "file is not a database" sim input --db link
refused 3 "is an input; --output would overwrite it" job show trace.goal --goal -o trace.goal
refused 3 "is an input; --output would overwrite it" topo convert input -o input
refused 3 "is an input; --output would overwrite it" cc compare input --algorithm cct -o input
refused 3 "is an input; --conf would overwrite it" cc tune input --conf input
refused 3 "is an input; --pcap would overwrite it" live replay input --pcap input
refused 3 "is an input; --output would overwrite it" decode input -o input
refused 3 "is an input; --output would overwrite it" \
	route mesh --set fabric.routing.engine=file \
	--set fabric.routing.file=trace.goal --csv -o trace.goal
cmp trace.goal goal.before

# What continues from a file may take its place; devices are for all.
rm before
status 0 "$HEDDLE" sim input --checkpoint state --every-simulated 100ns --checksum
mv out want
status 0 "$HEDDLE" sim input --checkpoint state --restart state --checksum
cmp want out
status 0 "$HEDDLE" sim input --pcap /dev/null --trace /dev/null -o /dev/null
status 0 "$HEDDLE" qos admit mesh --random 2 --save reserved
status 0 "$HEDDLE" qos admit mesh --random 2 --from reserved --save reserved
