// SPDX-License-Identifier: BSD-2-Clause
// Converts tables to plots. The kind of a table and the names, units and
// origins of its columns determine the plot; no code depends on the command.
// Each rule returns parts: { heading, svg, legend: entries of legend.js, note
// }.
import * as Plot from "@observablehq/plot";
import { Table, format, isLabel, isNumber, rowLabel, withUnit } from "./data.js";
import { isMatrix, isTimeline, matrixParts, timelineParts } from "./jobs.js";
import { DASHES, bars as barLegend, strokes, symbolScale, symbols } from "./legend.js";
import { byName, bytes, distinct, draw, tick } from "./plot.js";

const MANY = 10; // lines that can be distinguished

const spreads = (list, factor) => {
  const positive = list.filter((v) => v > 0);
  return positive.length > 2 && positive.length === list.filter((v) => v !== null).length &&
    Math.max(...positive) / Math.min(...positive) > factor;
};

// A share is read relative to the whole and never has a logarithmic axis.
const isShare = (unit, values) => unit === "%" || (!unit && values.every((v) => v === null || (v >= 0 && v <= 1)));
const asLog = (unit, values, factor) => !isShare(unit, values) && spreads(values, factor);

// Identical lines: dashes keep the lower one visible.
function eachLine(rows, of, options) {
  return distinct(rows.map((r) => r[of])).map((value, k) => Plot.line(rows.filter((r) => r[of] === value), { ...options, strokeDasharray: DASHES[k % DASHES.length] }));
}

const grid = { grid: true, nice: true };

// perftest's tables name this column "#bytes" and give no unit.
const countsBytes = (column) => column.unit === "B" || column.name === "#bytes";

function axis(column, values, extra = {}) {
  const isBytes = countsBytes(column);
  const log = isBytes ? spreads(values, 16) : column.name !== "time" && asLog(column.unit, values, 1000);
  return {
    label: withUnit(column), grid: true, ...(log ? { type: "log", ...(isBytes ? { base: 2 } : {}) } : { nice: true }),
    ...(isBytes ? { tickFormat: bytes, ticks: 6 } : log ? { tickFormat: tick, ticks: 5 } : { tickFormat: tick }), ...extra,
  };
}

// ---- lines ----------------------------------------------------------------

// The half width of an interval follows its value: "speedup +-".
const halfWidth = (table, c) => table.column(`${c.name} +-`);
const isHalf = (c) => / \+-$/.test(c.name) || c.name === "half_width";

function xColumn(table) {
  const numbers = table.columns.filter(isNumber);
  const free = numbers.filter((c) => distinct(c.cells).length > 1);
  return free.find((c) => c.origin === "given" && c.unit) ||
    free.find((c) => c.name === "time") || free[0] || numbers[0];
}

// `along`: the column that orders the points of a curve if that is not x.
function points(table, x, y, labels, prefix, along = null) {
  const half = halfWidth(table, y), aside = along ? halfWidth(table, x) : null, rows = [];
  const said = (c, i) => `${c.name}: ${format(c, c.cells[i])}${c.unit ? ` ${c.unit}` : ""}\n`;
  for (let i = 0; i < table.n; i++) {
    if (x.cells[i] === null || y.cells[i] === null) continue;
    const label = rowLabel(table, labels, i), name = [prefix, label].filter(Boolean).join(", ");
    const h = half ? half.cells[i] : null;
    const w = aside?.cells[i] ?? null;
    rows.push({ x: x.cells[i], x1: w === null ? null : x.cells[i] - w, x2: w === null ? null : x.cells[i] + w, at: along ? along.cells[i] : x.cells[i],
      y: y.cells[i], name: name || y.name, label, what: y.name, printed: y.printed?.[i] ?? null,
      lo: h === null ? null : y.cells[i] - h, hi: h === null ? null : y.cells[i] + h,
      title: `${name || y.name}\n${along ? said(along, i) : ""}${said(x, i)}` +
        `${y.name}: ${format(y, y.cells[i])}${h ? ` ± ${format(half, h)}` : ""} ${y.unit} (${y.origin})` });
  }
  // The values of a sweep may be in any order.
  return table.name === "curves" ? rows.sort((a, b) => a.at - b.at) : rows;
}

// Published values: points where a computed point has the same x, and lines
// that text values do not interrupt. Returns { marks, legend }.
function printedMarks(rows, limits) {
  const at = rows.filter((r) => r.printed).map((r) => ({ x: r.x, y: r.printed.value, title: `published: ${r.printed.text}\n${r.printed.what}\nours: ${r.y}` }));
  return {
    marks: [
      limits.length ? Plot.ruleY(limits, { y: "value", stroke: "var(--ink)", strokeDasharray: "4 3", strokeOpacity: 0.8 }) : null,
      at.length ? Plot.dot(at, { x: "x", y: "y", stroke: "var(--ink)", symbol: "diamond2", r: 5.5, strokeWidth: 2, title: "title" }) : null,
    ],
    legend: [
      ...(at.length ? [{ name: "published", colour: "var(--ink)", shape: "diamond2" }] : []),
      ...limits.map((l) => ({ name: `published: ${l.text} (${l.what})`, colour: "var(--ink)", shape: "line", dash: "4 3" })),
    ],
  };
}

// The confidence interval of a line is a band. If the line may turn back, the
// band has a separate piece per step: a single area would have holes where it
// overlaps itself.
function bands(rows, turns, look) {
  const sure = rows.filter((r) => r.lo !== null);
  const pieces = turns ? distinct(sure.map((r) => r.name)).flatMap((name) => {
    const own = sure.filter((r) => r.name === name);
    return own.slice(1).flatMap((r, i) => [{ ...own[i], piece: `${name} ${i}` }, { ...r, piece: `${name} ${i}` }]);
  }) : sure.map((r) => ({ ...r, piece: r.name }));
  return Plot.areaY(pieces, { x: "x", y1: "lo", y2: "hi", z: "piece", ...look, fillOpacity: 0.15 });
}

// A colour for each label and a dash for each measure; with only one label or
// measure, a colour and a dash for each line. `turns`: x need not increase
// along a line, and may have its own interval.
function lines(width, label, { x, axisName, unit, palette, limits = [], turns = false }, all, shown = {}) {
  // A size axis is logarithmic because ratios matter; it has no place for
  // zeros.
  const positive = all.filter((r) => r.y > 0);
  const bySize = countsBytes(x) && asLog(unit, positive.map((r) => r.y), 30);
  const rows = bySize ? positive : all;
  const names = distinct(rows.map((r) => r.name)), labels = distinct(rows.map((r) => r.label));
  const many = names.length > MANY, whats = distinct(rows.map((r) => r.what));
  const byWhat = many && whats.length > 1 && whats.length <= MANY, both = !many && whats.length > 1 && labels.length > 1;
  const xs = rows.map((r) => r.x), ys = rows.map((r) => r.y);
  const log = bySize || (shown.log && rows.every((r) => r.y > 0)) || asLog(unit, ys, 300);
  const top = shown.clip ? { domain: [log ? Math.min(...ys) : Math.min(0, ...ys), quantile(ys, 0.9)], clamp: false } : {};
  const yAxis = { label: axisName, ...grid, tickFormat: tick, ...(log ? { type: "log", ticks: 5 } : { zero: true }), ...top };
  const colour = byWhat ? byName("what") : many ? "var(--c1)" : byName(both ? "label" : "name");
  const printed = printedMarks(rows, limits);
  const dash = both ? "what" : "name", look = { x: "x", y: "y", z: "name", stroke: colour, strokeWidth: many ? 0.8 : 1.8, strokeOpacity: many ? 0.55 : 1 };
  const svg = draw(width, label, {
    x: axis(x, xs, turns ? { zero: true } : {}), y: yAxis, clip: Boolean(shown.clip), color: palette.scale(byWhat ? whats : both ? labels : names),
    marks: [
      many ? null : bands(rows, turns, { fill: colour }), // of too many, a stroke
      rows.some((r) => r.lo !== null && r.hi > r.lo)
        ? Plot.ruleX(rows.filter((r) => r.lo !== null), { x: "x", y1: "lo", y2: "hi", stroke: colour, strokeOpacity: 0.6 }) : null,
      turns && rows.some((r) => r.x2 > r.x1)
        ? Plot.ruleY(rows.filter((r) => r.x1 !== null), { y: "y", x1: "x1", x2: "x2", stroke: colour, strokeOpacity: 0.6 }) : null,
      ...(many ? [Plot.line(rows, look)] : eachLine(rows, dash, look)),
      many || rows.length > 400 ? null : Plot.dot(rows, { x: "x", y: "y", fill: colour, r: 2.5 }),
      ...printed.marks,
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ],
  });
  const dashes = whats.map((name, k) => ({ name, colour: "var(--ink)", shape: "line", dash: DASHES[k % DASHES.length] }));
  const ours = byWhat ? strokes(palette, whats) : many ? [] : both ? [...strokes(palette, labels), ...dashes] : strokes(palette, names, true);
  return { svg, legend: [...ours, ...printed.legend],
    note: many ? `${names.length} lines; point at one to see its name` : "" };
}

// Too many lines: show the range of most of them, and the extremes.
function band(width, label, { x, axisName }, rows) {
  const at = Plot.groupX({ y1: (v) => quantile(v, 0.1), y2: (v) => quantile(v, 0.9) }, { x: "x", y1: "y", y2: "y", fill: "var(--c1)", fillOpacity: 0.25 });
  const svg = draw(width, label, {
    x: axis(x, rows.map((r) => r.x)), y: { label: axisName, ...grid, zero: true },
    marks: [
      Plot.areaY(rows, { ...at, sort: "x" }),
      Plot.lineY(rows, Plot.groupX({ y: "median" }, { x: "x", y: "y", stroke: "var(--c1)" })),
      Plot.lineY(rows, Plot.groupX({ y: "max" }, { x: "x", y: "y", stroke: "var(--c2)" })),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ],
  });
  return { svg, legend: [{ name: "median", colour: "var(--c1)", shape: "line" }, { name: "largest", colour: "var(--c2)", shape: "line" }],
    note: `${distinct(rows.map((r) => r.name)).length} lines; the band holds the middle 80 %` };
}

function quantile(values, q) {
  const sorted = Array.from(values).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

function seriesParts(table) {
  const x = xColumn(table);
  if (!x) return null;
  const ys = table.columns.filter((c) => isNumber(c) && c !== x && c.origin !== "given" && !isHalf(c));
  const labels = table.columns.filter((c) => isLabel(c) && c !== x && c.type !== "bool");
  // If every x is unique, an adjacent number does not label a line.
  const single = distinct(x.cells).length === table.n;
  const free = labels.filter((c) => distinct(c.cells).length > 1 && !(single && isNumber(c)));
  const groups = new Set(x.cells.map((_, i) => rowLabel(table, free, i)));
  // Number of curves above which each value of the first label has its own plot.
  const facet = groups.size > MANY && free.length > 1 && distinct(free[0].cells).length <= 40 ? free[0] : null;
  if (!facet) return unitParts(table, x, ys, free, "");
  return distinct(facet.cells).flatMap((value) => {
    const part = sub(table, (i) => facet.cells[i] === value);
    const same = (c) => part.columns[table.columns.indexOf(c)];
    const own = free.filter((c) => c !== facet).map(same);
    const fixed = own.filter((c) => distinct(c.cells).length === 1);
    const heading = [`${facet.name} ${value}`, rowLabel(part, fixed, 0)].filter(Boolean).join(": ");
    return unitParts(part, same(x), ys.map(same), own.filter((c) => !fixed.includes(c)), heading)
      .map((p) => ({ ...p, small: true }));
  });
}

// One plot per unit; for several runs, and for results of a sweep, one per
// column.
function unitParts(table, x, ys, labels, heading) {
  const apart = table.by || table.along || table.name === "curves";
  const units = apart ? ys : distinct(ys.map((c) => c.unit));
  const n = new Set(x.cells.map((_, i) => rowLabel(table, labels, i))).size;
  const parts = units.flatMap((one) => {
    const of = apart ? [one] : ys.filter((c) => c.unit === one), unit = of[0].unit, what = of.map((c) => c.name).join(", ");
    const rows = of.flatMap((c) => points(table, x, c, labels, of.length > 1 || !labels.length ? c.name : ""));
    if (!rows.length) return []; // of values that do not exist here
    const axisName = unit ? `${of.length > 1 ? "" : of[0].name + " "}[${unit}]` : what;
    const title = [heading, units.length > 1 && (of.length <= 2 || !heading) ? what : units.length > 1 ? `[${unit}]` : ""].filter(Boolean).join("; ");
    return { small: units.length > 2, heading: title, scales: n <= 60, isPublished: of.some((c) => c.printed || c.limits),
      make: (w, shown) => (n > 60 ? band : lines)(w, `${[table.title, title].filter(Boolean).join(", ")}: ${what} by ${x.name}`, { x, axisName, unit, palette: table.palette, limits: of.flatMap((c) => c.limits ?? []) }, rows, shown) };
  });
  return [...parts, ...throughputParts(table, x, ys, labels, heading)];
}

// Sweep over the load: latency over delivered traffic, the usual plot of the
// field. A curve follows the load, and turns back where a higher load delivers
// less.
const isLoad = (column) => /^traffic\..+\.(load|rate)$/.test(column.name);

function throughputParts(table, load, ys, labels, heading) {
  const delivered = ys.find((c) => c.name === "delivered"), share = ys.find((c) => c.name === "host links");
  if (table.name !== "curves" || !isLoad(load) || !delivered) return [];
  return ys.filter((c) => c.unit === "us").flatMap((latency) => {
    const over = (x) => points(table, x, latency, labels, labels.length ? "" : latency.name, load);
    if (!over(delivered).length) return [];
    const title = [heading, `${latency.name} over ${delivered.name}`].filter(Boolean).join("; ");
    const x = (shown) => (shown.share && share ? share : delivered);
    return { small: true, heading: title, scales: true, shares: Boolean(share),
      make: (w, shown) => lines(w, `${[table.title, title].filter(Boolean).join(", ")}, along ${load.name}`, { x: x(shown), axisName: withUnit(latency), unit: latency.unit, palette: table.palette, turns: true }, over(x(shown)), shown) };
  });
}

// The table restricted to the rows with keep(i).
function sub(table, keep) {
  const rows = [];
  for (let i = 0; i < table.n; i++) if (keep(i)) rows.push(i);
  const columns = table.columns.map((c) => ({ ...c, cells: rows.map((i) => c.cells[i]), ...(c.printed ? { printed: rows.map((i) => c.printed[i]) } : {}) }));
  const t = Object.create(Object.getPrototypeOf(table));
  return Object.assign(t, table, { columns, n: rows.length });
}

// ---- percentiles ----------------------------------------------------------

const nines = (p) => -Math.log10(Math.max(1 - p / 100, 1e-6));

function percentileParts(table) {
  const p = table.column("percentile");
  const y = table.columns.find((c) => isNumber(c) && c !== p && c.origin !== "given");
  const labels = table.columns.filter((c) => isLabel(c) && c !== p);
  const rows = points(table, p, y, labels, "").filter((r) => r.x < 100);
  const at = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((v) => v <= Math.max(0, ...rows.map((r) => r.x)) + 1e-9);
  const names = distinct(rows.map((r) => r.name));
  for (const r of rows) r.u = nines(r.x);
  return [{ make: (w) => ({
    svg: draw(w, `${table.title}: ${y.name} by percentile`, {
      x: { label: "percentile [%]", ticks: at.map(nines), tickFormat: (u) => String(at[at.map(nines).indexOf(u)] ?? ""), grid: true },
      y: { label: withUnit(y), grid: true, ...(asLog(y.unit, rows.map((r) => r.y), 30) ? { type: "log", ticks: 5, tickFormat: tick } : { zero: true }) },
      color: table.palette.scale(names),
      marks: [
        ...eachLine(rows, "name", { x: "u", y: "y", stroke: byName("name"), strokeWidth: 1.8 }),
        Plot.dot(rows, { x: "u", y: "y", fill: byName("name"), r: 2 }),
        Plot.tip(rows, Plot.pointer({ x: "u", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ],
    }), legend: strokes(table.palette, names, true) }) }];
}

// ---- histograms -----------------------------------------------------------

function histogramParts(table) {
  const from = table.column("from"), to = table.column("to");
  const y = table.column("share") || table.columns.find((c) => isNumber(c) && c.origin !== "given");
  const labels = table.columns.filter((c) => isLabel(c) && c !== from && c !== to);
  const rows = [];
  const width = Math.min(...table.columns[0].cells.map((_, i) => (from.cells[i] === null || to.cells[i] === null ? Infinity : to.cells[i] - from.cells[i])));
  for (let i = 0; i < table.n; i++) {
    const low = from.cells[i] ?? to.cells[i] - width, high = to.cells[i] ?? from.cells[i] + width;
    rows.push({ x1: low, x2: high, y: y.cells[i], name: rowLabel(table, labels, i),
      title: `${rowLabel(table, labels, i)}\n${format(from, from.cells[i])} to ${format(to, to.cells[i])} ${to.unit}\n${y.name}: ${format(y, y.cells[i])} ${y.unit} (${y.origin})` });
  }
  const names = distinct(rows.map((r) => r.name));
  const log = rows.every((r) => r.x1 > 0) && spreads(rows.map((r) => r.x1), 20);
  const common = {
    height: 200,
    x: { label: from.unit ? `[${from.unit}]` : "", grid: true, domain: [Math.min(...rows.map((r) => r.x1)), Math.max(...rows.map((r) => r.x2))], ...(log ? { type: "log", ticks: 5, tickFormat: tick } : {}) },
    y: { label: withUnit(y), ...grid, zero: true },
  };
  const middle = (r) => (log ? Math.sqrt(r.x1 * r.x2) : (r.x1 + r.x2) / 2);
  const tip = { x: middle, y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" };
  // Several runs: overlaid outlines.
  if (table.by) return [{ make: (w) => ({ legend: strokes(table.palette, names, true), svg: draw(w, `${table.title}: ${names.join(", ")}`, {
    ...common, color: table.palette.scale(names),
    marks: [
      ...eachLine(names.flatMap((name) => outline(rows.filter((r) => r.name === name))), "name", { x: "x", y: "y", z: "name", stroke: byName("name"), strokeWidth: 1.8 }),
      Plot.ruleY([0]), Plot.tip(rows, Plot.pointer(tip)),
    ] }) }) }];
  const colours = table.palette.of(names);
  return names.map((name, k) => ({ small: true, heading: name, make: (w) => {
    const own = rows.filter((r) => r.name === name);
    return { svg: draw(w, `${table.title}: ${name}`, {
      ...common,
      marks: [
        Plot.rectY(own, { x1: "x1", x2: "x2", y: "y", fill: colours[k], insetLeft: 0.5, insetRight: 0.5 }),
        Plot.ruleY([0]),
        Plot.tip(own, Plot.pointerX(tip)),
      ],
    }), legend: [] };
  } }));
}

// The upper edge of a histogram's bars, down to 0 without bars.
function outline(bars) {
  const points = [];
  let end = null;
  for (const r of [...bars].sort((a, b) => a.x1 - b.x1)) {
    if (end !== null && r.x1 > end) points.push({ x: end, y: 0, name: r.name });
    if (end === null || r.x1 > end) points.push({ x: r.x1, y: 0, name: r.name });
    points.push({ x: r.x1, y: r.y, name: r.name }, { x: r.x2, y: r.y, name: r.name });
    end = r.x2;
  }
  return end === null ? points : [...points, { x: end, y: 0, name: bars[0].name }];
}

// ---- what was promised ----------------------------------------------------

// A bandwidth guarantee matters when a VL requests it: the received bandwidth
// is a bar, the guarantee under full load is a mark on it. Links with equal
// values share a plot.
function shareParts(table) {
  const place = table.columns.find((c) => c.type === "text");
  const vl = table.column("VL"), by = table.column(table.by);
  const got = table.column("share"), promised = table.column("promised");
  // Several runs: the locations that more than one run has.
  const places = distinct(place.cells).filter((name) => !by || distinct(by.cells.filter((_, i) => place.cells[i] === name)).length > 1);
  const rowsOf = (name) => [...place.cells.keys()].filter((i) => place.cells[i] === name);
  const looks = (name) => rowsOf(name).map((i) => [by?.cells[i], vl.cells[i], Math.round(got.cells[i] / 2), Math.round(promised.cells[i])].join()).join(";");
  const alike = new Map();
  for (const name of places) alike.set(looks(name), [...(alike.get(looks(name)) || []), name]);
  return [...alike.values()].map(([name, ...others]) => ({ small: true, heading: `${place.name} ${name}${others.length ? ` and ${others.length} like it` : ""}`, make: (w) => {
    const bars = [], whats = by ? distinct(by.cells) : ["got"];
    for (const i of rowsOf(name)) {
      const at = `VL ${vl.cells[i]}`, said = (c) => `${format(c, c.cells[i])} ${c.unit} (${c.origin})`, what = by ? by.cells[i] : "got";
      bars.push({ vl: at, what, y: got.cells[i], promise: promised.cells[i],
        title: `${name}, ${at}\n${what}: ${said(got)}\ncan count on: ${said(promised)} when all VLs send` });
    }
    const promises = bars.filter((b) => b.promise !== null);
    const tip = { fx: "vl", x: "what", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" };
    return { svg: draw(w, `shares of the VLs at ${name}`, {
      height: 200, marginBottom: 30, fx: { label: null, axis: "bottom" }, x: { axis: null, domain: whats },
      y: { label: "share of what the link carried [%]", ...grid, domain: [0, 100] }, color: table.palette.scale(whats),
      marks: [
        Plot.barY(bars, { fx: "vl", x: "what", y: "y", fill: byName("what") }), Plot.ruleY([0]),
        Plot.tickY(promises, { fx: "vl", x: "what", y: "promise", stroke: "var(--ink)", strokeWidth: 3 }),
        Plot.tip(bars, Plot.pointerX(tip)),
      ],
    }), legend: [...barLegend(table.palette, whats), { name: "can count on when all VLs send", colour: "var(--ink)", shape: "line" }],
    note: others.length ? `alike: ${others.join(", ")}` : "" };
  } }));
}

// ---- one number next to another --------------------------------------------

const SOURCES = ["published", "computed", "model", "bound", "simulated", "measured", "ours"];

// "lambda=4 ca2=5": the names that vary become an axis.
function parsePoint(text) {
  const found = {};
  for (const m of String(text).matchAll(/([\w.]+)=(-?[\d.eE+-]+)/g)) found[m[1]] = Number(m[2]);
  return found;
}

function againstParts(table) {
  const values = table.columns.filter((c) => isNumber(c) && SOURCES.includes(c.name));
  const half = table.columns.find(isHalf);
  const measure = table.column("measure") || table.column("value");
  const unit = table.column("unit");
  const by = table.column(table.by);
  const skip = [measure, unit, by, table.column("inside"), table.column("verdict")];
  const labels = table.columns.filter((c) => isLabel(c) && !skip.includes(c) && c.type !== "bool");
  const whatOf = (c, i) => (by ? `${c.name}, ${by.cells[i]}` : c.name);
  const names = distinct(values.flatMap((c) => c.cells.map((_, i) => whatOf(c, i))));
  const kinds = measure ? distinct(measure.cells) : [""];
  return kinds.map((kind) => ({ small: kinds.length > 1, heading: kind, make: (w) => {
    const rows = [];
    const at = [];
    for (let i = 0; i < table.n; i++) if (!measure || measure.cells[i] === kind) at.push(i);
    const parsed = at.map((i) => parsePoint(rowLabel(table, labels, i)));
    const keys = distinct(parsed.flatMap(Object.keys)).filter((k) => distinct(parsed.map((p) => p[k])).length > 1);
    const key = keys.sort((a, b) => distinct(parsed.map((p) => p[b])).length - distinct(parsed.map((p) => p[a])).length)[0];
    at.forEach((i, k) => {
      const label = rowLabel(table, labels, i);
      for (const c of values) {
        if (c.cells[i] === null) continue;
        const h = half && c.origin === half.origin ? half.cells[i] : null;
        rows.push({ x: key ? parsed[k][key] : label || String(i + 1), y: c.cells[i], what: whatOf(c, i),
          lo: h === null ? null : c.cells[i] - h, hi: h === null ? null : c.cells[i] + h,
          title: `${[kind, label].filter(Boolean).join(", ")}\n${whatOf(c, i)}: ${format(c, c.cells[i])}${h ? ` ± ${format(half, h)}` : ""} ${unit ? unit.cells[i] : c.unit} (${c.origin})` });
      }
    });
    const u = unit ? unit.cells[at[0]] : values[0].unit;
    const flat = !key;
    const value = { label: `${kind || "value"}${u ? ` [${u}]` : ""}`, grid: true, nice: true, tickFormat: tick,
      ...(asLog(u, rows.map((r) => r.y), 300) ? { type: "log", ticks: 5 } : {}) };
    const tip = { title: "title", fill: "var(--back)", stroke: "var(--soft)" };
    const look = { color: table.palette.scale(names), symbol: symbolScale(names) };
    const places = distinct(rows.map((r) => r.x)), left = roomFor(places, w);
    if (flat) return { legend: symbols(table.palette, names), svg: draw(w, `${table.title}: ${kind}`, {
      height: Math.max(90, 60 + 22 * places.length), marginLeft: left.room,
      x: value, y: { type: "band", label: null, domain: places, tickFormat: left.tickFormat }, ...look,
      marks: [
        Plot.ruleY(rows.filter((r) => r.lo !== null), { y: "x", x1: "lo", x2: "hi", stroke: byName("what") }),
        Plot.dot(rows, { y: "x", x: "y", stroke: byName("what"), symbol: "what", r: 4 }),
        Plot.tip(rows, Plot.pointer({ y: "x", x: "y", ...tip })),
      ] }) };
    return { legend: symbols(table.palette, names), svg: draw(w, `${table.title}: ${kind} by ${key}`, {
      height: 220, x: { label: withUnit({ name: key, unit: table.units.get(key) }), ...grid }, y: value, ...look,
      marks: [
        Plot.ruleX(rows.filter((r) => r.lo !== null), { x: "x", y1: "lo", y2: "hi", stroke: byName("what"), strokeWidth: 1.5 }),
        // Published values are points without connecting lines.
        Plot.line(rows.filter((r) => r.lo === null && !/^published/.test(r.what)), { x: "x", y: "y", z: "what", stroke: byName("what"), sort: "x" }),
        Plot.dot(rows, { x: "x", y: "y", stroke: byName("what"), symbol: "what", r: 3.5 }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "y", ...tip })),
      ] }) };
  } }));
}

// Published values are texts, because some are not numbers ("rises"). Numeric
// ones are plotted with the simulated values, whose text may have a unit.
const asValue = (text) => /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%|[^\s\d+]\S*)?(?:\s*\+-.*)?$/i.exec(text ?? "");
function comparable(table) {
  const theirs = table.column("published"), ours = table.column("ours"), rows = [];
  if (!theirs || !ours || theirs.type !== "text" || ours.type !== "text") return [];
  for (let i = 0; i < table.n; i++) {
    const a = asValue(theirs.cells[i]), b = asValue(ours.cells[i]);
    if (a && b && (!a[2] || !b[2] || a[2] === b[2])) rows.push({ i, a: Number(a[1]), b: Number(b[1]), unit: b[2] || a[2] || "" });
  }
  return rows;
}

// Checks of one figure may differ in a number only: "mesh, 256 B, 2048 tried",
// "mesh, 256 B, 2560 tried". With three or more of them, that number is an
// axis, and the remaining text names the curve. Adds { curve, axis, x } to
// these rows.
function findCurves(rows, nameOf) {
  const number = /\d+(?:\.\d+)?/g, found = new Map();
  for (const r of rows)
    for (const m of nameOf(r).matchAll(number)) {
      const before = nameOf(r).slice(0, m.index), after = nameOf(r).slice(m.index + m[0].length), key = `${before}#${after}${r.unit}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ r, before, after, x: Number(m[0]) });
    }
  for (const same of [...found.values()].sort((a, b) => b.length - a.length)) {
    const free = same.filter((one) => !one.r.curve);
    if (distinct(free.map((one) => one.x)).length < 3) continue;
    for (const { r, before, after, x } of free) {
      const word = /^\s*([A-Za-z]\w*)/.exec(after), last = /([A-Za-z]\w*)\W*$/.exec(before), rest = before + (word ? after.slice(word[0].length) : after);
      Object.assign(r, { x, axis: (word || last)?.[1] ?? "at", curve: rest.replace(/^\W+|\W+$/g, "").replace(/\s+/g, " ").replace(/(, )+/g, ", ") || "numbers" });
    }
  }
}

function publishedParts(table) {
  const rows = comparable(table);
  const names = ["id", "setting", "what"].map((n) => table.column(n)).filter((c) => c && (c.name === "what" || distinct(c.cells).length > 1));
  findCurves(rows, (r) => names.map((c) => c.cells[r.i]).filter(Boolean).join(", "));
  const text = (name, cells) => ({ name, unit: "", type: "text", origin: "given", places: 0, cells });
  const number = (name, origin, cells) => ({ name, unit: "", type: "real", origin, places: 0, cells });
  return againstParts(new Table({ ...table, columns: [
    ...names.map((c) => text(c.name, rows.map((r) => (r.curve ? (c.name === "what" ? `${r.axis}=${r.x}` : "") : c.cells[r.i])))),
    text("measure", rows.map((r) => r.curve || (r.unit ? `in ${r.unit}` : "numbers"))), text("unit", rows.map((r) => r.unit)),
    number("published", "published", rows.map((r) => r.a)), number("ours", table.column("ours").origin, rows.map((r) => r.b))] }));
}

// ---- use of ports ---------------------------------------------------------

// Thousands of ports are reduced to 400 steps, each with its maximum.
function thin(rows) {
  if (rows.length <= 1200) return rows;
  const step = Math.ceil(rows.length / 400), out = [];
  for (let i = 0; i < rows.length; i += step)
    out.push(rows.slice(i, i + step).reduce((a, b) => (b.y > a.y ? b : a)));
  return out;
}

function orderParts(table) {
  const name = table.columns.find((c) => c.type === "text"), by = table.column(table.by);
  const values = ["used", "waiting"].map((n) => table.column(n)).filter(Boolean);
  const runs = by ? distinct(by.cells) : [""], each = Math.ceil(table.n / runs.length);
  const make = (sorted, of) => (w) => {
    const names = by ? runs : of.map((c) => c.name);
    const rows = of.flatMap((c) => runs.flatMap((run) => {
      const order = [...name.cells.keys()].filter((i) => !by || by.cells[i] === run);
      if (sorted) order.sort((a, b) => of[0].cells[b] - of[0].cells[a]);
      return thin(order.map((i, rank) => ({ x: rank + 1, y: c.cells[i], name: run || c.name,
        title: `${name.name} ${name.cells[i]}${run ? `, ${run}` : ""}\n${c.name}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` })));
    }));
    const note = each > 1200 ? `${each} ports; each step shows the busiest of ${Math.ceil(each / 400)}` : "";
    return { legend: strokes(table.palette, names, true), note, svg: draw(w, `${of.map((c) => c.name).join(" and ")} of ${each} ports, ${sorted ? "busiest first" : "in order of the fabric"}`, {
      height: 220, x: { label: sorted ? "rank, busiest first" : "place in the fabric", grid: true }, y: { label: by ? withUnit(of[0]) : "[%]", ...grid, zero: true }, color: table.palette.scale(names),
      marks: [
        ...eachLine(rows, "name", { x: "x", y: "y", z: "name", stroke: byName("name"), curve: "step" }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ] }) };
  };
  return (by ? values.map((c) => [c]) : [values]).flatMap((of) => {
    const what = by ? `${of[0].name}, ` : "";
    const small = Boolean(by);
    return [{ small, heading: `${what}in order of the fabric`, make: make(false, of) }, { small, heading: `${what}busiest first`, make: make(true, of) }];
  });
}

// ---- columns that are an axis themselves ----------------------------------

function asNumber(name) {
  const m = /^(\d+)\/(\d+)$/.exec(name);
  if (m) return m[1] / m[2];
  return /^\d+(\.\d+)?$/.test(name) ? Number(name) : null;
}

const profileColumns = (table) => table.columns.filter((c) => isNumber(c) && asNumber(c.name) !== null);

function profileParts(table) {
  const steps = profileColumns(table);
  const labels = table.columns.filter((c) => isLabel(c) && !steps.includes(c));
  const rows = [];
  for (let i = 0; i < table.n; i++) for (const c of steps) {
    const name = rowLabel(table, labels, i);
    if (c.cells[i] !== null) rows.push({ x: asNumber(c.name), y: c.cells[i], name, title: `${name}\n${c.name}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` });
  }
  const names = distinct(rows.map((r) => r.name));
  return [{ make: (w) => ({ legend: strokes(table.palette, names, true), svg: draw(w, table.title, {
    x: { type: "log", base: 2, label: "share of the gap", ticks: steps.map((c) => asNumber(c.name)), tickFormat: (v) => steps.find((c) => asNumber(c.name) === v)?.name ?? "", grid: true },
    y: { label: `[${steps[0].unit}]`, ...grid, zero: true }, color: table.palette.scale(names),
    marks: [
      ...eachLine(rows, "name", { x: "x", y: "y", stroke: byName("name"), strokeWidth: 1.8 }), Plot.dot(rows, { x: "x", y: "y", fill: byName("name"), r: 2.5 }),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ] }) }) }];
}

// ---- rows of values -------------------------------------------------------

const dotColumns = (table) => table.columns.filter((c) => c.type === "real" && c.origin !== "given" && c.unit && !isHalf(c) && c.cells.some((v) => v !== null));

// The labels of a row: texts, and numbers only if the texts are not unique.
function dotLabels(table, by) {
  const free = table.columns.filter((c) => isLabel(c) && c !== by && c.type !== "bool" && distinct(c.cells).length > 1);
  const texts = free.filter((c) => !isNumber(c)), told = [...texts, ...(by ? [by] : [])];
  return texts.length && distinct(table.columns[0].cells.map((_, i) => rowLabel(table, told, i))).length === table.n ? texts : free;
}

// Labels take less than half of a plot's width; longer ones are truncated.
function roomFor(places, w) {
  const room = Math.min(Math.max(...places.map((p) => String(p).length), 3) * 6.6 + 14, w * 0.45), fits = Math.round((room - 14) / 6.6);
  return { room, tickFormat: (t) => (String(t).length > fits ? `${String(t).slice(0, Math.max(1, fits - 1))}…` : t) };
}

function dotParts(table) {
  const by = table.column(table.by), row = table.column("traffic");
  const labels = dotLabels(table, by);
  const values = dotColumns(table);
  // Several runs: a plot per column, a colour per run.
  const sets = by ? values.map((c) => [c]) : distinct(values.map((c) => c.unit)).map((unit) => values.filter((c) => c.unit === unit));
  return sets.map((of) => ({ small: Boolean(by), heading: of.map((c) => c.name).join(", "), make: (w) => {
    const names = by ? distinct(by.cells) : of.map((c) => c.name), rows = [];
    for (let i = 0; i < table.n; i++) for (const c of of) if (c.cells[i] !== null) {
      const label = rowLabel(table, labels, i) || (by ? c.name : String(i + 1)), what = by ? by.cells[i] : c.name;
      // A row of traffic keeps its colour; the symbol alone distinguishes the
      // measure.
      rows.push({ label, x: c.cells[i], what, colour: row && !by ? row.cells[i] : what,
        title: `${label}${by ? `, ${what}` : ""}\n${c.name}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` });
    }
    const places = distinct(rows.map((r) => r.label));
    const left = roomFor(places, w);
    return { legend: symbols(row && !by ? null : table.palette, names), svg: draw(w, `${table.title}: ${of.map((c) => c.name).join(", ")}`, {
      height: 62 + 22 * places.length, marginLeft: left.room,
      x: { label: `[${of[0].unit}]`, grid: true, nice: true, tickFormat: tick, ...(asLog(of[0].unit, rows.map((r) => r.x), 100) ? { type: "log", ticks: 5 } : { zero: true }) },
      y: { type: "band", domain: places, label: null, tickFormat: left.tickFormat },
      color: table.palette.scale(distinct(rows.map((r) => r.colour))), symbol: symbolScale(names),
      marks: [
        Plot.ruleY(places, { y: (d) => d, stroke: "var(--line)" }),
        Plot.dot(rows, { x: "x", y: "label", stroke: "colour", symbol: "what", r: 4, strokeWidth: 1.8 }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "label", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ] }) };
  } }));
}

// ---- the rules, in order --------------------------------------------------

// `axis`: the x columns of lines. This rule draws one line for each label.
const RULES = [
  { fits: isTimeline, parts: timelineParts },
  { fits: isMatrix, parts: matrixParts },
  { fits: (t) => t.has("percentile"), parts: percentileParts, axis: (t) => [t.column("percentile")] },
  { fits: (t) => t.has("from", "to") && isNumber(t.column("from")) && !t.has("link"), parts: histogramParts, axis: (t) => [t.column("from"), t.column("to")] },
  { fits: (t) => t.has("promised", "share", "VL"), parts: shareParts },
  { fits: (t) => t.columns.filter((c) => isNumber(c) && SOURCES.includes(c.name)).length >= 2, parts: againstParts },
  { fits: (t) => comparable(t).length > 0, parts: publishedParts },
  { fits: (t) => t.kind === "series", parts: seriesParts, axis: (t) => [xColumn(t)] },
  { fits: (t) => t.has("used") && t.n >= 8 && t.columns.some((c) => c.type === "text"), parts: orderParts },
  { fits: (t) => profileColumns(t).length >= 3, parts: profileParts, axis: profileColumns },
  { fits: (t) => t.n >= 2 && t.n <= 40 && dotColumns(t).length >= 2, parts: dotParts },
];

const ruleFor = (table) => (table.n === 0 || table.kind === "record" ? undefined : RULES.find((r) => r.fits(table)));

export const partsFor = (table) => ruleFor(table)?.parts(table) ?? null;

// ---- several runs in one plot ---------------------------------------------

const MOST_PLOTS = 24;

// Concatenates the rows of `tables`, one table per run. The last column, `by`,
// has the run. Only columns that all tables have are kept.
export function stack(tables, names) {
  const columns = tables[0].columns.map((c) => tables.map((t) => t.columns.find((o) => o.name === c.name && o.unit === c.unit && o.type === c.type)))
    .filter((same) => same.every(Boolean)).map((same) => ({ ...same[0], cells: same.flatMap((c) => c.cells) }));
  columns.push({ name: "run", unit: "", type: "text", origin: "given", places: 0, cells: tables.flatMap((t, k) => Array(t.n).fill(names[k])) });
  const { name, title, kind, units } = tables[0];
  return new Table({ name, title, kind, units, columns, by: "run" });
}

// Parts that compare the runs of a stack, drawn by the rule that fits the first
// run. A line becomes a plot with one line per run.
export function overlayParts(stacked, first) {
  const rule = ruleFor(first);
  // A rule that counts rows counts those of one run.
  if (!rule || !rule.fits(Object.assign(Object.create(Object.getPrototypeOf(stacked)), stacked, { n: first.n }))) return null;
  if (!rule.axis) return rule.parts(stacked);
  const axis = rule.axis(stacked), single = axis.length === 1 && distinct(rule.axis(first)[0].cells).length === first.n;
  // As in a series: a number next to a unique x is not a label.
  const aside = stacked.columns.filter((c) => single && isNumber(c) && isLabel(c) && !axis.includes(c));
  const labels = stacked.columns.filter((c) => isLabel(c) && c.name !== "run" && !axis.includes(c) && !aside.includes(c));
  const free = labels.filter((c) => distinct(c.cells).length > 1);
  const headings = distinct(stacked.columns[0].cells.map((_, i) => rowLabel(stacked, free, i)));
  const some = headings.slice(0, MOST_PLOTS);
  return some.flatMap((heading, k) => {
    const part = sub(stacked, (i) => rowLabel(stacked, free, i) === heading);
    part.columns = part.columns.filter((_, i) => !labels.includes(stacked.columns[i]) && !aside.includes(stacked.columns[i]));
    const left = k === MOST_PLOTS - 1 ? headings.length - MOST_PLOTS : 0;
    return rule.parts(part).map((p) => ({ ...p, small: headings.length > 1 || p.small,
      heading: [heading, p.heading].filter(Boolean).join(": ") + (left > 0 ? ` (and ${left} more, in the table)` : "") }));
  });
}
