#!/bin/sh
# Runs a command on a real libibverbs device: boots Debian's kernel in QEMU by
# software emulation, with the Soft-RoCE driver on a dummy interface as rxe0,
# and gives the command's output and exit status. Nothing leaves the emulator:
# it has no network device.
#
#	ci/rxe.sh [--with FILE]... [--seconds N] [--cable FOLDER] SCRIPT
#
# With --cable rxe0 is on eth0, 10.0.0.1, whose frames cross the local datagram
# sockets FOLDER/guest, the guest's, and FOLDER/host, of the program at
# the other end; and TCP is forwarded, to agree on what to send: who connects
# to the host's port 127.0.0.1:$PORT_IN comes to the guest's port 7001, and who
# does in the guest, to 10.0.2.100:7002, to the host's 127.0.0.1:$PORT_OUT.
# No interface of the host is used but its loopback.
#
# SCRIPT is a file for the guest's sh; FILEs (programs with the libraries they
# need, or data) are found there at the same paths. The kernel is fetched once
# with apt-get download into build/rxe. In the guest: rxe0, GID index 1, MTU 4096.
# Exit status 4: something of the host is missing, or the guest did not answer.
set -eu
cd "$(dirname "$0")/.."
work=$PWD/build/rxe root=$PWD/build/rxe/root seconds=600 with= cable=
while [ $# -gt 1 ]; do
	case $1 in
	--with) with="$with $2" && shift 2 ;;
	--seconds) seconds=$2 && shift 2 ;;
	--cable) cable=$2 && shift 2 ;;
	*) echo "rxe: unknown option $1" >&2 && exit 2 ;;
	esac
done
script=${1:?a script for the guest}

lacking() {
	echo "rxe: $1" >&2
	exit 4
}

for tool in qemu-system-x86_64 busybox dpkg-deb rdma ip; do
	command -v $tool >/dev/null || lacking "$tool is not installed"
done
! ldd "$(command -v busybox)" >/dev/null 2>&1 ||
	lacking "busybox is not the static one (busybox-static)"

# ---- the kernel and its modules, fetched once
if ! ls "$work"/kernel/boot/vmlinuz-* >/dev/null 2>&1; then
	mkdir -p "$work/deb"
	image=$(apt-cache depends linux-image-amd64 |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$image" ] || lacking "apt knows no linux-image-amd64"
	(cd "$work/deb" && apt-get -q download "$image" >/dev/null) ||
		lacking "cannot download $image"
	dpkg-deb -x "$work/deb/$image"_*.deb "$work/kernel"
	rm -rf "$work/deb"
fi
kernel=$(ls "$work"/kernel/boot/vmlinuz-*)
modules=$(ls -d "$work"/kernel/lib/modules/*)

# ---- the initial file system
rm -rf "$root"
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/tmp" \
	"$root/etc" "$root/modules" "$root/root"

# A program with its libraries, or another file, at its place.
put() {
	[ -e "$1" ] || lacking "no file $1"
	mkdir -p "$root$(dirname "$1")"
	cp -L "$1" "$root$1"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
		[ ! -e "$root$lib" ] || continue
		mkdir -p "$root$(dirname "$lib")"
		cp -L "$lib" "$root$lib"
	done
}

put "$(command -v busybox)"
put "$(command -v rdma)"
put "$(command -v ip)"
for provider in /usr/lib/*/libibverbs/librxe-rdmav*.so; do
	put "$provider"
done
put /etc/libibverbs.d/rxe.driver
for file in $with; do
	case $file in
	/*) put "$file" ;;
	*) put "$PWD/$file" ;;
	esac
done
cp "$script" "$root/job"

# In the order in which they need each other.
n=10
for module in udp_tunnel ip6_udp_tunnel ib_core ib_uverbs rdma_rxe dummy \
	crc32_generic crc32-pclmul virtio virtio_ring virtio_pci_modern_dev \
	virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net; do
	found=$(find "$modules" -name "$module.ko" | head -n 1)
	[ -z "$found" ] || cp "$found" "$root/modules/$n-$module.ko"
	n=$((n + 1))
done

cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
export PATH=/bin:/usr/bin:/usr/sbin:/sbin HOME=/root
ulimit -l unlimited
for module in /modules/*.ko; do
	insmod "$module" || echo "rxe: $module: not loaded"
done
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
	device=eth0
	ip addr add 10.0.2.15/24 dev eth1
	ip link set eth1 up
else
	device=dummy0
	ip link add dummy0 type dummy
fi
ip link set $device mtu 4500
ip addr add 10.0.0.1/24 dev $device
ip link set $device up
rdma link add rxe0 type rxe netdev $device
mkdir -p /dev/infiniband
for name in /sys/class/infiniband_verbs/uverbs*; do
	[ -e /dev/infiniband/${name##*/} ] || mknod \
		/dev/infiniband/${name##*/} c $(tr : ' ' <$name/dev)
done
echo
echo "rxe: begin"
sh /job
echo "rxe: status $?"
poweroff -f
INIT
chmod +x "$root/init"
mkdir -p "$root/bin" && cp -L "$(command -v busybox)" "$root/bin/busybox"
(cd "$root" && find . | busybox cpio -o -H newc | gzip -1) >"$work/initrd.gz"

# ---- the machine
# On a busy host the emulated timer seems not to tick: that is not checked.
status=0
set --
if [ -n "$cable" ]; then
	set -- -netdev "dgram,id=cable,local.type=unix,local.path=$cable/guest,\
remote.type=unix,remote.path=$cable/host" \
		-device virtio-net-pci,netdev=cable,romfile=,csum=off,gso=off \
		-netdev "user,id=talk,restrict=on,\
hostfwd=tcp:127.0.0.1:${PORT_IN:?}-10.0.2.15:7001,\
guestfwd=tcp:10.0.2.100:7002-cmd:sh -c 'exec busybox nc 127.0.0.1 ${PORT_OUT:?} 2>/dev/null'" \
		-device virtio-net-pci,netdev=talk,romfile=
fi
timeout "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 \
	-m 1024 -nographic -no-reboot -nodefaults -serial stdio -monitor none \
	-kernel "$kernel" -initrd "$work/initrd.gz" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check" \
	"$@" </dev/null >"$work/console" 2>&1 || status=$?
tr -d '\r' <"$work/console" | sed -n '/^rxe: begin$/,/^rxe: status/p' |
	sed '1d;$d'
said=$(tr -d '\r' <"$work/console" | sed -n 's/^rxe: status \([0-9]*\)$/\1/p')
if [ -z "$said" ]; then
	tail -n 20 "$work/console" >&2
	lacking "the guest did not finish (status $status)"
fi
exit "$said"
