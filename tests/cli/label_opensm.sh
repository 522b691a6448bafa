# The SL that 'qos classify' says is the one that OpenSM answers with: policies
# are given to OpenSM on ibsim, and path records are asked for.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/end_lib.sh"
SO=$(ls /usr/lib/*/umad2sim/libumad2sim.so) || fail "ibsim is not installed"
for tool in ibsim opensm saquery; do
	command -v "$tool" >/dev/null || fail "$tool is not installed"
done
rm -rf labelled
mkdir labelled
cd labelled
"$HEDDLE" topo gen star --hosts 3 -o star.net
echo 'qos TRUE' >opensm.conf
guid=$(grep -o 'caguid=0x[0-9a-f]*' star.net | sed -n 's/.*0x//p' | sort | sed -n 2p)
guid=$(printf '0x%x' $((0x$guid + 1))) # of h1's port

# until_it FILE WORDS
until_it() {
	tries=0
	until grep -q "$2" "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -le $PATIENCE ] || fail "no '$2' in $1"
		sleep 0.1
	done
}

# judge NAME: for each pair and query, theirs next to ours. The manager is h0.
judge() {
	mkdir "$1.d" "$1.d/cache" "$1.d/tmp"
	mkfifo "$1.d/console"
	IBSIM_SOCKNAME=$(mktemp -u "heddle-label-$1-XXXXXXXX")
	export IBSIM_SOCKNAME
	export OSM_CACHE_DIR=$PWD/$1.d/cache OSM_TMP_DIR=$PWD/$1.d/tmp
	sleep $PATIENCE >"$1.d/console" &
	programs=$!
	ibsim -s star.net <"$1.d/console" >"$1.d/ibsim.log" 2>&1 &
	programs="$! $programs"
	until_it "$1.d/ibsim.log" 'simulator ready'
	SIM_HOST=h0 LD_PRELOAD=$SO opensm -d 2 -e -f "$PWD/$1.d/log" \
		-F "$PWD/opensm.conf" -Y "$PWD/$1" >"$1.d/out" 2>&1 &
	programs="$! $programs"
	until_it "$1.d/log" 'SUBNET UP'
	for pair in h0:h1 h1:h2 h2:h0; do
		for ask in '' '--service-id 0x10001' '--class 7'; do
			compare "$1" "$pair" "$ask"
		done
	done
	end_programs
}

lid_of() {
	SIM_HOST=h0 LD_PRELOAD=$SO timeout 300 saquery -t 300000 "$1" 2>/dev/null |
		sed -n 's/.*base_lid\.*//p; s/^[[:space:]]*lid\.*//p' | head -n 1
}

compare() {
	from=${2%:*} to=${2#*:}
	theirs=$(SIM_HOST=h1 LD_PRELOAD=$SO timeout 300 saquery -t 300000 -p \
		--src-to-dst "$(lid_of "$from"):$(lid_of "$to")" \
		$(echo "$3" | sed 's/--service-id/--service_id/; s/--class/--qos_class/') |
		sed -n 's/^[[:space:]]*sl\.*0x//p' | head -n 1)
	ours=0
	if "$HEDDLE" qos classify --fabric star.net --manager h0 --source "$from" \
		--destination "$to" $3 --json "$1" >ours.json 2>ours.err; then
		ours=$(jq '.tables.label.rows[0].sl' ours.json)
	else
		grep -q 'AC0[34]' "$1.d/log" ||
			fail "$1 is refused: $(cat ours.err), OpenSM takes it"
	fi
	[ "$((0x${theirs:-ff}))" -eq "$ours" ] ||
		fail "$1, $2 $3: OpenSM says SL $theirs, we $ours"
}

levels='qos-levels\n qos-level\n  name: DEFAULT\n  sl: 4\n end-qos-level\n qos-level\n  name: X\n  sl: 7\n end-qos-level\nend-qos-levels\n'
group() { # FIELD: a rule for what comes from such ports
	printf "port-groups\n port-group\n  name: G\n  $1\n end-port-group\nend-port-groups\n$levels"
	printf 'qos-match-rules\n qos-match-rule\n  source: G\n  qos-level-name: X\n end-qos-match-rule\nend-qos-match-rules\n'
}
printf "${levels}qos-ulps\n default : 5\n SDP : 3\nend-qos-ulps\n" >both
printf 'qos-ulps\n DEFAULT : 1\n any, source-target-port-guid %s : 5\nend-qos-ulps\n' "$guid" >ends
printf 'qos-ulps\n sdp : 3\nend-qos-ulps\n' >none
printf 'qos-levels\n qos-level\n  name: DEFAULT\n end-qos-level\nend-qos-levels\n' >silent
group 'node-type: SELF' >self
group 'pkey: 0x7fff' >key
group 'partition: Default' >partition
printf "${levels}qos-match-rules\n qos-match-rule\n  qos-class: 5-9\n  qos-level-name: X\n end-qos-match-rule\nend-qos-match-rules\n" >classes
for policy in both ends none silent self key partition classes; do
	judge $policy
done
