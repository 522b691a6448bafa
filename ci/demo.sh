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

show --version
show sim examples/quickstart.yaml
show topo show "fat-tree --radix 36 --levels 3"
show qos plan mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB
show model credit --upstream 12 --downstream 2..6
show model et --lambda 4 --compare --simulate 100000
show decode --summary tests/fixtures/rxe.pcap

# What people look at: a page of the first run.
page=build/quickstart.html
printf '\n$ heddle sim examples/quickstart.yaml --html %s\n' "$page"
if "$heddle" sim examples/quickstart.yaml --quiet --format null --html "$page"
then
	echo "a page with plots and the fabric as a picture:" \
		"open file://$PWD/$page"
else
	echo "(the line above says why there is no page; all else is there)"
fi
