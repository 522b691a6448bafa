// SPDX-License-Identifier: BSD-2-Clause
// The fabric as a picture: links coloured by utilisation, tables and counters
// of the selected element, the path of a flow with its VLs, a slider for time.
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { format, withUnit } from "./data.js";
import { panelSvg } from "./export.js";
import { drawMatrix, paintMatrix, tierPairs } from "./matrix.js";
import { Fabric, hasFabric, isFabricTable } from "./model.js";
import { svg } from "./shapes.js";
import { el } from "./tables.js";
import { timeControl } from "./time.js";

export { isFabricTable };

const UNIT = 100; // pixels between neighbours
const MOST_LINKS = 4096, MOST_NODES = 2000; // drawn one by one
const GROUPS = 36; // boxes of a tier in a large fabric
const HAIRBALL = 200; // cables between two tiers beyond which lines hide each other
const SHOWN = 12; // busiest links, next to the picture

// From idle (grey) over blue, green and amber to full (red), on light and dark.
const STOPS = [[0, [120, 135, 155]], [20, [45, 120, 200]], [45, [25, 150, 115]], [65, [222, 160, 20]], [85, [224, 92, 30]], [100, [190, 25, 60]]];
export function colour(percent) {
  const p = Math.max(0, Math.min(100, percent || 0));
  const k = STOPS.findIndex(([at]) => at >= p);
  if (k <= 0) return `rgb(${STOPS[0][1].join(",")})`;
  const [a, from] = STOPS[k - 1], [b, to] = STOPS[k], t = (p - a) / (b - a);
  return `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * t)).join(",")})`;
}
const gradient = `linear-gradient(90deg,${STOPS.map(([at, c]) => `rgb(${c.join(",")}) ${at}%`).join(",")})`;

// ---- layout ----------------------------------------------------------------

// Positions in pixels; hosts are below their switch, or around it.
function place(f) {
  const at = new Map(), own = f.nodes.filter((n) => n.x !== null);
  const span = (k) => Math.max(...own.map((n) => n[k])) - Math.min(...own.map((n) => n[k]));
  // Wide trees have tall tiers.
  const high = f.layout === "layers" ? Math.max(1, (span("x") / Math.max(1, span("y"))) * 0.42) * UNIT : UNIT;
  for (const n of own) at.set(n.node, [n.x * UNIT, -n.y * high]);
  const hostsOf = new Map();
  for (const n of f.nodes) {
    if (n.x !== null) continue;
    const owner = n.out.length ? n.out[0].to : null;
    if (!hostsOf.has(owner)) hostsOf.set(owner, []);
    hostsOf.get(owner).push(n);
  }
  for (const [owner, hosts] of hostsOf) {
    const centre = at.get(owner) || [0, 0], host = f.nodes[owner];
    let away = [0, 0];
    for (const l of host ? host.out : []) {
      const to = at.get(l.to);
      if (to && f.layout !== "grid") away = [away[0] + centre[0] - to[0], away[1] + centre[1] - to[1]];
    }
    const turn = Math.hypot(...away) < 30 ? null : Math.atan2(away[1], away[0]);
    hosts.forEach((n, i) => {
      if (f.layout === "layers") {
        const rows = Math.ceil(hosts.length / 6), per = Math.ceil(hosts.length / rows);
        at.set(n.node, [centre[0] + (((i % per) + 0.5) / per - 0.5) * UNIT * 0.86, centre[1] + Math.max(0.42 * UNIT, 0.3 * high) + UNIT * 0.16 * Math.floor(i / per)]);
        return;
      }
      const angle = turn === null ? (Math.PI * 2 * i) / hosts.length - Math.PI / 4
        : turn + Math.min(0.6, 3.6 / hosts.length) * (i - (hosts.length - 1) / 2);
      at.set(n.node, [centre[0] + UNIT * 0.36 * Math.cos(angle), centre[1] + UNIT * 0.36 * Math.sin(angle)]);
    });
  }
  return at;
}

// The two directions are parallel lines; parallel cables fan out.
function linkPath(f, at, l, nearby, gap = 2.1) {
  const [x1, y1] = at.get(l.from), [x2, y2] = at.get(l.to);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const nx = -(y2 - y1) / length, ny = (x2 - x1) / length, off = gap + nearby * gap * 2.2;
  const a = [x1 + nx * off, y1 + ny * off], b = [x2 + nx * off, y2 + ny * off];
  const bent = f.layout === "grid" && f.wraps && length > 1.5 * UNIT;
  const p = (v) => v.map((c) => c.toFixed(1)).join(" ");
  if (!bent) return `M${p(a)}L${p(b)}`;
  // Both directions bend to the same side.
  const side = l.from < l.to ? 1 : -1, far = 0.14 * length * side;
  return `M${p(a)}Q${p([(a[0] + b[0]) / 2 + nx * far, (a[1] + b[1]) / 2 + ny * far])} ${p(b)}`;
}

// Names of hosts, each outside of its host as seen from the switch, or below
// it; none if there is not enough room for all of them.
const LETTER = 2.7, LINE = 5; // half of one, in pixels
function hostNames(f, at, halfOf) {
  const boxes = f.nodes.filter((n) => at.has(n.node)).map((n) => {
    const [x, y] = at.get(n.node), half = n.kind === "host" ? 3.5 : halfOf(n), tall = Math.min(half, 9);
    return [x - half, y - tall, x + half, y + tall];
  }), names = [];
  for (const n of f.nodes) {
    if (n.kind !== "host" || !at.has(n.node)) continue;
    const [x, y] = at.get(n.node), owner = (f.layout !== "layers" && n.out.length && at.get(n.out[0].to)) || [x, y - 1];
    const far = Math.hypot(x - owner[0], y - owner[1]) || 1, dx = (x - owner[0]) / far, dy = (y - owner[1]) / far;
    const half = LETTER * n.name.length, cx = x + dx * (8 + half), cy = y + dy * (8 + LINE);
    const box = [cx - half, cy - LINE, cx + half, cy + LINE];
    if (boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return [];
    boxes.push(box);
    names.push(svg("text", { class: "of-host", x: cx, y: cy + 3 }, n.name));
  }
  return names;
}

// ---- the picture one by one ------------------------------------------------

function drawSingle(view, f) {
  const at = place(f), pairs = new Map();
  const links = svg("g"), ways = svg("g"), nodes = svg("g");
  const all = [...at.values()], wide = Math.max(...all.map((p) => p[0])) - Math.min(...all.map((p) => p[0]));
  // A wide picture is scaled down, so its elements are drawn larger.
  const grow = Math.max(1, wide / 1100) ** 0.8, few = grow < 1.25;
  const halfOf = (n) => (few && n.kind !== "host" ? Math.max(11, 3.4 * n.name.length + 4) : 8 * grow);
  for (const l of f.links) {
    if (!at.has(l.from) || !at.has(l.to)) continue;
    const key = `${l.from}-${l.to}`, nearby = pairs.get(key) || 0;
    pairs.set(key, nearby + 1);
    const d = linkPath(f, at, l, nearby, grow > 1.25 ? 1.1 * grow ** 0.6 : 2.1);
    l.shape = svg("path", { class: "link", d, "stroke-width": grow > 1.25 ? 1.6 * grow ** 0.6 : 3.2, fill: "none" });
    const hit = svg("path", { class: "hit", d, "stroke-width": 8 * grow ** 0.5, "data-link": l.link, fill: "none" });
    hit.append(svg("title"));
    hit.addEventListener("click", () => view.chooseLink(l));
    l.hit = hit;
    links.append(l.shape, hit);
  }
  for (const n of f.nodes) {
    if (!at.has(n.node)) continue;
    const [x, y] = at.get(n.node), label = few && n.kind !== "host", half = halfOf(n), tall = 9 * grow;
    n.shape = n.kind === "switch"
      ? svg("rect", { class: "node switch", x: x - half, y: y - tall, width: 2 * half, height: 2 * tall, rx: 3 * grow })
      : svg("circle", { class: `node ${n.kind}`, cx: x, cy: y, r: (n.kind === "host" ? 5 : 8) * grow ** 0.4 });
    n.shape.setAttribute("data-node", n.node);
    n.shape.append(svg("title", {}, `${n.name}, ${n.kind}, LID ${n.LID}`));
    n.shape.addEventListener("click", () => view.chooseNode(n));
    nodes.append(n.shape);
    if (label) nodes.append(svg("text", { x, y: y + 3.5 }, n.name));
  }
  if (few) nodes.append(...hostNames(f, at, halfOf));
  view.stage.replaceChildren(ways, links, nodes);
  view.ways = ways;
  view.at = at;
  const xs = [...at.values()].map((p) => p[0]), ys = [...at.values()].map((p) => p[1]);
  view.fit(Math.min(...xs) - 60, Math.min(...ys) - 40, Math.max(...xs) + 60, Math.max(...ys) + 40);
}

// Busy links are thick and on top; failed links are dashed.
function paintSingle(view, f) {
  const drawn = f.links.filter((l) => l.shape).map((l) => ({ l, v: f.value(l, view.metric, view.step), down: f.isDown(l, view.step) }));
  for (const { l, v, down } of drawn) {
    l.wide = l.wide || Number(l.shape.getAttribute("stroke-width"));
    l.shape.setAttribute("stroke", down ? "var(--bad)" : colour(v));
    l.shape.setAttribute("stroke-width", (l.wide * (0.55 + 0.95 * (Math.min(v, 100) / 100) ** 2)).toFixed(2));
    l.shape.classList.toggle("down", down);
    l.hit.firstChild.textContent = `${l.port} to ${f.nodes[l.to].name}: ${down ? "down, " : ""}${view.metric} ${v.toFixed(1)} %`;
  }
  drawn.sort((a, b) => a.down - b.down || a.v - b.v);
  for (const { l } of drawn) l.shape.parentNode.append(l.shape, l.hit);
}

// ---- tiers of a large fabric -----------------------------------------------

function tierName(f, tier) {
  const of = f.nodes.filter((n) => n.tier === tier);
  return `tier ${tier}: ${of.length} ${of[0].kind}${of[0].kind === "switch" && of.length > 1 ? "es" : of.length > 1 ? "s" : ""}`;
}

function groupNodes(f) {
  const tiers = [...new Set(f.nodes.map((n) => n.tier))].sort((a, b) => b - a), boxes = [];
  tiers.forEach((tier, row) => {
    const of = f.nodes.filter((n) => n.tier === tier), count = Math.min(GROUPS, of.length);
    for (let k = 0; k < count; k++) {
      const members = of.slice(Math.floor((k * of.length) / count), Math.floor(((k + 1) * of.length) / count));
      const box = { tier, row, k, count, members, up: new Map() };
      for (const n of members) n.box = box;
      boxes.push(box);
    }
  });
  return { tiers, boxes };
}

function drawTiers(view, f) {
  const { tiers, boxes } = groupNodes(f), wide = 1180, high = 150;
  const edges = new Map();
  for (const l of f.links) {
    const a = f.nodes[l.from].box, b = f.nodes[l.to].box, key = `${boxes.indexOf(a)}-${boxes.indexOf(b)}`;
    l.edge = key;
    if (!edges.has(key)) edges.set(key, { a, b, links: [] });
    edges.get(key).links.push(l);
  }
  const lines = svg("g"), shapes = svg("g"), ways = svg("g");
  for (const box of boxes) {
    box.w = (wide / box.count) * 0.86;
    box.x = ((box.k + 0.5) * wide) / box.count;
    box.y = 50 + box.row * high;
  }
  for (const e of edges.values()) {
    if (e.a.row === e.b.row && e.a.k === e.b.k) continue;
    const down = e.a.row < e.b.row || (e.a.row === e.b.row && e.a.k < e.b.k) ? 1.5 : -1.5;
    const d = `M${(e.a.x + down).toFixed(1)} ${e.a.y + (e.a.row <= e.b.row ? 13 : -13)}L${(e.b.x + down).toFixed(1)} ${e.b.y + (e.a.row <= e.b.row ? -13 : 13)}`;
    e.shape = svg("path", { class: "link", d, "stroke-width": 2, "stroke-opacity": edges.size > 600 ? 0.5 : 0.9, fill: "none" });
    e.hit = svg("path", { class: "hit", d, "stroke-width": 6, fill: "none", "data-edge": "" });
    e.hit.append(svg("title"));
    e.hit.addEventListener("click", () => view.chooseEdge(e));
    lines.append(e.shape, e.hit);
  }
  for (const box of boxes) {
    box.shape = svg("rect", { class: "node switch", x: box.x - box.w / 2, y: box.y - 12, width: box.w, height: 24, rx: 3, "data-box": "" });
    box.title = svg("title");
    box.shape.append(box.title);
    box.shape.addEventListener("click", () => view.chooseBox(box));
    shapes.append(box.shape);
  }
  for (const tier of tiers) {
    const row = boxes.find((b) => b.tier === tier).row;
    shapes.append(svg("text", { class: "tier", x: 0, y: 50 + row * high - 20 }, tierName(f, tier)));
  }
  view.stage.replaceChildren(ways, lines, shapes);
  view.ways = ways;
  view.edges = [...edges.values()];
  view.boxes = boxes;
  view.fit(-20, 0, wide + 20, 50 + tiers.length * high - 60);
}

function paintTiers(view, f) {
  for (const e of view.edges) {
    if (!e.shape) continue;
    const values = e.links.map((l) => f.value(l, view.metric, view.step));
    const most = Math.max(...values), mean = values.reduce((a, b) => a + b, 0) / values.length;
    e.most = most;
    e.shape.setAttribute("stroke", colour(mean));
    e.hit.firstChild.textContent = `${e.links.length} links: ${view.metric} ${mean.toFixed(1)} % in the mean, ${most.toFixed(1)} % at most`;
  }
  for (const box of view.boxes) {
    const values = box.members.flatMap((n) => n.out.map((l) => f.value(l, view.metric, view.step)));
    const most = values.length ? Math.max(...values) : 0;
    box.shape.style.fill = colour(most);
    box.title.textContent = `${box.members[0].name} to ${box.members[box.members.length - 1].name}, ${box.members.length} nodes: busiest link ${most.toFixed(1)} %`;
  }
}

// ---- the neighbourhood of one node of a large fabric ------------------------

function drawAround(view, f, centre) {
  const at = new Map([[centre.node, [0, 0]]]);
  const peers = [...new Set(centre.out.map((l) => l.to))];
  peers.forEach((p, i) => {
    const up = f.nodes[p].tier > centre.tier, same = peers.filter((q) => f.nodes[q].tier > centre.tier === up), k = same.indexOf(p);
    at.set(p, [((k + 0.5) / same.length - 0.5) * Math.max(300, same.length * 46), (up ? -1 : 1) * (150 + (k % 2) * 26)]);
  });
  const links = svg("g"), nodes = svg("g"), ways = svg("g"), pairs = new Map();
  for (const l of centre.out.flatMap((o) => [o, o.back]).filter(Boolean)) {
    const key = `${l.from}-${l.to}`, nearby = pairs.get(key) || 0;
    pairs.set(key, nearby + 1);
    const d = linkPath({ layout: "springs" }, at, l, nearby);
    l.shape = svg("path", { class: "link", d, "stroke-width": 3.2 });
    l.hit = svg("path", { class: "hit", d, "stroke-width": 8, "data-link": l.link });
    l.hit.append(svg("title"));
    l.hit.addEventListener("click", () => view.chooseLink(l));
    links.append(l.shape, l.hit);
  }
  for (const [id, [x, y]] of at) {
    const n = f.nodes[id];
    const shape = n.kind === "host" ? svg("circle", { class: "node host", cx: x, cy: y, r: 6 })
      : svg("rect", { class: "node switch", x: x - 9, y: y - 9, width: 18, height: 18, rx: 3 });
    shape.setAttribute("data-node", id);
    shape.append(svg("title", {}, `${n.name}, ${n.kind}, LID ${n.LID}`));
    shape.addEventListener("click", () => view.chooseNode(n));
    nodes.append(shape, n === centre ? svg("text", { class: "tier", x: x + 16, y: y + 5 }, n.name) : svg("text", { x, y: y + (y < 0 ? -14 : 22) }, n.name));
  }
  view.stage.replaceChildren(ways, links, nodes);
  view.ways = ways;
  view.at = at;
  const xs = [...at.values()].map((p) => p[0]);
  view.fit(Math.min(-160, ...xs) - 40, -220, Math.max(160, ...xs) + 40, 220);
}

// ---- details of a selected element -----------------------------------------

const heading = (text) => el("h4", {}, text);

function smallTable(head, rows, label) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col", class: "text" }, h)))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((c) => el("td", { class: c.node ? null : typeof c === "string" && c.length > 30 ? "text long" : "text" }, c)))))));
}

// Rows of any table of the run whose column "port" has this port.
function counters(f, port) {
  const out = [];
  for (const t of f.run.tables) {
    if (["links", "arbitration"].includes(t.name) || !t.has("port")) continue;
    const cells = t.cells("port"), hits = [];
    for (let i = 0; i < t.n && hits.length < 20; i++) if (cells[i] === port) hits.push(i);
    if (!hits.length) continue;
    const columns = t.columns.filter((c) => c.name !== "port");
    out.push(heading(`${t.name} (${t.origins().join(", ")})`),
      hits.length === 1
        ? smallTable(["", ""], columns.map((c) => [withUnit(c), format(c, c.cells[hits[0]])]), t.name)
        : smallTable(columns.map(withUnit), hits.map((i) => columns.map((c) => format(c, c.cells[i]))), t.name));
  }
  return out;
}

function arbitrationOf(f, port) {
  const a = f.arbitration.get(port) || f.arbitration.get("any");
  if (!a) return [];
  return [heading("VL arbitration"), smallTable(["", "VL:weight"], [["high", a.high], ["low", a.low], ["limit of high", String(a.limit)]], "VL arbitration")];
}

function mappingsOf(f, node) {
  const own = f.mappingOf.get(node.name) || f.mappingOf.get("any") || [];
  if (!own.length) return [];
  return [heading("SL to VL"), smallTable(["in", "out", "VL of SL 0, 1, …"], own.slice(0, 200).map((m) => [m.in, m.out, m.SL2VL]), "SL to VL")];
}

function forwardingOf(f, node) {
  if (node.kind !== "switch") return [];
  const lft = f.lft(node);
  if (!lft.length) return [heading("LFT"), el("p", { class: "hint" }, "The forwarding tables of a fabric this large are not in the record; ‘heddle route’ shows them.")];
  const who = (r) => {
    const first = f.byLid.get(r.low), last = f.byLid.get(r.high);
    return r.low === r.high ? (first ? first.name : "") : `${first ? first.name : "?"} … ${last ? last.name : "?"}`;
  };
  return [heading("LFT"), smallTable(["LID", "port", "to"], lft.slice(0, 400).map((r) => [r.low === r.high ? String(r.low) : `${r.low}–${r.high}`, String(r.port), who(r)]), "LFT")];
}

function nodeDetails(view, f, n) {
  const ports = n.out.map((l) => {
    const open = el("button", { type: "button", onclick: () => view.chooseLink(l) }, String(l.out));
    return [open, f.nodes[l.to].name, `${l.rate} Gb/s`, ...f.percents(l)];
  });
  return [el("h4", { class: "subject" }, `${n.name}: ${n.kind}, tier ${n.tier}, LID ${n.LID}`),
    smallTable(["port", "to", "rate", ...f.metrics.map((m) => m.name)], ports, "ports"),
    ...forwardingOf(f, n), ...mappingsOf(f, n), ...(n.out[0] ? arbitrationOf(f, n.out[0].port) : [])];
}

function sparkline(f, l) {
  if (!f.times.length || f.timeByTier) return [];
  const w = 260, h = 60, n = f.times.length;
  const path = (metric) => f.times.map((_, i) => `${i ? "L" : "M"}${((i / Math.max(1, n - 1)) * w).toFixed(1)} ${(h - (f.value(l, metric, i) / 100) * h).toFixed(1)}`).join("");
  const chart = svg("svg", { width: w, height: h + 4, viewBox: `0 -2 ${w} ${h + 4}`, role: "img", "aria-label": `use of ${l.port} over time` },
    svg("path", { d: path("used"), fill: "none", stroke: "var(--c1)", "stroke-width": 1.5 }),
    svg("path", { d: path("waiting"), fill: "none", stroke: "var(--c2)", "stroke-width": 1.5 }));
  return [heading("over time: used (blue), waiting (orange), 0 to 100 %"), chart];
}

function linkDetails(view, f, l) {
  const direction = (d) => d && [el("h4", { class: "subject" }, `${d.port} → ${f.nodes[d.to].name}`),
    smallTable(["", ""], [["rate (given)", `${d.rate} Gb/s`], ...f.percents(d).map((v, i) => [f.metrics[i].about, v])], "link"),
    ...sparkline(f, d), ...counters(f, d.port), ...arbitrationOf(f, d.port)];
  return [...(view.actions ? view.actions(l) : []), ...direction(l), ...(direction(l.back) || [])];
}

const hopRows = (f, hops) => hops.map((h) => [String(h.hop), f.nodes[h.node].name, h.in === null ? "–" : String(h.in), h.out === null ? "–" : String(h.out),
  h.VL === null || h.VL === undefined ? "–" : `SL ${h.SL} → VL ${h.VL}`]);

// ---- the panel ----------------------------------------------------------------

export class View {
  constructor(f) {
    this.f = f;
    this.metric = f.metrics[0].name;
    this.step = -1;
    this.large = f.links.length > MOST_LINKS || f.nodes.length > MOST_NODES;
    this.pairs = f.layout === "layers" ? tierPairs(f) : [];
    this.pair = !this.large && this.pairs.length && this.pairs[0].cables > HAIRBALL ? this.pairs[0] : null;
    this.root = svg("svg", { role: "group", "aria-label": `the fabric: ${f.nodes.length} nodes, ${f.cables} cables` });
    this.stage = svg("g", { "data-fabric": "" });
    this.root.append(this.stage);
    this.aside = el("div", { class: "aside", "aria-live": "polite", tabindex: "0", role: "region", "aria-label": "details" });
    this.zoom = zoom().scaleExtent([0.2, 12]).filter((e) => !e.button && (e.type !== "wheel" || e.ctrlKey))
      .on("zoom", (e) => this.stage.setAttribute("transform", e.transform));
    select(this.root).call(this.zoom);
  }
  fit(x0, y0, x1, y1) {
    this.root.setAttribute("viewBox", `${x0} ${y0} ${x1 - x0} ${y1 - y0}`);
    this.root.style.aspectRatio = `${x1 - x0} / ${y1 - y0}`;
    select(this.root).call(this.zoom.transform, zoomIdentity);
  }
  draw() {
    this.around = null;
    for (const l of this.f.links) l.shape = l.cell = null;
    if (this.pair) drawMatrix(this, this.f, this.pair);
    else (this.large ? drawTiers : drawSingle)(this, this.f);
    this.paint();
    this.drawCircle();
    this.showFirst();
  }
  // "lines", or the index of a pair of tiers.
  drawAs(what) {
    this.pair = what === "lines" ? null : this.pairs[what];
    this.draw();
  }
  paint() {
    if (this.around) paintSingle(this, this.f);
    else if (this.pair) paintMatrix(this, this.f, colour);
    else (this.large ? paintTiers : paintSingle)(this, this.f);
  }
  // Text next to the picture before a selection.
  showFirst() {
    const f = this.f, failed = f.failed();
    const hint = this.pair ? "A cell shows the cables of two switches: the upper half the direction up, the lower half down. Click a half, or type a name."
      : this.large ? "Each box shows some nodes of a tier in the colour of its busiest link. Click a box, then a node, or type a name."
        : "Click a switch, a host or one direction of a link; or type a name.";
    const most = f.byUse(f.links.filter((l) => l.from !== l.to)).slice(0, SHOWN);
    this.show(el("p", { class: "hint" }, hint),
      ...(f.circle.length ? [heading("deadlock: packets that wait for each other"), smallTable(["at", "waits for", "towards"], f.circle.map((l) => [f.nodes[l.from].name, l.port, f.nodes[l.to].name]), "deadlock")] : []),
      ...(failed.length ? [heading("failed cables (dashed)"), smallTable(["cable", "down", "up again"], failed.map((e) => [this.linkButton(e.link, `${e.port} – ${f.nodes[e.link.to].name}`), `${e.time.toFixed(1)} us`, e.until === null ? "no" : `${e.until.toFixed(1)} us`]), "failed cables")] : []),
      ...this.busiest(most));
    this.first = true;
  }
  linkButton(l, text) {
    return el("button", { type: "button", onclick: () => { if (!l.shape && !l.cell) this.chooseNode(this.f.nodes[l.from]); this.chooseLink(l); } }, text);
  }
  // The cycle of a deadlock, link by link.
  drawCircle() {
    if (!this.f.circle.length) return;
    this.drawWay(this.f.circle);
    for (const shape of this.ways.children) shape.classList.add("circle");
  }
  show(...nodes) {
    this.first = false;
    this.link = null; // unless it is what is shown
    this.aside.replaceChildren(...nodes);
    this.aside.scrollTop = 0;
  }
  // No selection yet.
  isFirst() {
    return this.first;
  }
  mark(shape) {
    for (const e of this.stage.querySelectorAll(".chosen")) e.classList.remove("chosen");
    if (shape) shape.classList.add("chosen");
  }
  chooseNode(n) {
    if ((this.large || this.pair) && this.around !== n) {
      this.around = n;
      for (const l of this.f.links) l.shape = l.cell = null;
      drawAround(this, this.f, n);
      this.paint();
    }
    this.mark(this.stage.querySelector(`[data-node="${n.node}"]`));
    this.show(...this.back(), ...nodeDetails(this, this.f, n));
  }
  chooseLink(l) {
    this.mark(null);
    this.drawWay([l]);
    this.show(...this.back(), ...linkDetails(this, this.f, l));
    this.link = l;
  }
  back() {
    return this.around ? [el("button", { type: "button", onclick: () => this.draw() }, this.pair ? "back to the matrix" : "back to all tiers")] : [];
  }
  nodeButtons(nodes) {
    return nodes.slice(0, 200).map((n) => el("button", { type: "button", style: "margin:2px", onclick: () => this.chooseNode(n) }, n.name));
  }
  chooseBox(box) {
    this.mark(box.shape);
    const busiest = this.f.byUse(box.members.flatMap((n) => n.out)).slice(0, 12);
    this.show(el("h4", { class: "subject" }, `${tierName(this.f, box.tier)}: ${box.members.length} of them here`), ...this.busiest(busiest), heading("nodes"), ...this.nodeButtons(box.members));
  }
  busiest(links, title = "busiest links") {
    return [heading(title), smallTable(["link", ...this.f.metrics.map((m) => m.name)], links.map((l) => [
      this.linkButton(l, `${l.port} → ${this.f.nodes[l.to].name}`), ...this.f.percents(l)]), "busiest links")];
  }
  chooseEdge(e) {
    const links = this.f.byUse(e.links).slice(0, 25);
    this.mark(null);
    this.show(el("h4", { class: "subject" }, `${e.links.length} links from tier ${e.a.tier} to tier ${e.b.tier}`), ...this.busiest(links));
  }
  // Highlights directed links that are drawn.
  drawWay(links) {
    const outline = (cell) => svg("rect", { class: "way", ...Object.fromEntries(["x", "y", "width", "height"].map((k) => [k, cell.getAttribute(k)])), "stroke-width": 3 });
    this.ways.replaceChildren(...links.filter((l) => l && (l.shape || l.cell))
      .map((l) => (l.shape ? svg("path", { class: "way", d: l.shape.getAttribute("d"), "stroke-width": 9 }) : outline(l.cell))));
  }
  choosePath(name, hops) {
    const f = this.f, links = hops.map((h) => (h.out === null ? null : f.byPort.get(`${h.node}:${h.out}`)));
    this.mark(null);
    if (this.around) this.draw();
    if (this.large && !this.pair) {
      const used = new Set(links.filter(Boolean).map((l) => l.edge));
      this.ways.replaceChildren(...this.edges.filter((e) => e.shape && e.links.length && used.has(e.links[0].edge)).map((e) => svg("path", { class: "way", d: e.shape.getAttribute("d"), "stroke-width": 8 })));
    } else this.drawWay(links);
    this.show(el("h4", { class: "subject" }, `path of ${name}`), smallTable(["hop", "node", "in", "out", "VL"], hopRows(f, hops), "path"),
      ...this.busiest(links.filter(Boolean), "links of the path"));
  }
}

function pathControls(view, f) {
  const out = [];
  if (f.paths.size) {
    const choose = el("select", { "aria-label": "path of a flow", onchange: (e) => {
      if (e.target.value) view.choosePath(e.target.value, f.paths.get(e.target.value));
      else view.ways.replaceChildren();
    } }, el("option", { value: "" }, "none"), ...[...f.paths.keys()].map((p) => el("option", { value: p }, p)));
    out.push(el("label", {}, "Path of a flow", choose));
  }
  if (f.hasForwarding && !f.routed) {
    const hosts = f.nodes.filter((n) => n.kind === "host");
    if (hosts.length < 2) return out;
    const pick = (label, at) => el("select", { "aria-label": label, "data-pick": label }, ...hosts.map((n, i) => el("option", { value: n.node, selected: i === at }, n.name)));
    const from = pick("from host", 0), to = pick("to host", hosts.length - 1);
    const sl = el("select", { "aria-label": "service level" }, ...Array.from({ length: 16 }, (_, i) => el("option", { value: i }, `SL ${i}`)));
    const show = () => {
      const a = f.nodes[from.value], b = f.nodes[to.value];
      view.choosePath(`${a.name} to ${b.name}`, f.way(a, b, Number(sl.value)));
    };
    out.push(el("span", {}, out.length ? "or from " : "Path from ", from, " to ", to, " ", sl, " ", el("button", { type: "button", "data-show": "path", onclick: show }, "show path")));
  }
  return out;
}

export function controls(view, f) {
  const metric = el("select", { "aria-label": "colour links by", onchange: (e) => { view.metric = e.target.value; view.paint(); } },
    ...f.metrics.map((m) => el("option", { value: m.name }, m.label)));
  const list = `names-${Math.random().toString(36).slice(2)}`;
  const find = el("input", { type: "search", "aria-label": "find a node", list, placeholder: "name of a node", onchange: (e) => {
    const n = f.byName.get(e.target.value);
    if (n) view.chooseNode(n);
  } });
  const names = el("datalist", { id: list }, ...f.nodes.slice(0, 3000).map((n) => el("option", { value: n.name })));
  const bar = el("i", { style: `background:${gradient}` });
  const how = view.pairs.length ? el("select", { "aria-label": "draw as", onchange: (e) => view.drawAs(e.target.value) },
    el("option", { value: "lines" }, view.large ? "boxes of tiers" : "lines"),
    ...view.pairs.map((p, i) => el("option", { value: i, selected: view.pair === p }, `matrix of tiers ${p.low} and ${p.high}, ${p.cables} cables`))) : null;
  return [
    el("div", { class: "controls" }, how ? el("label", {}, "Draw as", how) : null, el("label", {}, "Colour by", metric), el("span", { class: "scale" }, "0 %", bar, "100 %"),
      el("label", {}, "Find", find), names,
      el("span", {}, ...[["+", 1.5, "zoom in"], ["−", 1 / 1.5, "zoom out"]].map(([t, k, label]) => el("button", { type: "button", "aria-label": label, onclick: () => select(view.root).call(view.zoom.scaleBy, k) }, t)),
        el("button", { type: "button", onclick: () => select(view.root).call(view.zoom.transform, zoomIdentity) }, "fit"))),
    timeControl(view, f),
    el("div", { class: "controls" }, ...pathControls(view, f)),
  ].filter(Boolean);
}

function linksCsv(f) {
  const t = f.run.table("links");
  const lines = ["# links: each direction of each cable", ["port", "from", "to", "rate [Gb/s] (given)", ...f.metrics.map((m) => `${m.name} [%] (${m.about.match(/\((.*)\)/)[1]})`)].join(",")];
  for (const l of f.links) lines.push([l.port, f.nodes[l.from].name, f.nodes[l.to].name, l.rate, ...f.metrics.map((m) => l[m.name])].map((v) => (/[",]/.test(v) ? `"${v}"` : v)).join(","));
  return t.n ? lines.join("\n") + "\n" : "";
}

export function fabricPanel(run, frame, { save, fileName }) {
  if (!hasFabric(run)) return null;
  const links = run.table("links");
  const table = { name: "the fabric", title: "", origins: () => links.origins() };
  const { panel, body, add } = frame(run, table, "picture wide");
  let view;
  const draw = () => {
    if (view) return;
    const f = new Fabric(run);
    view = new View(f);
    panel.querySelector(".title").textContent = `${f.nodes.filter((n) => n.kind === "switch").length} switches, ` +
      `${f.nodes.filter((n) => n.kind === "host").length} hosts, ${f.cables} cables; ` +
      (view.pair ? "as a matrix of the switches of two tiers"
        : view.large ? "by tiers; a line shows all cables from one box to another"
        : `${{ layers: "in layers", grid: "as a grid", springs: "by springs" }[f.layout] || ""}; each direction of a cable is a line of its own`);
    body.append(...controls(view, f), el("div", { class: "fabric" }, el("div", { class: "view" }, view.root), view.aside),
      el("p", { class: "hint" }, "Drag to move; Ctrl and the wheel, two fingers, or + and − zoom."));
    view.draw();
  };
  // Draws the exported picture first if it was not shown yet.
  add("SVG", "the fabric as SVG", () => { draw(); save(`${fileName(table)}.svg`, "image/svg+xml", panelSvg(`${run.title ? `${run.title}: ` : ""}the fabric, ${view.metric}`, [{ svg: view.root,
    legend: STOPS.map(([p]) => ({ name: `${p} %`, colour: colour(p), shape: "bar" })) }])); });
  add("CSV", "links of the fabric as CSV", () => { draw(); save(`${fileName(table)}.csv`, "text/csv", linksCsv(view.f)); });
  return { panel, draw };
}
