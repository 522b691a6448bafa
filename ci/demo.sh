#!/bin/sh
# Shows what Heddle does, each command before its output. Usage: demo.sh BINARY
set -eu
cd "$(dirname "$0")/.."
heddle=$1

show() {
	printf '\n$ heddle'
	for word; do
		case $word in
		*' '*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$heddle" "$@"
}

build=$(dirname "$heddle")
show --version
show sim examples/quickstart.yaml
show topo show "fat-tree --radix 36 --levels 3"
show qos plan mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB
show model credit --upstream 12 --downstream 2..6
show model et --lambda 4 --compare --simulate 100000
show decode --summary tests/fixtures/rxe.pcap

# The page of the first run.
page=build/quickstart.html
printf '\n$ heddle sim examples/quickstart.yaml --html %s\n' "$page"
if "$heddle" sim examples/quickstart.yaml --quiet --format null --html "$page"; then
	page="file://$PWD/$page"
else
	page="not written, for the reason above; everything else works"
fi

echo
[ -e "$build/libheddle-mpi.so" ] ||
	echo "MPI:   'apt install libopenmpi-dev && make' adds mpirun support and recording of MPI programs"
echo "Shown: a run with goals, a topology, a QoS plan, two queueing models, a capture"
echo "Page:  $page"
echo "Next:  export PATH=\"$PWD/$build:\$PATH\"   ('make install' installs heddle instead)"
