#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The tables of a run count what its trace shows, from the begin of measuring
to the end of the run; and observers change no result.

Usage: counted.py HEDDLE CASES, in an empty folder. Random scenarios of traffic
and jobs, with warm-ups, errors, lost updates and cables that fail, the first
CASES of always the same ones. counted.py HEDDLE CASES CASE repeats one.
"""
import json
import os
import random
import subprocess
import sys
from collections import Counter

HEDDLE = sys.argv[1]
STEPS = [{"allreduce": 10000}, {"alltoall": 5000}, {"shift": 1000},
         {"compute": "3us"}, {"barrier": 0}, {"broadcast": 9000},
         {"write": 20000, "to": "0", "request": 4096}]
TOPOLOGIES = [{"kind": "star", "hosts": 4},
              {"kind": "mesh", "columns": 2, "rows": 2, "hosts": 1},
              {"kind": "xgft", "down": "2,3", "up": "1,2"},
              {"kind": "ring", "switches": 4, "hosts": 1}]


def row(rng, i):
    kind = rng.choice(["poisson", "cbr", "saturating", "messages"])
    out = {"name": f"t{i}", "kind": kind, "sl": rng.randrange(4),
           "payload": rng.choice([64, 1000, 2048])}
    if kind in ("poisson", "cbr"):
        out["load"] = rng.choice(["5%", "60%"])
    if kind == "messages":
        out.update(count=rng.randint(1, 9), start="4us", payload=9000)
    return out


def scenario(rng):
    packets = rng.random() < 0.4
    out = {"fabric": {"topology": rng.choice(TOPOLOGIES), "routing": "updn",
                      "link": rng.choice(["25Gb/s", "4x EDR", "10Gb/s"]),
                      "credits": rng.choice(["delay", "delay", "exact"])},
           "qos": {"vls": 4}, "faults": {},
           "run": {"seed": rng.randrange(1000), "horizon": "300us",
                   "warmup": "9 packets" if packets else
                   rng.choice(["0s", "3us", "12us"]),
                   "measure": "60 packets" if packets else "25us"}}
    if rng.random() < 0.3:
        out["run"]["precision"] = "30%"
    rows, jobs = rng.choice([(2, 0), (1, 1), (2, 1), (2, 2), (0, 1), (0, 2)])
    if rows:
        out["traffic"] = [row(rng, i) for i in range(rows)]
    if jobs:
        out["jobs"] = [{"name": f"j{i}", "alone": False,
                        "start": f"{rng.randrange(9)}us",
                        "program": rng.sample(STEPS, 2)}
                       for i in range(jobs)]
    if rng.random() < 0.5:
        out["faults"]["update_loss"] = 0.3
    if rng.random() < 0.2:
        out["faults"]["ber"] = 1e-6
    if rng.random() < 0.4:
        out["faults"]["hoq_life"] = rng.choice(["1ns", "200ns"])
    if rng.random() < 0.2:
        out["faults"]["events"] = [
            {"at": "5us", "kind": "link-down", "port": "h1:1"},
            {"at": "11us", "kind": "link-up", "port": "h1:1"}]
    return out


def sim(*options):
    """Tables by name."""
    done = subprocess.run([HEDDLE, "sim", "s.yaml", "--json", "--all", *options],
                          capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{done.stderr}")
    return json.loads(done.stdout)["tables"]


def content(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def seen(since, until):
    """What the trace shows: by port and VL, by row, by job and port."""
    vls, rows, lost, jobs = Counter(), Counter(), Counter(), Counter()
    with open("trace", encoding="ascii") as file:
        for line in file:
            if line.startswith("#"):
                continue
            head, name, tail = line.split("'")
            time, event, port = head.split()
            if not since <= int(time.replace(".", "")) <= until:
                continue
            if event == "sends":
                size, _, vl = tail.split()[1:]
                vls[port, int(vl)] += 1
                if name.startswith("job "):
                    jobs[name[4:], port] += int(size)
            elif event == "receives":
                rows[name.split()[0]] += 1
            else:
                lost[name.split()[0]] += 1
    return vls, rows, lost, jobs


def told(tables):
    """The same, as the tables have it."""
    def by(table, value, *keys):
        rows = tables.get(table, {"rows": []})["rows"]

        return +Counter({tuple(r[k] for k in keys) if len(keys) > 1 else
                         r[keys[0]]: r[value] for r in rows})
    return (by("port VLs", "packets", "port", "VL"),
            by("traffic", "packets", "traffic"),
            by("traffic", "lost", "traffic"),
            by("job links", "bytes", "job", "link"))


def complaint(case):
    what = scenario(random.Random(case))
    with open("s.yaml", "w", encoding="ascii") as file:
        json.dump(what, file)
    if os.path.exists("db"):
        os.unlink("db")
    tables = sim("--trace", "trace")
    if sim("--db", "db") != tables:
        return "differs if it is recorded"
    if sim("--threads", "3", "--trace", "again") != tables or \
            content("again") != content("trace"):
        return "differs on three threads"
    ports = Counter({r["port"]: r["packets"] for r in tables["ports"]["rows"]})
    sums = Counter()
    for (port, _), n in told(tables)[0].items():
        sums[port] += n
    if +ports != sums:
        return "ports and their VLs differ"
    if any((r["share"] or 101) > 100.001 for r in
           tables.get("job links", {"rows": []})["rows"]):
        return "a job sent more than all of its link"
    if "traffic" in what and "packets" in what["run"]["warmup"]:
        return None  # the trace does not say where measuring begins
    since = int(what["run"]["warmup"][:-2] or 0) * 10**6 if "traffic" in what \
        else 0
    span = round(tables["summary"]["rows"][0]["measured"] * 10**6)
    names = {r["name"] for r in what.get("traffic", [])}
    for name, a, b in zip(("VLs", "received", "lost", "job links"),
                          seen(since, since + span), told(tables)):
        if name in ("received", "lost"):
            a = Counter({k: v for k, v in a.items() if k in names})
        if a != b:
            return f"{name}: trace {a - b}, tables {b - a}"
    return None


def main():
    cases = [int(sys.argv[3])] if len(sys.argv) > 3 else range(int(sys.argv[2]))
    failures = 0
    for case in cases:
        wrong = complaint(case)
        if wrong:
            failures += 1
            print(f"FAILED: case {case}: {wrong}")
    sys.exit(failures > 0)


main()
