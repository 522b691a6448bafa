#!/bin/sh
# Shows what Heddle does, each command before its output. Usage: demo.sh BINARY
set -eu
cd "$(dirname "$0")/.."
heddle=$1

show() {
	printf '\n$ heddle'
	printf ' %s' "$@"
	printf '\n'
	"$heddle" "$@"
}

show --version
show --help
show sim examples/quickstart.yaml
show model credit --upstream 12 --downstream 2..6
show model et --lambda 4 --compare --simulate 100000
show decode --summary tests/fixtures/rxe.pcap
