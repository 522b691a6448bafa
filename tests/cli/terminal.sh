# Missed goals and errors are red on a terminal without NO_COLOR, and nowhere
# else. An interrupted run keeps its results so far, and says so. Completion
# knows the names in the tables. One name has one kind of value.
. "$SRC/tests/cli/lib.sh"
unset NO_COLOR
rm -f runs.db run.ckpt
cat >goals.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: slow, kind: poisson, payload: 256, load: 20%}
  - {name: fine, kind: poisson, payload: 256, load: 20%}
goals:
  - {row: slow, mean: 1ps}
  - {row: fine, mean: 1s}
run: {warmup: 0us, measure: 20us}
END
red=$(printf '\033[31m')
bold=$(printf '\033[1;31m')

# seen COMMAND...: output on a terminal, in ./screen.
seen() {
	TERM=xterm script -qec "$*" screen </dev/null >/dev/null || :
}

seen "'$HEDDLE' sim goals.yaml"
grep -F "$red" screen >missed || fail "nothing is red"
one_line missed
grep -q 'slow .* no' missed || fail "another row is red: $(cat missed)"
seen "'$HEDDLE' sim nowhere.yaml"
has screen "${bold}heddle:"
seen "'$HEDDLE' sim --nowhere"
has screen "${bold}heddle sim:"
for how in "NO_COLOR=1" "TERM=dumb"; do
	seen "env $how '$HEDDLE' sim goals.yaml; env $how '$HEDDLE' sim nowhere.yaml"
	! grep -q "$(printf '\033\\[[0-9;]*m')" screen || fail "$how: colour"
done
seen "env NO_COLOR= '$HEDDLE' sim goals.yaml"
has screen "$red"
seen "'$HEDDLE' sim goals.yaml -o file.txt; '$HEDDLE' sim goals.yaml | cat >piped"
cmp file.txt piped
status 1 "$HEDDLE" sim goals.yaml
cmp out piped

# Interrupted when it has begun to send.
cat >long.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: a, kind: poisson, payload: 2KiB, load: 50%}
run: {warmup: 1us, measure: 900ms}
END
# interrupted SIGNAL STATUS COMMAND...: ends so.
interrupted() {
	signal=$1 wanted=$2 got=0
	shift 2
	rm -f t.txt* .t.txt*
	# A shell's background job ignores INT; env takes it back.
	env --default-signal "$HEDDLE" "$@" >out 2>err &
	pid=$!
	# A fifth of a second of a processor's time, however long that takes.
	while [ "$(cut -d ' ' -f 14 /proc/$pid/stat)" -lt 20 ]; do
		sleep 0.02
	done
	kill -"$signal" $pid
	wait $pid || got=$?
	[ $got = "$wanted" ] || fail "SIG$signal: ended with $got, not $wanted"
}
interrupted INT 130 sim long.yaml -o part.txt --db runs.db --pcap part.pcap --port h0
has part.txt "# note: interrupted at "
has part.txt "of simulated time: these are the results until then"
has err "heddle: interrupted at "
one_line err
empty out
# The results contain the packets delivered by then.
awk '$1 == "a" && $0 ~ /[1-9]/ { found = 1 } END { exit !found }' part.txt ||
	fail "no packet in $(cat part.txt)"
[ "$(sqlite3 runs.db "SELECT count(*) FROM run WHERE finished IS NOT NULL")" = 1 ] ||
	fail "the run is not in the database"
status 0 "$HEDDLE" decode part.pcap --summary
interrupted TERM 143 sim long.yaml --json -q
empty err
jq -e '.notes[] | select(startswith("interrupted at "))' out >mark ||
	fail "not marked: $(cat out)"
interrupted INT 130 sim long.yaml --checksum
empty out
has err "there are no results"
# A checkpoint continues to the results of an uninterrupted run.
sed -i 's/measure: 900ms/measure: 200ms/' long.yaml
interrupted INT 130 sim long.yaml --checkpoint run.ckpt
has err "--restart run.ckpt continues from there"
status 0 "$HEDDLE" sim long.yaml --restart run.ckpt --checksum
cp out whole
status 0 "$HEDDLE" sim long.yaml --checksum
cmp out whole

# Commands that run many keep those that are done, and the part of the last.
interrupted INT 130 qos evaluate --rule paper --topology mesh --tried 64
has out "# note: interrupted: a run that is not complete was cut, others are missing"
[ "$(grep -c '^  1x  *mesh .* no$' out)" -eq 1 ] || fail "not one run that was cut: $(head -5 out)"

# offered WORDS...: what completion gives after them.
"$HEDDLE" --completion >completion
offered() {
	bash --norc -c '. ./completion
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_heddle
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" >offered
}
# offers WORD AFTER...
offers() {
	word=$1
	shift
	offered "$@"
	grep -qxF -- "$word" offered || fail "'$*' does not offer $word"
}
offers ftree heddle route --engine f
offers updn heddle live sm --engine u
offers fat-tree heddle topo gen fat
offers fat-tree heddle sim x.yaml --set fabric.topology.kind = fat
offers shared heddle mcast compare --tree s
# After an option with a file, bash completes file names.
offered heddle sim x.yaml --opensm ''
[ "$(cat offered)" = '' ] || fail "words for the name of a file: $(cat offered)"
offers 000/table1 heddle paper run 000/t
offers send-lat heddle bench send
offers ideal heddle bench --profile i
offers fabric.link.rate= heddle sim x.yaml --set fabric.link.r
offers fabric.link.rate= heddle sweep x.yaml --vary fabric.link.r
offers cioq heddle sim x.yaml --set fabric.switch.queueing = c
offered heddle sim x.yaml --set fabric.switch.queueing =
[ "$(wc -l <offered)" -ge 2 ] || fail "not all values: $(cat offered)"

# One name for one kind of value. Exceptions: a class of a model, a policy or a configuration;
# failures; capacities.
"$HEDDLE" --commands | while read -r words; do
	# shellcheck disable=SC2086 # words of a name
	"$HEDDLE" $words --help | sed -n '/^Options:/,/^Examples:/p' |
		grep -oE '^  (-., |    )--[a-z0-9-]+( [A-Z][^ ]*)?' |
		sed 's/^ *\(-., \)\{0,1\} *//'
done | sort -u | awk 'NF == 2 { n[$1]++; of[$1] = of[$1] " " $2 }
	END { for (name in n) if (n[name] > 1) print name of[name] }' | sort >twice
cat >known <<'END'
--against FILE FOLDER|FILE
--capacity LIST N
--class A:B[:C] LAMBDA:CA2 N NAME=SL[,PAYLOAD] SIZE:LOAD
--fabric FILE SCENARIO
--fail KIND SWITCH
--listen ADDRESS:PORT ADDRESS[:PORT]
--mu R R[,R...]
--simulate N PACKETS
--size SIZE SIZE[..SIZE]
--threshold N T[,T...]
--vary AXIS=VALUES FIELD=VALUES
END
diff known twice || fail "an option is two things"
