# Subnet administration of our manager and of OpenSM: osmtest passes every mode with both, and the
# same questions get the same records and statuses. osmtest mostly sleeps, so both fabrics are asked
# at the same time.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
command -v osmtest >/dev/null || fail "osmtest is not installed"
fabric='fat-tree --radix 4 --levels 2'

# ask FABRIC: in a folder of that name, one file per question, with the exit status as its last line,
# and the files of osmtest in the folder FABRIC.osmtest.
ask() {
	mkdir -p "$1" "$1.osmtest"
	cd "$1.osmtest"
	n=0
	while read -r question; do
		n=$((n + 1))
		got=0
		# What the tables say is the manager's choice. OpenSM counts port 0 of a switch, 1x
		# SDR (0x82), among the links of a path, and writes the block number of a P_Key
		# table in the order of its processor. The local port is the one that the last
		# SMP came by.
		timeout 300 "$HEDDLE" live exec --name "$1" h3 -- saquery -t 300000 $question >reply 2>err || got=$?
		{
			echo "# saquery $question"
			# Of records, the lines in order, each record on a line of its own.
			awk '/dump:/ { if (r) print r; r = "" } { r = r "|" $0 } END { print r }' reply |
				sed 's/|[\t ]*\(SL\|VL *\|Block[^|]*|[\t ]*PKey Table\):.*//
					s/ActCount[^|]*//; s/Capability mask 2.*//
					s/\(HoqLife\|OperVLs\|PartEnforceInb\|PartEnforceOutb\|LocalPort\):[^|]*//g
					s/\(rate\.*\)0x82/\10x91/' |
				sort
			sed -n 's/.*\(status.*\)/\1/p' err
			echo "exit $got"
		} >"../$1/$n"
	done <<'END'
NR
NR 3
PIR
PIR 3/1
PIR 9999/1
PR --src-to-dst 1:3
PR --slid 1
PR --dlid 9999
LR
LR 1
SWI
LFTR
SL2VL
SL2VL 1
VLAR
VLAR 1
GIR
SMIR
MCMR
SR
--smkey 1 PKTR
--smkey 1 PKTR 1
PKTR
IIR
CPI
END
	# osmtest ends with the status 0 exactly if all of a mode's tests pass.
	for mode in c a v s e m q; do
		rm -f osmtest.log
		timeout 300 "$HEDDLE" live exec --name "$1" h5 -- osmtest -f $mode -l osmtest.log \
			>osmtest.out 2>&1 ||
			fail "osmtest -f $mode with $1: $(grep ERR osmtest.log | tail -n 3)"
	done
}

"$HEDDLE" live up "$fabric" --name ours --sm minhop -q
"$HEDDLE" live up "$fabric" --name theirs -q
(ask ours) &
asked=$!
programs="$programs $asked"
"$HEDDLE" live exec --name theirs h0 -- opensm -d 2 -f "$PWD/log" -R minhop -y >log.out 2>&1 &
programs="$programs $!"
settle
ask theirs
cd ..
wait $asked || fail "the questions to our manager failed"
"$HEDDLE" live down -q --name theirs
"$HEDDLE" live down -q --name ours
echo "suite: osmtest 7 7 0"
diff -r theirs ours >differences || fail "$(cat differences)"
