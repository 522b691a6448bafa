# The worked case in docs/ is what happens: its commands are run in their order,
# and what it shows of their output they print, to the last digit.
. "$SRC/tests/cli/lib.sh"
rm -rf place
mkdir place
cp "$SRC"/examples/site/* place/
cd place
mkdir bin
ln -s "$HEDDLE" bin/heddle
PATH=$PWD/bin:$PATH
export PATH
cat >check.py <<'END'
import subprocess, sys

commands = lines = 0
fence = printed = None
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if line.startswith("```"):
        fence = line if fence is None else None
        printed = None
    elif fence != "```":
        continue
    elif line.startswith("$ "):
        done = subprocess.run(line[2:], shell=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode > 1:
            sys.exit(f"{line}: {done.stdout}")
        printed, at = done.stdout.splitlines(), 0
        commands += 1
    elif line != "...":
        if line not in printed[at:]:
            sys.exit("not printed, or not here: " + line)
        at = printed.index(line, at) + 1
        lines += 1
print(commands, "commands,", lines, "lines")
sys.exit(commands < 7 or lines < 20)
END
python3 check.py "$SRC/docs/worked-case.md" || fail "another outcome"
# The goals file is the one that is shown.
for line in 'mds: latency 2us, packets 256, senders 2' 'train: at least 60 %' \
	'storage: at least 30 %'; do
	has "$SRC/docs/worked-case.md" "$line"
	has goals.yaml "$line"
done
