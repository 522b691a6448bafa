#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A failing allocation anywhere: status 4, one line, nothing left behind.

Usage: allocations.py HEDDLE SOURCE LIBRARY, in an empty folder. Each command
is run once undisturbed, to count its allocations; then again and again with
the N-th of them failing, alone or with all that follow. It must then end with
status 4 and one line, or, where the allocation was not needed, as it did
before. Files it began must be gone, and those there before must be as they
were. A process that ends in the middle of a transaction leaves SQLite's journal,
with which the next process that opens the database rolls it back (sqlite.org/atomiccommit:
"hot journals"): afterwards the database must be sound, with every row that it
had, and of the new run all or nothing.
Each command gets its share of ROUNDS, spread over its allocations; with
HD_LONG=1 every single one is tried, but of those with more than LONG_SHARE,
which parse or write the same things again and again, as many as that.
"""
import contextlib
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

ROUNDS = 300
LONG_SHARE = 4000
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
    "sim s.yaml -q --checkpoint x.ckpt --every-simulated 5us --pcap x.pcap",
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
    "cc curve fimd --factor 2",
    "cc compare c.yaml --algorithm cct --measure 20us",
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
        self.journals = 0

    def run(self, **hooks):
        """Status, what was printed, messages and files after a run."""
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree("given", "run")
        # By its name alone: a blank in its path would end it there.
        folder, name = os.path.split(self.library)
        env = dict(os.environ, LD_PRELOAD=name, LD_LIBRARY_PATH=folder, **hooks)
        done = subprocess.run([self.heddle] + self.words, cwd="run", env=env,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=600, check=False)
        # SuperLU asks for less room then, and rounds in another order.
        out = re.sub(rb"[0-9.]+e-1[5-9]", b"rounding", done.stdout)
        return (done.returncode, out,
                done.stderr.decode(errors="replace"), files("run"))

    def count(self):
        self.undisturbed = self.run(HD_COUNT_FILE="../count")
        self.whole = {name: rows("run/" + name)
                      for name in self.undisturbed[3] if name.endswith(".db")}
        self.given = {name: rows("given/" + name)
                      for name in files("given") if name.endswith(".db")}
        with open("count", encoding="ascii") as count:
            return int(count.read())

    def complaint(self, **hooks):
        """What is wrong with a run under `hooks`; None if nothing is."""
        try:
            status, out, err, left = self.run(**hooks)
        except subprocess.TimeoutExpired:
            return "does not end"
        damage = self.damage(left)
        if damage:
            return damage
        if (status, out) == self.undisturbed[:2] and \
                left.keys() == self.undisturbed[3].keys():
            return None
        if status != 4:
            return f"ends with {status}: {err[-300:]}"
        if len(err.splitlines()) != 1 or not err.startswith("heddle"):
            return f"says {err!r}"
        return self.leftovers(files("run"))

    def damage(self, left):
        """The first process that opens a database rolls back what was cut off."""
        for name in [n for n in left if n.endswith(".db")]:
            self.journals += name + "-journal" in left
            try:
                now = rows("run/" + name)
            except sqlite3.DatabaseError as error:
                return f"leaves {name}: {error}"
            for table, had in self.given.get(name, {}).items():
                if had - now.get(table, set()):
                    return f"loses rows of {table} in {name}"
            fresh = len(now.get("cell", ())) - \
                len(self.given.get(name, {}).get("cell", ()))
            of_run = len(self.whole.get(name, {}).get("cell", ())) - \
                len(self.given.get(name, {}).get("cell", ()))
            if fresh not in (0, of_run):
                return f"leaves {fresh} of {of_run} cells of a run in {name}"
            if name + "-journal" in files("run"):
                return f"leaves a journal of {name} that is never rolled back"
        return None

    def leftovers(self, left):
        """A target may be whole; a new database may hold no results; a checkpoint
        may be of an earlier moment, and has its part of a capture next to it."""
        given, whole = files("given"), self.undisturbed[3]
        for name, content in left.items():
            if name in given and not name.endswith(".db"):
                if content != given[name]:
                    return f"changes {name}"
            elif name.endswith(".ckpt") or \
                    ("x.ckpt" in left and name.rpartition(".")[0] in whole):
                continue
            elif name not in whole:
                return f"leaves {name}"
            elif not name.endswith((".db", ".html")) and \
                    content != whole[name]:
                return f"leaves part of {name}"
        missing = given.keys() - left.keys()
        return f"removes {missing}" if missing else None


def rows(path):
    """All rows by table, of a database that is sound; rolls a journal back."""
    found = {}
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.rollback()
        sound = database.execute("PRAGMA integrity_check").fetchall()
        if sound != [("ok",)]:
            raise sqlite3.DatabaseError(sound)
        if database.execute("PRAGMA foreign_key_check").fetchall():
            raise sqlite3.DatabaseError("rows of unknown")
        for (table,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            found[table] = set(database.execute(f"SELECT * FROM {table}"))
    return found


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
    if n <= share:
        return range(1, n + 1)
    early = share // 3
    step = (n - early) / (share - early)
    return [*range(1, early + 1),
            *(early + round(step * (i + 1)) for i in range(share - early))]


def main():
    heddle, source, library = (os.path.abspath(a) for a in sys.argv[1:])
    prepare(heddle, source)
    share = LONG_SHARE if LONG else ROUNDS // len(COMMANDS)
    tried = failures = journals = 0
    for words in COMMANDS:
        case = Case(heddle, library, words)
        n = case.count()
        if case.undisturbed[0] > 1 or n < 10:
            sys.exit(f"heddle {words}: {case.undisturbed[2]}")
        for i, k in enumerate(places(n, share)):
            hook = "HD_FAIL_FROM" if i % 2 else "HD_FAIL_AT"
            wrong = case.complaint(**{hook: str(k)})
            tried += 1
            if wrong:
                failures += 1
                print(f"FAILED: {hook}={k} heddle {words}: {wrong}",
                      flush=True)
        journals += case.journals
    print(f"{tried} allocations failed in {len(COMMANDS)} commands, "
          f"{failures} with a wrong end; {journals} journals rolled back")
    sys.exit(failures > 0)


main()
