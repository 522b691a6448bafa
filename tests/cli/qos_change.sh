# 'qos verify NEW.conf SCENARIO --against OLD.conf': its numbers are those of 'heddle sim' on each
# seed, its intervals are Student's, and its exit status is 1 if a goal is worse.
. "$SRC/tests/cli/lib.sh"
printf 'qos TRUE\nmax_op_vls 1\n' >old.conf
"$HEDDLE" qos plan --conf mds=5%,latency,256,sl=1 train=60%,sl=0 storage=35%,sl=2 >new.conf
cat >site.yaml <<'EOF'
fabric:
  topology: {kind: fat-tree, radix: 8, levels: 2}
qos:
  classes: [{name: mds, sl: 1}, {name: train, sl: 0}, {name: storage, sl: 2}]
jobs:
  - {name: training, on: "0..7", class: train, program: [{allreduce: 64KiB, algorithm: ring}]}
traffic:
  - {name: datasets, kind: saturating, class: storage, source: "16..30", destination: "0..7",
     payload: 4KiB}
  - {name: lookups, kind: poisson, class: mds, source: "31", destination: "0..7", payload: 256,
     rate: 20Gb/s}
goals:
  - {row: lookups, p99: 1500ns}
  - {job: training, slowdown: 1.5}
run: {warmup: 10us, measure: 60us}
EOF
status 0 "$HEDDLE" qos verify new.conf site.yaml --against old.conf --json
cp out forward
jq -e '[.tables.goals.rows[].verdict] == ["better", "better"]' forward >/dev/null ||
	fail "the plan is no better: $(jq -c .tables.goals.rows forward)"
status 1 "$HEDDLE" qos verify old.conf site.yaml --against new.conf --json
jq -e '[.tables.goals.rows[].verdict] == ["worse", "worse"]' out >/dev/null ||
	fail "the way back is no worse"
status 0 "$HEDDLE" qos verify new.conf site.yaml --against new.conf --json --seeds 2
jq -e '[.tables.classes.rows[].change] | all(. == 0)' out >/dev/null || fail "no change changes"

# Each number once more, from five runs of each file.
for seed in 1 2 3 4 5; do
	for conf in old new; do
		"$HEDDLE" sim site.yaml --opensm $conf.conf --seed $seed --all --json -q >one || :
		jq -c --arg conf $conf '{conf: $conf,
			delivered: .tables.traffic.rows[0].delivered,
			p99: (.tables."service levels".rows[] | select(.SL == 1).p99),
			completion: .tables.jobs.rows[0].completion}' one
	done
done >runs
jq -e -s --slurpfile told forward 'def mean: add / length;
	# Student: five samples, two-sided 95 %.
	def width: mean as $m | map(. - $m | . * .) | add / 4 / 5 | sqrt * 2.7764451;
	def near(b): (. - b | fabs) < 1e-5 * (b | fabs) + 1e-9;
	. as $runs | $told[0].tables as $t |
	[["delivered", ($t.classes.rows[] | select(.class == "storage" and .measure == "delivered"))],
	 ["p99", ($t.classes.rows[] | select(.class == "mds" and .measure == "p99 latency"))],
	 ["completion", ($t.jobs.rows[] | select(.measure == "completion"))]][] |
	.[0] as $key | .[1] as $row |
	[$runs[] | select(.conf == "old")[$key]] as $a | [$runs[] | select(.conf == "new")[$key]] as $b |
	[range(5) | $b[.] - $a[.]] as $d |
	($row.before | near($a | mean)) and ($row."before +-" | near($a | width)) and
	($row.after | near($b | mean)) and ($row."after +-" | near($b | width)) and
	($row.change | near(100 * ($d | mean) / ($a | mean))) and
	($row."change +-" | near(100 * ($d | width) / ($a | mean)))' runs >all || fail "other numbers: $(cat all)"
[ "$(grep -c true all)" = 3 ] || fail "rows are missing"

# Only the scenario's goals are judged.
sed '/^goals:/,/slowdown/d' site.yaml >aimless.yaml
status 0 "$HEDDLE" qos verify old.conf aimless.yaml --against new.conf --seeds 2
has out 'the scenario has no goals'
cp new.conf new,er.conf
status 3 "$HEDDLE" qos verify new,er.conf site.yaml --against old.conf
has err 'a name with a comma'
status 3 "$HEDDLE" qos verify absent.conf site.yaml --against old.conf
one_line err
status 2 "$HEDDLE" qos verify new.conf --against old.conf
has err 'PLAN and SCENARIO are required'
