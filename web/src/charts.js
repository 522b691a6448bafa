// SPDX-License-Identifier: BSD-2-Clause
// From tables to plots. What is drawn follows from the kind of a table and the
// names, units and origins of its columns; no command is known here. Each rule
// gives parts: { heading, svg, legend: [[name, colour], ...], note }.
import * as Plot from "@observablehq/plot";
import { format, isLabel, isNumber, rowLabel, withUnit } from "./data.js";

const COLOURS = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `var(--c${n})`);
const MANY = 10; // lines that can be told apart

const distinct = (list) => [...new Set(list)];
const spreads = (list, factor) => {
  const positive = list.filter((v) => v > 0);
  return positive.length > 2 && positive.length === list.filter((v) => v !== null).length &&
    Math.max(...positive) / Math.min(...positive) > factor;
};

function bytes(n) {
  for (const [unit, size] of [["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 1024]])
    if (n >= size) return `${+(n / size).toPrecision(3)}${unit}`;
  return String(n);
}

// Plain where that is short: 0.2, 1500, 12k, 3M.
function tick(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  for (const [unit, scale] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (size >= 10 * scale || (size >= scale && v % scale === 0)) return `${+(v / scale).toPrecision(4)}${unit}`;
  return size < 1e-4 ? v.toExponential(0) : String(+v.toPrecision(4));
}

// One plot; `label` says to those who cannot see it what it shows.
function draw(width, label, options) {
  const svg = Plot.plot({
    width, height: 280, marginLeft: 56, marginBottom: 40, marginRight: 26, marginTop: 24,
    style: { background: "transparent", fontSize: "12px", overflow: "visible",
      "--plot-background": "var(--back)" },
    ...options,
  });
  // Its frame speaks for it.
  svg.setAttribute("aria-hidden", "true");
  svg.dataset.label = label;
  return svg;
}

const legendOf = (names) => names.map((n, i) => [n, COLOURS[i % COLOURS.length]]);
const colourScale = (names) => ({ domain: names, range: names.map((_, i) => COLOURS[i % COLOURS.length]) });
const grid = { grid: true, nice: true };

// perftest's tables call them "#bytes" and give no unit.
const countsBytes = (column) => column.unit === "B" || column.name === "#bytes";

function axis(column, values, extra = {}) {
  const isBytes = countsBytes(column);
  const log = isBytes ? spreads(values, 16) : column.name !== "time" && spreads(values, 1000);
  return {
    label: withUnit(column), grid: true, ...(log ? { type: "log", ...(isBytes ? { base: 2 } : {}) } : { nice: true }),
    ...(isBytes ? { tickFormat: bytes, ticks: 6 } : log ? { tickFormat: tick, ticks: 5 } : { tickFormat: tick }), ...extra,
  };
}

// ---- lines ----------------------------------------------------------------

// The half width of an interval stands beside its value: "speedup +-".
const halfWidth = (table, c) => table.column(`${c.name} +-`);
const isHalf = (c) => / \+-$/.test(c.name) || c.name === "half_width";

function xColumn(table) {
  const numbers = table.columns.filter(isNumber);
  const free = numbers.filter((c) => distinct(c.cells).length > 1);
  return free.find((c) => c.origin === "given" && c.unit) ||
    free.find((c) => c.name === "time") || free[0] || numbers[0];
}

function points(table, x, y, labels, prefix) {
  const half = halfWidth(table, y), rows = [];
  for (let i = 0; i < table.n; i++) {
    if (x.cells[i] === null || y.cells[i] === null) continue;
    const name = [prefix, rowLabel(table, labels, i)].filter(Boolean).join(", ");
    const h = half ? half.cells[i] : null;
    rows.push({ x: x.cells[i], y: y.cells[i], name: name || y.name,
      lo: h === null ? null : y.cells[i] - h, hi: h === null ? null : y.cells[i] + h,
      title: `${name || y.name}\n${x.name}: ${format(x, x.cells[i])} ${x.unit}\n` +
        `${y.name}: ${format(y, y.cells[i])}${h ? ` ± ${format(half, h)}` : ""} ${y.unit} (${y.origin})` });
  }
  return rows;
}

function lines(width, label, x, unit, all, options = {}) {
  // By size, what matters is the ratio; zeros have no place on such an axis.
  const positive = all.filter((r) => r.y > 0);
  const bySize = countsBytes(x) && spreads(positive.map((r) => r.y), 30);
  const rows = bySize ? positive : all;
  const names = distinct(rows.map((r) => r.name));
  const many = names.length > MANY, whats = distinct(rows.map((r) => r.what));
  const byWhat = many && whats.length > 1 && whats.length <= MANY;
  const xs = rows.map((r) => r.x), ys = rows.map((r) => r.y);
  const yAxis = { label: unit, ...grid, tickFormat: tick, ...(bySize || spreads(ys, 300) ? { type: "log", ticks: 5 } : { zero: true }) };
  const colour = byWhat ? "what" : many ? "var(--c1)" : "name";
  const svg = draw(width, label, {
    x: axis(x, xs), y: yAxis, color: colourScale(byWhat ? whats : names), ...options,
    marks: [
      rows.some((r) => r.lo !== null && r.hi > r.lo)
        ? Plot.ruleX(rows.filter((r) => r.lo !== null), { x: "x", y1: "lo", y2: "hi", stroke: colour, strokeOpacity: 0.6 }) : null,
      Plot.line(rows, { x: "x", y: "y", z: "name", stroke: colour, strokeWidth: many ? 0.8 : 1.8, strokeOpacity: many ? 0.55 : 1 }),
      many || rows.length > 400 ? null : Plot.dot(rows, { x: "x", y: "y", fill: colour, r: 2.5 }),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ],
  });
  return { svg, legend: byWhat ? legendOf(whats) : many ? [] : legendOf(names),
    note: many ? `${names.length} lines; point at one to see its name` : "" };
}

// Far too many lines: what most of them do, and the extremes.
function band(width, label, x, unit, rows) {
  const at = Plot.groupX({ y1: (v) => quantile(v, 0.1), y2: (v) => quantile(v, 0.9) }, { x: "x", y1: "y", y2: "y", fill: "var(--c1)", fillOpacity: 0.25 });
  const svg = draw(width, label, {
    x: axis(x, rows.map((r) => r.x)), y: { label: unit, ...grid, zero: true },
    marks: [
      Plot.areaY(rows, { ...at, sort: "x" }),
      Plot.lineY(rows, Plot.groupX({ y: "median" }, { x: "x", y: "y", stroke: "var(--c1)" })),
      Plot.lineY(rows, Plot.groupX({ y: "max" }, { x: "x", y: "y", stroke: "var(--c2)" })),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ],
  });
  return { svg, legend: [["median", "var(--c1)"], ["largest", "var(--c2)"]],
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
  // Where no x comes twice, a number beside it is no name for a line.
  const single = distinct(x.cells).length === table.n;
  const free = labels.filter((c) => distinct(c.cells).length > 1 && !(single && isNumber(c)));
  const groups = new Set(x.cells.map((_, i) => rowLabel(table, free, i)));
  // So many that each value of the first label has plots of its own.
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

// A plot for the columns of each unit.
function unitParts(table, x, ys, labels, heading) {
  const units = distinct(ys.map((c) => c.unit));
  const n = new Set(x.cells.map((_, i) => rowLabel(table, labels, i))).size;
  return units.map((unit) => {
    const of = ys.filter((c) => c.unit === unit), what = of.map((c) => c.name).join(", ");
    const rows = of.flatMap((c) => points(table, x, c, labels, of.length > 1 || !labels.length ? c.name : "")
      .map((p) => ({ ...p, what: c.name })));
    const axisName = unit ? `${of.length > 1 ? "" : of[0].name + " "}[${unit}]` : what;
    const title = [heading, units.length > 1 && (of.length <= 2 || !heading) ? what : units.length > 1 ? `[${unit}]` : ""].filter(Boolean).join("; ");
    return { small: units.length > 2, heading: title,
      make: (w) => (n > 60 ? band : lines)(w, `${[table.title, title].filter(Boolean).join(", ")}: ${what} by ${x.name}`, x, axisName, rows) };
  });
}

// The rows of a table for which keep(i), as a table.
function sub(table, keep) {
  const rows = [];
  for (let i = 0; i < table.n; i++) if (keep(i)) rows.push(i);
  const columns = table.columns.map((c) => ({ ...c, cells: rows.map((i) => c.cells[i]) }));
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
      y: { label: withUnit(y), grid: true, ...(spreads(rows.map((r) => r.y), 30) ? { type: "log", ticks: 5, tickFormat: tick } : { zero: true }) },
      color: colourScale(names),
      marks: [
        Plot.line(rows, { x: "u", y: "y", stroke: "name", strokeWidth: 1.8 }),
        Plot.dot(rows, { x: "u", y: "y", fill: "name", r: 2 }),
        Plot.tip(rows, Plot.pointer({ x: "u", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ],
    }), legend: legendOf(names) }) }];
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
  return names.map((name, k) => ({ small: true, heading: name, make: (w) => {
    const own = rows.filter((r) => r.name === name);
    return { svg: draw(w, `${table.title}: ${name}`, {
      height: 200,
      x: { label: from.unit ? `[${from.unit}]` : "", grid: true, domain: [Math.min(...rows.map((r) => r.x1)), Math.max(...rows.map((r) => r.x2))], ...(log ? { type: "log", ticks: 5, tickFormat: tick } : {}) },
      y: { label: withUnit(y), ...grid, zero: true },
      marks: [
        Plot.rectY(own, { x1: "x1", x2: "x2", y: "y", fill: COLOURS[k % COLOURS.length], insetLeft: 0.5, insetRight: 0.5 }),
        Plot.ruleY([0]),
        Plot.tip(own, Plot.pointerX({ x: (r) => (log ? Math.sqrt(r.x1 * r.x2) : (r.x1 + r.x2) / 2), y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ],
    }), legend: [] };
  } }));
}

// ---- what was promised ----------------------------------------------------

function shareParts(table) {
  const place = table.columns.find((c) => c.type === "text");
  const lane = table.column("VL");
  const got = table.column("share"), promised = table.column("promised");
  return distinct(place.cells).map((name) => ({ small: true, heading: `${place.name} ${name}`, make: (w) => {
    const rows = [];
    for (let i = 0; i < table.n; i++) {
      if (place.cells[i] !== name) continue;
      for (const c of [promised, got]) if (c.cells[i] !== null)
        rows.push({ lane: `VL ${lane.cells[i]}`, what: c === got ? "got" : "promised", y: c.cells[i],
          title: `${name}, VL ${lane.cells[i]}\n${c === got ? "got" : "promised"}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` });
    }
    return { svg: draw(w, `shares of the lanes at ${name}`, {
      height: 200, marginBottom: 30, fx: { label: null, axis: "bottom" }, x: { axis: null, domain: ["promised", "got"] },
      y: { label: "share [%]", ...grid, zero: true }, color: colourScale(["promised", "got"]),
      marks: [
        Plot.barY(rows, { fx: "lane", x: "what", y: "y", fill: "what" }), Plot.ruleY([0]),
        Plot.tip(rows, Plot.pointer({ fx: "lane", x: "what", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ],
    }), legend: legendOf(["promised", "got"]) };
  } }));
}

// ---- one number beside another --------------------------------------------

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
  const skip = [measure, unit, table.column("inside"), table.column("verdict")];
  const labels = table.columns.filter((c) => isLabel(c) && !skip.includes(c) && c.type !== "bool");
  const names = values.map((c) => c.name);
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
        rows.push({ x: key ? parsed[k][key] : label || String(i + 1), y: c.cells[i], what: c.name,
          lo: h === null ? null : c.cells[i] - h, hi: h === null ? null : c.cells[i] + h,
          title: `${[kind, label].filter(Boolean).join(", ")}\n${c.name}: ${format(c, c.cells[i])}${h ? ` ± ${format(half, h)}` : ""} ${unit ? unit.cells[i] : c.unit} (${c.origin})` });
      }
    });
    const u = unit ? unit.cells[at[0]] : values[0].unit;
    const flat = !key;
    const value = { label: `${kind || "value"}${u ? ` [${u}]` : ""}`, grid: true, nice: true, tickFormat: tick,
      ...(spreads(rows.map((r) => r.y), 300) ? { type: "log", ticks: 5 } : {}) };
    const tip = { title: "title", fill: "var(--back)", stroke: "var(--soft)" };
    if (flat) return { legend: legendOf(names), svg: draw(w, `${table.title}: ${kind}`, {
      height: Math.max(90, 60 + 22 * distinct(rows.map((r) => r.x)).length), marginLeft: Math.min(220, 20 + 7 * Math.max(...rows.map((r) => String(r.x).length))),
      x: value, y: { type: "band", label: null, domain: distinct(rows.map((r) => r.x)) }, color: colourScale(names),
      marks: [
        Plot.ruleY(rows.filter((r) => r.lo !== null), { y: "x", x1: "lo", x2: "hi", stroke: "what" }),
        Plot.dot(rows, { y: "x", x: "y", stroke: "what", symbol: "what", r: 4 }),
        Plot.tip(rows, Plot.pointer({ y: "x", x: "y", ...tip })),
      ] }) };
    return { legend: legendOf(names), svg: draw(w, `${table.title}: ${kind} by ${key}`, {
      height: 220, x: { label: key, ...grid }, y: value, color: colourScale(names),
      marks: [
        Plot.ruleX(rows.filter((r) => r.lo !== null), { x: "x", y1: "lo", y2: "hi", stroke: "what", strokeWidth: 1.5 }),
        Plot.line(rows.filter((r) => r.lo === null), { x: "x", y: "y", z: "what", stroke: "what", sort: "x" }),
        Plot.dot(rows, { x: "x", y: "y", stroke: "what", symbol: "what", r: 3.5 }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "y", ...tip })),
      ] }) };
  } }));
}

// ---- use of ports ---------------------------------------------------------

// Thousands of ports become 400 steps, each with its busiest.
function thin(rows) {
  if (rows.length <= 1200) return rows;
  const step = Math.ceil(rows.length / 400), out = [];
  for (let i = 0; i < rows.length; i += step)
    out.push(rows.slice(i, i + step).reduce((a, b) => (b.y > a.y ? b : a)));
  return out;
}

function orderParts(table) {
  const name = table.columns.find((c) => c.type === "text");
  const values = ["used", "waiting"].map((n) => table.column(n)).filter(Boolean);
  const names = values.map((c) => c.name);
  const make = (sorted) => (w) => {
    const order = [...name.cells.keys()];
    if (sorted) order.sort((a, b) => values[0].cells[b] - values[0].cells[a]);
    const rows = values.flatMap((c) => thin(order.map((i, rank) => ({ x: rank + 1, y: c.cells[i], what: c.name,
      title: `${name.name} ${name.cells[i]}\n${c.name}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` }))));
    const note = table.n > 1200 ? `${table.n} ports; each step shows the busiest of ${Math.ceil(table.n / 400)}` : "";
    return { legend: legendOf(names), note, svg: draw(w, `${names.join(" and ")} of ${table.n} ports, ${sorted ? "busiest first" : "in order of the fabric"}`, {
      height: 220, x: { label: sorted ? "rank, busiest first" : "place in the fabric", grid: true }, y: { label: "[%]", ...grid, zero: true }, color: colourScale(names),
      marks: [
        Plot.lineY(rows, { x: "x", y: "y", z: "what", stroke: "what", curve: "step" }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ] }) };
  };
  return [{ heading: "in order of the fabric", make: make(false) }, { heading: "busiest first", make: make(true) }];
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
  return [{ make: (w) => ({ legend: legendOf(names), svg: draw(w, table.title, {
    x: { type: "log", base: 2, label: "share of the gap", ticks: steps.map((c) => asNumber(c.name)), tickFormat: (v) => steps.find((c) => asNumber(c.name) === v)?.name ?? "", grid: true },
    y: { label: `[${steps[0].unit}]`, ...grid, zero: true }, color: colourScale(names),
    marks: [
      Plot.line(rows, { x: "x", y: "y", stroke: "name", strokeWidth: 1.8 }), Plot.dot(rows, { x: "x", y: "y", fill: "name", r: 2.5 }),
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
    ] }) }) }];
}

// ---- rows of values -------------------------------------------------------

const dotColumns = (table) => table.columns.filter((c) => c.type === "real" && c.origin !== "given" && c.unit && !isHalf(c));

function dotParts(table) {
  const labels = table.columns.filter((c) => isLabel(c) && c.type !== "bool" && distinct(c.cells).length > 1);
  const values = dotColumns(table);
  return distinct(values.map((c) => c.unit)).map((unit) => ({ heading: values.filter((c) => c.unit === unit).map((c) => c.name).join(", "), make: (w) => {
    const of = values.filter((c) => c.unit === unit), names = of.map((c) => c.name), rows = [];
    for (let i = 0; i < table.n; i++) for (const c of of) if (c.cells[i] !== null) {
      const label = rowLabel(table, labels, i) || String(i + 1);
      rows.push({ label, x: c.cells[i], what: c.name, title: `${label}\n${c.name}: ${format(c, c.cells[i])} ${c.unit} (${c.origin})` });
    }
    const places = distinct(rows.map((r) => r.label));
    const room = Math.min(Math.max(...places.map((p) => p.length), 3) * 6.6 + 14, w * 0.45);
    const fits = Math.floor((room - 14) / 6.6);
    return { legend: legendOf(names), svg: draw(w, `${table.title}: ${names.join(", ")}`, {
      height: 62 + 22 * places.length, marginLeft: room,
      x: { label: `[${unit}]`, grid: true, nice: true, tickFormat: tick, ...(spreads(rows.map((r) => r.x), 100) ? { type: "log", ticks: 5 } : { zero: true }) },
      y: { type: "band", domain: places, label: null, tickFormat: (t) => (t.length > fits ? t.slice(0, Math.max(1, fits - 1)) + "…" : t) }, color: colourScale(names),
      marks: [
        Plot.ruleY(places, { y: (d) => d, stroke: "var(--line)" }),
        Plot.dot(rows, { x: "x", y: "label", stroke: "what", symbol: "what", r: 4, strokeWidth: 1.8 }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "label", title: "title", fill: "var(--back)", stroke: "var(--soft)" })),
      ] }) };
  } }));
}

// ---- the rules, in order --------------------------------------------------

export function partsFor(table) {
  if (table.n === 0 || table.kind === "record") return null;
  if (table.has("percentile")) return percentileParts(table);
  if (table.has("from", "to") && isNumber(table.column("from")) && !table.has("link")) return histogramParts(table);
  if (table.has("promised", "share", "VL")) return shareParts(table);
  if (table.columns.filter((c) => isNumber(c) && SOURCES.includes(c.name)).length >= 2) return againstParts(table);
  if (table.kind === "series") return seriesParts(table);
  if (table.has("used") && table.n >= 8 && table.columns.some((c) => c.type === "text")) return orderParts(table);
  if (profileColumns(table).length >= 3) return profileParts(table);
  if (table.n >= 2 && table.n <= 40 && dotColumns(table).length >= 2) return dotParts(table);
  return null;
}
