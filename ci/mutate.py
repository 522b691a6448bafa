#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Small mistakes in the sources that some test must notice.

Each mutant of ci/mutants.py is built in a copy of the tree and meets the tests
that enter its function, the nearest and quickest first, until one fails: with
assertions, and if it lives then, with sanitizers. Tests that fail on the sources as
they are, twice, are named and left out; a failure counts when it repeats itself, a
test without an end when it took ten times what it takes.

The verdicts are written to WORK/verdicts as they fall. --resume continues
with them: killed mutants stay killed, survivors are tested with the present tests.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutants

NEAR = 2  # the distance of the module's own tests
BUILDS = {  # flags of the compiler, the linker, and cmake
    "reach": ("-O1 -g1 -finstrument-functions", "{work}/reached.o", []),
    "plain": ("-O1 -g0", "", []),
    "asan": ("-O1 -g1", "", ["-DHD_SANITIZE=address,undefined"]),
}
MEMORY = 3 << 30  # of one process; a mutant may ask for all there is


def quiet(command, **more):
    return subprocess.run(command, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def must(command, **more):
    done = quiet(command, **more)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (done.stdout[-4000:], " ".join(command)))
    return done.stdout


def digest(*paths):
    all_of = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            all_of.update(hashlib.sha256(f.read()).digest())
    return all_of.hexdigest()


def end_group(pid, number):
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


class Test:
    """One of ctest's, and what is known of it in one build."""

    def __init__(self, shown):
        has = {p["name"]: p["value"] for p in shown["properties"]}
        self.name, self.command = shown["name"], shown["command"]
        self.folder, self.skipped = has["WORKING_DIRECTORY"], has.get("SKIP_RETURN_CODE")
        self.environment = dict(e.split("=", 1) for e in has.get("ENVIRONMENT", []))


class Build:
    """One way to build a tree, its tests, and how long each takes."""

    def __init__(self, kind, tree, folder, work):
        flags, link, more = BUILDS[kind]
        self.kind, self.tree, self.folder = kind, tree, folder
        self.times, self.used = {}, []
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        must(["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
              "-DCMAKE_C_FLAGS=" + flags,
              *["-DCMAKE_%s_LINKER_FLAGS=%s" % (what, link.format(work=work))
                for what in ("EXE", "SHARED", "MODULE")]] + launcher + more)
        must(["ninja", "-j2", "-C", folder])
        shown = json.loads(must(["ctest", "--test-dir", folder, "--show-only=json-v1"]))
        self.tests = {t["name"]: Test(t) for t in shown["tests"]}
        # What is installed, by name: tests run copies of it, too.
        built = [f for f in sorted(os.listdir(folder)) if f == "heddle" or ".so" in f]
        paths = [os.path.realpath(os.path.join(folder, f)) for f in built]
        self.product = {os.path.basename(path): path for path in paths}
        with open(os.path.join(folder, "compile_commands.json")) as f:
            self.objects = {}
            for c in json.load(f):
                output = c.get("output") or re.search(r" -o (\S+)", c["command"]).group(1)
                self.objects.setdefault(os.path.relpath(c["file"], tree), []).append(output)

    def made(self, targets):
        """Whether these can be built; a mutant of a generator may have no end."""
        return quiet(["prlimit", "--cpu=100", "ninja", "-j2", "-C", self.folder]
                     + sorted(targets)).returncode == 0

    def code_of(self, path):
        """The objects of a source, to see whether they changed; none of headers."""
        return digest(*[os.path.join(self.folder, o) for o in self.objects.get(path, [])])

    def run(self, test, cpu, wall, **more):
        """'passed', 'failed', 'skipped' or 'no end', and the seconds of processor."""
        # Adapters of live fabrics map a file of 64 GiB, most of it never written.
        size = 65 if "live" in test.name else 4
        limits = ["prlimit", "--cpu=%d" % cpu, "--core=0", "--fsize=%d" % (size << 30)]
        if self.kind != "asan":
            limits.append("--data=%d" % MEMORY)
        environment = dict(os.environ, **test.environment, **more)
        environment.setdefault("ASAN_OPTIONS", "hard_rss_limit_mb=%d" % (MEMORY >> 20))
        began = time.monotonic()
        child = subprocess.Popen(limits + test.command, cwd=test.folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        # First a signal that lets daemons of live fabrics go, then one that nothing survives.
        alarms = [threading.Timer(wall + grace, end_group, [child.pid, number])
                  for grace, number in ((0, signal.SIGTERM), (10, signal.SIGKILL))]
        for alarm in alarms:
            alarm.start()
        _, status, used = os.wait4(child.pid, 0)
        for alarm in alarms:
            alarm.cancel()
        child.returncode = code = os.waitstatus_to_exitcode(status)
        seconds = used.ru_utime + used.ru_stime
        if code == 0:
            return "passed", seconds
        if code == test.skipped:
            return "skipped", seconds
        endless = time.monotonic() - began >= wall or code == -signal.SIGXCPU
        return "no end" if endless else "failed", seconds

    def prove(self, names, known, jobs, more=lambda name: {}, wall=3600):
        """Runs tests on the sources as they are. Returns who fails, also when run again
        alone. What `known` holds of the same programs and scripts is not asked again."""
        def one(name):
            test = self.tests[name]
            mark = "%s %s %s" % (self.kind, name, self.fingerprint(test))
            if mark not in known:
                began = time.monotonic()
                outcome, seconds = self.run(test, 3600, wall, **more(name))
                found = [outcome, seconds, time.monotonic() - began]
                if outcome == "failed":
                    self.times[name] = found
                    return
                known.put(mark, found)
            self.times[name] = known[mark]

        def failing():
            return [n for n in names if self.times[n][0] not in ("passed", "skipped")]

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, names))
        for name in failing():
            one(name)
        return failing()

    def fingerprint(self, test):
        """Changes when the test's program does, or, of a script, what it uses."""
        program = test.command[0]
        if program.startswith(self.folder + "/"):
            return digest(program)
        own = [word for word in test.command
               if word.startswith(self.tree + "/") and os.path.isfile(word)]
        return digest(*self.product.values(), *own, *self.files())

    def files(self):
        """What scripts use, but for each other."""
        if not self.used:
            self.used = sorted(
                os.path.join(folder, name)
                for top in ("ci", "tests", "examples", "share", "man", "papers")
                for folder, _, names in os.walk(os.path.join(self.tree, top)) for name in names
                if not name.endswith((".c", ".h", ".pyc", ".sh", ".txt")) or name == "lib.sh")
        return self.used

    def fails(self, name):
        """How a test fails, twice, or None."""
        _, cpu, wall = self.times[name]
        for _ in range(2):
            outcome, _ = self.run(self.tests[name], 10 * cpu + 10, 20 * wall + 120)
            if outcome != "failed":
                return outcome if outcome == "no end" else None
        return outcome


class Known(dict):
    """A file of JSON lines [key, value] that grows as they become known."""

    def __init__(self, path, keep):
        super().__init__()
        self.lock = threading.Lock()
        if keep and os.path.exists(path):
            with open(path) as f:
                self.update(json.loads(line) for line in f if line.endswith("\n"))
        self.file = open(path, "a" if keep else "w", buffering=1)

    def put(self, key, value):
        with self.lock:
            self[key] = value
            self.file.write(json.dumps([key, value]) + "\n")


class Reach:
    """Which tests enter which functions, and which programs they run."""

    def __init__(self, build, work, known, jobs, most):
        self.build, self.maps, self.most = build, os.path.join(work, "reached"), most
        self.entered, self.programs = {}, {}
        self.ours = {t.command[0] for t in build.tests.values()
                     if t.command[0].startswith(build.folder + "/")}
        self.ours.update(build.product.values())
        # Tests that fail with the instruments run for every mutant.
        # With --most, tests without an end by then take too long anyway.
        wall = min(3600, 10 * most)
        self.everywhere = set(build.prove(list(build.tests), known, jobs, self.map_of, wall))
        # Scripts see what the build let the program write.
        must(["sh", os.path.join(build.tree, "src", "cli", "manual.sh"),
              os.path.join(build.folder, "heddle"), build.folder],
             env=dict(os.environ, **self.map_of("manual")))
        manual = self.addresses("manual")
        found = {name: self.addresses(name) for name in build.tests}
        for name, programs in found.items():
            for program, at in manual.items() if self.is_script(name) else []:
                programs[program] = programs.get(program, set()) | at
        lines = {}
        for name, programs in found.items():
            for program, at in programs.items():
                lines.setdefault(program, set()).update(at)
        lines = {program: self.lines_of(program, sorted(at), known)
                 for program, at in lines.items()}
        for name, programs in found.items():
            self.programs[name] = {os.path.relpath(p, build.folder) for p in programs}
            for program, at in programs.items():
                for a in at:
                    path, line = lines[program][a]
                    self.entered.setdefault(path, {}).setdefault(line, set()).add(name)

    def is_script(self, name):
        return self.build.tests[name].command[0] not in self.ours

    def map_of(self, name):
        folder = os.path.join(self.maps, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return {"HD_REACHED": folder}

    def addresses(self, name):
        found, folder = {}, os.path.join(self.maps, name)
        for file in os.listdir(folder):
            program = file.replace("%", "/")
            program = self.build.product.get(os.path.basename(program), program)
            if program in self.ours:
                with open(os.path.join(folder, file), "rb") as f:
                    at = {m.start() for m in re.finditer(b"\1", f.read())}
                found[program] = found.get(program, set()) | at
        return found

    def lines_of(self, program, addresses, known):
        mark = "lines %s %s" % (digest(program), hashlib.sha256(
            str(addresses).encode()).hexdigest())
        if mark not in known:
            said = must(["addr2line", "-e", program] + [hex(a) for a in addresses])
            known.put(mark, [line.split(" ")[0].rsplit(":", 1) for line in said.split("\n")])
        return {a: (os.path.relpath(path, self.build.tree), int(line) if line.isdigit() else 0)
                for a, (path, line) in zip(addresses, known[mark])}

    def programs_of(self, name):
        """What a test runs, to be built before; scripts may look at the manual."""
        return self.programs[name] | ({"manual"} if self.is_script(name) else set())

    def tests_of(self, mutant):
        """Those that enter its function, and take no longer than asked for."""
        times = self.build.times
        return {n for n in self.all_tests_of(mutant)
                if times[n][0] != "no end" and times[n][1] <= self.most}

    def all_tests_of(self, mutant):
        lines = self.entered.get(mutant.path, {})
        if not lines:  # only tables, or a program that the build runs
            names = [self.build.tests]
        elif mutant.function:
            names = [n for line, n in lines.items() if mutant.begins <= line <= mutant.line]
        elif mutant.path.endswith(".c"):  # a table
            names = lines.values()
        else:
            names = [self.build.tests]
        return set().union(self.everywhere, *names)


def distance(build, path, name):
    """How far a test is from a source: its own, its folder's, its module's."""
    command = build.tests[name].command[0]
    where = os.path.relpath(os.path.dirname(command), build.folder)
    stem = os.path.splitext(os.path.basename(path))[0]
    if os.path.dirname(path) == where:
        return 0 if os.path.basename(command) == stem + "_test" else 1
    module = "/".join(path.split("/")[:2])
    return NEAR if (where + "/").startswith(module + "/") else NEAR + 1


class Copy:
    """A copy of the tree in which mutants live."""

    def __init__(self, source, work, nth):
        self.work, self.nth = work, nth
        self.tree = os.path.join(work, "tree%d" % nth)
        self.builds = {}
        mirror(source, self.tree)

    def build(self, kind):
        if kind not in self.builds:
            folder = os.path.join(self.work, "%s%d" % (kind, self.nth))
            self.builds[kind] = Build(kind, self.tree, folder, self.work)
        return self.builds[kind]

    def judge(self, kind, mutant, tests):
        """The mutant's verdict, who killed it, and from how far."""
        path = os.path.join(self.tree, mutant.path)
        build = self.build(kind)
        with open(path) as f:
            kept = f.read()
        lines = kept.split("\n")
        lines[mutant.line - 1] = mutant.new
        before = build.code_of(mutant.path)
        try:
            with open(path, "w") as f:
                f.write("\n".join(lines))
            return self.judged(build, mutant, tests, before)
        finally:
            with open(path, "w") as f:
                f.write(kept)
            if mutant.path in build.objects:
                build.made(build.objects[mutant.path])

    def judged(self, build, mutant, tests, before):
        objects = build.objects.get(mutant.path, [])
        if not build.made(objects or ["heddle"]):
            return "invalid", "", 0
        if objects and build.code_of(mutant.path) == before:
            return "same code", "", 0
        for name, programs in tests:
            if not build.made(programs):
                return "invalid", "", 0
            how = build.fails(name)
            if how:
                far = distance(build, mutant.path, name)
                return "killed", name + (" (no end)" if how == "no end" else ""), far
        return "survived", "", 0


def mirror(source, tree):
    """Makes `tree` equal to `source`; what is equal keeps its time."""
    said = must(["git", "-C", source, "ls-files", "-z", "-co", "--exclude-standard"])
    wanted = {p for p in said.split("\0") if p and os.path.isfile(os.path.join(source, p))}
    for path in wanted:
        a, b = os.path.join(source, path), os.path.join(tree, path)
        if not os.path.exists(b) or digest(a) != digest(b):
            os.makedirs(os.path.dirname(b), exist_ok=True)
            shutil.copy(a, b)
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), tree)
            if path not in wanted and not path.startswith("build/"):
                os.remove(os.path.join(tree, path))
    page, copy = os.path.join(source, "build", "web"), os.path.join(tree, "build", "web")
    if os.path.isdir(page) and not os.path.isdir(copy):
        shutil.copytree(page, copy, symlinks=True)


def known_equivalents(root, places):
    """Lines 'file | function | old | new | reason': what cannot show in any
    test. Those that are no mutants of the sources any more are named."""
    with open(os.path.join(root, "tests", "mutants.txt")) as f:
        rows = [line.rstrip("\n") for line in f if line.strip() and line[0] != "#"]
    keys = {row.rsplit(" | ", 1)[0] for row in rows}
    there = {m.key() for found in places.values() for m in found}
    stale = sorted(keys - there)
    if stale:
        print("tests/mutants.txt: no longer in the sources:\n" + "\n".join(stale), file=sys.stderr)
    return keys


class Hunt:
    """All mutants of `prey` against some of the tests in one kind of build."""

    def __init__(self, kind, copies, reach, known, verdicts):
        self.kind, self.copies, self.reach = kind, copies, reach
        self.known, self.verdicts = known, verdicts
        self.first = copies[0].build(kind)

    def prove(self, prey):
        """Tests that fail without any mutant kill none: they are named and left out."""
        asked = {n for m in prey for n in self.reach.tests_of(m) if n in self.first.tests}
        failing = self.first.prove(sorted(asked), self.known, len(self.copies))
        if failing:
            print("%s: left out, they fail without any mutant: %s"
                  % (self.kind, " ".join(failing)), file=sys.stderr, flush=True)
        for copy in self.copies:
            copy.build(self.kind).times = self.first.times

    def tests_of(self, mutant, is_met):
        """Names and programs, the nearest and quickest first."""
        times, far = self.first.times, {}
        for name in self.reach.tests_of(mutant):
            if times.get(name, [""])[0] == "passed":
                far[name] = distance(self.first, mutant.path, name)
        names = sorted((n for n in far if is_met(far[n])), key=lambda n: (far[n], times[n][1], n))
        return [(n, self.reach.programs_of(n)) for n in names]

    def run(self, prey, is_met):
        """Returns who survived; those that meet the least go first."""
        met = {m: self.tests_of(m, is_met) for m in prey}
        cost = {m: sum(self.first.times[n][1] for n, _ in met[m]) for m in prey}
        rest, alive, lock = sorted(prey, key=cost.get), [], threading.Lock()

        def work(copy):
            while True:
                with lock:
                    if not rest:
                        return
                    mutant = rest.pop(0)
                began = time.monotonic()
                verdict = copy.judge(self.kind, mutant, met[mutant])
                self.verdicts.put(mutant.key(), [self.kind] + list(verdict))
                with lock:
                    if verdict[0] == "survived":
                        alive.append(mutant)
                    print("%-5s %-9s %s%s (%d tests, %.0f s)" % (
                        self.kind, verdict[0], mutant, " by " + verdict[1] if verdict[1] else "",
                        len(met[mutant]), time.monotonic() - began), flush=True)

        with concurrent.futures.ThreadPoolExecutor(len(self.copies)) as pool:
            for done in [pool.submit(work, c) for c in self.copies]:
                done.result()
        return alive


def sum_up(drawn, equivalent, verdicts):
    """Prints one line per module and one for all. Returns the score in percent."""
    columns = ["drawn", "invalid", "equivalent", "killed", "near", "survived", "score"]
    table = {}
    for m in drawn:
        verdict = ("equivalent",) if m.key() in equivalent else verdicts[m.key()][1:]
        kind = "equivalent" if verdict[0] == "same code" else verdict[0]
        for module in (m.module, "all"):
            row = table.setdefault(module, dict.fromkeys(columns, 0))
            row["drawn"] += 1
            row[kind] += 1
            row["near"] += kind == "killed" and verdict[2] <= NEAR
    print(("%-16s" + " %10s" * len(columns)) % tuple(["module"] + columns))
    for module, row in sorted(table.items(), key=lambda r: (r[0] == "all", r[0])):
        judged = row["killed"] + row["survived"]
        row["score"] = "%.1f %%" % (100 * row["killed"] / judged) if judged else "-"
        print(("%-16s" + " %10s" * len(columns)) % tuple([module] + [row[c] for c in columns]))
    total = table["all"]
    judged = total["killed"] + total["survived"]
    if not judged:
        sys.exit("no mutant could be built")
    print("%d mutants, %d killed, %d survived: %.1f %%" % (
        judged, total["killed"], total["survived"], 100 * total["killed"] / judged))
    return 100 * total["killed"] / judged


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--module", default="", help="mutants of this module and those within it only")
    p.add_argument("--since", metavar="COMMIT", help="mutants of lines that changed since only")
    p.add_argument("--most", metavar="SECONDS", type=float, default=float("inf"),
                   help="leave out tests that take longer: the score is a lower bound")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--floor", type=float, help="least share killed, in percent")
    p.add_argument("--resume", action="store_true", help="continue with the recorded verdicts")
    p.add_argument("--list", action="store_true", help="only say what would be tried")
    p.add_argument("source")
    p.add_argument("work")
    a = p.parse_args()
    a.source, a.work = os.path.abspath(a.source), os.path.abspath(a.work)
    return a


def chosen(places, a):
    """The mutants that --module and --since leave, by module."""
    lines = mutants.changed_lines(a.source, a.since) if a.since else None
    left = {module: [m for m in found if lines is None or (m.path, m.line) in lines]
            for module, found in places.items()
            if (module + "/").startswith(a.module + "/" if a.module else "")}
    left = {module: found for module, found in left.items() if found}
    if not left:
        sys.exit("no mutants: check --module and --since")
    return left


def main():
    a = options()
    places = mutants.all_mutants(a.source)
    equivalent = known_equivalents(a.source, places)
    drawn = list(mutants.draw(chosen(places, a), a.count, a.seed))
    if a.list:
        print("\n".join(m.key() for m in drawn))
        return 0
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)  # tests send them, nohup or not
    os.makedirs(a.work, exist_ok=True)
    os.environ.update(CCACHE_BASEDIR=a.work, CCACHE_NOHASHDIR="1")
    must(["cc", "-O2", "-fPIC", "-c", os.path.join(a.source, "ci", "reached.c"),
          "-o", os.path.join(a.work, "reached.o")])
    known = Known(os.path.join(a.work, "proofs"), a.resume)
    verdicts = Known(os.path.join(a.work, "verdicts"), a.resume)
    copies = [Copy(a.source, a.work, i) for i in range(a.jobs)]
    reach = Reach(copies[0].build("reach"), a.work, known, a.jobs, a.most)
    prey = [m for m in drawn if m.key() not in equivalent
            and verdicts.get(m.key(), ["", "survived"])[1] == "survived"]
    for kind in ("plain", "asan"):
        if not prey:
            break
        hunt = Hunt(kind, copies, reach, known, verdicts)
        hunt.prove(prey)
        prey = hunt.run(prey, lambda far: far <= NEAR)
        prey = hunt.run(prey, lambda far: far > NEAR)
    score = sum_up(drawn, equivalent, verdicts)
    return 1 if a.floor is not None and score < a.floor else 0


if __name__ == "__main__":
    sys.exit(main())
