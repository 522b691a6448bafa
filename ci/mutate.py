#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Small changes to the sources that some test must notice.

Draws one-token mutants over all rooms from a fixed seed, builds each in a copy
of the tree, and runs the tests nearest to it first: those of its file, its
folder, its room, then all others. A mutant that no test notices has survived.

The copy is built with assertions and sanitizers, so that a leak is noticed too.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading

# What is replaced by what; the sources have spaces around binary operators.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" % ", " / "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "),
    (r" \| ", " & "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\+\+", "--"), (r"--", "++"),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"),
    (r"(?<=[( ])!(?=[a-z(])", ""), (r"(?<![\w.])0(?![\w.])", "1"),
    (r"(?<![\w.])1(?![\w.])", "2"), (r"\bif \((?=.*\)$)", "if (!"),
]
# A statement of one line that can be left out: an assignment or a call.
STATEMENT = re.compile(r"^\t+(?:[\w\->.\[\]*()&]+ [-+|&]?= [^;{]+|[a-z]\w*\([^;{]*\));$")
BLANK = [
    re.compile(r"/\*.*?\*/", re.S), re.compile(r"//[^\n]*"),
    re.compile(r'"(?:\\.|[^"\\\n])*"'), re.compile(r"'(?:\\.|[^'\\\n])*'"),
    re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M),
    re.compile(r"\b(?:_Static_)?assert\((?:[^()]|\([^()]*\))*\);"),
]


def masked(text):
    """The same text with what is no code replaced by blanks."""
    for pattern in BLANK:
        text = pattern.sub(lambda m: re.sub(r"[^\n]", "\0", m.group()), text)
    return text


class Mutant:
    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old, new

    def key(self):
        return " | ".join([self.path, self.old.strip(), self.new.strip() or "(left out)"])

    def __str__(self):
        return "%s:%d: %s -> %s" % (self.path, self.line, self.old.strip(),
                                    self.new.strip() or "(left out)")


def mutants_of(root, path):
    with open(os.path.join(root, path)) as f:
        text = f.read()
    lines, seen = text.split("\n"), masked(text).split("\n")
    for number, (line, code) in enumerate(zip(lines, seen), 1):
        if not code.startswith("\t"):
            continue  # outside of functions
        for pattern, to in SWAPS:
            for m in re.finditer(pattern, code):
                new = line[:m.start()] + to + line[m.end():]
                if to == "if (!":
                    new = line[:m.start()] + "if (!(" + line[m.end():] + ")"
                yield Mutant(path, number, line, new)
        if STATEMENT.match(code) and "\0" not in code:
            yield Mutant(path, number, line, "")


def rooms(root):
    """The sources of each room, without tests."""
    found = {}
    for folder, _, files in os.walk(os.path.join(root, "src")):
        for name in sorted(files):
            if not name.endswith((".c", ".h")) or "_test." in name or "for_tests" in name:
                continue
            path = os.path.relpath(os.path.join(folder, name), root)
            found.setdefault(path.split("/")[1], []).append(path)
    return found


def draw(root, count, seed, only):
    """`count` mutants, shared among rooms by the square root of their size."""
    places = {room: [m for path in sorted(paths) for m in mutants_of(root, path)]
              for room, paths in sorted(rooms(root).items()) if only in ("", room)}
    weight = {room: len(p) ** 0.5 for room, p in places.items()}
    drawn = []
    for room, candidates in places.items():
        rng = random.Random("%s %s" % (seed, room))
        n = round(count * weight[room] / sum(weight.values()))
        drawn += rng.sample(candidates, min(max(n, 1), len(candidates)))
    return drawn


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, source, work):
        self.root, self.build = work, os.path.join(work, "build")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(source, work, symlinks=True,
                        ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
        page = os.path.join(source, "build", "web")
        if os.path.isdir(page):
            shutil.copytree(page, os.path.join(self.build, "web"), symlinks=True)
        self.run(["cmake", "-S", work, "-B", self.build, "-G", "Ninja",
                  "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O1",
                  "-DHD_SANITIZE=address,undefined"], check=True)
        self.run(["cmake", "--build", self.build], check=True)
        shown = self.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True)
        self.tests = [(t["name"], t.get("command", [""])[0])
                      for t in json.loads(shown.stdout)["tests"]]

    def run(self, command, check=False, timeout=1800):
        return subprocess.run(command, check=check, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def distance(self, path, test):
        """How far a test is from a source: its own, its folder's, its room's."""
        name, command = test
        where = os.path.relpath(os.path.dirname(command), self.build)
        stem = os.path.splitext(os.path.basename(path))[0]
        if os.path.dirname(path) == where:
            return 0 if os.path.basename(command) == stem + "_test" else 1
        room = "/".join(path.split("/")[:2])
        if (where + "/").startswith(room + "/"):
            return 2
        if name.startswith("oracle.") or name.startswith("transport-model."):
            return 3
        return 4

    def made(self, tests):
        """Builds what these tests run; scripts want everything."""
        outputs = [os.path.relpath(command, self.build) for _, command in tests]
        if any(o.startswith("..") for o in outputs):
            outputs = ["all"]
        return self.run(["ninja", "-C", self.build] + outputs).returncode == 0

    def judged(self, path, patience):
        """'invalid', 'survived', or 'killed' with the test and its distance."""
        ranked = {}
        for test in self.tests:
            ranked.setdefault(self.distance(path, test), []).append(test)
        for distance, tests in sorted(ranked.items()):
            if not self.made(tests):
                return "invalid", None
            pattern = "^(%s)$" % "|".join(re.escape(name) for name, _ in tests)
            try:
                done = self.run(["ctest", "--test-dir", self.build, "-R", pattern,
                                 "--stop-on-failure", "--timeout", "120"], timeout=patience)
            except subprocess.TimeoutExpired:
                return "killed", ("(no end)", distance)
            if done.returncode != 0:
                failed = re.findall(r"\d+ - (\S+) \((?!Skipped)", done.stdout)
                return "killed", ((failed or ["?"])[0], distance)
        return "survived", None

    def judge(self, mutant, patience):
        path = os.path.join(self.root, mutant.path)
        with open(path) as f:
            kept = f.read()
        lines = kept.split("\n")
        lines[mutant.line - 1] = mutant.new
        try:
            with open(path, "w") as f:
                f.write("\n".join(lines))
            return self.judged(mutant.path, patience)
        finally:
            with open(path, "w") as f:
                f.write(kept)


def known_equivalents(path):
    """Lines 'file | old | new | reason'; what cannot show in any test."""
    with open(path) as f:
        rows = [line.rstrip("\n") for line in f if line.strip() and line[0] != "#"]
    return {row.rsplit(" | ", 1)[0] for row in rows}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--room", default="", help="mutants of this room only")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--floor", type=float, help="least share killed, in percent")
    p.add_argument("--patience", type=int, default=1200, help="seconds for the tests of one mutant")
    p.add_argument("--list", action="store_true", help="only say what would be tried")
    p.add_argument("source")
    p.add_argument("work")
    a = p.parse_args()
    equivalent = known_equivalents(os.path.join(a.source, "tests", "mutants.txt"))
    drawn = [m for m in draw(a.source, a.count, a.seed, a.room) if m.key() not in equivalent]
    if a.list:
        print("\n".join(m.key() for m in drawn))
        return 0
    copies = [Copy(os.path.abspath(a.source), os.path.join(os.path.abspath(a.work), str(i)))
              for i in range(a.jobs)]
    lock, counts, near = threading.Lock(), {}, 0

    def work(copy, share):
        nonlocal near
        for mutant in share:
            verdict, found = copy.judge(mutant, a.patience)
            with lock:
                counts[verdict] = counts.get(verdict, 0) + 1
                near += bool(found and found[1] <= 2)
                if verdict != "invalid":
                    print("%-8s %s%s" % (verdict, mutant, " by " + found[0] if found else ""),
                          flush=True)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for done in [pool.submit(work, c, drawn[i::a.jobs]) for i, c in enumerate(copies)]:
            done.result()
    killed, survived = counts.get("killed", 0), counts.get("survived", 0)
    if killed + survived == 0:
        print("no mutant could be built")
        return 1
    score = 100.0 * killed / (killed + survived)
    print("%d mutants, %d killed (%d by their room's own tests), %d survived: %.1f %%"
          % (killed + survived, killed, near, survived, score))
    return 1 if a.floor is not None and score < a.floor else 0


if __name__ == "__main__":
    sys.exit(main())
