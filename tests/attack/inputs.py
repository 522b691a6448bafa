#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every command that reads a file is given files that are none.

Usage: inputs.py HEDDLE SOURCE, in a folder of its own. Devices that never end, pipes
with an endless writer, folders, files of a hundred gigabytes of
nothing, sockets and empty files stand where a command reads a scenario, a
fabric, a configuration, a trace, a capture, a database, operations, a
recording or a checkpoint. It must refuse (2, 3, or 4 for what the system
refuses) with one line, in seconds, and take no more memory than a small run:
what it cannot use it must not gather. A pipe without a writer is waited
for, at no cost, until a signal ends the command. The same cases each time; all of
them, endless pipes with every command, with HD_LONG=1.
"""
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys

LONG = os.environ.get("HD_LONG") == "1"
MOST = 300 << 20  # bytes of memory; a small run has some 20 MB
# An endless pipe is read as far as a long dump of a tool may be, a gigabyte;
# sanitizers copy what grows, and keep the rest for a while.
MOST_OF_PIPE = 2500 << 20
SECONDS = 20  # of computing
PATIENCE = 300
FILES = {
    "s.yaml": "fabric: {topology: {kind: star, hosts: 4}}\n"
              "traffic: [{name: t, kind: poisson, load: 10%}]\n"
              "run: {warmup: 1us, measure: 10us}\n",
    "qos.conf": "qos_max_vls 8\n",
    "p.conf": "qos-ulps\n default : 0\nend-qos-ulps\n",
}
# What represents @ in a scenario.
SCENARIOS = {
    "topology": "fabric: {topology: @}\ntraffic: [{name: t, kind: saturating}]\n",
    "routes": "fabric: {topology: {kind: star, hosts: 2}, "
              "routing: {engine: file, file: @}}\n"
              "traffic: [{name: t, kind: saturating}]\n",
    "opensm": "fabric: {topology: {kind: star, hosts: 2}}\n"
              "qos: {opensm: @}\ntraffic: [{name: t, kind: saturating}]\n",
    "policy": "fabric: {topology: {kind: star, hosts: 2}}\n"
              "qos: {policy: @}\ntraffic: [{name: t, kind: saturating}]\n",
    "partitions": "fabric: {topology: {kind: star, hosts: 2}}\n"
                  "qos: {partitions: @}\ntraffic: [{name: t, kind: saturating}]\n",
    "trace": "fabric: {topology: {kind: star, hosts: 2}}\n"
             "traffic: [{name: t, kind: trace, file: @}]\n",
    "goal": "fabric: {topology: {kind: star, hosts: 2}}\n"
            "jobs: [{name: j, goal: @}]\n",
}
COMMANDS = [
    "sim @", "sim s.yaml --restart @", "sim s.yaml --opensm @",
    "sim s.yaml --policy @", "sim s.yaml --partitions @",
    "topo show @", "topo check @", "topo convert @ --to ibsim",
    "route @", "route star -e file --routes @", "route star --sl2vl @ --check",
    "route star -e file --routes star.lft --path-sls @ --check",
    "route star --mcast-routes @ --check", "failures @ --fail links",
    "decode @", "qos lint @", "qos lint qos.conf --policy @",
    "qos explain @ star", "qos explain qos.conf @",
    "qos explain qos.conf star --against @", "qos classify @",
    "qos classify p.conf --fabric @",
    "qos classify p.conf --fabric star.net --partitions @",
    "qos admit @ --random 3", "qos admit star --requests @",
    "qos admit star --from @", "qos bound star @", "qos bound @ s.yaml",
    "qos reserve --requests @ star", "qos verify qos.conf star --against @",
    "qos verify --tables @ star --against .",
    "qos plan --goals @ star", "cc compare @", "cc tune @", "mcast compare @",
    "model fabric @", "bench send-lat -n 2 --size 64 --fabric @",
    "bench send-lat -n 2 --size 64 --profile @", "bench compare @ s.yaml",
    "bench fit @ --into x.yaml", "job show @", "sweep @",
    "sweep merge @ -o x.csv", "report --db @", "report 1 --db @",
    "sim s.yaml --db @", "live replay @ --pcap x.pcap", "paper run @",
]


def kinds():
    """Names of what is no file to be read; what writes to it, and whether
    it may be waited for."""
    os.mkfifo("fifo")
    os.mkdir("folder")
    with open("hole", "wb") as file:
        file.truncate(100 << 30)
    with open("empty", "wb"):
        pass
    socket.socket(socket.AF_UNIX).bind("socket")
    return {"/dev/zero": None, "/dev/full": None,
            "folder": None, "hole": None, "socket": None,
            "empty": None, "/dev/null": None,
            "/dev/stdin": ["yes"], "fifo": None}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(PATIENCE)  # who sleeps for ever computes nothing


def run(heddle, words, kind, writer):
    """Status, complaint and memory; None as status: it waits."""
    feed = subprocess.Popen(writer, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL) if writer else None
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    with open("err", "wb") as err:
        child = subprocess.Popen([heddle] + words, env=env, stderr=err,
                                 stdout=subprocess.DEVNULL, preexec_fn=limit,
                                 stdin=feed.stdout if feed
                                 else subprocess.DEVNULL)
    if feed:
        feed.stdout.close()
    waits = False
    if kind == "fifo":
        try:
            child.wait(0.3)
        except subprocess.TimeoutExpired:
            waits = True
            os.kill(child.pid, signal.SIGTERM)
            try:  # who does not heed it is ended, and found out
                child.wait(PATIENCE / 10)
            except subprocess.TimeoutExpired:
                child.kill()
    if child.returncode is None:
        _, status, used = os.wait4(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        child.returncode = code
    else:
        code, used = child.returncode, None
    if feed:
        feed.kill()
        feed.wait()
    with open("err", encoding="utf-8", errors="replace") as err:
        said = err.read()
    return code, said, used.ru_maxrss << 10 if used else 0, waits


def complaint(kind, code, said, memory, waits):
    if memory > (MOST_OF_PIPE if kind == "/dev/stdin" else MOST):
        return f"takes {memory >> 20} MB: {code}: {said[:300]}"
    # A slow one may end by itself before the signal reaches it.
    if waits and code in (-signal.SIGTERM, 143):
        return None
    if code not in (0, 1, 2, 3, 4):
        return f"ends with {code}: {said[:1000]}"
    if code > 1 and said.count("\n") != 1:
        return f"ends with {code} and says {said!r}"
    return None


def main():
    heddle = os.path.abspath(sys.argv[1])
    shutil.rmtree("work", ignore_errors=True)
    os.mkdir("work")
    os.chdir("work")
    for name, text in FILES.items():
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    subprocess.run([heddle, "route", "star", "--dump", "opensm", "-o",
                    "star.lft"], check=True)
    subprocess.run([heddle, "topo", "gen", "star", "-o", "star.net"],
                   check=True)
    failures, ends = 0, {}
    for kind, writer in kinds().items():
        lines = [c.replace("@", kind) for c in COMMANDS]
        for name, text in SCENARIOS.items():
            path = f"{name}-{os.path.basename(kind)}.yaml"
            with open(path, "w", encoding="ascii") as file:
                file.write(text.replace("@", kind))
            lines.append(f"sim {path}")
        # A benchmark reads its scenario for each point, and waits for it while
        # signals wait for the point.
        if kind == "fifo":
            lines = [x for x in lines if not x.startswith("bench send-lat")]
        # What is written for ever takes a while each.
        if kind == "/dev/stdin" and not LONG:
            lines = lines[::6]
        for line in lines:
            words = shlex.split(line)
            code, said, memory, waits = run(heddle, words, kind, writer)
            wrong = complaint(kind, code, said, memory, waits)
            end = "waits" if waits else code
            ends[end] = ends.get(end, 0) + 1
            if LONG:
                print(f"{end} {memory >> 20} MB heddle {line}: {said[:150]!r}")
            if wrong:
                failures += 1
                print(f"FAILED: heddle {line}: {wrong}", flush=True)
    print(f"{sum(ends.values())} cases: {ends}, {failures} failures")
    sys.exit(failures > 0)


main()
