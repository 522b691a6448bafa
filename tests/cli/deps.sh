# ci/deps.sh is silent when nothing is missing, and clear when it can do
# nothing: the tools it calls are stood in for by scripts.
. "$SRC/tests/cli/lib.sh"
rm -rf tools
mkdir tools
export CALLS="$PWD/calls"
rm -f calls

tool() {
	printf '#!/bin/sh\n%s\n' "$2" >"tools/$1"
	chmod +x "tools/$1"
}
run() {
	status "$1" env PATH="$PWD/tools:$PATH" sh "$SRC/ci/deps.sh" build
}

tool dpkg-query 'echo installed'
tool apt-get 'echo "apt-get $*" >>$CALLS; exit 0'
tool sudo 'echo "sudo $*" >>$CALLS; exec "$@"'
run 0
empty out
empty err
[ ! -e calls ] || fail "apt was called for nothing"

# What another package provides is there: npm of a Node.js from elsewhere.
tool dpkg-query 'case $* in
*" npm") exit 1 ;;
*Provides*) echo "not-installed npm"; echo "installed nodejs-doc, npm (= 9)" ;;
*) echo installed ;;
esac'
run 0
empty out
[ ! -e calls ] || fail "apt was called for what is provided"

# cmake is missing: root installs it, others ask sudo.
tool dpkg-query 'case $* in *cmake*) exit 1 ;; esac; echo installed'
tool id 'echo 0'
run 0
has calls "apt-get -qq install -y --no-install-recommends cmake"
lacks calls sudo
rm calls
tool id 'echo 1000'
run 0
has calls "sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install"
rm calls

# Neither root nor sudo: one line that names the package.
mkdir bare
for t in sh awk sed grep env dirname mktemp rm cat tail tr; do
	ln -s "$(command -v $t)" bare/$t 2>/dev/null || :
done
cp tools/dpkg-query tools/id tools/apt-get bare
status 1 env PATH="$PWD/bare" sh "$SRC/ci/deps.sh" build
one_line err
has err cmake
rm -rf bare

# A failing apt fails the script.
tool id 'echo 0'
tool apt-get 'echo "no network" >&2; exit 100'
run 1
has err "no network"
has err "could not install cmake"
