#!/bin/bash
# Installs the packages of 'make deb', uses each and removes them: deb_use.sh FOLDER
# For machines that are thrown away (ci/test-fresh.sh): it needs root, and any packages of these
# names are gone afterwards.
set -eu -o pipefail
cd "$(dirname "$0")/.."
source=$PWD
debs=$(cd "$1" && pwd)
names=$(for file in "$debs"/*.deb; do dpkg-deb -f "$file" Package; done)
scratch=$(mktemp -d --tmpdir heddle-deb-use.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
export DEBIAN_FRONTEND=noninteractive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
apt-get -qq update
apt-get -qq install -y --no-install-recommends gcc libc6-dev infiniband-diags libopenmpi-dev man-db \
	ibverbs-utils openmpi-bin pkgconf python3 "$debs"/*.deb >"$scratch/apt.log" 2>&1 || {
	tail -n 20 "$scratch/apt.log" >&2
	exit 1
}
fail() {
	echo "deb_use: $*" >&2
	exit 1
}
cd "$scratch"
doc=/usr/share/doc/heddle-doc

# heddle: the program, from PATH only, and its manual.
[ "$(command -v heddle)" = /usr/bin/heddle ] || fail "heddle is $(command -v heddle)"
heddle --version
sum=$(heddle sim $doc/examples/quickstart.yaml --checksum)
heddle paper run 002/fig9 --db "$scratch/papers.db" >paper
[ -e /usr/share/man/man1/heddle-sim.1.gz ] || fail "no man page"
mpirun --oversubscribe -n 2 heddle sim $doc/examples/quickstart.yaml --checksum >ranks
grep -qx "$sum" ranks || fail "two processes: $(cat ranks)"

# heddle-doc and heddle-live: the commands of the tutorials with their output.
[ -s $doc/html/index.html ] || fail "no web pages"
ln -s $doc/examples "$source/tests" .
for page in tutorial tutorial-libraries; do
	python3 "$source/tests/cli/blocks.py" $doc/docs/$page.md
done

# libheddle1, libheddle-dev: a program of the examples, compiled and run.
# shellcheck disable=SC2046 # several words
cc -o loads $doc/examples/lib/loads.c $(pkg-config --cflags --libs heddle)
ldd loads | grep -q 'libheddle.so.1 => /' || fail "another library: $(ldd loads)"
./loads $doc/examples/tutorial.yaml 10% >loads.out 2>&1 || fail "loads: $(cat loads.out)"

# python3-heddle
python3 -c 'import heddle, sys; print("%016x" % heddle.run(sys.argv[1]).checksum)' \
	$doc/examples/quickstart.yaml >python
grep -qx "$sum" python || fail "Python: $(cat python), the program: $sum"

# Nothing remains.
# shellcheck disable=SC2086 # several words
apt-get -qq purge -y $names >"$scratch/apt.log" 2>&1 || fail "purge: $(tail -n 5 "$scratch/apt.log")"
rest=$(find /usr /etc /var/lib/dpkg/info -name '*heddle*' -not -path "$source/*" 2>/dev/null)
[ -z "$rest" ] || fail "left after removal: $rest"
# shellcheck disable=SC2086 # several words
echo "$(echo $names | wc -w) packages installed, used and removed"
