# 'make install' puts everything under DESTDIR and PREFIX, and only there.
. "$SRC/tests/cli/lib.sh"
build=$(dirname "$HEDDLE")
rm -rf stage
DESTDIR=$PWD/stage cmake --install "$build" --prefix /opt/loom >/dev/null

top=stage/opt/loom
[ "$(ls stage)" = opt ] && [ "$(ls stage/opt)" = loom ] ||
	fail "files outside of the prefix"
status 0 $top/bin/heddle --version
for file in share/man/man1/heddle.1 \
	share/bash-completion/completions/heddle \
	share/man/man5/heddle-scenario.5 \
	share/heddle/wireshark/heddle-ecn.lua \
	share/heddle/papers/004.yaml share/heddle/papers/002/mesh.yaml \
	share/doc/heddle/examples/quickstart.yaml \
	share/doc/heddle/docs/architecture.md \
	share/doc/heddle/README.md share/doc/heddle/LICENSE; do
	[ -s $top/$file ] || fail "no $file"
done
# The printed command can be run: the papers' files are at its path.
status 0 $top/bin/heddle paper list 002/fig2 --json
jq -r '.tables.experiments.rows[0].command' out >command
grep -q "^heddle sim /.*/share/heddle/papers/002/xy.yaml$" command ||
	fail "another command: $(cat command)"
status 0 $top/bin/heddle sim "$(cut -d' ' -f3- command)"
for command in $("$HEDDLE" --commands | tr " " -); do
	[ -s "$top/share/man/man1/heddle-$command.1" ] ||
		fail "no page of $command"
done
for page in "$SRC"/man/*.[357]; do
	[ -e "$page" ] || continue
	[ -s "$top/share/man/man${page##*.}/${page##*/}" ] ||
		fail "no page ${page##*/}"
done
# What 'make install' builds before it is all that it installs.
ninja -C "$build" -t query product | sed 's|.*[ /]||' >built
for file in $top/bin/heddle $(find $top -name '*.so'); do
	grep -qxF "${file##*/}" built ||
		fail "'make install' does not build ${file##*/}"
done
grep -q 'TARGET=product' "$SRC/Makefile" || fail "the Makefile builds less"
grep -q 'cmake --install .* --prefix .*PREFIX' "$SRC/Makefile" ||
	fail "the Makefile installs in another way"
# 'make uninstall' removes all of it, and no file of others.
mkdir -p $top/share/doc/other
echo other >$top/share/doc/other/README
refuses() { status 1 env DESTDIR="$PWD/stage" sh "$SRC/ci/uninstall.sh" "$@"; one_line err; }
refuses "$build" /opt/other
has err 'another prefix'
refuses . /opt/loom
has err "'make install' did not run"
status 0 env DESTDIR="$PWD/stage" sh "$SRC/ci/uninstall.sh" "$build" /opt/loom
[ "$(find stage -not -type d)" = $top/share/doc/other/README ] ||
	fail "files are left, or one of others is gone: $(find stage -not -type d)"
