// SPDX-License-Identifier: BSD-2-Clause
// The fabric of a run: nodes, directed links, tables, paths, and utilisation
// over time, from the tables that the simulator records (docs/report.md).

const PICTURE = ["layout", "nodes", "links", "forwarding", "VL mapping", "arbitration",
  "paths", "links over time", "tiers over time", "port VLs", "events"];

// Metrics for colouring links, in percent: simulated, or derived from tables
// (heddle route --load). The first metric of a run determines the busiest
// links.
const METRICS = [
  { name: "used", label: "utilisation", about: "used (simulated)" },
  { name: "waiting", label: "stall (waiting for credits)", about: "waiting for credits (simulated)" },
  { name: "all pairs", label: "all pairs send, of the busiest", about: "all pairs, of the busiest (computed)" },
  { name: "shifts", label: "the worst shift, of the busiest", about: "the worst shift, of the busiest (computed)" },
  { name: "traffic", label: "the traffic, of the busiest", about: "the traffic, of the busiest (computed)" },
];

export function hasFabric(run) {
  const nodes = run.table("nodes"), links = run.table("links");
  return Boolean(nodes && links && nodes.has("node", "name", "kind", "x", "y") && links.has("link", "from", "to") && METRICS.some((m) => links.has(m.name)));
}

export const isFabricTable = (run, table) => hasFabric(run) && PICTURE.includes(table.name);

function rowsOf(table) {
  const rows = [];
  for (let i = 0; i < table.n; i++) {
    const row = {};
    for (const c of table.columns) row[c.name] = c.cells[i];
    rows.push(row);
  }
  return rows;
}

export class Fabric {
  constructor(run) {
    this.run = run;
    this.nodes = rowsOf(run.table("nodes"));
    this.links = rowsOf(run.table("links"));
    this.metrics = METRICS.filter((m) => run.table("links").has(m.name));
    const layout = run.table("layout");
    this.layout = layout ? layout.cells("kind")[0] : "springs";
    this.wraps = layout ? layout.cells("wraps")[0] : false;
    for (const n of this.nodes) n.out = [];
    this.byPort = new Map(); // "node:port" -> the link that leaves there
    for (const l of this.links) {
      this.nodes[l.from].out.push(l);
      this.byPort.set(`${l.from}:${l.out}`, l);
    }
    for (const l of this.links) l.back = this.byPort.get(`${l.to}:${l.in}`);
    this.byName = new Map(this.nodes.map((n) => [n.name, n]));
    // LIDs are unique per subnet: beyond a router they do not name the host.
    this.routed = this.nodes.some((n) => n.kind === "router");
    this.byLid = new Map(this.routed ? [] : this.nodes.filter((n) => n.LID).map((n) => [n.LID, n]));
    // A switch that is also a host has no cable to it.
    this.cables = this.links.filter((l) => l.from !== l.to).length / 2;
    this.readTables();
    this.readTime();
    this.readEvents();
    this.readCircle();
  }

  // Events on links and tables, in us from the start of the run.
  readEvents() {
    const t = this.run.table("events");
    this.events = t ? rowsOf(t) : [];
    const byName = new Map(this.links.map((l) => [l.port, l]));
    for (const e of this.events) {
      const link = byName.get(e.port);
      if (!link || !/^link-(down|up)$/.test(e.event)) continue;
      for (const l of [link, link.back].filter(Boolean)) (l.changes = l.changes || []).push({ time: e.time, down: e.event === "link-down" });
    }
  }

  // Whether a link is down at the end of a step; for the whole run, at its end.
  isDown(link, step) {
    if (!link.changes) return false;
    const until = step < 0 ? Infinity : this.times[step];
    return link.changes.filter((c) => c.time <= until).at(-1)?.down ?? false;
  }

  // Cables that went down, each once: { port, link, time, until }.
  failed() {
    const out = [];
    for (const l of this.links.filter((one) => one.changes && (!one.back || one.from < one.back.from)))
      l.changes.forEach((c, i) => {
        if (c.down && !l.changes[i - 1]?.down) out.push({ port: l.port, link: l, time: c.time, until: l.changes.slice(i).find((d) => !d.down)?.time ?? null });
      });
    return out;
  }

  // The links of a deadlock's cycle, if there is one.
  readCircle(run = this.run) {
    const t = run.table("deadlock");
    this.circle = !t ? [] : rowsOf(t).map((w) => this.byPort.get(`${this.byName.get(w.node)?.node}:${w["waits for port"]}`)).filter(Boolean);
  }

  readTables() {
    const lft = this.run.table("forwarding");
    const switches = this.nodes.filter((n) => n.kind === "switch");
    this.hasForwarding = Boolean(lft && lft.n === switches.length);
    if (this.hasForwarding) switches.forEach((n, i) => { n.lftText = lft.cells("LFT")[i]; });
    const vls = this.run.table("VL mapping");
    this.mappings = vls ? rowsOf(vls) : [];
    this.mappingOf = new Map();
    for (const m of this.mappings) {
      if (!this.mappingOf.has(m.node)) this.mappingOf.set(m.node, []);
      this.mappingOf.get(m.node).push(m);
    }
    const arbitration = this.run.table("arbitration");
    this.arbitration = new Map(arbitration ? rowsOf(arbitration).map((a) => [a.port, a]) : []);
    this.paths = new Map();
    const paths = this.run.table("paths");
    for (const hop of paths ? rowsOf(paths) : []) {
      if (!this.paths.has(hop.path)) this.paths.set(hop.path, []);
      this.paths.get(hop.path).push(hop);
    }
  }

  readTime() {
    const byLink = this.run.table("links over time"), byTier = this.run.table("tiers over time");
    const t = byLink || byTier;
    this.times = t ? [...new Set(t.cells("time"))] : [];
    // Start of the measurement, in us from the start of the run.
    this.start = t ? Math.max(0, this.times.at(-1) - (this.run.table("summary")?.cells("measured")[0] ?? this.times.at(-1))) : 0;
    this.perStep = this.times.map(() => new Map());
    if (!t) return;
    const step = new Map(this.times.map((time, i) => [time, i]));
    for (let i = 0; i < t.n; i++) {
      const key = byLink ? t.cells("link")[i] : `${t.cells("from tier")[i]}-${t.cells("to tier")[i]}`;
      this.perStep[step.get(t.cells("time")[i])].set(key, { used: t.cells("used")[i], waiting: t.cells("waiting")[i] });
    }
    this.timeByTier = !byLink;
  }

  // Links, the busiest first.
  byUse(links) {
    const { name } = this.metrics[0];
    return [...links].sort((a, b) => b[name] - a[name]);
  }

  // The metrics of a link in percent, as texts.
  percents(link) {
    return this.metrics.map((m) => `${link[m.name].toFixed(1)} %`);
  }

  // Step -1 is the whole run. If only tiers were recorded, returns theirs.
  value(link, metric, step) {
    if (step < 0) return link[metric];
    const key = this.timeByTier ? `${this.nodes[link.from].tier}-${this.nodes[link.to].tier}` : link.link;
    const at = this.perStep[step].get(key);
    return at ? at[metric] : 0;
  }

  lft(node) {
    if (!node.lft && node.lftText !== undefined)
      node.lft = node.lftText.split(" ").filter(Boolean).map((range) => {
        const [lids, port] = range.split(":"), [low, high] = lids.split("-").map(Number);
        return { low, high: high ?? low, port: Number(port) };
      });
    return node.lft || [];
  }

  mapping(node, inPort, outPort) {
    const fits = (want, port) => want === "any" || Number(want) === port;
    const rows = this.mappingOf.get(node.name) || [];
    const found = rows.find((m) => fits(m.in, inPort) && fits(m.out, outPort)) || (this.mappingOf.get("any") || [])[0];
    return found ? found.SL2VL.split(" ").map(Number) : null;
  }

  // The path between two hosts, in the notation of recorded paths.
  way(from, to, sl) {
    const hops = [];
    let node = from, inPort = null;
    while (node && hops.length < 80) {
      const out = node === from ? (node.out[0] || {}).out
        : (this.lft(node).find((r) => to.LID >= r.low && to.LID <= r.high) || {}).port;
      const link = node === to ? null : this.byPort.get(`${node.node}:${out}`);
      const map = link ? this.mapping(node, inPort, out) : null;
      hops.push({ hop: hops.length, node: node.node, in: inPort, out: link ? out : null, SL: sl, VL: map ? map[sl] : null });
      if (!link) break;
      inPort = link.in;
      node = this.nodes[link.to];
    }
    return hops;
  }
}
