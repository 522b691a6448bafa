#!/bin/sh
# Writes man pages and completion into a build folder: manual.sh HEDDLE BUILD
set -eu
heddle=$1
cd "$2"
rm -rf man completion
mkdir -p man completion
"$heddle" --man >man/heddle.1
"$heddle" --commands | while read -r words; do
	# shellcheck disable=SC2086 # words of a name
	"$heddle" --man $words >"man/heddle-$(echo "$words" | tr ' ' -).1"
done
"$heddle" --man-scenario >man/heddle-scenario.5
"$heddle" --completion >completion/heddle
