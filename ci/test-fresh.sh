#!/bin/bash
# make test-fresh: the README's two commands on a machine that has nothing.
# A new minimal Debian 12 has git, make and an ordinary user with sudo. The user
# clones this commit and runs the steps of the variant.
#
#	test-fresh.sh [VARIANT]...
#
# Variants (all of them unless named):
#	plain	make demo, make test
#	odd	the same with LANG=de_DE.UTF-8, a space in the path, umask 077
#	deb	make deb; install, use and remove the packages (ci/deb_use.sh)
#
# The machine is a folder below TMPDIR (6 GB) in name spaces of its own, which
# end with it, however that comes about. From this machine it has the Debian
# mirror and how that is reached (apt's Acquire options, keys, proxies,
# certificates, npm's registry), and JOBS. build/fresh keeps the logs.
set -eu
cd "$(dirname "$0")/.."
suite=bookworm
logs=$PWD/build/fresh
user=weaver

if [ "$(id -u)" -ne 0 ]; then
	exec sudo --preserve-env=JOBS,TMPDIR,http_proxy,https_proxy,no_proxy \
		ci/test-fresh.sh "$@"
fi

# The variants: "folder of the clone|umask|LANG|packages besides git and make".
declare -A variants=(
	[plain]='heddle|022|C.UTF-8|'
	[odd]='my fabrics/heddle|077|de_DE.UTF-8|locales'
	[deb]='heddle|022|C.UTF-8|'
)
[ $# -gt 0 ] || set -- plain odd deb
for variant; do
	[ -n "${variants[$variant]:-}" ] || {
		echo "test-fresh: no variant '$variant' (plain, odd, deb)" >&2
		exit 2
	}
done

# ---- what the new machine takes over from this one

# The mirror of this machine, if it is one of this Debian, or else the usual.
sources() {
	apt-get indextargets --format \
		'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
		grep -E " $suite(-updates|-security)? main\$" | sort -u |
		grep . || echo "deb http://deb.debian.org/debian $suite main"
}

# How mirrors are reached, without what is fetched from them.
acquire() {
	apt-config dump Acquire | grep -v '^Acquire::IndexTargets'
}

npm_settings() {
	command -v npm >/dev/null || return 0
	local key value
	for key in registry proxy https-proxy noproxy; do
		value=$(npm config get "$key")
		case $value in
		null | undefined | '') ;;
		*) echo "$key=$value" ;;
		esac
	done
	# Where authorities of this machine's own are, among all others.
	echo "cafile=/etc/ssl/certs/ca-certificates.crt"
}

proxies() {
	env | grep -iE '^(http|https|no)_proxy=' || true
}

# ---- the machine

# make_machine ROOT PACKAGES: everything that a user would find.
make_machine() {
	local root=$1 packages=git,make,sudo,ca-certificates${2:+,$2}
	acquire >"$scratch/acquire"
	sources >"$scratch/sources"
	mmdebstrap --quiet --variant=minbase --include="$packages" \
		--aptopt="$scratch/acquire" \
		--customize-hook='mkdir -p "$1/usr/local/share/ca-certificates"' \
		--customize-hook='copy-in /etc/apt/trusted.gpg.d /etc/apt' \
		"$suite" "$root" "$scratch/sources"
	cp -r /usr/local/share/ca-certificates/. \
		"$root/usr/local/share/ca-certificates"
	cp -L /etc/hosts /etc/resolv.conf "$root/etc"
	chroot "$root" env -u TMPDIR update-ca-certificates >/dev/null 2>&1
	chroot "$root" useradd --create-home --shell /bin/bash $user
	echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$user"
	echo 'Defaults env_keep += "http_proxy https_proxy no_proxy"' \
		>>"$root/etc/sudoers.d/$user"
	npm_settings >"$root/home/$user/.npmrc"
	git bundle create --quiet "$root/srv/heddle.bundle" HEAD
	if [ -e "$root/etc/locale.gen" ]; then
		echo 'de_DE.UTF-8 UTF-8' >"$root/etc/locale.gen"
		chroot "$root" locale-gen >/dev/null
	fi
	chmod 755 "$root"
	chmod 644 "$root/srv/heddle.bundle" "$root/home/$user/.npmrc"
}

# Runs in new name spaces: ROOT becomes /, this machine is not seen any more.
# enter ROOT COMMAND...
enter() {
	local root=$1
	shift
	mount --make-rprivate /
	mount --bind "$root" "$root"
	cd "$root"
	mkdir -p .outside
	pivot_root . .outside
	cd /
	mount -t proc proc /proc
	mount --rbind /.outside/sys /sys
	mount --rbind /.outside/dev /dev
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	umount -l /.outside
	rmdir /.outside
	exec "$@"
}

# as_user COMMAND: as after a login, with nothing of this machine around.
# Takes $root and the variant's $mask and $lang.
as_user() {
	unshare --mount --pid --uts --ipc --fork --kill-child \
		bash -eu -c "$(declare -f enter)"'; enter "$@"' enter "$root" \
		env -i $(proxies) ${JOBS:+JOBS="$JOBS"} LANG="$lang" \
		TERM=dumb USER=$user LOGNAME=$user HOME=/home/$user \
		PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games \
		/usr/sbin/runuser -u $user -- \
		bash -c "umask $mask; cd; $1" </dev/null &
	machine=$!
	local status=0
	wait "$machine" || status=$?
	machine=
	return "$status"
}

# However this ends: unshare heeds no other signal, and takes the machine's
# processes and mounts with it.
clean_up() {
	[ -z "$machine" ] || kill -KILL "$machine"
	wait
	rm -rf --one-file-system "$scratch"
}

# said NAME STATUS SINCE: one line, and the last ones of what the command said.
said() {
	printf '%-6s %-10s status %d after %d s\n' "$variant" "$1" "$2" \
		$((SECONDS - $3))
	tail -n 4 "$logs/$variant-$1.log" | sed 's/^/     | /'
}

# try NAME COMMAND: runs it as the user.
try() {
	local since=$SECONDS status=0
	as_user "$2" >"$logs/$variant-$1.log" 2>&1 || status=$?
	said "$1" "$status" "$since"
	return "$status"
}

# The steps of one variant, each if those before it went well.
variant_runs() {
	local variant=$1 folder mask lang packages root=$scratch/$1
	IFS='|' read -r folder mask lang packages <<<"${variants[$variant]}"
	if ! make_machine "$root" "$packages" \
		>"$logs/$variant-machine.log" 2>&1; then
		tail -n 20 "$logs/$variant-machine.log"
		echo "test-fresh: no machine could be made" >&2
		return 1
	fi
	try clone "git clone --quiet -c advice.detachedHead=false \
		/srv/heddle.bundle '$folder'" || return
	if [ "$variant" = deb ]; then
		try deb "cd '$folder' && make deb" &&
			try use "cd '$folder' && sudo ci/deb_use.sh build/deb"
		return
	fi
	try demo "cd '$folder' && make demo" &&
		try test "cd '$folder' && make test"
}

mkdir -p "$logs"
scratch=$(mktemp -d --tmpdir heddle-fresh.XXXXXX)
chmod 755 "$scratch"
machine=
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
if [ -n "$(git status --porcelain)" ]; then
	echo "test-fresh: what is not committed is not tested" >&2
fi
failed=0
for variant; do
	variant_runs "$variant" || failed=$((failed + 1))
	rm -rf --one-file-system "${scratch:?}/$variant"
done
echo "$(($# - failed)) of $# variants passed"
[ "$failed" -eq 0 ]
