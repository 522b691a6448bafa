# Exit statuses of rejected command lines (2) and rejected input (3), with the
# essential part of the one line on standard error. messages.txt has the wording.
. "$SRC/tests/cli/lib.sh"
quick=$SRC/examples/quickstart.yaml
incast=$SRC/examples/incast.yaml
jobs=$SRC/examples/jobs.yaml
net=$SRC/tests/fixtures/two-switches.ibnet
binary=$SRC/tests/fixtures/rxe.pcap
printf 'unknown h1 DB 1Mb/s\n' >requests
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
# Names.
3 x: cannot be read                | qos verify --tables x mesh --against "$SRC/tests/cli"
3 x: cannot be read                | live sm h0 --tables x
3 expected 'heddle-port-tables 1'  | live sm h0 --tables "$net"
3 'unknown'                         | qos reserve --requests requests --tables y mesh
2 1, 2, 4, 8 or 15                 | qos lint x --vls 3
2 1, 2, 4, 8 or 15                 | qos table --vls 3 DB:1Gb/s
3 class 'mpi'                      | qos plan mpi=70 ost=30
3 class 'mpi'                      | qos plan mpi=170%
3 class 'mpi'                      | qos plan mpi=70%,2KiB,64
3 '0'                              | qos explain /dev/null --class a=1,0
3 class 'a' is given twice         | qos explain /dev/null --class a=1 --class a=2
3 (did you mean 'mesh'?)           | route meshh
2 .svg                             | topo convert mesh -o x.png
2 .svg                             | topo gen mesh -o x.pdf
3 nosuch: cannot be read           | decode nosuch --json
3 nosuch: cannot be read           | decode nosuch --csv
3 not a capture                    | decode "$quick" --json
2 unknown option '--html'          | serve "$quick" --html x.html
2 --html FILE                      | sim "$quick" -o x.svg
2 --html FILE                      | route mesh -o x.html
3 opensm.conf                      | qos explain "$net"
3 opensm.conf                      | qos lint "$quick"
3 opensm.conf                      | sim "$SRC/examples/fat-tree-70.yaml" --opensm "$net"
3 qos.opensm                       | sim "$quick" --opensm "$SRC/examples/incast.opensm.conf"
3 'foo'                            | qos explain x --class a=foo
2 unknown routing engine 'foo'     | qos admit --engine foo --random 1 mesh
2 unknown routing engine 'foo'     | qos bound --engine foo mesh requests
2 unknown routing engine 'foo'     | mcast compare --topology 'kind: mesh' --engine foo
2 unknown routing engine 'foo'     | live up mesh --sm foo
2 unknown routing engine 'foo'     | live sm h0 --engine foo
2 engine 'minhpo' (did you mean 'minhop'?)| sim "$quick" --set fabric.routing.engine=minhpo
2 'file'                           | live sm h0 --engine file
2 256, 512, 1024                   | live roce -m foo -- true
2 --every-simulated                | sim "$quick" --every-simulated 1us
2 --rates                          | sim "$quick" --rates 1us --checkpoint x
2 opensm, paper                    | route mesh --lids foo
2 'foo'                            | topo convert "$net" --to foo
2 strict                           | qos admit --fill foo mesh
2 'foo'                            | bench foo
2 'foo'                            | bench send-lat --profile foo
2 'foo'                            | bench send-lat --expect 'foo<3'
2 unknown field 'qox'              | route "$quick" --set qox.vls=1
2 unknown field 'colums'           | qos admit --random 1 "$quick" --set fabric.topology.colums=1
2 unknown field 'kin'              | mcast compare "$quick" --set fabric.topology.kin=mesh
2 unknown field 'vl'               | bench send-lat --fabric "$quick" --set qos.vl=1
2 unknown field 'qs'               | model fabric "$quick" --set qs=1
# Values of the wrong kind.
2 the value is not UTF-8           | cc compare "$incast" --set title="$(printf '\377')"
2 the value is not UTF-8           | sweep "$quick" --vary qos.vls=1,2 --set title="$(printf '\377')"
2 'foo' is not a size              | bench send-lat --size foo
2 FROM:TO                          | route mesh --path foo
2 'foo'                            | bench send-lat --expect foo
2 'foo' is not a whole number      | route mesh --vls foo
2 '9' is not in 0..7               | route mesh --lmc 9
# Options that exclude each other.
2 --format                         | route mesh --dump json --format csv
2 --csv                            | sim "$quick" --checksum --csv
2 --json                           | sim "$quick" --explain --json
3 000/table1                       | paper calibrate 000/table1
2 --csv                            | topo convert "$net" --to dot --csv
2 --routes                         | route mesh --routes tables
# Contents of a scenario that a command does not support.
3 jobs                             | bench send-lat --fabric "$jobs"
3 jobs                             | mcast compare "$jobs"
3 qos.thresholds                   | model fabric "$jobs" --set qos.thresholds.capacity=9
3 qos.thresholds                   | bench send-lat --fabric "$quick" --set qos.thresholds.capacity=9
3 qos.thresholds                   | cc compare "$quick" --algorithm cct --set qos.thresholds.capacity=9
3 qos.thresholds                   | cc tune "$quick" --set qos.thresholds.capacity=9
3 --set sm:                        | sim "$quick" --set sm={}
3 --set sm.compute:                | sim "$quick" --set sm.compute=1us
# Files and descriptions.
3 foo.yaml: cannot be read         | bench send-lat --profile foo.yaml
3 link '4x HDR, vls: 3': expected  | bench send-lat --profile pasted.yaml
3 where 'num_ranks N' (GOAL)       | job show "$quick"
3 rank 0                           | job record -- true
2 unknown kind of topology 'foo'   | mcast compare --topology 'kind: foo'
3 'foo' is not a share             | qos plan a=foo
3 xy, union                        | route mesh --mcast foo=h-0-0-0
3 character 2                      | decode --hex foo
# Names that the input does not contain.
3 no end port 'foo'                | route mesh --path foo:bar
3 no switch 'foo'                  | route mesh --engine updn --root foo
3 no cable 'foo'                   | route mesh --sweep down=foo
3 'foo'                            | route mesh --sweep foo
3 no host 'foo'                    | mcast compare --topology 'kind: mesh' --sources foo
3 'unknown'                         | qos admit --requests requests mesh
# Servers.
2 --live NAME                      | serve "$quick" --live fabric
2 'a/b'                            | serve --live a/b
3 heddle live up                   | live show --name nowhere
2 '[::1'                           | serve "$quick" --listen '[::1'
EOT
[ "$n" -ge 60 ] || fail "only $n rejected commands"
[ ! -e x.html ] || fail "a refused command wrote a file"
