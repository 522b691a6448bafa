# What the README shows is what the program prints: every "$ heddle" of it is
# run, and the lines below it must come in that order. Numbers may differ in
# their digits, and "..." stands for lines left out.
. "$SRC/tests/cli/lib.sh"
rm -rf place
mkdir place
cd place
ln -s "$SRC/examples" "$SRC/tests" .
printf 'fabric:\n  topology: {kind: mesh, colums: 4}\n' >bad.yaml

cat >check.py <<'END'
import os, re, shlex, subprocess, sys

def plain(line):
    line = re.sub(r"-?\d[\d.e+-]*", "9", line.strip())
    return re.sub(r"\s+", " ", line)

def run(command):
    words = shlex.split(command, comments=True)
    words[0] = os.environ["HEDDLE"]
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return [plain(line) for line in done.stdout.splitlines()]

commands, fence = 0, None
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if line.startswith("```"):
        fence = line if fence is None else None
        printed = []
    elif fence != "```":
        continue
    elif line.startswith("$ heddle "):
        printed, at = run(line[2:]), 0
        commands += 1
    elif line.strip() not in ("", "..."):
        if plain(line) not in printed[at:]:
            sys.exit("not printed, or not here: " + line)
        at = printed.index(plain(line), at) + 1
print(commands, "commands")
sys.exit(commands < 5)
END
python3 check.py "$SRC/README.md" || fail "the README shows something else"
