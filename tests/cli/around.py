#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a dragonfly+ can carry from group 0 to group 1 alone, as a maximum flow
over minimal ways and over those by one third group; and from every group to the
next at once, by counting cables. In links' rates, one line."""
import sys

from adaptive import max_flow

GROUPS, LEAVES, SPINES, GLOBALS, HOSTS = map(int, sys.argv[1:])
ROUNDS = SPINES * GLOBALS // (GROUPS - 1)


def cables():
    """(group, spine, group, spine) of every global cable, seen from both ends.

    Global ports of a group are used in rounds, one to each other group, from the
    one before it backwards (the palmtree)."""
    spine = {}
    for group in range(GROUPS):
        for k in range(ROUNDS * (GROUPS - 1)):
            to = (group - 1 - k % (GROUPS - 1)) % GROUPS
            spine[group, to, k // (GROUPS - 1)] = k // GLOBALS
    return [(a, s, b, spine[b, a, r]) for (a, b, r), s in spine.items()]


def flow(around):
    capacity = {}

    def join(a, b, room=1.0):
        capacity.setdefault(a, {})
        capacity.setdefault(b, {})
        capacity[a][b] = capacity[a].get(b, 0.0) + room

    for leaf in range(LEAVES):
        join("source", ("leaf", 0, leaf), HOSTS)
        join(("leaf", 1, leaf), "sink", HOSTS)
        for s in range(SPINES):
            join(("leaf", 0, leaf), ("spine", 0, s))
            join(("spine", 1, s), ("leaf", 1, leaf))
    for a, s, b, t in cables():
        if (a, b) == (0, 1) or (around and (a == 0) != (b == 1)):
            join(("spine", a, s), ("spine", b, t))
    return max_flow(capacity, "source", "sink")


minimal = min(ROUNDS, LEAVES * HOSTS)
all_cables = ROUNDS * (GROUPS - 1)
shift = min(LEAVES * HOSTS, ROUNDS + (all_cables - ROUNDS) / 2)
print(flow(False), flow(True), GROUPS * minimal, GROUPS * shift)
