# One rule for all commands: what makes no sense whatever the files say is a
# usage error, 2: a name out of a list of the program's own, a value of the
# wrong kind, options that exclude each other. Input that is refused, and what
# is looked up in it and not there, is 3. Either is one line, before any output.
. "$SRC/tests/cli/lib.sh"
quick=$SRC/examples/quickstart.yaml
incast=$SRC/examples/incast.yaml
jobs=$SRC/examples/jobs.yaml
net=$SRC/tests/fixtures/two-switches.ibnet
binary=$SRC/tests/fixtures/rxe.pcap
printf 'nobody h1 DB 1Mb/s\n' >requests
printf 'short\n' >short
sed 's/link: .*/link: "4x HDR, vls: 3"/' "$SRC/src/hca/profiles/ideal.yaml" \
	>pasted.yaml
n=0

# Lines "STATUS  TEXT OF THE REFUSAL  |  WORDS", to be run as heddle WORDS.
while IFS='|' read -r expected words; do
	case $expected in '' | '#'*) continue ;; esac
	wanted=${expected%% *}
	text=$(echo "${expected#* }" | sed 's/^ *//; s/ *$//')
	eval "set -- $words"
	status "$wanted" "$HEDDLE" "$@" </dev/null
	one_line err
	has err "$text"
	empty out
	n=$((n + 1))
done <<'EOT'
# Names out of lists that the program has.
2 unknown command 'foo'            | foo
2 unknown command 'foo'            | qos foo
2 unknown option '--foo'           | sim "$quick" --foo
2 'foo' is none of auto, text      | sim "$quick" --format foo
2 'foo' is none of none, bare      | sim "$quick" --flow-control foo
2 no --checkpoint here: its tests are programs | bench send-lat --checkpoint x
2 no --restart here: its tests are programs | bench send-lat --restart=x
2 --against which folder?          | qos verify x
2 PLAN or --tables FILE is required | qos verify --against .
2 --tables replaces PLAN: only FABRIC | qos verify --tables x plan mesh --against .
3 x: cannot be read                | qos verify --tables x mesh --against "$SRC/tests/cli"
3 expected 'heddle-port-tables 1'  | qos verify --tables "$quick" mesh --against "$SRC/tests/cli"
3 x: cannot be read                | live sm h0 --tables x
3 expected 'heddle-port-tables 1'  | live sm h0 --tables "$net"
2 not with --random, --from, --save, --tables | qos admit --requests x --violations 2% --tables y mesh
3 'nobody'                         | qos reserve --requests requests --tables y mesh
2 a link has 1, 2, 4, 8 or 15 data lanes | qos explain x --lanes 3
2 a link has 1, 2, 4, 8 or 15 data lanes | qos lint x --lanes 3
2 a link has 1, 2, 4, 8 or 15 data lanes | qos table --lanes 3 DB:1Gb/s
3 a share of 70 is 70 times the link; write 70% | qos plan mpi=70 ost=30
3 above 0 and at most 100%         | qos plan mpi=170%
3 packets of 2048 bytes, or of 64? | qos plan mpi=70%,2KiB,64
3 '0' is no payload of 1 to 4096   | qos explain /dev/null --class a=1,0
3 class 'a' is given twice         | qos explain /dev/null --class a=1 --class a=2
3 no kind of topology (did you mean 'fat-tree'?) | topo show 'fat-tre --radix 36'
3 no kind of topology (did you mean 'mesh'?) | route meshh
3 a topology, not a scenario       | sim "$net"
2 would be no picture: fabrics are drawn as .svg | topo convert mesh -o x.png
2 would be no picture: fabrics are drawn as .svg | topo gen mesh -o x.pdf
3 topology.file: nosuch.ibnet: cannot be read | sim "$quick" --set fabric.topology=nosuch.ibnet
3 nosuch: cannot be read           | decode nosuch --json
3 nosuch: cannot be read           | decode nosuch --csv
3 not a capture                    | decode "$quick" --json
3 routing.file: nosuch.dump: cannot be read | route mesh --engine file --routes nosuch.dump
2 unknown option '--json'          | serve "$quick" --json
2 unknown option '--html'          | serve "$quick" --html x.html
2 unknown option '--db'; 'heddle live up --help' shows | live up 'star --hosts 2' --db x.db
2 unknown option '--output'        | live link h0 down --output x.json
2 unknown option '--csv'           | live dump --csv
2 unknown option '--html'          | live capture --stop --html x.html
2 unknown option '--html'          | paper show 003/dbts --html x.html
2 unknown option '--db'            | job record --db x.db -- true
2 options of what it starts follow '--' | live traffic "$quick" --json
2 'x.svg' would be text: --html FILE draws | sim "$quick" -o x.svg
2 'x.html' would be text: --html FILE draws | route mesh -o x.html
3 no opensm.conf: OpenSM knows none | qos explain "$net"
3 no opensm.conf: OpenSM knows none | qos lint "$quick"
3 no opensm.conf: OpenSM knows none | sim "$SRC/examples/fat-tree-70.yaml" --opensm "$net"
3 not beside an opensm.conf        | sim "$quick" --opensm "$SRC/examples/incast.opensm.conf"
3 an SL is 0 to 15, not 'foo'      | qos explain x --class a=foo
2 unknown routing engine 'foo' (minhop updn | route mesh --engine foo
2 options of a command follow its name | qos --json plan a=10%
2 generator are one argument: 'fat-tree ...' | topo show fat-tree --radix 36
2 generator are one argument: 'torus ...' | route --sizes 5x5 torus
2 --goals need one FABRIC          | qos plan --goals x
2 which classes (mpi=70%)          | qos plan
2 unknown routing engine 'foo'     | qos admit --engine foo --random 1 mesh
2 unknown routing engine 'foo'     | qos bound --engine foo mesh requests
2 unknown routing engine 'foo'     | mcast compare --topology 'kind: mesh' --engine foo
2 unknown routing engine 'foo'     | live up mesh --sm foo
2 unknown routing engine 'foo'     | live sm h0 --engine foo
2 engine 'minhpo' (did you mean 'minhop'?) | sim "$quick" --set fabric.routing=minhpo
2 engine 'minhpo' (did you mean 'minhop'?) | sim "$quick" --set fabric.routing.engine=minhpo
2 engine 'minhpo' (did you mean 'minhop'?) | route mesh --engine minhpo
2 a manager routes by itself       | live up mesh --sm file
2 a manager routes by itself       | live sm h0 --engine file
2 --sm needs a fabric in the back  | live up mesh --sm minhop --foreground
2 which HOST?                      | live sm
2 which PROGRAM?                   | live roce
2 --address, --local and --remote are needed | live roce -a 10.0.0.1 -l x -- true
2 --address is an IPv4 address     | live roce -a 10.0.0 -l x -r y -- true
2 'foo' is none of 256, 512, 1024  | live roce -m foo -- true
2 is no format of tables           | live dump --to foo
2 which FILE?                      | live replay
2 --port needs --pcap              | live replay x --port h0
2 into which FILE                  | live capture
2 --pace is above 0                | live up mesh --pace 0
2 --pace is above 0                | sim x --pace 1
2 --every says how often to write which | sim "$quick" --every 10min
2 --every-simulated says how often | sim "$quick" --every-simulated 1us
2 rates over time are for one process | sim "$quick" --rates 1us --checkpoint x
2 option --every: '0s' is too short | sim "$quick" --checkpoint x --every 0s
2 'foo' is no format of tables     | route mesh --dump foo
2 'foo' is none of opensm, paper   | route mesh --lids foo
2 no tree 'foo'                    | mcast compare --topology 'kind: mesh' --tree foo
2 unknown kind of topology 'foo'   | topo gen foo
2 format 'foo' is none of          | topo gen mesh --to foo
2 format 'foo' is none of          | topo convert "$net" --to foo
2 no algorithm 'foo'               | cc curve foo
2 there is no 'foo' (expected one of: none, fimd, | cc compare "$incast" --algorithm foo
2 'foo' is none of mm1             | model queue foo
2 'foo' is none of s1, s2          | model et --semantics foo
2 'foo' is none of strict, paper   | qos admit --fill foo mesh
2 'foo' is none of irregular       | qos evaluate --topology foo
2 'foo' is none of auto, packet    | decode --as foo --hex 00
2 no test 'foo'                    | bench foo
2 fit to which files?              | bench fit
2 no profile 'foo'                 | bench send-lat --profile foo
2 'foo' is no metric               | bench send-lat --expect 'foo<3'
2 unknown field 'sed' in run (did  | sim "$quick" --set run.sed=1
2 no item 'x' in traffic           | cc compare "$incast" --set traffic.x.payload=1
2 unknown field 'qox'              | route "$quick" --set qox.lanes=1
2 unknown field 'colums'           | qos admit --random 1 "$quick" --set fabric.topology.colums=1
2 unknown field 'kin'              | mcast compare "$quick" --set fabric.topology.kin=mesh
2 unknown field 'lane'             | bench send-lat --fabric "$quick" --set qos.lane=1
2 unknown field 'qs'               | model fabric "$quick" --set qs=1
# Values of the wrong kind.
2 --set takes PATH=VALUE           | sim "$quick" --set run.seed
2 run.seed is a value              | sim "$quick" --set run.seed.x=1
2 --set title: the value is not UTF-8 at byte 1 (0xff) | sim "$quick" --set title="$(printf '\377')"
2 --set title: the value is not UTF-8 at byte 2 (0xed) | sim "$quick" --explain --set title="$(printf 'a\355\240\200')"
2 the path is not UTF-8 at byte 3  | sim "$quick" --set "$(printf 'ti\377tle=a')"
2 the value is not UTF-8           | cc compare "$incast" --set title="$(printf '\377')"
2 --vary is not UTF-8 at byte 9    | sweep "$quick" --vary title="$(printf 'a,\377')"
2 the value is not UTF-8           | sweep "$quick" --vary qos.lanes=1,2 --set title="$(printf '\377')"
2 'foo' is not a time              | sim "$quick" --sample foo
2 'foo' is not a size              | qos plan --mtu foo a=100%
2 'foo' is not a size              | bench send-lat --size foo
2 'foo' is not a whole number      | bench send-lat --values foo
2 'foo' is no path: write FROM:TO  | route mesh --path foo
2 'foo' is no condition            | bench send-lat --expect foo
2 'foo' is not a list of numbers   | model credit --lambda foo
2 'foo' is neither 1 to 64 nor     | model credit --phases foo
2 'foo' is not a whole number      | route mesh --lanes foo
2 '9' is not in 0..7               | route mesh --lmc 9
2 --vary takes FIELD=VALUES        | sweep "$quick" --vary foo
2 unknown field 'foo'              | sweep "$quick" --vary foo=1
2 'foo' is no shard                | sweep "$quick" --shard foo --db x.db
2 --shard needs a --db of its own  | sweep "$quick" --shard 1/2
2 merge takes databases            | sweep merge
2 expected one scenario or study   | sweep
# Options that exclude each other: a dump is no results.
2 --dump has a format of its own, and --json     | route mesh --dump fts --json
2 --dump has a format of its own, and --format   | route mesh --dump json --format csv
2 --dump makes no results, and --html            | route mesh --dump fts --html x.html
2 --counters has a format of its own, and --json | sim "$quick" --counters --json
2 --checksum has a format of its own, and --csv  | sim "$quick" --checksum --csv
2 --explain has a format of its own, and --json  | sim "$quick" --explain --json
2 --explain makes no results, and --html         | sim "$quick" --explain --html x.html
2 --explain and --counters do not go | sim "$quick" --explain --counters
2 --conf has a format of its own, and --json     | qos plan --conf --json a=100%
2 which one?                        | paper show
3 leaves nothing open               | paper calibrate 000/table1
3 no study has such an axis         | paper calibrate 004/em5.2 --vary oak=1
3 name one experiment               | paper show 003
2 --to has a format of its own, and --json       | topo gen mesh --to svg --json
2 --to has a format of its own, and --csv        | topo convert "$net" --to dot --csv
2 packets are no results                         | decode "$binary" --html x.html
2 --routes goes with --engine file               | route mesh --engine file
2 --routes goes with --engine file               | route mesh --routes tables
2 --path-sls goes with --engine file             | route mesh --path-sls x
2 choose one of --json, --csv and --format       | topo show mesh --json --csv
# What one fabric has is run, or refused, and not left out.
3 bench runs no jobs, 'heddle sim' does | bench send-lat --fabric "$jobs"
3 there is no victim to protect    | cc tune "$jobs"
3 mcast runs no jobs               | mcast compare "$jobs"
3 jobs and lanes of limited length | model fabric "$jobs" --set qos.thresholds.capacity=9
3 adapters and lanes of limited length | bench send-lat --fabric "$quick" --set qos.thresholds.capacity=9
3 know no senders that hold packets back | cc compare "$quick" --algorithm cct --set qos.thresholds.capacity=9
3 know no senders that hold packets back | cc tune "$quick" --set qos.thresholds.capacity=9
3 --set sm: a manager that notices nothing | sim "$quick" --set sm={}
3 --set sm.compute: a manager that notices nothing | sim "$quick" --set sm.compute=1us
# Files and descriptions, wherever they are written.
3 nothere: cannot be read          | sim nothere
3 foo.yaml: cannot be read         | bench send-lat --profile foo.yaml
3 link '4x HDR, vls: 3': expected  | bench send-lat --profile pasted.yaml
3 unknown option '--foo'           | topo show 'mesh --foo 3'
3 where 'num_ranks N' (GOAL)      | job show "$quick"
4 cannot start 'nothere'           | job record -- nothere
3 no rank left a record            | job record -- true
2 unknown kind of topology 'foo'   | mcast compare --topology 'kind: foo'
3 'foo' is not a share             | qos plan a=foo
3 class 'a' is given twice         | qos plan a=50% a=50%
3 unknown tree 'foo', expected    | route mesh --mcast foo=h-0-0-0
3 at most 1e100                    | model queue mm1 --lambda 1e308
3 places 1.5: must be a whole      | model loss --places 1.5
3 must be in 0..10000000           | model loss --erlangs -1
3 size 0: must be a whole number   | model loss --class 0:1
2 'foo' is not 2 numbers           | model loss --class foo
3 not a text file: byte 4 is 0x02  | qos lint "$binary"
3 not YAML                         | sim "$binary"
3 not a topology                   | topo show "$quick"
3 not a capture                    | decode "$quick"
3 is no hexadecimal digit          | decode --hex foo
3 run.measure: no values           | sweep "$quick" --vary run.measure=
3 'foo' is not a share             | sweep "$quick" --vary traffic.1.load=foo
3 no measure 'foo'                 | sweep "$quick" --vary traffic.1.load=1%,2% --stop 'traffic.1.load when foo < 1'
3 not a field that is varied       | sweep "$quick" --vary traffic.1.load=1% --skip foo=1
3 nothere: cannot be read          | sweep nothere
# Names that are looked up in them.
3 no node 'foo'                    | sim "$quick" --counters --port foo
3 no end port 'foo'                | route mesh --path foo:bar
3 no switch 'foo'                  | route mesh --engine updn --root foo
3 no cable 'foo'                   | route mesh --sweep down=foo
3 'foo' is no sweep                | route mesh --sweep foo
3 no host 'foo'                    | mcast compare --topology 'kind: mesh' --sources foo
3 no traffic row 'foo'             | cc tune "$incast" --victims foo
3 'nobody'                         | qos admit --requests requests mesh
3 no experiment 'foo'              | paper run foo
# A run that is followed.
2 a SCENARIO, --db FILE or --live  | serve
2 a SCENARIO, --db FILE or --live  | serve "$quick" --db runs.db
2 a SCENARIO, --db FILE or --live  | serve "$quick" --live fabric
2 'a/b' is no name for a fabric    | serve --live a/b
3 no fabric runs in                | serve --live nowhere
3 'heddle live up FABRIC' starts one | live show --name nowhere
2 'here' is not an address         | serve "$quick" --listen here
2 '[::1' is not an ADDRESS[:PORT]  | serve "$quick" --listen '[::1'
2 '127.0.0.1:99999' is not an      | serve "$quick" --listen 127.0.0.1:99999
3 cannot be read                   | serve nowhere.yaml
3 a token has at least 16 letters  | serve "$quick" --token short
EOT
[ "$n" -ge 60 ] || fail "only $n refusals"
[ ! -e x.html ] || fail "a refused command wrote"
