# Communication libraries over a live fabric's adapters: UCX by itself, and
# Open MPI over it with ranks on different hosts, which check what they get.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop >up
export UCX_NET_DEVICES=heddle0:1

while read -r transport options; do
	export UCX_TLS="$transport,self"
	between h0 h5 ucx_perftest -n 200 $options
	grep -q '^Final:  *200 ' client || fail "$options: $(cat client)"
done <<'ROWS'
rc_v -t tag_lat
rc_v -t tag_bw -s 100000
rc_v -t ucp_put_lat
rc_v -t ucp_get -s 100000
rc_v -t ucp_fadd
rc_v -t am_lat -d heddle0:1 -x rc_verbs
rc_v -t tag_lat -E sleep
ud_v -t tag_lat
ud_v -t tag_bw -s 100000
ud_v -t am_lat -d heddle0:1 -x ud_verbs
ud_v -t tag_lat -E sleep
ROWS

mpicc -O1 -o ranks "$SRC/tests/cli/verbs_ranks.c"
# ranks TRANSPORT HOST...: one on each.
ranks() {
	transport=$1
	shift
	apps=
	for host in "$@"; do
		apps="$apps${apps:+ :} -np 1 -x HEDDLE_HOST=$host ./ranks"
	done
	UCX_TLS="$transport,self" timeout 300 "$HEDDLE" live exec h0 -- mpirun \
		--allow-run-as-root --oversubscribe --mca pml ucx \
		--mca btl ^openib,tcp,vader --mca osc ^ucx \
		$apps >out 2>&1 || fail "ranks on $*: $(tail -n 9 out)"
	has out "$# ranks"
}
ranks rc_v h0 h5
ranks rc_v h0 h3 h5 h6
ranks ud_v h0 h5
