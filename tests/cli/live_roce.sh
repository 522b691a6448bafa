# Programs on adapters that speak RoCEv2, one at each end of a cable: what they
# find there, and whatever verbs can send, compared byte by byte. The other end
# is the Linux kernel's rxe in ci/test-rxe.sh.
. "$SRC/tests/cli/lib.sh"
. "$SRC/tests/cli/roce_lib.sh"

# ---- what it is like; no fabric runs
end 1 ibv_devinfo -v | tr -s '\t ' ' ' >info
has info 'link_layer: Ethernet'
has info 'GID[ 0]: fe80::48:aff:fe00:1, RoCE v2'
has info 'GID[ 1]: ::ffff:10.0.0.1, RoCE v2'
has info 'active_mtu: 1024'
mtu=4096
end 1 ibv_devinfo | tr -s '\t ' ' ' >info
has info 'active_mtu: 4096'
mtu=1024

# ---- programs of others
for kind in rc uc ud srq; do
	between ibv_${kind}_pingpong -g 1 -c -n 30
	has client '30 iters'
done
between ibv_rc_pingpong -g 0 -c -e -n 30
between ib_write_bw -F -x 1 -n 20
between ib_atomic_lat -F -x 0 -n 30

# ---- ours, which compares; also where frames are lost
exchange all 1
exchange all 0
mtu=4096
exchange all 1
lose=80
exchange reliable 1
lose=0 mtu=1024

# ---- no peer: an error completion, soon
status 1 end 1 "$EXCHANGE" alone 1 0
has out "'transport retry counter exceeded'"
# The folder of an end does not exist.
status 1 end_at "$PWD/no/such/folder" ibv_devinfo
has err 'Failed to open device'
