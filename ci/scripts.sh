#!/bin/sh
# Every shell script at least parses.
set -eu
cd "$(dirname "$0")/.."
scripts=$(git ls-files '*.sh' .ci/run 'ci/hooks/*')
[ -n "$scripts" ] || { echo "scripts: nothing to check"; exit 1; }
for script in $scripts; do
	case $(head -n 1 "$script") in
	*bash) bash -n "$script" ;;
	*) sh -n "$script" ;;
	esac
done
echo "$(echo "$scripts" | wc -l) scripts"
