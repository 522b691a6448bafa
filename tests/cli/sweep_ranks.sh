# Ranks of a launcher: each computes its shard, the last one merges them to the bytes of a single
# run, and no other files remain.
. "$SRC/tests/cli/lib.sh"
rm -f ./*.db* ./*.csv
cat >star.yaml <<'END'
fabric: {topology: {kind: star, hosts: 4, link: 4x EDR}}
traffic:
  - {name: a, kind: poisson, load: 50%, payload: 1KiB}
run: {seed: 7, warmup: 5us, measure: 40us}
END
words='sweep star.yaml --vary fabric.routing=minhop,updn --vary
	traffic.a.load=30%..90%:30% --seeds 2'
# shellcheck disable=SC2086 # words
status 0 "$HEDDLE" $words --db one.db -o one.csv
# shellcheck disable=SC2086
status 0 "$HEDDLE" $words --db one.db -o one.json

# ---- by the variables that launchers set, one rank after the other
ranks() { # RANK-VARIABLE SIZE-VARIABLE NAME
	for rank in 2 0 1; do
		# shellcheck disable=SC2086
		status 0 env "$1=$rank" "$2=3" "$HEDDLE" $words --db "$3.db" \
			-o "$3.csv"
		if [ $rank -ne 1 ]; then
			[ ! -e "$3.csv" ] || fail "$3: rank $rank did not wait"
		fi
	done
	cmp one.csv "$3.csv" || fail "$3: ranks give another CSV"
	left=$(echo "$3.db".rank*)
	[ "$left" = "$3.db.rank*" ] || fail "$3 left $left"
}
ranks OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE ompi
ranks PMI_RANK PMI_SIZE pmi
ranks SLURM_PROCID SLURM_STEP_NUM_TASKS slurm
# A batch script that no step started is alone.
# shellcheck disable=SC2086
status 0 env SLURM_PROCID=0 SLURM_NTASKS=3 "$HEDDLE" $words --db batch.db -o batch.csv
cmp one.csv batch.csv || fail "a batch script took itself for a rank"
# One that has its shard named is no rank; one rank of one is alone.
# shellcheck disable=SC2086
status 0 env PMI_RANK=1 PMI_SIZE=3 "$HEDDLE" $words --shard 1/1 --db named.db -o named.csv
cmp one.csv named.csv || fail "--shard 1/1 is not all of it"
# shellcheck disable=SC2086
status 2 env PMI_RANK=3 PMI_SIZE=3 "$HEDDLE" $words --db bad.db
has err "PMI_RANK and PMI_SIZE are not a rank"
# What was joined is known: a second call runs nothing, whatever the ranks.
# shellcheck disable=SC2086
for rank in 0 1; do
	status 0 env PMI_RANK=$rank PMI_SIZE=2 "$HEDDLE" $words --db pmi.db -o again.csv
done
cmp one.csv again.csv || fail "a second call gives another CSV"
sqlite3 pmi.db "SELECT count(*) FROM run WHERE command = 'sweep point'" >n
[ "$(cat n)" -eq 12 ] || fail "$(cat n) points in the database"

# ---- by a launcher
command -v mpirun >/dev/null || fail "mpirun is not installed"
# shellcheck disable=SC2086
status 0 mpirun -n 3 --allow-run-as-root --oversubscribe "$HEDDLE" $words \
	--db mpi.db -o mpi.csv
cmp one.csv mpi.csv || fail "mpirun gives another CSV"
# shellcheck disable=SC2086
status 0 mpirun -n 3 --allow-run-as-root --oversubscribe "$HEDDLE" $words \
	--db mpi.db -o mpi.json
cmp one.json mpi.json || fail "mpirun gives other JSON"
