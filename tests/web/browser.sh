# The page of 'heddle report' works in Chromium: every panel draws, what can be
# pointed at and clicked answers, every panel exports, nothing is fetched, the
# console stays silent, axe-core finds no serious fault; two runs are drawn in
# the same plots. Screenshots are left in build/web/shots. Skipped, loudly, where there is no npm or no Chromium.
. "$SRC/tests/cli/lib.sh"

skip() {
	echo "SKIPPED: $1" >&2
	exit 77
}
[ ! -e "$WEB/missing" ] || skip "there is no page: $(cat "$WEB/missing")"
command -v chromium >/dev/null || skip "there is no chromium"
[ -d "$WEB/node_modules/playwright-core" ] || skip "there is no playwright"

rm -f ./*.db* ./*.html
run() {
	"$HEDDLE" "$@" --db runs.db >out 2>err || {
		cat err >&2
		fail "heddle $*"
	}
}
# One run for each way to draw a fabric, and for each kind of plot; jitter is
# that of flows to a single port. Two names are colours of CSS.
sed -e 's/measure: .*/measure: 300us}/' \
	-e 's/name: voice, class: voice, kind: cbr,/& pattern: permutation,/' \
	"$SRC/examples/quickstart.yaml" >mesh.yaml
run sim mesh.yaml
cp runs.db two.db
"$HEDDLE" sim mesh.yaml --seed 2 --quiet --db two.db >/dev/null
"$HEDDLE" report --db two.db 1 2 --html two.html
cat >tree.yaml <<END
title: a fat tree
fabric:
  topology: {kind: fat-tree, radix: 8, levels: 2}
  routing: ftree
traffic: [{name: none, kind: poisson, payload: 4KiB, load: 60%}]
run: {warmup: 10us, measure: 100us}
END
run sim tree.yaml
cat >irregular.yaml <<END
title: an irregular fabric
fabric:
  topology: {kind: irregular, switches: 12}
traffic: [{name: gold, kind: cbr, payload: 1KiB, load: 20%, pattern: permutation}]
run: {warmup: 10us, measure: 100us}
END
run sim irregular.yaml
run sim "$SRC/examples/jobs.yaml"
run cc compare "$SRC/examples/two-switch-congestion.yaml" --sample 200us \
	--warmup 1ms --measure 4ms
run mcast compare --topology 'kind: node-mesh, columns: 5, rows: 4' --engine xy --seeds 3
run model et --lambda 1..4:1 --compare --simulate 20000
run model credit --upstream 3 --downstream 2..4
sqlite3 runs.db <"$SRC/tests/web/bench.sql"
printf '%s: 15%%\n' a b c d e >goals.yaml
run qos plan --goals goals.yaml 'star --hosts 8' --verify
"$HEDDLE" report --db runs.db --html runs.html

# Failures: a deadlock, a cable that fails, goals that are missed; names that
# look like markup; more cables than can be drawn side by side.
. "$SRC/tests/web/evil.sh"
"$HEDDLE" sim "$SRC/examples/ring-deadlock.yaml" --quiet --db wrong.db >/dev/null ||
	[ $? -eq 1 ]
"$HEDDLE" sim evil.yaml --quiet --db wrong.db >/dev/null
cat >failing.yaml <<END
title: 288 hosts, a cable fails, goals are missed
fabric:
  topology: {kind: fat-tree, radix: 24, levels: 2, link: 4x HDR}
  routing: ftree
traffic:
  - {name: all, kind: poisson, payload: 4KiB, load: 40%}
  - {name: in, kind: poisson, pattern: incast, payload: 4KiB, load: 10%, source: "h1..h40", destination: h0}
faults: {events: [{at: 10us, kind: link-down, port: "s1-0:15"}]}
run: {warmup: 5us, measure: 20us}
goals: [{row: all, p50: 20us}, {row: in, delivered: 99%}]
END
"$HEDDLE" sim failing.yaml --quiet --db wrong.db >/dev/null || [ $? -eq 1 ]
"$HEDDLE" report --db wrong.db --html wrong.html

# Two runs of one scenario with goals: before a change, and after it.
cat >change.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4}, link: 8Gb/s}
qos:
  classes: [{name: calls, sl: 1, priority: high}, {name: bulk, sl: 0}]
traffic:
  - {name: backup, kind: saturating, class: bulk, pattern: incast, source: "1..2", destination: "0", payload: 2KiB}
  - {name: lookups, kind: cbr, class: calls, pattern: incast, source: "3", destination: "0", payload: 256, rate: 1Gb/s}
goals: [{row: lookups, p99: 8us}, {row: backup, throughput: 1Gb/s}]
run: {warmup: 100us, measure: 1ms}
END
rm -f change.db
"$HEDDLE" sim change.yaml --set qos.vls=1 --quiet --db change.db >/dev/null || [ $? -eq 1 ]
"$HEDDLE" sim change.yaml --set qos.vls=2 --quiet --db change.db >/dev/null
"$HEDDLE" report --db change.db --html change.html

cat >large.yaml <<END
title: 11,664 hosts on a fat tree of three tiers
fabric:
  topology: {kind: fat-tree, radix: 36, levels: 3, link: 4x HDR}
  routing: ftree
traffic: [{name: all, kind: poisson, payload: 4KiB, load: 40%}]
run: {warmup: 1us, measure: 3us}
END
"$HEDDLE" sim large.yaml --sample 1us --html large.html >/dev/null

# Links by what tables make of them, and routes that may and may not lock up.
"$HEDDLE" route 'mesh --columns=4 --rows=4 --hosts=2' -e xy --load 100 --check \
	--quiet --html loads.html >/dev/null
"$HEDDLE" route 'ring --switches=6' -e minhop --check --quiet --html locks.html \
	>/dev/null || [ $? -eq 1 ]

# A sweep beyond saturation, its loads in no order, and one over something else.
cat >swept.yaml <<END
title: a mesh beyond saturation
fabric: {topology: {kind: mesh, columns: 4, rows: 4, hosts: 2}, routing: xy}
traffic: [{name: all, kind: poisson, payload: 2KiB, load: 50%}]
run: {warmup: 20us, measure: 60us}
END
"$HEDDLE" sweep swept.yaml --vary traffic.all.load=90%,10%,50%,30%,70% \
	--vary fabric.routing=xy,updn --label 'fabric.routing=XY,Up/Down' --seeds 3 --quiet --db swept.db --html swept.html >/dev/null
"$HEDDLE" sweep swept.yaml --vary traffic.all.payload=1KiB,2KiB,4KiB --quiet \
	--db swept.db --html sizes.html >/dev/null

# Runs that differ in a number, in no order, and in a word.
for engine in xy updn; do
	for load in 50% 10% 30%; do
		"$HEDDLE" sim swept.yaml --set traffic.all.load=$load --quiet \
			--set fabric.routing=$engine --db along.db >/dev/null
	done
done
"$HEDDLE" report --db along.db --html along.html

# Every name that a file can bring.
"$HEDDLE" sim evil-job.yaml --quiet --db evil.db >/dev/null ||
	[ $? -eq 1 ] # a goal is missed
"$HEDDLE" sweep evil.yaml --vary "title=$EVIL_TITLES" --quiet --db evil.db >/dev/null
"$HEDDLE" bench post-send --profile ./evil-profile.yaml --quiet --db evil.db >/dev/null
"$HEDDLE" paper run evil-paper.yaml --quiet --db evil.db >/dev/null
"$HEDDLE" report --db evil.db --html evil.html
rm -f evil.db

# Published values of a paper and simulated ones.
"$HEDDLE" paper run 000/table1 --quiet --db paper.db --html paper.html >/dev/null
"$HEDDLE" paper run 001/fig2 001/fig5b --quick --quiet --db paper.db --html figures.html >/dev/null
"$HEDDLE" paper run 001/fig2 001/fig4 003/dbts 002/fig1 --quick --quiet --db gallery.db \
	--html gallery.html >/dev/null
rm -f paper.db

rm -rf profile
timeout 400 node "$SRC/web/test/browser.mjs" "$WEB" "$PWD" "$WEB/shots"
rm -rf profile large.html
