# SPDX-License-Identifier: BSD-2-Clause
"""The fabric that --to graphml and --to slurm describe is the one of the tables.

GraphML has the nodes and cables of the tables. topology.conf is a tree with
every host once, grouped by the switch that it is cabled to; in a fat tree the lowest
switch of the file above two hosts has half the height of their distance.
Usage: topo_graphs.py HEDDLE TOPOLOGY [fat-tree]"""
import collections
import json
import subprocess
import sys
import xml.etree.ElementTree as ET

heddle, topology = sys.argv[1:3]


def convert(*options):
    return subprocess.run([heddle, "topo", "convert", topology, *options], check=True,
                          capture_output=True, text=True).stdout


tables = json.loads(convert("--json"))["tables"]
nodes = {n["guid"]: n for n in tables["nodes"]["rows"]}
cables = {frozenset([(c["guid"], c["port"]), (c["other guid"], c["other port"])]): c["link"]
          for c in tables["links"]["rows"]}

# ---- GraphML ----
ns = "{http://graphml.graphdrawing.org/xmlns}"
graph = ET.fromstring(convert("--to", "graphml")).find(ns + "graph")


def data(element):
    return {d.get("key"): d.text for d in element.findall(ns + "data")}


drawn = {n.get("id"): data(n) for n in graph.findall(ns + "node")}
assert {d["guid"]: (d["label"], d["kind"], int(d["ports"])) for d in drawn.values()} == \
    {g: (n["node"], n["kind"], n["ports"]) for g, n in nodes.items()}
edges = {}
for e in graph.findall(ns + "edge"):
    d = data(e)
    ends = frozenset([(drawn[e.get("source")]["guid"], int(d["source_port"])),
                      (drawn[e.get("target")]["guid"], int(d["target_port"]))])
    edges[ends] = f"{d['width']}x {d['speed']}"
assert edges == cables

# ---- Slurm ----
leaf_of, parent, switches = {}, {}, []
for line in convert("--to", "slurm").splitlines():
    if line.startswith("#"):
        continue
    (key, name), (kind, children) = (word.split("=") for word in line.split(" "))
    assert key == "SwitchName" and name not in switches
    switches.append(name)
    for child in children.split(","):
        into = leaf_of if kind == "Nodes" else parent
        assert child not in into and (kind == "Nodes" or child in switches)
        into[child] = name
assert len(set(switches) - set(parent)) == 1  # one root
# Slurm's name of a host is the first word of its description.
names = {g: n["node"].split(" ")[0] if n["kind"] == "host" else n["guid"] for g, n in nodes.items()}
near = collections.defaultdict(set)
for c in cables:
    (a, _), (b, _) = c
    near[names[a]].add(names[b])
    near[names[b]].add(names[a])
hosts = {names[g] for g, n in nodes.items() if n["kind"] == "host"}
below = collections.defaultdict(set)
for host, leaf in leaf_of.items():
    below[leaf].add(host)
assert set(leaf_of) == hosts
assert sorted(map(sorted, below.values())) == \
    sorted(sorted(hosts & near[names[g]]) for g, n in nodes.items()
           if n["kind"] == "switch" and hosts & near[names[g]])

if sys.argv[3:] == ["fat-tree"]:
    def above(host):
        path = [leaf_of[host]]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        return path

    first = min(hosts)
    distance, queue = {first: 0}, [first]
    for v in queue:
        for w in near[v] - set(distance):
            distance[w] = distance[v] + 1
            queue.append(w)
    for host in hosts - {first}:
        common = next(i for i, s in enumerate(above(host)) if s in above(first))
        assert distance[host] == 2 * (common + 1), (host, common)
