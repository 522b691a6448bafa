# Sweeps: the same bytes with any number of processes, after interrupts and in shards; results equal
# those of single runs; invalid studies are refused.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db ./*.csv ./*.json

cat >star.yaml <<'EOF'
fabric: {topology: {kind: star, hosts: 4, link: 4x EDR}}
traffic:
  - {name: a, kind: poisson, load: 50%, payload: 1KiB}
  - {name: b, kind: cbr, load: 5%, payload: 64}
run: {seed: 7, warmup: 5us, measure: 40us}
EOF
sweep() {
	"$HEDDLE" sweep star.yaml --vary fabric.routing=minhop,updn \
		--vary traffic.a.load=30%..90%:30% --seeds 2 "$@"
}

# ---- the same results with any number of processes
status 0 sweep --jobs 1 --db one.db -o one.csv
status 0 sweep --jobs 4 --db four.db -o four.csv
cmp one.csv four.csv || fail "results depend on the number of jobs"
has one.csv 'point,fabric.routing,traffic.a.load[%],seed,measure,unit,value,failure'
[ "$(grep -c ',p99,us,' one.csv)" -eq 12 ] || fail "not 12 points"
status 0 sweep --db one.db -o one.json
status 0 sweep --db one.db --wide -o wide.csv
[ "$(grep -c '^[0-9]' wide.csv)" -eq 12 ] || fail "not 12 rows"
# Completed points are not computed again: the database only gets the sweeps themselves.
sqlite3 one.db "SELECT count(*) FROM run WHERE command = 'sweep point'" >n
[ "$(cat n)" -eq 12 ] || fail "$(cat n) points in the database"
# Kilobytes a point.
[ "$(stat -c %s four.db)" -lt $((12 * 16384 + 65536)) ] ||
	fail "the database has $(stat -c %s four.db) bytes"

# ---- a point has the results of a run
status 0 "$HEDDLE" sim star.yaml --set fabric.routing=updn \
	--set traffic.a.load=60% --seed 8 --json
jq -r '.tables.summary.rows[0] | [.offered, .delivered, ."latency mean",
	."latency p99", ."latency max", ."busiest link used", .lost] | @tsv' \
	out >run
sqlite3 -tabs one.db 'SELECT offered, delivered, mean, p99, max,
	"busiest link", lost FROM sweep WHERE "fabric.routing" = '\''updn'\''
	AND "traffic.a.load" = 60 AND seed = 8' >point
awk 'NR == FNR { n = split($0, x); next }
	{ for (i = 1; i <= n; i++) if ($i - x[i] > 1e-9 || x[i] - $i > 1e-9) exit 1 }
	END { if (n != 7 || NR != 2) exit 1 }' run point ||
	fail "a point is not what 'heddle sim' says: $(cat run point)"
# Means and confidence over the seeds.
status 0 sweep --db one.db --curves --json
jq -r '.tables.curves.rows[4] | [.p99, ."p99 +-"] | @tsv' out >curve
# Of two values Student's factor is 12.706 = tan(0.475 pi), and the half width
# that times half their distance.
sqlite3 -tabs one.db 'SELECT avg(p99), 12.706204736 * (max(p99) - min(p99)) / 2
	FROM sweep WHERE "fabric.routing" = '\''updn'\''
	AND "traffic.a.load" = 60' >direct
paste curve direct | awk '{ if ($1 - $3 > 1e-6 || $3 - $1 > 1e-6 ||
	$2 - $4 > 1e-6 || $4 - $2 > 1e-6) exit 1 }' ||
	fail "means: $(cat curve direct)"

# ---- labels are shown instead of values, and change nothing else
status 0 sweep --db one.db --curves --csv --label 'traffic.a.load=low,half full,high'
grep -v '^#' out | cut -d, -f2 | sort -u >shown
printf '%s\n' 'half full' high low 'traffic.a.load' | cmp - shown || fail "labels: $(cat shown)"
grep -v '^#' out | cut -d, -f3- >labelled
status 0 sweep --db one.db --curves --csv
grep -v '^#' out | cut -d, -f3- | cmp - labelled || fail "labels change results"
sqlite3 one.db "SELECT count(*) FROM run WHERE command = 'sweep point'" >n
[ "$(cat n)" -eq 12 ] || fail "labels run points again"
printf '%s\n' 'scenario: star.yaml' 'axes: [{field: traffic.a.load, values: 30%..90%:30%,' \
	'labels: [one, two, three]}]' >labels.yaml
status 0 "$HEDDLE" sweep labels.yaml --db one.db
has out ' three '
status 3 sweep --db one.db --label fabric.routing=minhop
has err 'fabric.routing: 1 label for 2 values'
status 3 sweep --db one.db --label 'traffic.a.load=a,b,a'
has err "traffic.a.load: two values have the label 'a'"
status 2 sweep --db one.db --label run.warmup=x
has err 'run.warmup is not varied'
status 2 sweep --db one.db --label x
has err 'FIELD=LABELS'

# ---- shards, in any order
for i in 3 1 2; do
	status 0 sweep --shard $i/3 --db shard$i.db -o shard$i.csv
done
status 0 env SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 \
	"$HEDDLE" sweep star.yaml --vary fabric.routing=minhop,updn \
	--vary traffic.a.load=30%..90%:30% --seeds 2 \
	--shard auto --db slurm.db -o slurm.csv
cmp slurm.csv shard2.csv || fail "Slurm's second task is not shard 2/3"
status 0 "$HEDDLE" sweep merge shard2.db shard3.db shard1.db --db all.db \
	-o merged.csv
cmp one.csv merged.csv || fail "shards give another CSV than a single run"
status 0 "$HEDDLE" sweep merge shard1.db shard2.db shard3.db --db all.db \
	-o merged.json
cmp one.json merged.json || fail "shards give other JSON than a single run"
status 3 "$HEDDLE" sweep merge shard1.db shard3.db --db less.db
one_line err
has err "4 of the 12 points are in none of the files"
[ ! -e less.db ] || fail "a merge that was refused left a database"
status 0 "$HEDDLE" sweep star.yaml --db other.db
status 3 "$HEDDLE" sweep merge shard1.db other.db --db less.db
has err "other.db: belongs to another study than shard1.db"

# ---- interrupted, and continued; the last point takes long, a fourth of it
# with sanitizers
last=20ms
[ "${HD_LIGHT:-0}" = 0 ] || last=5ms
long="star.yaml --vary run.measure=20us,30us,40us,50us,60us,$last --jobs 2"
status 0 "$HEDDLE" sweep $long --db whole.db -o whole.csv
status 0 "$HEDDLE" sweep $long --db whole.db -o whole.json
"$HEDDLE" sweep $long --db part.db -o part.csv >out 2>err &
pid=$!
while kill -0 $pid 2>/dev/null; do
	sqlite3 part.db "SELECT count(*) FROM run WHERE command = 'sweep point'" \
		>n 2>/dev/null || echo 0 >n
	[ "$(cat n)" -lt 3 ] || break
	sleep 0.02
done
kill -TERM $pid 2>/dev/null || true
got=0
wait $pid || got=$?
[ $got -eq 143 ] || fail "an interrupted sweep ended with $got"
grep -q 'interrupted after [0-5] of 6 points' part.csv || fail "not marked"
status 0 "$HEDDLE" sweep $long --db part.db -o part.csv
cmp whole.csv part.csv || fail "continued, it gives another CSV"
status 0 "$HEDDLE" sweep $long --db part.db -o part.json
cmp whole.json part.json || fail "continued, it gives other JSON"
sqlite3 part.db "SELECT count(*) FROM run WHERE command = 'sweep point'" >n
[ "$(cat n)" -eq 6 ] || fail "points were run twice"

# ---- a point that fails is a row; what it is known by is its content
status 1 "$HEDDLE" sweep star.yaml --db fails.db --wide --csv \
	--vary fabric.routing=minhop,dor --vary traffic.a.payload=1KiB,8KiB
has out "0,minhop,1024,7,"
has out "the fabric is not a mesh"
has out "a payload of 8192 bytes is more than the MTU"
has out "# note: 3 points failed"
[ "$(grep -c '^[0-9]' out)" -eq 4 ] || fail "not four rows"
cp out first
status 1 "$HEDDLE" sweep star.yaml --db fails.db --wide --csv \
	--vary fabric.routing=minhop,dor --vary traffic.a.payload=1KiB,8KiB
cmp out first || fail "failures are not remembered as they were"
# The reason of a failed point does not name the file or option of its values: it
# is the same in shards, and in the database of another study.
cat >fails.yaml <<'EOF'
scenario: star.yaml
set: [run.measure=20us]
axes:
  - {field: fabric.routing, values: [minhop, dor]}
  - {field: traffic.a.payload, values: [1KiB, 8KiB]}
EOF
for i in 2 1; do
	status 1 "$HEDDLE" sweep fails.yaml --shard $i/2 --db fails$i.db
done
status 1 "$HEDDLE" sweep fails.yaml --db file.db -o file.csv
has file.csv ",traffic.a.payload: traffic 'a': a payload of 8192 bytes is more than"
status 1 "$HEDDLE" sweep merge fails1.db fails2.db --db joined.db -o joined.csv
cmp file.csv joined.csv || fail "joined, failures have other reasons"
status 1 "$HEDDLE" sweep star.yaml --db fails.db --set run.measure=20us \
	--vary fabric.routing=minhop,dor --vary traffic.a.payload=1KiB,8KiB \
	-o line.csv
cmp file.csv line.csv || fail "a study's file gives another CSV than options"
# A point that failed because of the host is computed again.
tree="$SRC/examples/fat-tree-70.yaml"
short='--set run.warmup=1us --set run.measure=5us'
status 1 "$HEDDLE" sweep "$tree" $short --db small.db --memory 6MB
has out "1 point failed; the first: heddle: out of memory"
# So short a run misses its goals.
status 1 "$HEDDLE" sweep "$tree" $short --db small.db
# Another scenario is another point, and another text of the same is not.
sed 's/seed: 7, /seed: 7, measure: 40us, /; s/, measure: 40us}/}/' star.yaml \
	>same.yaml
sed 's/payload: 64/payload: 65/' star.yaml >else.yaml
for s in star same else; do
	status 0 "$HEDDLE" sweep $s.yaml --db content.db --json
done
sqlite3 content.db "SELECT count(*) FROM run WHERE command = 'sweep point'" >n
[ "$(cat n)" -eq 2 ] || fail "content: $(cat n) points, not 2"

# ---- searches: bisection agrees with a look at every value
"$HEDDLE" sweep star.yaml --vary traffic.a.load=5%..95%:5% --db find.db \
	--wide --csv >all.csv
last=$(awk -F, '/^[0-9]/ && $8 < 2 { x = $2 } END { print x }' all.csv)
status 0 "$HEDDLE" sweep star.yaml --vary traffic.a.load=5%..95%:5% \
	--db find.db --find 'largest traffic.a.load with p99 < 2us' --json
jq -e ".tables.found.rows[0][\"traffic.a.load\"] == $last" out ||
	fail "found something else than $last"
[ "$(jq '[.tables.points.rows[].point] | unique | length' out)" -le 5 ] ||
	fail "bisection of 19 values took more than 5 runs"
status 1 "$HEDDLE" sweep star.yaml --vary traffic.a.load=5%..95%:5% \
	--db find.db --find 'largest traffic.a.load with p99 < 1ns'
status 0 "$HEDDLE" sweep star.yaml --vary traffic.a.load=5%..95%:5% \
	--db find.db --wide --csv --stop 'traffic.a.load when p99 >= 2us'
first=$(awk -F, '/^[0-9]/ && $8 >= 2 { print $2; exit }' all.csv)
[ "$(awk -F, '/^[0-9]/ { x = $2 } END { print x }' out)" -eq "$first" ] ||
	fail "it did not stop at $first"

# ---- kept results
status 0 sweep --db keep.db --keep traffic --json
jq -e '.tables.traffic.rows | length == 24' out || fail "not two rows a point"
status 0 sweep --db keep.db --keep all --json
sqlite3 keep.db "SELECT count(*) FROM result WHERE name = 'flows'" >n
[ "$(cat n)" -eq 12 ] || fail "--keep all keeps no flows"
status 0 "$HEDDLE" report --db keep.db
has out "and 24 points of sweeps"
for name in nosuch '' headline; do
	status 3 "$HEDDLE" sweep star.yaml --db refused.db --keep "$name"
	one_line err
	has err "keep: 'heddle sim' has no table '$name'"
done
status 3 "$HEDDLE" sweep star.yaml --db refused.db --keep trafic
has err "(did you mean 'traffic'?)"
[ ! -e refused.db ] || fail "a refused study left a database"
# A database that refuses writes is reported once.
status 0 "$HEDDLE" sweep star.yaml --db spoilt.db
sqlite3 spoilt.db "CREATE TRIGGER full BEFORE INSERT ON result
	BEGIN SELECT RAISE(ABORT, 'it is full'); END"
status 4 "$HEDDLE" sweep star.yaml --db spoilt.db --vary traffic.a.load=10%,20%
one_line err
[ "$(grep -o 'intact' err | wc -l)" -eq 1 ] || fail "not one message: $(cat err)"
# Points with missing or other measures do not count.
status 0 "$HEDDLE" sweep star.yaml --db points.db
headline="(SELECT id FROM result WHERE name = 'headline')"
for damage in "DELETE FROM result WHERE name = 'headline'" \
	"DELETE FROM field WHERE result IN $headline AND name = 'p99'" \
	"DELETE FROM cell WHERE field IN
		(SELECT id FROM field WHERE result IN $headline)" \
	"UPDATE field SET name = 'other' WHERE result IN $headline AND name = 'p99'" \
	"UPDATE field SET type = 'text' WHERE result IN $headline AND name = 'p99'"; do
	cp points.db torn.db
	sqlite3 torn.db "$damage"
	for line in 'merge torn.db --db whole.db' 'star.yaml --db torn.db'; do
		# shellcheck disable=SC2086 # words
		status 3 "$HEDDLE" sweep $line
		one_line err
		has err 'torn.db: is damaged: measures of a sweep point'
	done
done
# Two sweeps side by side: their curves first, and no half-widths among changes.
status 0 sweep --db two.db
status 0 sweep --db two.db --set traffic.a.payload=256
sqlite3 two.db "SELECT id FROM run WHERE command = 'sweep'" >ids
# shellcheck disable=SC2046 # two numbers
status 0 "$HEDDLE" report --db two.db $(cat ids)
[ "$(wc -l <out)" -le 45 ] || fail "$(wc -l <out) lines are no screen"
awk '/^# headline/ { on = 1 } on && /^ / { print $1; exit }' out >first
[ "$(cat first)" = curves: ] || fail "the headline begins with $(cat first)"
if grep -e ' +- ' out; then fail "half-widths are listed as changes"; fi
status 0 sweep --db one.db -o curves.tex
has curves.tex '\toprule'
has curves.tex 'traffic.a.load [\%]'
status 0 sweep --db one.db -o curves.dat
has curves.dat '# index 1: curves'
if command -v gnuplot >/dev/null; then
	gnuplot -e "set terminal dumb; set key autotitle columnhead;
		plot for [i=0:1] 'curves.dat' index i using 2:4" >plot ||
		fail "gnuplot does not read curves.dat"
fi

# ---- rejected studies, with their line
refused() { # LINE MESSAGE, the study on standard input
	cat >study.yaml
	status 3 "$HEDDLE" sweep study.yaml --db refused.db
	one_line err
	has err "study.yaml:$1"
	has err "$2"
	[ ! -e refused.db ] || fail "a refused study left a database"
}
refused 3 "unknown field 'lod'" <<'EOF'
scenario: star.yaml
axes:
  - {field: traffic.0.lod, values: [1%, 2%]}
EOF
refused 5 "no values" <<'EOF'
scenario: star.yaml
axes:
  - {field: fabric.routing, values: [minhop, updn]}
  - field: traffic.0.load
    values: []
EOF
refused 4 "the study has 1000000000 points" <<'EOF'
scenario: star.yaml
seeds: 1000000
axes:
  - {field: traffic.0.load, values: 0.001..1:0.001}
EOF
refused 2:1 "unknown field 'axis' in the study (did you mean 'axes'?)" <<'EOF'
scenario: star.yaml
axis: []
EOF
refused 1 "nothere.yaml: cannot be read" <<'EOF'
scenario: nothere.yaml
EOF
refused 4 "unknown measure 'p98'" <<'EOF'
scenario: star.yaml
axes:
  - {field: traffic.0.load, values: [1%, 2%]}
find: largest traffic.0.load with p98 < 5us
EOF
refused 4 "p99 [us] and offered [Gb/s] have different units" <<'EOF'
scenario: star.yaml
axes:
  - {field: traffic.0.load, values: [1%, 2%]}
stop: traffic.0.load when p99 > offered
EOF
refused 4 "skip: fabric.routing has no value 'upd' here" <<'EOF'
scenario: star.yaml
axes:
  - {field: fabric.routing, values: [updn, minhop]}
skip: [fabric.routing = upd]
EOF
refused 5 "is not a field that is varied" <<'EOF'
scenario: star.yaml
axes:
  - {field: traffic.0.load, values: [1%, 2%]}
seeds: 2
skip: qos.vls = 2
EOF
# A mistake of the scenario that no axis removes is reported at once, not after a
# million tries of it (two minutes of processor time)...
sed 's/^  - {name: a,/  - {name: a, class: none,/' star.yaml >mistaken.yaml
cmp -s star.yaml mistaken.yaml && fail "no mistake in mistaken.yaml"
(
	ulimit -t 30
	status 3 "$HEDDLE" sweep mistaken.yaml --db refused.db \
		--vary traffic.0.load=0.1%..100%:0.1% \
		--vary traffic.0.payload=1..1000:1
) || exit 1
one_line err
has err "mistaken.yaml:"
has err "'none'"
[ ! -e refused.db ] || fail "a refused study left a database"
# ... and a single cell that is good among 1600 is found, and run.
printf 'qos: {classes: [{name: x, sl: 1}]}\n' >>mistaken.yaml
got=0
"$HEDDLE" sweep mistaken.yaml --db needle.db --csv --set run.measure=10us \
	--vary "qos.classes.0.name=$(seq -s, -f n%g 40)" \
	--vary "traffic.0.class=$(seq -s, -f m%g 39),n40" >out 2>err || got=$?
[ "$got" -le 1 ] || fail "one of many: $got $(head -1 err)"
[ "$(grep -c ',p99,' out)" -eq 1 ] || fail "the one that is good was not run"
# The same study as a file, with axes that vary together.
cat >study.yaml <<'EOF'
title: loads and sizes together
scenario: star.yaml
set: [run.measure=30us, qos.vls=2]
axes:
  - {field: traffic.a.load, values: 10%..30%:10%, with: size}
  - {field: traffic.a.payload, values: [256, 512, 1024], with: size}
  - {field: fabric.routing, values: [minhop, updn]}
skip: fabric.routing = updn and traffic.a.load >= 30%
seeds: 2
EOF
status 0 "$HEDDLE" sweep study.yaml --db study.db --csv
cp out study.csv
status 0 "$HEDDLE" sweep star.yaml --db direct.db --csv --seeds 2 \
	--set run.measure=30us --set qos.vls=2 \
	--vary 'traffic.a.load=10%..30%:10% & traffic.a.payload=256,512,1024' \
	--vary fabric.routing=minhop,updn \
	--skip 'fabric.routing = updn and traffic.a.load >= 30%'
sed 's/loads and sizes together/what each point gave/' study.csv | cmp - out ||
	fail "a study says something else than the same command line"
[ "$(grep -c ',p99,' out)" -eq 10 ] || fail "not five cells"
