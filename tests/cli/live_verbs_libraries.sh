# Communication libraries over a live fabric's adapters: UCX by itself, and
# Open MPI over it with ranks on different hosts, which check what they get.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/live_lib.sh"
. "$SRC/tests/cli/verbs_lib.sh"
"$HEDDLE" live up 'fat-tree --radix 4 --levels 2' --sm minhop >up
export UCX_NET_DEVICES=heddle0:1

n=0
while read -r transport options; do
	n=$((n + 1))
	export UCX_TLS="$transport,self"
	compared 200 h0 h5 ucx_perftest -n 200 $options
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
ud_v -t ucp_put_lat
ud_v -t ucp_get -s 100000
ud_v -t ucp_fadd
ROWS
echo "suite: ucx_perftest $n $n 0"

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

# ---- one rank on each of several hosts, mpirun as it is: each adapter sends
sent() {
	on h0 perfquery -x "$(lid_of "$1")" 1 |
		sed -n 's/^PortXmitPkts:\.*//p'
}
unset UCX_NET_DEVICES UCX_TLS
# What UCX sends from host to host crosses the fabric, without a word from us.
sent h5 >before.h5
between h0 h5 ucx_perftest -n 200 -t tag_lat
[ "$(sent h5)" -ge $(($(cat before.h5) + 200)) ] ||
	fail "h5 sent $(sent h5) packets, before $(cat before.h5)"
for host in h1 h2 h4 h7; do
	sent $host >"before.$host"
done
timeout 300 "$HEDDLE" live exec h1,h2,h4..h7,not:h5..h6 -- mpirun \
	--allow-run-as-root --oversubscribe -n 4 ./ranks >out 2>&1 ||
	fail "ranks on several hosts: $(tail -n 9 out)"
has out "4 ranks"
for host in h1 h2 h4 h7; do
	# Four times 102115 words, 1024 in a packet.
	[ "$(sent $host)" -ge $(($(cat before.$host) + 398)) ] ||
		fail "$host sent $(sent $host) packets, before $(cat before.$host)"
done
timeout 300 "$HEDDLE" live exec all -- mpirun --allow-run-as-root \
	--oversubscribe -n 8 ./ranks >out 2>&1 ||
	fail "ranks on all hosts: $(tail -n 9 out)"
has out "8 ranks"
# A rank beyond the last host is on the first again; who has none is there.
for rank in 0 1 2 3; do
	OMPI_COMM_WORLD_RANK=$rank on h3..h5 ibv_devinfo -v >"devinfo.$rank"
done
on h3..h5 ibv_devinfo -v >devinfo.0.again
cmp devinfo.0 devinfo.3 && cmp devinfo.0 devinfo.0.again ||
	fail "ranks 0 and 3 are not on the same host"
! cmp -s devinfo.0 devinfo.1 && ! cmp -s devinfo.1 devinfo.2 ||
	fail "ranks 0, 1 and 2 are not on three hosts"
on h4 ibv_devinfo -v >devinfo.h4
cmp devinfo.1 devinfo.h4 || fail "rank 1 is not on h4"
status 3 "$HEDDLE" live exec h0..h99 -- true
has err "no host 'h8'"
