#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The most that a tree can carry between leaves, as a maximum flow over its
cables, next to what a run delivered: RUN.json LEAVES HOSTS-OF-A-LEAF SPINES."""
import json
import sys
from collections import deque


def max_flow(capacity, source, sink):
    """Edmonds and Karp: the shortest way with room left, again and again."""
    total = 0
    while True:
        before, queue = {source: None}, deque([source])
        while queue and sink not in before:
            at = queue.popleft()
            for to, room in capacity[at].items():
                if room > 1e-9 and to not in before:
                    before[to] = at
                    queue.append(to)
        if sink not in before:
            return total
        way, at = [], sink
        while before[at] is not None:
            way.append((before[at], at))
            at = before[at]
        least = min(capacity[a][b] for a, b in way)
        for a, b in way:
            capacity[a][b] -= least
            capacity[b][a] = capacity[b].get(a, 0) + least
        total += least


def bound(flows, rate, leaves, hosts, spines):
    """All flows between leaves as one: no choice of ways can carry more."""
    nodes = ["source", "sink"] + ["spine%d" % s for s in range(spines)]
    nodes += ["%s%d" % (kind, leaf) for kind in ("up", "down") for leaf in range(leaves)]
    nodes += ["from%d" % h for h in range(leaves * hosts)]
    nodes += ["to%d" % h for h in range(leaves * hosts)]
    capacity = {node: {} for node in nodes}
    for leaf in range(leaves):
        for s in range(spines):
            capacity["up%d" % leaf]["spine%d" % s] = rate
            capacity["spine%d" % s]["down%d" % leaf] = rate
    for a, b in flows:
        capacity["source"]["from%d" % a] = rate
        capacity["from%d" % a]["up%d" % (a // hosts)] = rate
        capacity["down%d" % (b // hosts)]["to%d" % b] = rate
        capacity["to%d" % b]["sink"] = rate
    return max_flow(capacity, "source", "sink")


def table(results, name):
    return results["tables"][name]["rows"]


def main():
    leaves, hosts, spines = map(int, sys.argv[2:])
    crossing, rate, delivered = [], None, 0.0
    with open(sys.argv[1]) as f:
        results = json.load(f)
    for row in table(results, "flows"):
        a, b = int(row["source"][1:]), int(row["destination"][1:])
        if a // hosts != b // hosts:
            crossing.append((a, b))
            delivered += float(row["delivered"])
    for row in table(results, "ports"):
        rate = float(row["rate"])
    most = bound(crossing, rate, leaves, hosts, spines)
    print("%.1f of at most %.1f Gb/s between leaves" % (delivered, most))
    return 0 if crossing and 0 < delivered <= most else 1


if __name__ == "__main__":
    sys.exit(main())
