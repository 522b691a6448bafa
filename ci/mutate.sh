#!/bin/sh
# Whether the tests notice small mistakes: mutants of all modules, each against
# the tests of its module, then all others. tests/mutants.txt has those that
# cannot show, with the reason; ci/mutate.score the share that must be killed.
#
#	mutate.sh [OPTIONS OF mutate.py]
set -eu
cd "$(dirname "$0")/.."
exec python3 ci/mutate.py --floor "$(cat ci/mutate.score)" "$@" . build/mutate
