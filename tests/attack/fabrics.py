#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every fabric that can be written down meets every command.

Usage: fabrics.py HEDDLE SOURCE CASES, in an empty folder. Fabrics without hosts or
switches, with loops of cables, unequal ends, gaps, isolated parts and odd
names, and scenarios on them whose rows have no flows, are given to all
commands that take them. A command may do its work (0), miss a goal (1) or
refuse (2, 3) with one line. It must not end by a signal or a sanitizer, hang,
need more than this host has (4), print an invalid number, a character
that a terminal would obey, or JSON that cannot be read. The same cases each
time, the first CASES of them; with HD_LONG=1 20,000.
fabrics.py HEDDLE SOURCE CASES CASE repeats a single one.
"""
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys

LONG = os.environ.get("HD_LONG") == "1"
CASES = 20000 if LONG else int(sys.argv[3])
SECONDS = 180 if LONG else 60  # of computing, then a command is said to hang
# What a terminal obeys: controls, as UTF-8 or as single bytes, and what turns
# the direction of writing.
ACTS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
                  "\udc80-\udc9f]")
NOT_A_NUMBER = re.compile(r"(?<![\w.])[-+]?(nan|inf(inity)?)(?![\w.])", re.I)

# ---- fabrics ---------------------------------------------------------------

RECIPES = [
    "star --hosts 0", "star --hosts 1", "star --hosts 2", "star --hosts 3",
    "back-to-back", "ring --switches 3 --hosts 0", "ring --switches 3",
    "mesh --columns 1 --rows 1 --hosts 1", "mesh --columns 2 --rows 1",
    "mesh --columns 1 --rows 2 --hosts 0", "torus --sizes=2x2 --hosts 1",
    "torus --sizes=3 --hosts 1", "hypercube --dimensions 1",
    "tree --arity 1 --levels 1", "tree --arity 2 --levels 2", "fat-tree --radix 2",
    "fat-tree --radix 4 --levels 1", "xgft --down=1 --up=1",
    "dragonfly --hosts 1", "irregular --switches 2 --degree 1",
    "irregular --switches 4 --degree 2 --hosts 0", "two-switch", "blrm",
    "routed --subnets 2 --hosts 0", "routed --subnets 2 --hosts 1",
    "routed --subnets 3 --hosts 1", "star --hosts 2 --host-ports 2",
    "star --hosts 2 --vls 1 --mtu 256", "node-mesh --columns 1 --rows 2",
]
NAMES = ["h", "a b", "x,y", "=1+1", "'", "\\", "%s%n", "é", "@", "-o", "all",
         "h*", "0", "0..3", "h0", "n" * 63, "", "#", "h:1", "40%", "not:h",
         "\x1b]0;t\x07", "\u009b31m", "\udc9b31m", "\u202ex", "</script>"]
SPEEDS = ["4xHDR", "4xEDR", "1xSDR", "4xQDR", "12xNDR"]


class Fabric:
    """Nodes by kind, and cables between their ports."""

    def __init__(self, rng):
        self.rng, self.nodes, self.cables = rng, [], {}

    def add(self, kind, ports, name):
        self.nodes.append((kind, ports, name))
        return len(self.nodes) - 1

    def cable(self, a, b, speeds=("4xHDR", "4xHDR")):
        """`a` and `b` are (node, port); taken ports stay as they are."""
        if a != b and a not in self.cables and b not in self.cables:
            self.cables[a] = (b, speeds[0])
            self.cables[b] = (a, speeds[1])

    def free(self, node):
        ports = [p for p in range(1, self.nodes[node][1] + 1)
                 if (node, p) not in self.cables]
        return (node, self.rng.choice(ports)) if ports else None

    def join(self, a, b):
        ends = self.free(a), self.free(b)
        speed = self.rng.choice(SPEEDS[:2])
        if all(ends):
            self.cable(*ends, (speed, speed))

    def text(self):
        """As ibnetdiscover writes it."""
        out = ["#", "# Topology file", "#"]
        for node, (kind, ports, name) in enumerate(self.nodes):
            guid = self.guid(node)
            word = {"Switch": "switch", "Ca": "ca", "Rt": "rt"}[kind]
            out += ["", "vendid=0x0", "devid=0x0", f"sysimgguid=0x{guid:x}",
                    f"{word}guid=0x{guid:x}({guid:x})",
                    f"{kind}\t{ports} \"{self.id(node)}\"\t\t# \"{name}\"" +
                    (" base port 0 lid 0 lmc 0" if kind == "Switch" else "")]
            for port in range(1, ports + 1):
                if (node, port) in self.cables:
                    out.append(self.line(node, port))
        return "\n".join(out) + "\n"

    def line(self, node, port):
        (far, far_port), speed = self.cables[node, port]
        own = "" if self.nodes[node][0] == "Switch" else \
            f"({self.guid(node) + port:x})"
        other = "" if self.nodes[far][0] == "Switch" else \
            f"({self.guid(far) + far_port:x})"
        return (f"[{port}]{own}\t\"{self.id(far)}\"[{far_port}]{other}"
                f"\t\t# lid 0 lmc 0 \"{self.nodes[far][2]}\" lid 0 {speed}")

    def id(self, node):
        return {"Switch": "S", "Ca": "H", "Rt": "R"}[self.nodes[node][0]] + \
            f"-{self.guid(node):016x}"

    @staticmethod
    def guid(node):
        return 0x210000000000000 + 0x100 * (node + 1)


def random_fabric(rng):
    f = Fabric(rng)
    odd = rng.random() < 0.3
    switches = [f.add("Switch", rng.choice([1, 2, 4, 8, 36]), f"s{i}")
                for i in range(rng.choice([0, 1, 1, 2, 3, 4]))]
    hosts = [f.add("Ca", rng.choice([1, 1, 1, 2]),
                   rng.choice(NAMES) if odd else f"h{i}")
             for i in range(rng.choice([0, 1, 2, 2, 3, 5]))]
    if rng.random() < 0.1:
        hosts.append(f.add("Rt", 2, "r0"))
    for host in hosts:
        others = switches or [h for h in hosts if h != host]
        if others and rng.random() < 0.9:
            f.join(host, rng.choice(others))
    for _ in range(rng.choice([0, 1, 3, 6])):  # parallel ones, triangles
        if switches:
            f.join(rng.choice(switches), rng.choice(switches))
    if rng.random() < 0.15 and hosts and switches:
        ends = f.free(hosts[0]), f.free(switches[0])
        if all(ends):
            f.cable(*ends, rng.sample(SPEEDS, 2))
    if rng.random() < 0.1 and hosts:
        f.join(hosts[0], hosts[-1])
    return f.text()


# ---- scenarios -------------------------------------------------------------

PATTERNS = ["uniform", "permutation", "transpose", "bit-reverse", "tornado",
            "hotspot", "all-to-all", "incast", "pairs"]
HOSTS = ["all", "h0", "h1", "'0'", "0..1", "50%", "'not:h0'", "'on:s0'",
         "unknown"]
KINDS = ["cbr, rate: 1Gb/s", "poisson, load: 50%", "saturating",
         "cbr, load: 0.1%", "messages, count: 2", "poisson, load: 300%",
         "ge, load: 10%, scv: 5", "on-off, load: 10%", "pareto, load: 10%"]
GOALS = ["delivered: 100%", "lost: 0", "fairness: 1", "p99: 1us",
         "throughput: 1Gb/s", "mean: 1us"]


def row(rng, i):
    pattern = rng.choice(PATTERNS)
    odd = rng.choice(["", "", r"\e[31m\a", r"\x9bm", "</script>", r"\n="])
    fields = [f'name: "t{i}{odd}"', f"kind: {rng.choice(KINDS)}",
              f"pattern: {pattern}"]
    if rng.random() < 0.6:
        fields.append(f"source: {rng.choice(HOSTS)}")
    if rng.random() < 0.6 and pattern in ("uniform", "incast", "all-to-all"):
        fields.append(f"destination: {rng.choice(HOSTS)}")
    if rng.random() < 0.2:
        fields.append(f"payload: {rng.choice([1, 64, 4096])}")
    if rng.random() < 0.1:
        fields.append("management: true")
    return "  - {" + ", ".join(fields) + "}"


def scenario(rng, topology, most):
    fabric = [f"topology: {topology}"]
    if rng.random() < 0.3:
        fabric.append("switch: {queueing: cioq}")
    if rng.random() < 0.2:
        fabric.append("credits: exact")
    if rng.random() < 0.5:
        engine = rng.choice(["updn", "dfsssp", "lash", "ftree", "minhop"])
        fabric.append(f"routing: {{engine: {engine}}}")
    lines = ["fabric:", *("  " + line for line in fabric)]
    if rng.random() < 0.2:
        lines.insert(0, r'title: "\e]0;\a\n=cmd|\u202e"')
    rows = min(rng.choice([0, 1, 1, 1, 1, 1, 1, 2, 2, 3]), most)
    if not rows and rng.random() < 0.5:
        lines.append("traffic: []")
    if rows:
        lines += ["traffic:", *(row(rng, i) for i in range(rows))]
    if rows and rng.random() < 0.4:
        lines += ["goals:", "  - {" + rng.choice(GOALS) + "}"]
    warmup = rng.choice(["1us", "1us", "0us", "15us", "2 packets"])
    measure = "3 packets" if "packets" in warmup else "4us"
    lines.append(f"run: {{warmup: {warmup}, measure: {measure}, horizon: 20us}}")
    return "\n".join(lines) + "\n"


def topology_of(recipe):
    """A recipe as a scenario writes it."""
    words = shlex.split(recipe.replace("=", " "))
    fields = [f"kind: {words[0]}"]
    for name, value in zip(words[1::2], words[2::2]):
        fields.append(f"{name[2:].replace('-', '_')}: {value}")
    return "{" + ", ".join(fields) + "}"


# ---- commands --------------------------------------------------------------

ENGINES = ["minhop", "updn", "dfsssp", "lash", "ftree", "negative-first",
           "dor", "xy", "torus", "dragonfly", "ecube", "file"]
ON_FABRICS = [
    "topo show F", "topo check F --json", "topo convert F --to ibsim",
    "topo convert F --to svg", "topo convert F --to links",
    "topo convert F --to dot", "topo convert F --to ibnetdiscover-fg",
    "route F -e E --check", "route F -e E --check --json",
    "route F -e E --dump opensm", "route F -e E --dump json",
    "route F -e E --load 3 --json", "route F -e E --mcast auto=*",
    "qos admit --random 3 F --json", "qos admit --random 3 --engine E F",
    "qos bound F f.txt --json", "qos reserve --requests f.txt F",
    "qos classify --fabric F --source h0 --destination h1 p.conf",
]
ON_SCENARIOS = [
    "sim S --json --all", "sim S", "sim S --counters", "sim S --checksum",
    "sim S -q --pcap x.pcap --trace x.trace", "sim S --explain",
    "sim S --html x.html -q", "cc compare S --warmup 1us --measure 4us",
    "cc compare S --algorithm cct --warmup 1us --measure 4us --json",
    "cc tune S --quiet --budget 2 --warmup 1us --measure 4us",
    "mcast compare S --json", "model fabric S",
    "bench send-lat --size 64 -n 2 --fabric S",
    "bench write-bw --size 64 -n 2 --fabric S --json",
]
FILES = {
    "f.txt": "h0 h1 DB 64Mb/s\n",
    "p.conf": "qos-ulps\n default : 0\nend-qos-ulps\n",
}


def make_case(rng):
    """A command line, with its files written."""
    recipe = rng.choice(RECIPES)
    from_file = rng.random() < 0.6
    if from_file:
        write("f.net", random_fabric(rng))
    if rng.random() < 0.5:
        words = rng.choice(ON_FABRICS).split()
        fabric = "f.net" if from_file else recipe
    else:
        words = rng.choice(ON_SCENARIOS).split()
        # A benchmark continues until it is done, and its rivals with it.
        most = 1 if words[0] == "bench" else 3
        write("s.yaml", scenario(
            rng, "f.net" if from_file else topology_of(recipe), most))
        fabric = "s.yaml"
    return [fabric if w in ("F", "S") else
            rng.choice(ENGINES) if w == "E" else w for w in words]


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def complaint(heddle, words, leaks):
    env = dict(os.environ, ASAN_OPTIONS=f"detect_leaks={leaks}",
               UBSAN_OPTIONS="print_stacktrace=1")
    try:
        done = subprocess.run([heddle] + words, capture_output=True, env=env,
                              stdin=subprocess.DEVNULL, check=False,
                              timeout=10 * SECONDS, preexec_fn=limit_time)
    except subprocess.TimeoutExpired:
        return "does not end", None
    if done.returncode == -signal.SIGXCPU:
        return "does not end", None
    out = done.stdout.decode(errors="surrogateescape")
    err = done.stderr.decode(errors="surrogateescape")
    if done.returncode not in (0, 1, 2, 3):
        return f"ends with {done.returncode}: {err[:2000]}", None
    if err.count("\n") > 1 or (done.returncode > 1) != bool(err):
        return f"ends with {done.returncode} and says {err!r}", None
    found = ACTS.search(out + err)
    if found:
        return f"prints {found.group()!r}", None
    found = NOT_A_NUMBER.search(out)
    if found:
        line = next(x for x in out.splitlines() if NOT_A_NUMBER.search(x))
        return f"prints '{found.group()}': {line[:300]}", None
    if "--json" in words and done.returncode < 2:
        try:
            json.loads(out)
        except ValueError as error:
            return f"writes invalid JSON: {error}", None
    return None, done.returncode


def main():
    heddle = os.path.abspath(sys.argv[1])
    for name, text in FILES.items():
        write(name, text)
    only = sys.argv[4] if len(sys.argv) > 4 else None
    ends, failures = [0] * 4, 0
    for i in [int(only)] if only else range(CASES):
        words = make_case(random.Random(i))
        wrong, status = complaint(heddle, words, int(i % 10 == 0))
        if wrong:
            failures += 1
            print(f"FAILED: case {i}: heddle {shlex.join(words)}: {wrong}",
                  flush=True)
        else:
            ends[status] += 1
    print(f"{CASES} cases: {ends[0]} done, {ends[1]} goals missed, "
          f"{ends[2]} + {ends[3]} refused, {failures} failures")
    # Most of them must be more than refusals, or nothing was tried.
    sys.exit(failures > 0 or (not only and ends[0] + ends[1] < CASES // 3))


main()
