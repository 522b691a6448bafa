// SPDX-License-Identifier: BSD-2-Clause
// Pictures of jobs: timelines of ranks, and bytes for each pair of ranks.
import * as Plot from "@observablehq/plot";
import { format, isNumber } from "./data.js";
import { bytes, distinct, draw, tick } from "./plot.js";

const DOING = [["compute", "var(--c3)"], ["send", "var(--c1)"], ["receive", "var(--c2)"], ["wait", "var(--line)"]];
const TIP = { fill: "var(--back)", stroke: "var(--soft)" };

const rowsOf = (table, name, value) => [...table.cells(name).keys()].filter((i) => table.cells(name)[i] === value);

// ---- a bar for each rank ----------------------------------------------------

export const isTimeline = (t) => t.has("job", "rank", "begin", "end", ...DOING.map(([name]) => name));

// A span with several activities shows each with its duration, in this order.
function pieces(table, i) {
  const cell = (name) => table.cells(name)[i], found = [];
  const said = (name) => `${format(table.column(name), cell(name))} ${table.column(name).unit}`;
  let at = cell("begin");
  for (const [what, colour] of DOING) {
    const time = cell(what);
    if (!time) continue;
    found.push({ y: cell("rank"), x1: at, x2: at + time, colour, what, time,
      title: `rank ${cell("rank")}, ${said("begin")} to ${said("end")}\n` +
        `${DOING.filter(([d]) => cell(d)).map(([d]) => `${d} ${said(d)}`).join(", ")}\n` +
        [`(${table.column("begin").origin})`, cell("operation"), cell("iteration") !== null && `iteration ${cell("iteration")}`].filter(Boolean).join(" ") });
    at += time;
  }
  return found;
}

export function timelineParts(table) {
  return distinct(table.cells("job")).map((job) => ({ heading: `job ${job}`, make: (w) => {
    const rows = rowsOf(table, "job", job), bars = rows.flatMap((i) => pieces(table, i));
    const ranks = distinct(rows.map((i) => table.cells("rank")[i]));
    const unit = table.column("begin").unit, merged = rows.some((i) => DOING.filter(([d]) => table.cells(d)[i]).length > 1);
    return { legend: DOING.map(([name, colour]) => ({ name, colour, shape: "bar" })),
      note: merged ? "some spans of time hold several things, which are drawn one after the other" : "",
      svg: draw(w, `${table.title}: job ${job}`, {
        height: 70 + 15 * ranks.length, x: { label: `time [${unit}]`, grid: true, tickFormat: tick },
        y: { type: "band", domain: ranks, label: "rank", padding: 0.15 },
        marks: [
          Plot.rect(bars, { x1: "x1", x2: "x2", y: "y", fill: "colour", className: "span" }),
          Plot.tip(bars, Plot.pointer({ x: (d) => (d.x1 + d.x2) / 2, y: "y", title: "title", ...TIP })),
        ],
      }) };
  } }));
}

// ---- a cell for each pair ---------------------------------------------------

const LABELS = 40; // names that have room next to each other

export const isMatrix = (t) => t.has("job", "from", "to", "bytes") && !isNumber(t.column("from")) && !t.has("number");

export function matrixParts(table) {
  return distinct(table.cells("job")).map((job) => ({ heading: `job ${job}`, make: (w) => {
    const rows = rowsOf(table, "job", job), cell = (name, i) => table.cells(name)[i];
    const names = distinct([...rows.map((i) => cell("from", i)), ...rows.map((i) => cell("to", i))])
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const most = Math.max(...rows.map((i) => cell("bytes", i)), 1);
    const cells = rows.map((i) => ({ from: cell("from", i), to: cell("to", i), share: 0.12 + 0.88 * cell("bytes", i) / most,
      title: `${cell("from", i)} to ${cell("to", i)}\n${bytes(cell("bytes", i))}B in ${cell("messages", i)} messages (${table.column("bytes").origin})` }));
    const room = Math.max(...names.map((n) => n.length)) * 6.6 + 14, named = names.length <= LABELS;
    const left = named ? Math.min(room, w * 0.3) : 40, size = Math.max(3, Math.min(24, (w - left - 26) / names.length));
    const axis = { type: "band", domain: names, padding: names.length > LABELS ? 0 : 0.06, ticks: named ? names : [] };
    return { legend: [], note: `the fullest cell: ${bytes(most)}B${named ? "" : `; ${names[0]} is at the top and on the left, ${names.at(-1)} at the other ends`}`,
      svg: draw(w, `${table.title}: job ${job}`, {
        width: left + 26 + size * names.length, height: 24 + (named ? room : 40) + size * names.length, marginLeft: left, marginBottom: named ? room : 40,
        x: { ...axis, label: named ? null : "to", tickRotate: -90 }, y: { ...axis, label: named ? null : "from" },
        marks: [
          Plot.frame({ stroke: "var(--line)" }),
          Plot.cell(cells, { x: "to", y: "from", fill: "var(--c1)", fillOpacity: "share", className: "pair" }),
          Plot.tip(cells, Plot.pointer({ x: "to", y: "from", title: "title", ...TIP })),
        ],
      }) };
  } }));
}
