# What README and docs show is what the program prints (blocks.py), each page in a folder of its own.
. "$SRC/tests/cli/lib.sh"
rm -rf pages bin
mkdir pages bin
ln -s "$HEDDLE" bin/heddle
PATH=$PWD/bin:$PATH
export PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for page in "$SRC/README.md" "$SRC"/docs/*.md; do
	grep -q '^\$ ' "$page" || continue
	mkdir "pages/${page##*/}"
	cd "pages/${page##*/}"
	ln -s "$SRC/examples" "$SRC/tests" .
	cp "$SRC"/examples/site/* .
	printf 'fabric:\n  topology: {kind: mesh}\n  link:    {rates: 10Gb/s}\n' >bad.yaml
	python3 "$SRC/tests/cli/blocks.py" "$page" || fail "${page##*/} shows something else"
	cd ../..
done >counts
awk '{ n += $1 } END { print n " commands"; exit n < 40 }' counts || fail "too few commands"

# The worked case shows the goals file that it uses.
for line in 'mds: latency 2us, packets 256, senders 2' 'train: at least 60 %' \
	'storage: at least 30 %'; do
	has "$SRC/docs/worked-case.md" "$line"
	has "$SRC/examples/site/goals.yaml" "$line"
done
