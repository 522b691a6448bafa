# SPDX-License-Identifier: BSD-2-Clause
"""Memory of runs under --memory.

Usage: memory_small.py HEDDLE EXAMPLES
The kernel gives the process what it needs to begin, the limit and some slack,
and no more (RLIMIT_DATA). A run that obeys --memory never meets that: it comes
to its end, or is ended by its own limit.
"""
import os
import resource
import subprocess
import sys

heddle, examples = sys.argv[1:]
LIMITS = [0.1, 0.3, 1, 2, 3, 5, 8, 16]  # MB
RUNS = [["sim", "quickstart.yaml", "--checksum", "--set", "run.measure=50us"],
        ["sim", "fat-tree-incast.yaml", "--json", "--all"], ["sim", "jobs.yaml", "--html", "run.html"],
        ["sim", "link-failure.yaml"], ["route", "mesh --columns=8 --rows=8", "-e", "xy", "--check"],
        ["route", "fat-tree --radix=16 --levels=2", "--dump", "lfts"]]
SLACK = 700_000  # bytes: a look is due after a share of the limit, and malloc takes more than it is asked for


def run(words, most=None):
    """Status and messages, with at most `most` bytes of private memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    p = subprocess.run([heddle, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       preexec_fn=limit if most else None, check=False)
    return p.returncode, p.stderr.decode()


def fail(why):
    raise SystemExit(f"FAILED: {why}")


def least(words):
    """The least memory with which this ends well."""
    low, high = 0, 1 << 30
    while high - low > 20_000:
        middle = (low + high) // 2
        low, high = (low, middle) if run(words, middle)[0] == 0 else (middle, high)
    return high


base = least(["--version"])
ended = refused = 0
for words in RUNS:
    words = [os.path.join(examples, w) if w.endswith(".yaml") else w for w in words]
    free, _ = run(words)
    for size in LIMITS:
        status, text = run([*words, "--memory", f"{size:g}MB"], base + int(size * 1e6) + SLACK)
        if status == free:
            ended += 1
        elif status == 4 and text.count("\n") == 1 and "--memory" in text:
            refused += 1
        else:
            fail(f"{' '.join(words)} --memory {size:g}MB: status {status}: {text}")
if not ended or not refused:
    fail(f"{ended} came to their end, {refused} were refused")
print(f"memory_small: {ended} runs came to their end, {refused} were refused; {base / 1e6:.1f} MB at first")
