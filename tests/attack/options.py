#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every option of every command is driven to its limits and beyond.

Usage: options.py HEDDLE SOURCE, in an empty folder. Which options there are,
the program's own help says. Each gets numbers, shares, rates, times and sizes
at the edges of what bits, tables and divisions can hold, one option at a time
in addition to a command line that is shown to work. A command may do its work (0), miss a goal
(1) or refuse (2, 3) with one line; it must not end by a signal, a sanitizer or
an assertion. What is large may take long: it is ended after SECONDS of
computing. The same cases each time; all of them with HD_LONG=1,
half with HD_LIGHT=1.
"""
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys

LONG = os.environ.get("HD_LONG") == "1"
CASES = 100 if os.environ.get("HD_LIGHT") == "1" else 200
SECONDS = 5 if LONG else 2
FILES = {
    "s.yaml": "fabric: {topology: {kind: star, hosts: 4}}\n"
              "traffic: [{name: t, kind: poisson, load: 10%}]\n"
              "run: {warmup: 1us, measure: 10us}\n",
    "c.yaml": "fabric: {topology: {kind: two-switch, remote: 2, local: 1, "
              "victims: 1}}\n"
              "qos: {vls: 1}\n"
              "traffic:\n"
              "  - {name: t, kind: saturating, pattern: incast, "
              "source: A1..A2, destination: Bc}\n"
              "  - {name: v, kind: saturating, pattern: pairs, source: Av, "
              "destination: Bv}\n"
              "run: {warmup: 1us, measure: 20us}\n",
    "e.yaml": "fabric: {topology: {kind: star, hosts: 2, link: 1x SDR}}\n"
              "qos:\n"
              "  vls: 4\n"
              "  low: '0:1,1:1,2:1,3:1'\n"
              "  thresholds: {mechanism: et, at: 8, capacity: 10}\n"
              "traffic:\n"
              "  - {name: b, kind: ge, scv: 5, sl: 0, source: h0, "
              "destination: h1, payload: 32, rate: 80Mb/s}\n"
              "run: {warmup: 1us, measure: 100us}\n",
    "g.goal": "num_ranks 2\nrank 0 {\na: send 9b to 1 tag 1\n}\n"
              "rank 1 {\na: recv 9b from 0 tag 1\n}\n",
    "f.txt": "h0 h1 DB 64Mb/s\n",
    "q.conf": "qos_max_vls 8\n",
    "p.conf": "qos-ulps\n default : 0\nend-qos-ulps\n",
}
COMMANDS = [
    "topo gen star", "topo gen mesh", "topo gen torus", "topo gen tree",
    "topo gen fat-tree", "topo gen xgft", "topo gen dragonfly",
    "topo gen irregular", "topo gen routed", "topo gen two-switch",
    "topo show star", "topo check star", "topo convert star --to links",
    "route star", "failures star --fail links", "sim s.yaml",
    "sweep s.yaml --vary traffic.0.load=10%,20%", "mcast compare s.yaml",
    "cc compare c.yaml", "cc tune c.yaml --budget 1 --floor 1%",
    "cc curve fimd", "qos plan a=40% b=60%", "qos lint q.conf",
    "qos explain q.conf star", "qos admit star --random 2",
    "qos bound star f.txt", "qos table DB:64Mb/s", "qos diffserv",
    "qos reserve --requests f.txt star", "qos classify p.conf",
    "qos evaluate --tried 2", "model queue mm1", "model loss", "model ge",
    "model et", "model ajt", "model credit", "model fabric e.yaml",
    "job show g.goal", "bench send-lat --size 64 -n 2",
    "bench write-bw --size 64 -n 2", "decode r.pcap",
]
# What leaves this process: files, devices, other hosts.
OUTSIDE = {"--output", "--db", "--html", "--pcap", "--trace", "--conf", "--save",
           "--device", "--listen", "--connect"}
VALUES = [
    "0", "1", "2", "-1", "15", "16", "64", "65", "255", "256", "257", "65535",
    "65536", "268435456", "4294967295", "4294967296", "9223372036854775808",
    "18446744073709551615", "0.5", "1e-300", "1e308", "0%", "1%", "100%",
    "101%", "0b/s", "1b/s", "1Gb/s", "18446744073709551615Gb/s", "0s", "1ps",
    "1ns", "1000s", "0B", "1B", "1GiB", "x", "", "0..0", "1..65536", "a=0",
]


def options_of(heddle, words):
    """Options with a value, by the help."""
    name = [w for w in words if not w.startswith("-")]
    for n in (3, 2, 1):
        done = subprocess.run([heddle] + name[:n] + ["--help"],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found = re.findall(r"^ .*?(--[a-z0-9-]+)[ =][A-Z]", done.stdout,
                               re.M)
            return sorted(set(found) - OUTSIDE)
    sys.exit(f"no help of {words}")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def complaint(heddle, words):
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([heddle] + words, capture_output=True, env=env,
                          stdin=subprocess.DEVNULL, check=False,
                          preexec_fn=limit)
    err = done.stderr.decode(errors="replace")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, "long"
    if done.returncode == 4 and "memory" in err:
        return None, "large"
    if done.returncode not in (0, 1, 2, 3):
        return f"ends with {done.returncode}: {err[:1000]}", None
    # 'cc tune' says how long it will take before it finds out what is wrong with its output.
    said = [line for line in err.splitlines() if not line.startswith("heddle: about ")]
    if done.returncode > 1 and len(said) != 1:
        return f"says {err!r}", None
    return None, "done" if done.returncode < 2 else "refused"


def main():
    heddle = os.path.abspath(sys.argv[1])
    for name, text in FILES.items():
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    shutil.copy(os.path.join(sys.argv[2], "tests/fixtures/rxe.pcap"), "r.pcap")
    cases = []
    for line in COMMANDS:
        words = shlex.split(line)
        # A command line that is refused without the option would hide the option.
        wrong, end = complaint(heddle, words)
        if wrong or end != "done":
            sys.exit(f"heddle {line}: {wrong or end}")
        for option in options_of(heddle, words):
            cases += [words + [f"{option}={value}"] for value in VALUES]
    if len(cases) < 5000:
        sys.exit(f"only {len(cases)} cases: is the help read?")
    if not LONG:
        cases = random.Random(1).sample(cases, CASES)
    ends = {"done": 0, "refused": 0, "long": 0, "large": 0}
    failures = 0
    for words in cases:
        # No more memory than two processors' worth of tests may take.
        wrong, end = complaint(heddle, words + ["--memory=1GiB"]
                               if "--memory" not in words[-1] else words)
        if wrong:
            failures += 1
            print(f"FAILED: heddle {shlex.join(words)}: {wrong}", flush=True)
        else:
            ends[end] += 1
    print(f"{len(cases)} cases: {ends}, {failures} failures")
    sys.exit(failures > 0 or ends["done"] < len(cases) // 20)


main()
