#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A failing allocation anywhere: status 4, one line, nothing left behind.

Usage: allocations.py HEDDLE SOURCE LIBRARY, in an empty folder. Each command
is run once undisturbed, to count its allocations; then again and again with
the N-th of them failing, alone or with all that follow. It must then end with
status 4 and one line, or, where the allocation was not needed, as it did
before. Files it began must be gone, but for a journal that SQLite rolls back
when the database is opened again, and those there before must be as they were.
Each command gets its share of ROUNDS, spread over its allocations; with
HD_LONG=1 every single one is tried.
"""
import contextlib
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys

ROUNDS = 300
LONG = os.environ.get("HD_LONG") == "1"
SCENARIO = """\
fabric:
  topology: {kind: star, hosts: 4}
  groups: [{name: g, members: all}]
qos:
  classes: [{name: a, sl: 0, weight: 4}, {name: b, sl: 1, priority: high}]
traffic:
  - {name: t, kind: poisson, load: 50%, payload: 256}
  - {name: s, kind: saturating, source: h0, destination: h1, class: b}
run: {warmup: 1us, measure: 20us}
"""
CONGESTION = """\
fabric: {topology: {kind: star, hosts: 4}}
traffic:
  - {name: t, kind: saturating, pattern: incast, destination: h0}
"""
# What a command writes is compared, so none of them may tell the time.
COMMANDS = [
    "sim s.yaml",
    "sim s.yaml --json --all --pcap x.pcap --trace x.trace -o x.json",
    "sim s.yaml -q --db x.db --html x.html",
    "sim s.yaml -q --db old.db",
    "sim --explain s.yaml",
    "topo gen mesh -o x.net",
    "topo show n.net",
    "topo convert n.net --to svg -o x.svg",
    "route n.net --dump opensm -o x.txt",
    "route star --engine dfsssp --check",
    "decode d.pcap",
    "decode d.pcap --json -o x.json",
    "qos plan a=40%,latency b=60%",
    "qos admit --random 5 n.net",
    "qos bound n.net f.txt",
    "qos diffserv --vls 4",
    "cc curve fimd --m 2",
    "cc compare c.yaml --algorithm cct --measure 20us --pcap x.pcap",
    "mcast compare --topology 'kind: star' --json --html x.html",
    "model credit --upstream 20 --downstream 20",
    "model credit --upstream 6 --downstream 6 --credit-delay 1 --phases 2",
    "bench send-lat --size 64 -n 5 --json",
    "bench write-bw --size 64 -n 5 --pcap x.pcap",
    "report --db old.db",
    "report --db old.db 1 --html x.html",
    "paper list",
]


class Case:
    def __init__(self, heddle, library, words):
        self.heddle, self.library, self.words = heddle, library, shlex.split(words)

    def run(self, **hooks):
        """Status, what was printed, messages and files after a run."""
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree("given", "run")
        # By its name alone: a blank in its path would end it there.
        folder, name = os.path.split(self.library)
        env = dict(os.environ, LD_PRELOAD=name, LD_LIBRARY_PATH=folder, **hooks)
        done = subprocess.run([self.heddle] + self.words, cwd="run", env=env,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False)
        return (done.returncode, done.stdout,
                done.stderr.decode(errors="replace"), files("run"))

    def count(self):
        self.undisturbed = self.run(HD_COUNT_FILE="../count")
        with open("count", encoding="ascii") as count:
            return int(count.read())

    def complaint(self, **hooks):
        """What is wrong with a run under `hooks`; None if nothing is."""
        try:
            status, out, err, left = self.run(**hooks)
        except subprocess.TimeoutExpired:
            return "does not end"
        if (status, out) == self.undisturbed[:2] and \
                left.keys() == self.undisturbed[3].keys():
            return None
        if status != 4:
            return f"ends with {status}: {err[-300:]}"
        if len(err.splitlines()) != 1 or not err.startswith("heddle"):
            return f"says {err!r}"
        return self.leftovers(self.recover(left))

    def recover(self, left):
        """Whoever opens a database first rolls back what was cut off."""
        for name in [n for n in left if n.endswith(".db-journal")]:
            with contextlib.closing(sqlite3.connect(
                    "run/" + name.removesuffix("-journal"))) as database:
                database.execute("BEGIN IMMEDIATE")
                database.rollback()
            left = files("run")
        return left

    def leftovers(self, left):
        """A target may be whole; a new database may hold no results."""
        given, whole = files("given"), self.undisturbed[3]
        for name, content in left.items():
            if name in given and not name.endswith(".db"):
                if content != given[name]:
                    return f"changes {name}"
            elif name not in whole:
                return f"leaves {name}"
            elif not name.endswith((".db", ".html")) and \
                    content != whole[name]:
                return f"leaves part of {name}"
        missing = given.keys() - left.keys()
        return f"removes {missing}" if missing else None


def files(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def prepare(heddle, source):
    """What commands find: a fabric, a scenario, a capture, a database."""
    for folder in ("given", "run"):
        shutil.rmtree(folder, ignore_errors=True)
    os.mkdir("given")
    given = {"s.yaml": SCENARIO, "c.yaml": CONGESTION,
             "f.txt": "h0 h1 DB 64Mb/s\n"}
    for name, text in given.items():
        with open(os.path.join("given", name), "w", encoding="ascii") as file:
            file.write(text)
    shutil.copy(os.path.join(source, "tests/fixtures/rxe.pcap"),
                "given/d.pcap")
    for words in ("topo gen mesh -o n.net", "sim s.yaml -q --db old.db"):
        subprocess.run([heddle] + words.split(), cwd="given", check=True,
                       stdout=subprocess.DEVNULL)


def places(n, share):
    """The first ones, where most is set up, then evenly to the last."""
    if LONG or n <= share:
        return range(1, n + 1)
    early = share // 3
    step = (n - early) / (share - early)
    return [*range(1, early + 1),
            *(early + round(step * (i + 1)) for i in range(share - early))]


def main():
    heddle, source, library = (os.path.abspath(a) for a in sys.argv[1:])
    prepare(heddle, source)
    tried = failures = 0
    for words in COMMANDS:
        case = Case(heddle, library, words)
        n = case.count()
        if case.undisturbed[0] > 1 or n < 10:
            sys.exit(f"heddle {words}: {case.undisturbed[2]}")
        for i, k in enumerate(places(n, ROUNDS // len(COMMANDS))):
            hook = "HD_FAIL_FROM" if i % 2 else "HD_FAIL_AT"
            wrong = case.complaint(**{hook: str(k)})
            tried += 1
            if wrong:
                failures += 1
                print(f"FAILED: {hook}={k} heddle {words}: {wrong}")
    print(f"{tried} allocations failed in {len(COMMANDS)} commands, "
          f"{failures} with a wrong end")
    sys.exit(failures > 0)


main()
