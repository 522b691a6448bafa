#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `heddle route --load` counts, computed a second time: the cables of the
topology file (ibnetdiscover) and the forwarding tables are walked flow by flow.

    route_load.py TOPOLOGY TABLES RESULTS PATTERNS DATABASE

All pairs, all shifts and the traffic (a tornado) are given, so every number must
be equal; of single links as well, which the picture is coloured by (DATABASE).
Bisections and permutations are drawn by each side for itself, so their 95 % intervals must
meet.
"""
import json
import math
import random
import re
import sqlite3
import sys


def cables_read(path):
    """(node, port) -> (node, port) at the other end, by GUID; hosts in order."""
    cables, names = {}, {}
    node = None
    for line in open(path, encoding="utf-8"):
        head = re.match(r'(Switch|Ca)\s+\d+ "[SH]-(\w+)"\s+# "(\S+)"', line)
        if head:
            node = int(head[2], 16)
            names[node] = (head[1], head[3])
            continue
        port = re.match(r'\[(\d+)\](?:\(\w+\))?\s+"[SH]-(\w+)"\[(\d+)\]', line)
        if port:
            cables[node, int(port[1])] = int(port[2], 16), int(port[3])
    hosts = [n for n, (kind, _) in names.items() if kind == "Ca"]
    number = lambda n: int(re.search(r"\d+", names[n][1])[0])
    return cables, sorted(hosts, key=number), {n: name for n, (_, name) in names.items()}


class Fabric:
    def __init__(self, topology, tables):
        self.cables, self.hosts, self.names = cables_read(topology)
        dump = json.load(open(tables, encoding="utf-8"))
        self.lft = {int(s["guid"], 16): s["lft"] for s in dump["switches"]}
        lid_of = {(p["node"], p["port"]): p["lid"] for p in dump["ports"]}
        self.lid = {
            h: lid
            for h in self.hosts
            for (name, port), lid in lid_of.items()
            if name == f"h{self.hosts.index(h)}" and port == 1
        }
        assert len(self.lid) == len(self.hosts) > 0
        self.ways = {}

    def way(self, source, target):
        """Channels, each named by the port that sends on it."""
        if (source, target) in self.ways:
            return self.ways[source, target]
        at, way = (source, 1), []
        while True:
            way.append(at)
            node, _ = self.cables[at]
            if node == target:
                break
            at = node, self.lft[node][self.lid[target]]
            assert len(way) < 100, "the tables lead in a circle"
        self.ways[source, target] = way
        return way

    def name(self, channel):
        node, port = channel
        return self.names[node] + (f":{port}" if node in self.lft else "")

    def between_switches(self, channel):
        return channel[0] in self.lft and self.cables[channel][0] in self.lft

    def count(self, flows):
        load = {}
        for flow in flows:
            for channel in self.way(*flow):
                load[channel] = load.get(channel, 0) + 1
        return load


def all_to_all(fabric):
    load = fabric.count((a, b) for a in fabric.hosts for b in fabric.hosts if a != b)
    channels = [c for c in fabric.cables if fabric.between_switches(c)]
    counts = [load.get(c, 0) for c in channels]
    return {
        "flows": len(fabric.hosts) * (len(fabric.hosts) - 1),
        "channels": len(channels),
        "idle channels": counts.count(0),
        "mean per channel": sum(counts) / len(counts),
        "most per channel": max(counts),
    }


def channels(fabric):
    """(node, port) -> (node at the other end, and what links() has of it)."""
    flows = links(fabric)
    return {
        (fabric.names[c[0]], c[1]): (fabric.names[to[0]], *flows[fabric.name(c)])
        for c, to in fabric.cables.items()
        if fabric.between_switches(c)
    }


def tornado(hosts):
    return shift(hosts, (len(hosts) + 1) // 2 - 1)


def links(fabric):
    """Name of the port that sends -> flows if all send, most of any shift, and
    of the traffic."""
    hosts = fabric.hosts
    traffic = fabric.count(tornado(hosts))
    pairs, most = {}, {}
    for by in range(1, len(hosts)):
        for channel, n in fabric.count(shift(hosts, by)).items():
            pairs[channel] = pairs.get(channel, 0) + n
            most[channel] = max(most.get(channel, 0), n)
    counts = pairs, most, traffic
    return {fabric.name(c): tuple(n.get(c, 0) for n in counts) for c in fabric.cables}


def links_drawn(path):
    """The same, and the shares of the busiest, as the picture has them."""
    rows = {}
    for line, name, value in sqlite3.connect(path).execute(
        "SELECT line, name, value FROM value WHERE result = 'links'"
    ):
        rows.setdefault(line, {})[name] = value
    pick = lambda *names: {r["port"]: tuple(r[n] for n in names) for r in rows.values()}
    return (pick("flows", "flows of a shift", "flows of the traffic"),
            pick("all pairs", "shifts", "traffic"))


def links_check(fabric, path, wrong):
    mine, (flows, percents) = links(fabric), links_drawn(path)
    if mine != flows:
        wrong.append("flows of single links differ in the picture")
    for k, what in enumerate(("all pairs", "shifts", "traffic")):
        most = max(v[k] for v in mine.values())
        if any(abs(percents[p][k] - 100 * v[k] / most) > 1e-6 for p, v in mine.items()):
            wrong.append(f"{what}: not the shares of the busiest link")


def shares(fabric, patterns):
    """Of a list of patterns, each a list of flows: the columns of the table."""
    every, means, most = [], [], []
    for flows in patterns:
        load = fabric.count(flows)
        got = [1 / max(load[c] for c in fabric.way(*f)) for f in flows]
        every += got
        means.append(sum(got) / len(got))
        most.append(max(n for c, n in load.items() if fabric.between_switches(c)))
    mean = sum(every) / len(every)
    spread = sum((m - mean) ** 2 for m in means) / max(1, len(means) - 1)
    return {
        "mean share": 100 * mean,
        "interval 95 %": 100 * 1.96 * math.sqrt(spread / len(means)),
        "worst pattern": 100 * min(means),
        "worst flow": 100 * min(every),
        "mean of most per channel": sum(most) / len(most),
        "most per channel": max(most),
    }


def shift(hosts, by):
    n = len(hosts)
    return [(hosts[i], hosts[(i + by) % n]) for i in range(n)]


def bisection(hosts, rng):
    order = rng.sample(hosts, len(hosts))
    half = len(hosts) // 2
    return list(zip(order[:half], order[half : 2 * half]))


def permutation(hosts, rng):
    to = rng.sample(hosts, len(hosts))
    return [(a, b) for a, b in zip(hosts, to) if a != b]


def main():
    fabric = Fabric(sys.argv[1], sys.argv[2])
    tables = json.load(open(sys.argv[3], encoding="utf-8"))["tables"]
    patterns = int(sys.argv[4])
    said = {row["pattern"]: row for row in tables["shares"]["rows"]}
    rng = random.Random(1)
    wrong = []

    def equal(what, mine, theirs, columns):
        for column in columns:
            if not math.isclose(mine[column], theirs[column], rel_tol=1e-9):
                wrong.append(f"{what}, {column}: {theirs[column]} instead of {mine[column]}")

    mine = all_to_all(fabric)
    equal("all-to-all", mine, tables["all-to-all"]["rows"][0], mine)
    rows = tables["channel loads"]["rows"]
    counts = "flows", "most of a shift", "of the traffic"
    theirs = {(r["node"], r["port"]): (r["to"], *(r[c] for c in counts)) for r in rows}
    if theirs != channels(fabric):
        wrong.append("flows of single channels differ")
    rank = lambda r: (r["of the traffic"], r["flows"])
    if any(rank(a) < rank(b) for a, b in zip(rows, rows[1:])):
        wrong.append("channels do not come by their flows")
    links_check(fabric, sys.argv[5], wrong)
    hosts = fabric.hosts
    assert said["shift"]["patterns"] == len(hosts) - 1
    mine = shares(fabric, [shift(hosts, k) for k in range(1, len(hosts))])
    equal("shift", mine, said["shift"], [c for c in mine if c != "interval 95 %"])
    mine = shares(fabric, [tornado(hosts)])
    equal("traffic", mine, said["traffic"], mine)
    for name, draw in ("random bisection", bisection), ("random permutation", permutation):
        mine, theirs = shares(fabric, [draw(hosts, rng) for _ in range(patterns)]), said[name]
        apart = abs(mine["mean share"] - theirs["mean share"])
        print(f"{name}: {theirs['mean share']:.2f} +- {theirs['interval 95 %']:.2f} %, "
              f"computed here {mine['mean share']:.2f} +- {mine['interval 95 %']:.2f} %")
        if apart > mine["interval 95 %"] + theirs["interval 95 %"]:
            wrong.append(f"{name}: the intervals do not meet")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(len(wrong) > 0)


main()
