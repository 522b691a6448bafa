// SPDX-License-Identifier: BSD-2-Clause
// Colours, dashes and symbols. A name has the same colour in all plots of a
// run, and the legend shows the marks of the plot.
import * as Plot from "@observablehq/plot";
import { el } from "./shapes.js";

const COLOURS = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `var(--c${n})`);
export const SYMBOLS = ["circle", "plus", "times", "triangle2", "square2", "diamond2", "asterisk"];
export const DASHES = [null, "6 4", "2 3", "9 3 2 3", "1 4", "12 5", "5 2 1 2", "8 2 2 2 2 2"];

// Names get colours in the order of first use. The first names do not share
// their colours while others are free, and the names of one plot always have
// different colours.
export class Palette {
  constructor(names = []) {
    this.index = new Map();
    this.own = names.length < COLOURS.length - 2 ? names.length : 0;
    this.of(names);
  }
  place(name) {
    const k = this.index.get(name);
    return k < this.own ? k : this.own + ((k - this.own) % (COLOURS.length - this.own));
  }
  of(names) {
    const taken = new Set();
    for (const n of names) if (!this.index.has(n)) this.index.set(n, this.index.size);
    return names.map((n) => {
      let k = this.place(n);
      for (let tries = 0; tries < COLOURS.length && taken.has(k); tries++) k = (k + 1) % COLOURS.length;
      taken.add(k);
      return COLOURS[k];
    });
  }
  scale(names) {
    return { domain: names, range: this.of(names) };
  }
}

export const symbolScale = (names) => ({ domain: names, range: names.map((_, i) => SYMBOLS[i % SYMBOLS.length]) });

// Entries are { name, colour, shape: "bar", "line" or a symbol, dash }.
export const bars = (palette, names) => palette.of(names).map((colour, i) => ({ name: names[i], colour, shape: "bar" }));
export const strokes = (palette, names, dashed) => palette.of(names).map((colour, i) => ({ name: names[i], colour, shape: "line", dash: dashed ? DASHES[i % DASHES.length] : null }));
export const symbols = (palette, names) => (palette ? palette.of(names) : names.map(() => "var(--ink)"))
  .map((colour, i) => ({ name: names[i], colour, shape: SYMBOLS[i % SYMBOLS.length] }));

const NS = "http://www.w3.org/2000/svg";
const WIDE = { line: 26 };
export const swatchWidth = (entry) => WIDE[entry.shape] || 14;

// A small drawing of a mark of the plot.
export function swatch(entry) {
  const width = swatchWidth(entry);
  if (entry.shape !== "bar" && entry.shape !== "line") {
    const dot = Plot.plot({ width, height: 12, margin: 0, axis: null, x: { axis: null }, y: { axis: null },
      marks: [Plot.dot([0], { frameAnchor: "middle", symbol: entry.shape, stroke: entry.colour, r: 4, strokeWidth: 1.8 })] });
    dot.querySelector("style")?.remove(); // its text would be part of the name
    dot.setAttribute("aria-hidden", "true");
    return dot;
  }
  const svg = document.createElementNS(NS, "svg"), mark = document.createElementNS(NS, entry.shape === "bar" ? "rect" : "line");
  for (const [k, v] of Object.entries({ width, height: 12, viewBox: `0 0 ${width} 12`, "aria-hidden": "true" })) svg.setAttribute(k, v);
  const attributes = entry.shape === "bar" ? { width: 12, height: 12, rx: 2, fill: entry.colour }
    : { x1: 0, x2: width, y1: 6, y2: 6, stroke: entry.colour, "stroke-width": 2.2, ...(entry.dash ? { "stroke-dasharray": entry.dash } : {}) };
  for (const [k, v] of Object.entries(attributes)) mark.setAttribute(k, v);
  svg.append(mark);
  return svg;
}

export function legendNode(legend) {
  if (!legend || legend.length < 2) return null;
  return el("ul", { class: "legend" }, ...legend.map((entry) => el("li", {}, swatch(entry), entry.name)));
}
