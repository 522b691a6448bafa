# Failure analysis: exit status, ranking, rejected options, and the same bytes on any number of
# threads.
. "$SRC/tests/cli/lib.sh"

# A tree of two levels is redundant; a mesh with xy routing tolerates no failure.
status 0 "$HEDDLE" failures 'fat-tree --radix 4 --levels 2' --engine ftree --csv
grep -q '^links,8,0,0,0,0,8,0$' out || fail "no eight links that make it slower"
status 1 "$HEDDLE" failures 'mesh --columns=3 --rows=3' --engine xy --fail links
has out 'refused'
# Shortest paths around a torus can deadlock, with any failure.
status 1 "$HEDDLE" failures 'torus --sizes=5x5' --fail links --worst 1
has out 'can lock up'

# A site's file with routes of OpenSM.
"$HEDDLE" topo gen fat-tree --radix 4 --levels 3 -o site.net
"$HEDDLE" route site.net --engine updn --dump lfts -o site.lfts
status 0 "$HEDDLE" failures site.net --engine file \
	--set fabric.routing.file=site.lfts --fail switches --fail links --worst 0 --json
[ "$(jq '.tables.failures.rows | length' out)" -eq 52 ] || fail "not 20 switches and 32 links"

mv out one
status 0 "$HEDDLE" failures site.net --engine file --threads 3 \
	--set fabric.routing.file=site.lfts --fail switches --fail links --worst 0 --json
same() { # without the words that it was called with
	jq 'del(.arguments)' "$1"
}
[ "$(same out)" = "$(same one)" ] || fail "three threads find something else"

# By simulation: a tree of two spines has half of its ways left without one of
# the cables of a leaf, so that its job takes longer; a host that loses its cable
# takes a rank with it. The same bytes however many run at once.
cat >job.yaml <<'YAML'
fabric: {topology: {kind: xgft, down: "4,2", up: "1,2"}, link: {rate: 4x HDR}}
jobs: [{name: a, program: [{alltoall: 64KiB}]}]
goals: [{job: a, completion: 30us}]
YAML
"$HEDDLE" sim job.yaml --json >whole
whole=$(jq '.tables.jobs.rows[0].completion' whole)
status 1 "$HEDDLE" failures job.yaml --fail links --fail hosts --simulate 50 --json
mv out many
jq -e --argjson whole "$whole" '.tables["simulated failures"].rows as $f |
	($f | length == 12) and
	([$f[0:8][] | .verdict == "loses ranks"] | all) and
	([$f[8:][] | .verdict == "misses goals" and .slowdown > 1.3] | all)' many ||
	fail "not eight hosts without a rank and four slower jobs: $(cat many)"
without=$(jq -r '.tables["simulated failures"].rows[8].failure' many |
	sed 's| - .*||; s|/|:|')
"$HEDDLE" sim job.yaml --set "fabric.failed_links=$without" --json >one || true
jq -e --argjson whole "$whole" --slurpfile one one '
	.tables["simulated failures"].rows[8].slowdown as $s |
	($one[0].tables.jobs.rows[0].completion / $whole - $s | fabs) < 1e-9' many ||
	fail "the slowdown is not that of the run without the cable"
status 1 "$HEDDLE" failures job.yaml --fail links --fail hosts --simulate 50 \
	--json --threads 1
[ "$(same out)" = "$(same many)" ] || fail "one thread finds something else"
status 0 "$HEDDLE" failures job.yaml --fail links --simulate 2 --html page.html \
	--set goals.0.completion=1s
[ -s page.html ] || fail "no page"
status 3 "$HEDDLE" failures 'star --hosts 2' --simulate 1
[ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
status 3 "$HEDDLE" sim job.yaml --set fabric.failed_links=s9-9:1
has err 'fabric.failed_links'

# A star has no link between switches: no failure, no lost host.
status 0 "$HEDDLE" failures 'star --hosts 2' --fail links
status 2 "$HEDDLE" failures 'star --hosts 2' --fail cables
has err "expected switches, links or hosts, not 'cables'"
status 2 "$HEDDLE" failures
status 3 "$HEDDLE" failures no-such-file

# Files of ibnetdiscover give the same fabric as the generator.
for site in small systems; do
	rc=0
	"$HEDDLE" failures "$SRC/tests/fixtures/topo/$site.ibnetdiscover" \
		--engine updn --csv >out || rc=$?
	[ $rc -le 1 ] || fail "$site: exit status $rc"
	awk -F, -v site=$site '
		$1 == "links" && NF == 8 { links = $2 }
		$1 == "hosts" && NF == 8 { hosts = $2; lost = $6 }
		END {
			split(site == "small" ? "2 4" : "9 9", want, " ")
			exit !(links == want[1] && hosts == want[2] &&
				lost == hosts)
		}' out || fail "$site: $(cat out)"
done
"$HEDDLE" topo gen fat-tree --radix 6 --levels 2 --to ibnetdiscover \
	-o site.ibnetdiscover
rm -f kinds
for fabric in site.ibnetdiscover 'fat-tree --radix 6 --levels 2'; do
	status 0 "$HEDDLE" failures "$fabric" --engine updn --csv
	sed -n '/^switches,/p; /^links,/p; /^hosts,/p' out | sed 4q | sed 3q >>kinds
done
[ "$(sed 3q kinds)" = "$(sed 1,3d kinds)" ] || fail "the file is another fabric: $(cat kinds)"

# A site whose switches all have one name: the GUID identifies the failed switch,
# and the simulation leaves this one out. The slow cable is one of twelve.
awk -f "$SRC/tests/cli/site.awk" >shared.ibnetdiscover
cat >shared.yaml <<'YAML'
fabric: {topology: {file: shared.ibnetdiscover}, routing: {engine: updn}}
jobs: [{name: a, program: [{alltoall: 1KiB}]}]
YAML
status 1 "$HEDDLE" failures shared.yaml --fail links --fail switches --worst 0 --simulate 8 --json
jq -e '[.tables.failures.rows[]["what fails"]] | length == 54 and (unique | length == 54)' out \
	>/dev/null || fail "failures that cannot be distinguished"
mv out many
jq -r '.tables["simulated failures"].rows[] | "\(.slowdown) \(.failure)"' many >simulated
[ "$(grep -c ' - ' simulated)" -ge 2 ] || fail "no cables among 8: $(cat simulated)"
"$HEDDLE" sim shared.yaml --json >whole || fail "shared.yaml"
whole=$(jq '.tables.jobs.rows[0].completion' whole)
while read -r slowdown failure; do
	case $failure in
	*' - '*) # of a link: its first end
		without=$(echo "$failure" | sed 's|^[^(]*(\(0x[0-9a-f]*\))/\([0-9]*\) - .*|\1:\2|') ;;
	*) continue ;;
	esac
	"$HEDDLE" sim shared.yaml --set "fabric.failed_links=$without" --json >one || true
	jq -e --argjson whole "$whole" --argjson s "$slowdown" \
		'(.tables.jobs.rows[0].completion / $whole - $s | fabs) < 1e-9' one >/dev/null ||
		fail "$failure: not the run without $without"
done <simulated

# A real site (tests/fixtures/topo/README.md). Its switches are end ports, too,
# and go with what hangs on them; all single failures leave the others well; and
# the worst cables are the three that the leaf still has to the spine to which it
# has lost one: two of them carry then what four do elsewhere.
site=$SRC/tests/fixtures/topo/site.ibnetdiscover
"$HEDDLE" topo convert "$site" --to ibnetdiscover | cmp - "$site" || fail "the site is changed"
status 0 "$HEDDLE" failures "$site" --engine updn --worst 0 --json
jq -e '.tables.verdicts.rows == [
	{"what fails": "switches", "cases": 8, "refused": 0, "can lock up": 0, "paths broken": 0,
	 "end ports lost": 8, "slower": 0, "harmless": 0},
	{"what fails": "links", "cases": 47, "refused": 0, "can lock up": 0, "paths broken": 0,
	 "end ports lost": 0, "slower": 47, "harmless": 0},
	{"what fails": "hosts", "cases": 145, "refused": 0, "can lock up": 0, "paths broken": 0,
	 "end ports lost": 145, "slower": 0, "harmless": 0}] and
	([.tables.failures.rows[] | select(.kind == "switches") | .["end ports lost"]] ==
	 [25, 25, 25, 25, 25, 23, 4, 1]) and
	([.tables.failures.rows[] | select(.kind == "links") | .["what fails"]][0:3] |
	 all(test("^MF0;sw1:SX6036/U1/.* - MF0;sw8:SX6036/U1/")))' out >/dev/null ||
	fail "the site fares otherwise: $(cat out)"
cat >site.yaml <<YAML
fabric: {topology: {file: "$site"}, routing: {engine: updn}}
jobs: [{name: a, program: [{alltoall: 256}]}]
YAML
status 0 "$HEDDLE" failures site.yaml --fail links --simulate 2 --json
jq -e '.tables["simulated failures"].rows | length == 2' out >/dev/null ||
	fail "not two cables of the site"

# The cables of 648 hosts within a minute of one core, and 50 of them simulated;
# the same from a file of ibnetdiscover's.
if [ "${HD_LONG:-0}" = 1 ]; then
	cpu() { # seconds that a command takes, in all its threads
		times >before # not in a subshell, whose times it would tell
		status 0 "$@"
		times >after
		cat before after | tr ms '  ' | awk '
			NR % 2 == 0 { s[NR] = $1 * 60 + $2 + $3 * 60 + $4 }
			END { printf "%.0f\n", s[4] - s[2] }' >seconds
		echo "$(cat seconds) s: $*"
	}
	"$HEDDLE" topo gen fat-tree --radix 36 --levels 2 --to ibnetdiscover \
		-o site.ibnetdiscover
	for fabric in 'kind: fat-tree, radix: 36, levels: 2' \
		'file: site.ibnetdiscover'; do
		cat >large.yaml <<-YAML
			fabric: {topology: {$fabric}, routing: {engine: updn}}
			traffic: [{name: a, kind: poisson, pattern: permutation,
			  load: 50%, payload: 2KiB}]
			run: {warmup: 20us, measure: 50us}
		YAML
		cpu "$HEDDLE" failures large.yaml --fail links --fail hosts --csv
		[ "$(cat seconds)" -le 60 ] || fail "it takes $(cat seconds) s"
		grep -q '^links,648,0,0,0,0,648,0$' out || fail "not 648 links"
		grep -q '^hosts,648,0,0,0,648,0,0$' out || fail "not 648 hosts"
		cpu "$HEDDLE" failures large.yaml --fail links --simulate 50 \
			--threads 2 --json
		[ "$(cat seconds)" -le 60 ] || fail "it takes $(cat seconds) s"
		jq -e '.tables["simulated failures"].rows | length == 50' out ||
			fail "not 50"
	done
fi
