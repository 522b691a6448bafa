// SPDX-License-Identifier: BSD-2-Clause
// Runs that differ in one number, such as those of a published figure: their
// results as curves over this number.
import { partsFor } from "./charts.js";
import { Table, isLabel, isNumber } from "./data.js";
import { isFabricTable } from "./model.js";
import { differing, valueOf } from "./overlay.js";
import { el } from "./tables.js";

const LEAST = 3; // points that are a curve
const MOST_OTHERS = 2; // other parameters that tell lines apart
const MOST_ROWS = 12; // of a table that every row of becomes a line

// "64KiB" becomes { value: 65536, unit: "B" }, "4" becomes { value: 4, unit: ""
// }; null: not a number.
const PREFIXES = { "": 1, Ki: 1024, Mi: 1048576, Gi: 1073741824, K: 1e3, k: 1e3, M: 1e6, G: 1e9 };
function quantity(name, text) {
  const m = /^(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([A-Za-z%/]*)$/.exec(text ?? "");
  if (!m) return null;
  const size = /^(Ki|Mi|Gi|K|k|M|G)?B$/.exec(m[2]);
  if (size) return { value: Number(m[1]) * PREFIXES[size[1] ?? ""], unit: "B" };
  return { value: Number(m[1]), unit: m[2] || (/(^|[.\]])(size|payload)$/.test(name) ? "B" : "") };
}

const distinct = (list) => [...new Set(list)];

// The number with the most distinct values over the runs, as a column; null if
// no number differs.
function axisOf(runs, names) {
  const found = names.filter((name) => !/(^|\.)seed$/.test(name)).map((name) => {
    const all = runs.map((run) => quantity(name, valueOf(run, name)));
    return all.every((q) => q && q.unit === all[0].unit) ? { name, unit: all[0].unit, cells: all.map((q) => q.value) } : null;
  }).filter((axis) => axis && distinct(axis.cells).length >= LEAST);
  return found.sort((a, b) => distinct(b.cells).length - distinct(a.cells).length)[0] ?? null;
}

// Groups runs by command and title; only groups large enough for a curve.
function families(runs) {
  const found = new Map();
  for (const run of runs) {
    const title = run.told ? run.title.slice(0, -` (${run.told})`.length) : run.title, key = `${run.command}\n${title}`;
    if (!found.has(key)) found.set(key, { title, runs: [] });
    found.get(key).runs.push(run);
  }
  return [...found.values()].filter((f) => f.runs.length >= LEAST);
}

const given = (name, unit, type, cells) => ({ name, unit, type, origin: "given", places: 0, cells });

// Whether a row of the first table has another value in a later one; otherwise
// there is no curve.
function changes(column, tables) {
  const at = (t, i) => t.column(column.name).cells[i];
  return tables.some((t) => t.columns[0].cells.some((_, i) => i < tables[0].n && at(t, i) !== null && at(t, i) !== at(tables[0], i)));
}

// The rows of a table in all runs, in the order of the axis, as one series;
// null if no value changes.
function seriesOf(runs, axis, others, name) {
  const order = [...runs.keys()].sort((a, b) => axis.cells[a] - axis.cells[b]);
  const tables = order.map((k) => runs[k].table(name)), rows = (of) => order.flatMap((k, i) => Array(tables[i].n).fill(of(k)));
  const columns = tables[0].columns.filter((c) => (isNumber(c) ? c.name !== "+-" : c.type === "text" && c.origin === "given"))
    .map((c) => tables.map((t) => t.columns.find((o) => o.name === c.name && o.unit === c.unit && o.type === c.type)))
    .filter((same) => same.every(Boolean))
    .map((same) => ({ ...same[0], limits: undefined, cells: same.flatMap((c) => c.cells),
      ...(same.some((c) => c.printed) ? { printed: same.flatMap((c) => c.printed ?? c.cells.map(() => null)) } : {}) }))
    .filter((c) => isLabel(c) || changes(c, tables));
  if (columns.every(isLabel)) return null;
  return new Table({ name, title: `${tables[0].title}, along ${axis.name}`, kind: "series", along: true, units: new Map(),
    columns: [given(axis.name, axis.unit, "real", rows((k) => axis.cells[k])), ...others.map((o) => given(o, "", "text", rows((k) => `${o} ${valueOf(runs[k], o)}`))), ...columns] });
}

function familyPanels({ runs }, panelFor) {
  const names = differing(runs), axis = axisOf(runs, names);
  if (!axis) return [];
  // Columns that vary with the axis do not distinguish curves.
  const follows = (name) => distinct(runs.map((run, k) => `${axis.cells[k]}\n${valueOf(run, name)}`)).length === distinct(axis.cells).length;
  const others = names.filter((name) => name !== axis.name && !follows(name));
  const points = runs.map((run, k) => [axis.cells[k], ...others.map((o) => valueOf(run, o))].join("\n"));
  if (others.length > MOST_OTHERS || distinct(points).length < runs.length) return [];
  const tables = runs[0].tables.filter((t) => t.kind !== "series" && t.n > 0 && !isFabricTable(runs[0], t) &&
    runs.every((run) => { const o = run.table(t.name); return o && o.n > 0 && o.n <= (t.kind === "record" ? 1 : MOST_ROWS); }));
  return tables.flatMap((t) => {
    const series = seriesOf(runs, axis, others, t.name), parts = series && partsFor(series);
    return parts && parts.length ? [panelFor({ command: `${runs[0].command} along`, id: 0 }, series, parts)] : [];
  });
}

// Sections of all groups of runs; each run gets a reference to its section.
// `panelFor` creates a panel from parts.
export function alongSections(runs, panelFor) {
  return families(runs).flatMap((family, k) => {
    const panels = familyPanels(family, panelFor), id = `along-${k + 1}`;
    if (!panels.length) return [];
    for (const run of family.runs) run.along = { id, title: family.title, n: family.runs.length };
    return [el("article", { class: "run along", id, "data-experiment": family.title.split(":")[0] }, el("h2", {}, family.title), el("div", { class: "panels" }, ...panels))];
  });
}
