# Typical errors of users give one line that names them, with the right status, and before anything
# is computed.
. "$SRC/tests/cli/lib.sh"
rm -rf folder half*
mkdir folder
: >empty
quick=$SRC/examples/quickstart.yaml

# refused STATUS TEXT COMMAND...
refused() {
	wanted_status=$1 text=$2
	shift 2
	status "$wanted_status" "$HEDDLE" "$@"
	one_line err
	has err "$text"
	empty out
}

# A folder or a missing file, for every option that reads a file.
for command in 'sim' 'cc compare' 'cc tune' 'topo show' 'route' 'decode' \
	'mcast compare' 'model fabric' 'qos lint' 'qos classify'; do
	refused 3 'heddle: folder: cannot be read: Is a dir' $command folder
	refused 3 'heddle: nothere: cannot be read: No such' $command nothere
done
for command in 'sim' 'cc compare' 'cc tune' 'mcast compare' 'model fabric' \
	'bench send-lat --fabric'; do
	refused 3 'heddle: empty: the scenario is empty' $command empty
done
refused 3 'folder: cannot be read' route mesh --mcast-routes folder

# A mistake inside a scenario is at a line of that file, for every command.
printf 'fabric:\n  topology: {kind: mesh, colums: 4}\n' >bad.yaml
for command in 'sim' 'cc compare' 'cc tune' 'mcast compare' 'model fabric' \
	'bench send-lat --fabric'; do
	refused 3 "heddle: bad.yaml:2:26: unknown field 'colums'" $command bad.yaml
done

# Options that queue pairs do not support.
cat >pairs.yaml <<END
fabric:
  topology: {kind: star, hosts: 4}
  groups: [{name: g, members: all}]
traffic:
  - {name: q, kind: messages, transport: rc, source: h0, destination: h1}
  - {name: g, kind: messages, pattern: group, group: g, source: h0}
END
refused 3 "a transport and a group do not go together" sim pairs.yaml \
	--set traffic.g.transport=rc
refused 3 "a transport and VL15 do not go together" sim pairs.yaml \
	--set traffic.q.management=true
refused 3 "a transport and admission do not go together" sim pairs.yaml \
	--set traffic.q.reserve=1Gb/s
refused 3 "a queue pair has one peer, and 'h0' may choose among 3" \
	sim pairs.yaml --set traffic.q.destination=all
refused 3 "'h0' has no destination other than itself" sim pairs.yaml \
	--set traffic.q.destination=h0
refused 3 "payload of 8192 bytes is more than the MTU" sim pairs.yaml \
	--set traffic.q.transport=ud --set traffic.q.payload=8KiB
refused 3 "queue pairs are not possible with qos.thresholds.capacity" sim pairs.yaml \
	--set qos.thresholds.capacity=10
refused 3 "goes over queue pairs, which --pcap does not have" sim pairs.yaml \
	--pcap pairs.pcap
[ ! -e pairs.pcap ] || fail "a refused capture was written"
refused 3 "queue pairs cross no router, and 'h0' and" \
	sim "$SRC/examples/two-subnets.yaml" --set traffic.+.name=q \
	--set traffic.q.kind=messages --set traffic.q.transport=rc \
	--set traffic.q.source=h0 --set traffic.q.destination=7
# Datagrams that their own port drops are done at once, and the next is posted.
for transport in uc ud; do
	refused 3 "SL 0 has no VL where it is sent" sim pairs.yaml \
		--set qos.sl2vl=15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 \
		--set traffic.q.kind=saturating --set traffic.q.transport=$transport
done

# Lines of a trace reserve nothing.
printf '1ns,h1,h2,2048,8\n9ns,h1,h2,2048,2\n' >reserved.csv
cat >reserved.yaml <<'EOF2'
fabric: {topology: {kind: star, hosts: 4}}
qos:
  classes: [{name: film, sl: 2, kind: DB}, {name: be, sl: 8, kind: BE}]
traffic: [{name: t, class: be, kind: trace, file: reserved.csv}]
EOF2
refused 3 "has packets of SL 2, whose class 'film' asks admission" \
	sim reserved.yaml

# Places that cannot be written are known before the run, and no run is noted.
for option in --output --html; do
	refused 4 'nowhere/x: cannot be written: No such' \
		sim "$quick" --db runs.db $option nowhere/x
	refused 4 'folder: cannot be written: Is a dir' \
		sim "$quick" --db runs.db $option folder
done
[ ! -e runs.db ] || fail "a refused run was noted"
refused 2 '--html and --output name the same file' sim "$quick" -o x --html x
refused 2 '--db and --html name the same file' sim "$quick" --html x --db x
refused 2 '--pcap and --trace name the same file' sim "$quick" --pcap x --trace x
[ ! -e x ] || fail "a refused command wrote"
refused 4 '/dev/full: cannot be written: No space left on device' sim "$quick" --pcap /dev/full \
	--port h0
refused 4 '/dev/full: cannot be written: No space left on device' sim "$quick" --trace /dev/full \
	--port h0

# Numbers that are invalid.
refused 2 '1 byte to 1 GiB' mcast compare --topology 'kind: mesh' \
	--size 99999999999999
refused 2 'out of range (0 to 0.5)' mcast compare --topology 'kind: mesh' --ber 2
refused 2 'at most 100%' cc tune --floor 300% "$SRC/examples/incast.yaml"
refused 2 '1 to 4096 bytes' qos plan --mtu 0 a=100%
refused 3 "class 'a' is given twice" qos plan a=50% a=50%
refused 3 'at most 1e100' model queue mm1 --lambda 1e308
refused 2 "'list' takes no further arguments" bench list foo
refused 3 "heddle: no experiment 'foo'" paper list foo

# An interrupted command leaves whole packets and lines only.
sed 's/^run:.*/run: {measure: 10s, horizon: 20s}/' "$quick" >long.yaml
grep -q '^run:' long.yaml || echo 'run: {measure: 10s, horizon: 20s}' >>long.yaml
for signal in INT TERM; do
	status 124 timeout -s $signal 1 "$HEDDLE" sim long.yaml --pcap half \
		--port h0 --trace half.txt
	[ "$(echo half*)" = "half half.txt" ] || fail "SIG$signal leaves $(ls)"
	"$HEDDLE" decode half --summary >out || fail "half of a packet"
	[ -z "$(tail -c 1 half.txt)" ] || fail "half of a line"
done

# ---- names that several nodes have
# A site may have them. A reference by this name is refused in each place, with
# the GUIDs of both nodes, and each of these GUIDs is accepted instead.
"$HEDDLE" topo gen mesh --columns 2 --rows 1 --hosts 2 >whole.net
sed 's/"h1"/"h0"/; s/"h1:/"h0:/; s/"s-1-0"/"s-0-0"/' whole.net >copies.net
cmp -s whole.net copies.net && fail "topo gen has other names"
guids() { # NAME KIND: of the nodes of that name, as refusals name them
	sed -n "s/^$2.*\"[SH]-\([0-9a-f]*\)\".*# \"$1\".*/0x\1/p" copies.net | sort
}
host_1=$(guids h0 Ca | head -1) host_2=$(guids h0 Ca | tail -1)
switch_1=$(guids s-0-0 Switch | head -1) switch_2=$(guids s-0-0 Switch | tail -1)
[ -n "$host_1" ] && [ "$host_1" != "$host_2" ] && [ "$switch_1" != "$switch_2" ] ||
	fail "no equal names in copies.net"
hosts="'h0' is the name of $host_1 and $host_2: say which"
switches="'s-0-0' is the name of $switch_1 and $switch_2: say which"
scenario() { # SOURCE [MORE]: a scenario on that fabric
	cat <<EOT
fabric: {topology: copies.net${2:-}}
traffic: [{name: t, kind: poisson, load: 10%, source: '$1', destination: h2}]
run: {warmup: 1us, measure: 5us}
EOT
}
scenario h3 >unused.yaml
status 0 "$HEDDLE" sim unused.yaml
for words in h0 h2,h0 h0:1 on:s-0-0 not:h0; do
	scenario "$words" >used.yaml
	case $words in
	on:*) refused 3 "$switches" sim used.yaml ;;
	*) refused 3 "$hosts" sim used.yaml ;;
	esac
done
for words in "$host_1" "$host_2,h3" "$host_2:1" "not:$host_1,not:h2" 'h*,not:h2' \
	"on:$switch_1" "on:$switch_2,not:h2" 'on:s-*,not:h2' all,not:h2; do
	scenario "$words" >used.yaml
	status 0 "$HEDDLE" sim used.yaml
done
scenario h3 ", routing: {engine: updn, roots: s-0-0}" >used.yaml
refused 3 "$switches" sim used.yaml
scenario h3 ", routing: {engine: updn, roots: $switch_2}" >used.yaml
status 0 "$HEDDLE" sim used.yaml
refused 3 "$switches" sim unused.yaml --pcap x.pcap --port s-0-0:1
status 0 "$HEDDLE" sim unused.yaml --pcap x.pcap --port "$switch_1:1"
refused 3 "$hosts" route copies.net --path h0:h2
refused 3 "$hosts" route copies.net --mcast shared=h0,h2
refused 3 "$switches" route copies.net --sweep down=s-0-0/1
status 0 "$HEDDLE" route copies.net --sweep "down=$switch_1/1"
printf 'qos-ulps\n default : 0\nend-qos-ulps\n' >policy.conf
ask() { # HOST ASKER...: who asks one of the commands that take a host for itself
	echo "$1 h2 DB 64Mb/s" >one.txt
	shift
	"$@" qos bound copies.net one.txt
	"$@" qos admit copies.net --requests one.txt
	"$@" qos reserve copies.net --requests one.txt
}
ask h0 refused 3 "$hosts"
refused 3 "$hosts" qos classify --fabric copies.net --source h0 --destination h2 policy.conf
for host in "$host_1" "$host_2" h3; do
	ask "$host" status 0 "$HEDDLE"
	status 0 "$HEDDLE" qos classify --fabric copies.net --source "$host" \
		--destination h2 policy.conf
	status 0 "$HEDDLE" route copies.net --mcast "shared=$host,h2" --check
	status 0 "$HEDDLE" route copies.net --path "$host:h2"
	# The whole fabric is the same but for the names.
	awk '/^  [hs]/ {print $2, $3, $4, $5}' out >theirs
	name=$(sed -n "s/^Ca.*\"H-${host#0x}\".*# \"\(.*\)\".*/\1/p" whole.net)
	status 0 "$HEDDLE" route whole.net --path "${name:-$host}:h2"
	awk '/^  [hs]/ {print $2, $3, $4, $5}' out >ours
	[ -s ours ] && cmp -s ours theirs || fail "$host is not ${name:-$host}"
done
