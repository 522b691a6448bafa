// SPDX-License-Identifier: BSD-2-Clause
// The cables between two tiers as a matrix: switches of one are rows, of the
// other columns, a cell in two halves, up and down, for their cables. Where lines would cover each other this shows every one of them.
import { svg } from "./shapes.js";

const CELL = 24, LABELS = 70; // rows that have room for names

// Pairs of tiers with cables between switches, the most cables first.
export function tierPairs(f) {
  const found = new Map();
  for (const l of f.links) {
    const a = f.nodes[l.from], b = f.nodes[l.to];
    if (a.kind === "host" || b.kind === "host" || a === b || a.tier > b.tier || (a.tier === b.tier && a.node > b.node)) continue;
    const key = `${a.tier}-${b.tier}`;
    if (!found.has(key)) found.set(key, { low: a.tier, high: b.tier, cables: 0 });
    found.get(key).cables++;
  }
  return [...found.values()].sort((a, b) => b.cables - a.cables);
}

function cellsOf(f, pair) {
  const cells = new Map();
  for (const l of f.links) {
    const a = f.nodes[l.from], b = f.nodes[l.to];
    const up = a.tier === pair.low && b.tier === pair.high && (pair.low !== pair.high || a.node < b.node);
    if (!up || a.kind === "host" || b.kind === "host") continue;
    const key = `${a.node}-${b.node}`;
    if (!cells.has(key)) cells.set(key, { low: a, high: b, up: [], down: [] });
    cells.get(key).up.push(l);
    if (l.back) cells.get(key).down.push(l.back);
  }
  return [...cells.values()];
}

function half(view, cell, links, box, direction) {
  const shape = svg("rect", { class: "cell", ...box, "data-cell": direction });
  shape.append(svg("title"));
  shape.addEventListener("click", () => view.chooseEdge({ links, a: cell.low, b: cell.high }));
  for (const l of links) l.cell = shape;
  return { shape, links, direction, cell };
}

export function drawMatrix(view, f, pair) {
  const cells = cellsOf(f, pair);
  const byNode = (a, b) => a.node - b.node, unique = (list) => [...new Set(list)].sort(byNode);
  // Screens are wide: the longer side lies.
  const low = unique(cells.map((c) => c.low)), high = unique(cells.map((c) => c.high)), upright = low.length <= high.length;
  const rows = upright ? low : high, columns = upright ? high : low;
  const rowAt = new Map(rows.map((n, i) => [n, i])), columnAt = new Map(columns.map((n, i) => [n, i]));
  // Many of them make small cells, but no cell is without a pixel.
  const size = Math.max(2, Math.min(CELL, 1300 / Math.max(rows.length, columns.length)));
  const named = Math.max(rows.length, columns.length) <= LABELS, marks = svg("g"), words = svg("g"), ways = svg("g");
  const longest = Math.max(...[...rows, ...columns].map((n) => n.name.length)), room = named ? longest * 6.2 + 10 : 20;
  view.halves = [];
  for (const cell of cells) {
    const [row, column] = upright ? [cell.low, cell.high] : [cell.high, cell.low];
    const x = room + columnAt.get(column) * size, y = room + rowAt.get(row) * size, h = size / 2 - (size > 6 ? 0.75 : 0);
    for (const [links, dy, direction] of [[cell.up, 0, "up"], [cell.down, size / 2 - (size > 6 ? 0.25 : 0), "down"]])
      view.halves.push(half(view, cell, links, { x: x + 0.5, y: y + dy, width: size - (size > 6 ? 1 : 0), height: h }, direction));
  }
  marks.append(...view.halves.map((c) => c.shape));
  if (named) {
    for (const [n, i] of rowAt) words.append(svg("text", { class: "left", x: room - 4, y: room + (i + 0.5) * size + 3.5 }, n.name));
    for (const [n, i] of columnAt) words.append(svg("text", { class: "left", transform: `translate(${room + (i + 0.5) * size + 3.5} ${room - 4}) rotate(90)` }, n.name));
  } else words.append(svg("text", { class: "tier", x: room, y: 14 }, `${rows.length} switches of tier ${upright ? pair.low : pair.high} (rows), ${columns.length} of tier ${upright ? pair.high : pair.low} (columns)`));
  view.stage.replaceChildren(marks, words, ways);
  view.ways = ways;
  view.fit(0, 0, room + columns.length * size + 10, room + rows.length * size + 10);
}

export function paintMatrix(view, f, colour) {
  for (const { shape, links, direction, cell } of view.halves) {
    const values = links.map((l) => f.value(l, view.metric, view.step)), most = Math.max(...values);
    const down = links.filter((l) => f.isDown(l, view.step)).length;
    shape.setAttribute("fill", down === links.length ? "none" : colour(most));
    shape.classList.toggle("down", down > 0);
    const [from, to] = direction === "up" ? [cell.low, cell.high] : [cell.high, cell.low];
    shape.firstChild.textContent = `${from.name} to ${to.name}, ${links.length} ${links.length > 1 ? "cables" : "cable"}: ${view.metric} ${most.toFixed(1)} %${down ? `; ${down} down` : ""}`;
  }
}
