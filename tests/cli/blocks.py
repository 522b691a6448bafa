"""Runs the commands that documents show and compares what they print: blocks.py FILE...

A block starts with ``` or ```console. Each line "$ COMMAND" of it is run by sh; the lines below it
must be printed in that order, except for the amount of white space. "..." replaces lines that are
left out. Blocks with another word, as ```text or ```sh, are not run.
"""

import re, subprocess, sys

def plain(line):
    return re.sub(r"\s+", " ", line.strip())

def run(command):
    try:
        done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        sys.exit("takes more than 100 s; show it in a block ```sh, without '$': " + command)
    return [plain(line) for line in done.stdout.splitlines()]

commands, fence = 0, None
for line in (line for name in sys.argv[1:] for line in open(name)):
    line = line.rstrip("\n")
    if line.startswith("```"):
        fence = line if fence is None else None
        printed = None
    elif fence not in ("```", "```console"):
        continue
    elif line.startswith("$ "):
        printed, at = run(line[2:]), 0
        commands += 1
    elif printed is not None and line.strip() not in ("", "..."):
        if plain(line) not in printed[at:]:
            sys.exit("not printed, or not here: " + line)
        at = printed.index(plain(line), at) + 1
print(commands, "commands")
