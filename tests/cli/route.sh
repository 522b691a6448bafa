# 'heddle route': engines, checks, dumps that read back, refusals.
. "$SRC/tests/cli/lib.sh"
fixtures=$SRC/tests/fixtures/subnet

# Every engine is listed, in the manual too, and named in its result; none
# replaces another.
status 0 "$HEDDLE" route --engine list --json
jq -r '.tables.engines.rows[] | "| `\(.engine)` | \(.needs) |"' out >engines
sed -n '/^| engine | needs/,/^$/s/^\(| `[^|]*| [^|]*|\).*/\1/p' \
	"$SRC/docs/routing.md" | diff engines - ||
	fail "the engines of docs/routing.md are others"
has engines '| `file` |'
routes() { # ENGINE FABRIC
	sed -i "/^| .$1. |/d" engines
	status 0 "$HEDDLE" route "$2" --engine "$1" --check --json
	jq -e --arg engine "$1" '.tables.routes.rows[0].engine == $engine and
		.tables.check.rows[0].unreachable == 0 and
		.tables.deadlock.rows[0]["free of deadlock"]' out >/dev/null ||
		fail "$1 on $2"
}
routes minhop 'fat-tree --radix 8 --levels 3'
routes updn 'irregular --switches 16 --degree 4'
routes xy 'mesh --columns 5 --rows 4'
routes dor 'mesh --columns 5 --rows 4'
routes negative-first 'mesh --columns 5 --rows 4'
routes ecube 'hypercube --dimensions 4'
routes torus 'torus --sizes 6x5'
routes ftree 'fat-tree --radix 8 --levels 3'
routes dfsssp 'torus --sizes 6x5'
routes lash 'torus --sizes 6x5'
routes dragonfly 'dragonfly --routers 4 --globals 2'
# Options of a dump follow below.
[ "$(wc -l <engines)" = 1 ] || fail "engines without a test: $(cat engines)"
status 3 "$HEDDLE" route 'ring --switches 6' --engine xy
one_line err
has err "heddle: --engine: xy: needs 2 dimensions"
status 2 "$HEDDLE" route ring --engine torsu
has err "did you mean 'torus'?"

# A ring locks up under minhop: the cycle is named, the exit status is 1.
for fabric in 'ring --switches 6' 'torus --sizes 5x5'; do
	status 1 "$HEDDLE" route "$fabric" --engine minhop --check --json
	# Each channel ends where the next begins, and the last at the first.
	jq -e '.tables.deadlock.rows[0]["free of deadlock"] == false and
		([.tables.cycle.rows[]["next node"]] ==
		([.tables.cycle.rows[].node] | .[1:] + .[:1]))' out \
		>/dev/null || fail "the cycle of $fabric"
done

# The file keeps what generators know: engines take fabrics from files too.
"$HEDDLE" topo gen torus --sizes 6x5 -o torus.ibnet
status 0 "$HEDDLE" route torus.ibnet --engine torus --check

# Dumps of one run are the routes of the next.
for format in fts lfts opensm fdbs; do
	"$HEDDLE" route torus.ibnet --engine dor --dump $format -o tables
	status 0 "$HEDDLE" route torus.ibnet --engine file --routes tables \
		--dump $format
	cmp out tables
done
"$HEDDLE" route torus.ibnet --engine dor --dump fts >a
status 1 "$HEDDLE" route torus.ibnet --engine dor --dump fts --check
cmp a out
# A forwarding table counts LIDs from 0: on a star, each host's is its port.
"$HEDDLE" route 'star --hosts 9' --dump json | jq -e '.switches[0].lft as $lft |
	$lft[0] == null and ([.ports[] | select(.node != "hub") | $lft[.lid]]
	== [range(1; 10)])' >/dev/null || fail 'the table of a star'
"$HEDDLE" route torus.ibnet --dump json | jq -e '.switches | length == 30' \
	>/dev/null

# Routes of a production fabric, as its tools dumped them.
for file in dump_fts.txt opensm-lfts.dump opensm.fdbs; do
	status 0 "$HEDDLE" route "$fixtures/torus/ibnetdiscover.txt" \
		--engine file --routes "$fixtures/torus/$file" \
		--mcast-routes "$fixtures/torus/opensm.mcfdbs" --json
	jq -e '.tables.routes.rows[0].engine == "file" and
		.tables.multicast.rows[0].missing == 0' out >/dev/null
done
"$HEDDLE" route "$fixtures/torus/ibnetdiscover.txt" --lids opensm \
	--dump opensm | cmp - "$fixtures/torus/opensm-lfts.dump"

# Managers that keep paths apart by their SL: the tables alone look as if they
# could lock up; with the SLs that the administrator gives they cannot.
for manager in lash dfsssp torus2qos; do
	set -- "$HEDDLE" route "$fixtures/$manager/ibnetdiscover.txt" \
		--engine file --routes "$fixtures/$manager/opensm-lfts.dump" \
		--sl2vl "$fixtures/$manager/opensm-sl2vl.dump" --check
	status 1 "$@"
	has out '--path-sls tells them'
	status 0 "$@" --path-sls "$fixtures/$manager/saquery.txt"
	has out 'free of deadlock: yes'
	lacks out 'was assumed'
	# Half of the records: reported, and not used.
	head -n 136 "$fixtures/$manager/saquery.txt" >half
	"$@" --path-sls half >out || [ $? -eq 1 ]
	has out "pairs have no record in 'half': SL 0 was assumed"
done
status 2 "$HEDDLE" route ring --path-sls half
status 3 "$HEDDLE" route "$fixtures/lash/ibnetdiscover.txt" --engine file \
	--routes "$fixtures/lash/opensm-lfts.dump" --path-sls /
one_line err

# Tables that OpenSM would use without enough VLs, and deadlock with, are not written.
for engine in torus lash dfsssp; do
	status 3 "$HEDDLE" route 'torus --sizes 5x5' --engine $engine \
		--dump opensm -o unsafe
	one_line err
	has err "let OpenSM route (-R $engine"
	[ ! -e unsafe ] || fail "unsafe tables were written"
	status 0 "$HEDDLE" route 'torus --sizes 5x5' --engine $engine --dump fts
done
status 3 "$HEDDLE" route 'dragonfly --routers 4 --globals 2' \
	--engine dragonfly --dump opensm
status 0 "$HEDDLE" route 'fat-tree --radix 6 --levels 3' --engine dfsssp \
	--dump opensm
status 0 "$HEDDLE" route 'torus --sizes 5x5' --engine updn --dump opensm
"$HEDDLE" route 'ring --switches 6' --engine lash --dump json |
	jq -e '. as $all | [.ports[] | select(.node == "h0" or .node == "h3")] |
	$all["path sls"][.[0]["sl row"]][.[1].lid] <= 15' >/dev/null ||
	fail "no path SLs in JSON"
# Every row has all LIDs of its subnet, though another's may have fewer.
for without in h0 h5; do
	"$HEDDLE" route 'routed --subnets 2 --hosts 3' --engine lash --lmc 1 \
		--set fabric.failed_links=$without --dump json |
		jq -e '. as $all | all(.ports[]; . as $p |
		($all["path sls"][$p["sl row"]] | length) ==
		([$all.ports[] | select(.subnet == $p.subnet) |
		.lid + if .lmc == 1 then 2 else 1 end] | max))' >/dev/null ||
		fail "path SLs of a subnet are cut without $without"
done

# A fabric is the same in whichever words: its ports without cables, and those of
# the switches themselves, of which files know less, are no channels.
for words in 'hypercube --dimensions 2 --hosts 3 --vls 4' \
	'torus --sizes 5x3 --vls 2' 'dragonfly --groups 3 --vls 4'; do
	"$HEDDLE" route "$words" --check --json | jq .tables >made || true
	for format in ibnetdiscover ibnetdiscover-f ibnetdiscover-fg ibsim; do
		# shellcheck disable=SC2086 # these are words
		"$HEDDLE" topo gen $words --to $format -o same.topo
		"$HEDDLE" route same.topo --check --json | jq .tables >read || true
		cmp made read || fail "$words as $format: $(diff made read)"
	done
done

# Fig. 9 of paper 002.
"$HEDDLE" route 'node-mesh --columns 5 --rows 5' --engine xy --lids paper \
	--mcast 'xy@13=4,5,19,21,23' --dump json |
	jq -ce '[.switches[] | select(.mft["0xc000"] != []) |
	{(.name): .mft["0xc000"]}] | add' >got
echo '{"s-0-2":[2],"s-0-3":[0,2],"s-0-4":[0],"s-1-2":[3],"s-2-2":[1,3],"s-3-2":[1,2],"s-3-3":[0],"s-4-0":[0],"s-4-1":[4],"s-4-2":[0,4]}' |
	jq -c . >expected
jq -cS . got | cmp - expected || fail "Fig. 9: $(cat got)"

# Groups by name, GUID and all; one path; loads.
status 0 "$HEDDLE" route 'ring --switches 5' --mcast 'shared=*' \
	--mcast 'shortest@h0=h1,h3' --mcast 'union@h2=h1' --path h0:h2 --load 5
has out 'any member'
has out 'random bisection'
status 3 "$HEDDLE" route ring --mcast 'xy@h0=h1'
has err "need the routing engine 'xy'"
for bad in 'shared' 'tree=h1' 'shared=h1,unknown' 'shortest=h1' 'shared='; do
	status 3 "$HEDDLE" route ring --mcast "$bad"
	one_line err
done
status 2 "$HEDDLE" route ring --path h0
status 3 "$HEDDLE" route ring --path h0:unknown

# Two subnets and a router: the way leads through it.
status 0 "$HEDDLE" route routed --check --json
jq -e '[.tables.routers.rows[].router] == ["r-0", "r-0"]' out >/dev/null
status 0 "$HEDDLE" route routed --path h0:h7 --csv
has out 'r-0,1,2,'

# Refusals: the line, exit 3, no output.
refuse() { # LINE TEXT < tables
	cat >bad
	status 3 "$HEDDLE" route "$fixtures/small/ibnetdiscover.txt" \
		--engine file --routes bad --dump fts -o new
	one_line err
	has err "heddle: --routes: bad:$1"
	has err "$2"
	[ ! -e new ] || fail "an output was left"
}
head -c 700 "$fixtures/small/dump_fts.txt" | refuse 13 "cut short"
sed '5s/003/300/' "$fixtures/small/dump_fts.txt" |
	refuse 5 "port 300, but 'leaf2' has 8 ports"
sed '5s/003/2147483648/' "$fixtures/small/dump_fts.txt" |
	refuse 5 "port 2147483648"
sed '1s/200001/200007/' "$fixtures/small/dump_fts.txt" |
	refuse 1 "no switch of the fabric"
sed '4s/100001/100009/' "$fixtures/small/dump_fts.txt" |
	refuse 4 "is said to be that of port"
status 2 "$HEDDLE" route ring --engine file
status 3 "$HEDDLE" route ring --engine file --routes nowhere
status 2 "$HEDDLE" route ring --routes tables
status 2 "$HEDDLE" route
status 2 "$HEDDLE" route ring --vls 3
status 2 "$HEDDLE" route ring --dump xml
status 3 "$HEDDLE" route 'fat-tree --radix 36 --levels 3' --lmc 3
has err "do not suffice"

# A sweep does not change the VLs of SLs.
printf 'qos TRUE\nmax_op_vls 3\nqos_sl2vl 3,1,2,0,0,1\n' >vls.conf
sweeps() { # OPTION...: VLs of the fabric, and after a cable was away
	status 0 "$HEDDLE" route "$@" --dump sl2vl
	mv out before
	status 0 "$HEDDLE" route "$@" --sweep down=h0 --sweep up=h0 --dump sl2vl
	cmp out before || fail "$*: a sweep changes VLs: $(diff before out | head)"
}
sweeps 'fat-tree --radix 4 --levels 2' \
	--set qos.sl2vl=1,2,3,0,0,0,0,0,0,0,0,0,0,0,0,0
sweeps 'fat-tree --radix 4 --levels 2' --opensm vls.conf
sweeps 'torus --sizes 5' --engine torus \
	--set 'qos.classes=[{name: a, sl: 0}, {name: b, sl: 1}]'
