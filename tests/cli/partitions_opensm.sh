# Partitions and policies equal those of OpenSM: files are given to OpenSM on a live fabric; P_Keys
# of all ports and SLs of all pairs match, and a row of traffic without an SL has that of its path
# record.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
"$HEDDLE" topo gen star --hosts 4 -o star.net
hosts="h0 h1 h2 h3"
printf 'qos TRUE\n' >opensm.conf

# guid_of HOST: of its port, one more than its own.
guid_of() {
	own=$(sed -n "s/^caguid=\(0x[0-9a-f]*\).*/\1/p" star.net | sort |
		sed -n "$((${1#h} + 1))p")
	printf '0x%x' $((own + 1))
}

# sl_of FROM TO FILE...: of traffic between them, by 'heddle sim'.
sl_of() {
	from=$1 to=$2
	shift 2
	cat >run.yaml <<-END
		fabric: {topology: {file: star.net}}
		traffic:
		  - {name: a, kind: cbr, source: $from, destination: $to, payload: 256, load: 10%}
		run: {warmup: 0us, measure: 5us}
	END
	"$HEDDLE" sim run.yaml --opensm opensm.conf "$@" --json |
		jq '.tables.traffic.rows[0].SL'
}

# judge NAME [POLICY]
judge() {
	"$HEDDLE" live up star.net >up
	policy=${2:-}
	# Twice, as with all that it reads back before it programs.
	for sweep in 1 2; do
		on h0 opensm -o -f "$PWD/log" -F "$PWD/opensm.conf" \
			-P "$PWD/$1" ${policy:+-Y "$PWD/$policy"} >sm.out 2>&1 ||
			fail "OpenSM on $1: $(tail -3 sm.out)"
	done
	"$HEDDLE" qos classify --fabric star.net --manager h0 --partitions "$1" \
		--json >said.json
	manage h0 sm.log -F "$PWD/opensm.conf" -P "$PWD/$1" \
		${policy:+-Y "$PWD/$policy"}
	settle sm.log
	for host in $hosts; do
		lid=$(lid_of "$host")
		theirs=$(on h0 smpquery pkeys "$lid" 1 | grep -o '0x[0-9a-f]\{4\}' |
			grep -v 0x0000 | sort -u | xargs)
		ours=$(jq -r ".tables.keys.rows[] | select(.port == \"$host:1\") |
			.P_Keys" said.json | tr ' ' '\n' | sort -u | xargs)
		[ "$theirs" = "$ours" ] ||
			fail "$1: $host has $theirs, we say $ours"
	done
	for pair in h0:h1 h1:h2 h2:h3 h3:h1; do
		from=${pair%:*} to=${pair#*:}
		on h0 saquery -t 300000 -p --src-to-dst \
			"$(lid_of "$from"):$(lid_of "$to")" >record 2>&1 || :
		theirs=$(sed -n 's/^[[:space:]]*sl\.*0x//p' record | head -n 1)
		ours=$(sl_of "$from" "$to" --partitions "$1" \
			${policy:+--policy "$policy"})
		if [ -n "$theirs" ]; then
			[ "$((0x$theirs))" = "$ours" ] ||
				fail "$1 $policy, $pair: OpenSM says SL $theirs, we $ours"
			tried=$((tried + 1))
		else
			"$HEDDLE" qos classify --fabric star.net --manager h0 \
				--partitions "$1" --source "$from" \
				--destination "$to" >label
			has label "share no partition"
			apart=$((apart + 1))
		fi
	done
	kill $manager
	wait $manager 2>/dev/null || :
	"$HEDDLE" live down -q
}
tried=0 apart=0
h1=$(guid_of h1) h2=$(guid_of h2) h3=$(guid_of h3)
echo 'Default=0x7fff, ipoib : ALL=full ;' >plain
echo '# no link is full' >alone
cat >several <<END
Default=0x7fff, ipoib, sl=1 : ALL=full, $h3=limited ;
storage=0x8002, sl=3, defmember=full : $h1,
	$h2=limited ; 0x0300, sl=5 : $h2=full, $h3=both, SELF ;
END
cat >odd <<END
Default=0x7fff : ALL_CAS=f ;
a, sl=2 : ALL ; b, s=9 : $h1=full, $h1=limited ; c=0x0001, sl=6 : $h3=full, $h2;
END
printf 'qos-levels\n qos-level\n  name: DEFAULT\n  sl: 4\n end-qos-level\n qos-level\n  name: X\n  sl: 7\n end-qos-level\nend-qos-levels\n' >levels
{
	printf 'port-groups\n port-group\n  name: G\n  partition: storage\n end-port-group\nend-port-groups\n'
	cat levels
	printf 'qos-match-rules\n qos-match-rule\n  destination: G\n  qos-level-name: X\n end-qos-match-rule\nend-qos-match-rules\n'
} >policy
judge plain
judge alone
judge several
judge odd
echo 'x=2 : NONE ;' >limited
judge limited
judge several policy
[ $tried -ge 14 ] && [ $apart -ge 1 ] ||
	fail "only $tried pairs with a path and $apart without"

# A row of several SLs is refused, in a line that names both.
cat >mixed.yaml <<'END'
fabric: {topology: {file: star.net}}
qos: {opensm: opensm.conf, policy: policy, partitions: several}
traffic:
  - {name: all, kind: poisson, payload: 256, load: 10%}
run: {warmup: 0us, measure: 5us}
END
status 3 "$HEDDLE" sim mixed.yaml
one_line err
has err "traffic 'all' has SL "
sed -i 's/poisson,/poisson, source: h0, destination: h1,/' mixed.yaml
status 0 "$HEDDLE" sim mixed.yaml --json
[ "$(jq '.tables.traffic.rows[0].SL' out)" = 7 ] || fail "another SL"
# Without QoS each packet has SL 0.
echo 'qos FALSE' >off.conf
status 0 "$HEDDLE" sim mixed.yaml --opensm off.conf --json
[ "$(jq '.tables.traffic.rows[0].SL' out)" = 0 ] || fail "another SL"
echo "a=2" >bad
status 3 "$HEDDLE" sim mixed.yaml --partitions bad
has err "bad:1: no ':' after a partition's name"
sed -i 's/partitions: several/partitions_file: several, partitions: odd/' mixed.yaml
status 3 "$HEDDLE" sim mixed.yaml
has err "qos.partitions_file is there too"
echo "$tried paths and $apart pairs without one are as OpenSM has them"
