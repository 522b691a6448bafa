# What README and docs show is what the program prints: every "$ COMMAND" of
# them, but in fences that are marked "text", is run, and the lines below it must come in that order, digit by digit; "..."
# stands for lines left out.
. "$SRC/tests/cli/lib.sh"
rm -rf place
mkdir place
cd place
ln -s "$SRC/examples" "$SRC/tests" .
printf 'fabric:\n  topology: {kind: mesh}\n  link:    {rates: 10Gb/s}\n' >bad.yaml

cat >check.py <<'END'
import os, re, subprocess, sys

def plain(line):
    return re.sub(r"\s+", " ", line.strip())

def run(command):
    path = os.path.dirname(os.environ["HEDDLE"]) + ":" + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "PATH": path})
    return [plain(line) for line in done.stdout.splitlines()]

commands, fence = 0, None
for line in (line for name in sys.argv[1:] for line in open(name)):
    line = line.rstrip("\n")
    if line.startswith("```"):
        fence = line if fence is None else None
        printed = None
    elif fence != "```":
        continue
    elif line.startswith("$ "):
        printed, at = run(line[2:]), 0
        commands += 1
    elif printed is not None and line.strip() not in ("", "..."):
        if plain(line) not in printed[at:]:
            sys.exit("not printed, or not here: " + line)
        at = printed.index(plain(line), at) + 1
print(commands, "commands")
sys.exit(commands < 10)
END
python3 check.py "$SRC/README.md" "$SRC/docs/congestion.md" \
	"$SRC/docs/multicast.md" "$SRC/docs/qos.md" "$SRC/docs/routing.md" \
	"$SRC/docs/scenarios.md" "$SRC/docs/topologies.md" \
	"$SRC/docs/verbs.md" "$SRC/docs/wire.md" ||
	fail "something else than is written down"
