# SPDX-License-Identifier: BSD-2-Clause
"""Runs that a signal stops.

Usage: stopped.py HEDDLE SHARE SCENARIO...
Of 20 instants and 2 signals per scenario, every SHARE-th one is tried.
"""
import collections
import json
import resource
import signal
import subprocess
import sys
import threading

heddle, share, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
INSTANTS = 20
sleep = threading.Event().wait
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def fail(why):
    raise SystemExit(f"FAILED: {why}")


def start(file, *words):
    """Results go to the file 'out': a pipe that is not read would stop it."""
    # A shell's background job ignores SIGINT.
    return subprocess.Popen([heddle, "sim", file, "--json", "--all", *words], stdout=open("out", "w"),
                            stderr=open("err", "w"), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def computed(pid):
    """Seconds that the main thread has computed; whatever else the machine does."""
    try:
        return int(open(f"/proc/{pid}/schedstat").read().split()[0]) / 1e9
    except OSError:
        return 1e9


def stopped(file, number, after, words, free):
    """Whether it was stopped with results."""
    p = start(file, *words)
    while computed(p.pid) < after and p.poll() is None:
        sleep(0.001)
    p.send_signal(number)
    p.wait(600)
    out, err = open("out").read(), open("err").read()
    what = f"{file} {' '.join(words)}: signal {number} after {after:.3f} s: status {p.returncode}: {err}"
    if "Sanitizer" in err:
        fail(what)
    if p.returncode == free:
        json.loads(out)
        return False
    if p.returncode != -number:
        fail(what)
    # Before its work begins, or when all is written, it ends at once.
    if not out:
        return False
    notes = json.loads(out)["notes"]
    if ("interrupted at" in err) != any("interrupted at" in n for n in notes):
        fail(f"{what}: {notes}")
    return "interrupted at" in err


def main():
    turn = kept = 0
    tried = collections.Counter()
    for file in files:
        if "\nscenario:" in open(file).read():
            continue  # a study, not a scenario
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = start(file)
        p.wait()
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
        for k in range(INSTANTS * len(SIGNALS)):
            turn += 1
            if turn % share:
                continue
            after = took * (k // len(SIGNALS) + 0.5) / INSTANTS
            words = [[], ["--threads", "2"], ["--html", "run.html"]][turn % 3]
            kept += stopped(file, SIGNALS[k % 2], after, words, p.returncode)
            tried[SIGNALS[k % 2], k // len(SIGNALS)] += 1
    runs = tried.total()
    print(f"stopped: {runs} runs, {kept} of them with results until then")
    if kept * 20 < runs:
        fail("hardly any run was stopped while it computed")
    if len(tried) < min(runs, 2 * INSTANTS) / 2:
        fail(f"signals and instants that were tried: {sorted(tried)}")


main()
