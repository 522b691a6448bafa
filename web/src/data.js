// SPDX-License-Identifier: BSD-2-Clause
// The results in the program's format: runs of tables of columns.
import { Palette } from "./legend.js";

export class Table {
  constructor(raw) {
    Object.assign(this, raw);
    this.palette = this.palette || new Palette();
    this.n = this.columns.length ? this.columns[0].cells.length : 0;
  }
  column(name) {
    return this.columns.find((c) => c.name === name);
  }
  has(...names) {
    return names.every((n) => this.column(n));
  }
  cells(name) {
    return this.column(name).cells;
  }
  // "simulated", or all origins in order: "given, computed".
  origins() {
    const all = this.columns.filter((c) => !isLabel(c) || c.origin !== "given").map((c) => c.origin);
    const list = [...new Set(all)];
    return list.length ? list : ["given"];
  }
}

export function readRuns(text) {
  return JSON.parse(text).runs.map(asRun);
}

// Assigns published values to their columns: { value, text, what } for one row,
// or for all rows ("limits"). They are not a separate table.
function takeMarks(run) {
  const marks = run.tables.filter((t) => t.name === "published points");
  run.tables = run.tables.filter((t) => !marks.includes(t));
  for (const m of marks) for (let i = 0; i < m.n; i++) {
    const column = run.tables.find((t) => t.name === m.cells("table")[i])?.column(m.cells("column")[i]), row = m.cells("row")[i];
    if (!column) continue;
    const mark = { value: m.cells("published")[i], text: m.cells("as printed")[i], what: m.cells("what")[i] };
    if (row < 0) (column.limits = column.limits || []).push(mark);
    else (column.printed = column.printed || column.cells.map(() => null))[row] = mark;
  }
}

export function asRun(run) {
  // The unit of a name, for names within a text: "lambda=4".
  const units = new Map(run.tables.flatMap((t) => t.columns).filter((c) => c.unit).map((c) => [c.name, c.unit]));
  // Rows of traffic and jobs have the first colours in all plots.
  const rows = run.tables.filter((t) => t.name === "traffic" || t.name === "jobs").flatMap((t) => t.columns.find((c) => c.name === "traffic" || c.name === "job")?.cells ?? []);
  const palette = new Palette([...new Set(rows)]);
  run.tables = run.tables.map((t) => new Table({ ...t, units, palette }));
  takeMarks(run);
  run.table = (name) => run.tables.find((t) => t.name === name);
  return run;
}

export const isNumber = (c) =>
  c.type === "real" || c.type === "uint" || c.type === "int";
// Columns that label a row. A checksum is a text, but a result.
export const isLabel = (c) => c.origin === "given" || (!isNumber(c) && c.name !== "checksum");

export function format(c, value) {
  if (value === null || value === undefined) return "–";
  if (c.type === "bool") return value ? "yes" : "no";
  if (c.type === "real") {
    if (c.places > 0) return value.toFixed(c.places);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    return Number(value.toPrecision(6)).toString();
  }
  return String(value);
}

export const withUnit = (c) => (c.unit ? `${c.name} [${c.unit}]` : c.name);

// The label of row i; number columns are given with their names.
export function rowLabel(table, columns, i) {
  return columns
    .map((c) => (isNumber(c) ? `${c.name} ${format(c, c.cells[i])}` : c.cells[i]))
    .filter((w) => w !== null && w !== "")
    .join(", ");
}
