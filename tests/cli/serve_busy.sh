# 'heddle serve' answers while clients are slow and changes take long; no thread spins; every
# printed address of this machine answers.
. "$SRC/tests/cli/lib.sh"
cat >long.yaml <<'END'
fabric: {topology: {kind: fat-tree, radix: 8, levels: 2}, routing: ftree}
traffic: [{name: a, kind: poisson, load: 80%}]
run: {measure: 100ms}
END
cat >jobs.yaml <<'END'
fabric: {topology: {kind: star, hosts: 8}}
jobs: [{name: j, program: [{alltoall: 64KiB}], repeat: 100000}]
traffic: [{name: a, kind: poisson, load: 10%}]
run: {horizon: 10ms}
END
python3 "$SRC/tests/cli/serve_busy.py" "$HEDDLE" long.yaml jobs.yaml
for place in 127.0.0.1x 127.0.0.1:http 300.0.0.1 '[::1' localhost:80; do
	status 2 "$HEDDLE" serve long.yaml --listen "$place"
	has err 'listen:'
done
