#!/bin/sh
# Makes the interactive pages of reports and of runs that are followed: fetches the packages that
# web/package-lock.json names, bundles web/ with them, and writes it as C.
# Usage: web.sh FOLDER (shared by all builds: build/web)
# Without npm, or without the packages, the C file holds no page, FOLDER/missing
# says why, and all else is built as usual.
set -eu
cd "$(dirname "$0")/.."
web=$PWD/web
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9

have=$(cat "$web"/package.json "$web"/package-lock.json "$web"/build.mjs \
	"$web"/src/* | cksum)
if [ -s page.c ] && [ ! -e missing ] && [ "$(cat made 2>/dev/null)" = "$have" ]
then
	exit 0
fi

# A source archive has the pages ready made (ci/dist.sh).
if [ "$(cat "$web/page.made" 2>/dev/null)" = "$have" ]; then
	rm -f missing
	cmp -s "$web/page.c" page.c || cp "$web/page.c" page.c
	printf '%s\n' "$have" >made
	exit 0
fi

# leave_out REASON: a program without the page, for now. What lacks a network
# is tried again after ten minutes.
leave_out() {
	printf '%s\n' "$1" >missing
	rm -f made
	cat >page.new <<-END
		/* SPDX-License-Identifier: BSD-2-Clause */
		#include "report/page_template.h"
		const unsigned char page_template[] = { 0 };
		const size_t page_template_len = 0;
		const unsigned char page_live_template[] = { 0 };
		const size_t page_live_template_len = 0;
		const char page_missing[] = "$1";
	END
	cmp -s page.new page.c || cp page.new page.c
	echo "web: the interactive page is left out: $1" >&2
	exit 0
}

command -v node >/dev/null || leave_out "there is no node"
command -v npm >/dev/null || leave_out "there is no npm"
wanted=$(cat "$web/package.json" "$web/package-lock.json" | cksum)
if [ "$(cat fetched 2>/dev/null)" != "$wanted" ]; then
	if [ -e missing ] && [ -n "$(find missing -mmin -10)" ] &&
		[ "$(cat tried 2>/dev/null)" = "$wanted" ]; then
		leave_out "$(cat missing)"
	fi
	rm -f fetched
	printf '%s\n' "$wanted" >tried
	cp "$web/package.json" "$web/package-lock.json" "$web/.npmrc" .
	timeout 300 npm ci --no-progress --fetch-retries=1 \
		--fetch-timeout=30000 </dev/null >npm.log 2>&1 ||
		leave_out "npm could not fetch its packages (build/web/npm.log)"
	printf '%s\n' "$wanted" >fetched
fi
node "$web/build.mjs" "$PWD" >bundle.log 2>&1 || {
	cat bundle.log >&2
	exit 1
}
rm -f missing
cmp -s page.new page.c || cp page.new page.c
printf '%s\n' "$have" >made
