// SPDX-License-Identifier: BSD-2-Clause
// Common functions of all plots.
import * as Plot from "@observablehq/plot";

export const distinct = (list) => [...new Set(list)];

export function bytes(n) {
  for (const [unit, size] of [["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 1024]])
    if (n >= size) return `${+(n / size).toPrecision(3)}${unit}`;
  return String(n);
}

// Short plain numbers: 0.2, 1500, 12k, 3M.
export function tick(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  for (const [unit, scale] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (size >= 10 * scale || (size >= scale && v % scale === 0)) return `${+(v / scale).toPrecision(4)}${unit}`;
  return size < 1e-4 ? v.toExponential(0) : String(+v.toPrecision(4));
}

// The colour of a name in a plot's scale. Without an explicit scale, names that
// are CSS colours by chance ("none", "gold") would be drawn in these.
export const byName = (field) => ({ value: field, scale: "color" });

// One plot; `label` describes it to users of a screen reader.
export function draw(width, label, options) {
  const svg = Plot.plot({
    width, height: 280, marginLeft: 56, marginBottom: 40, marginRight: 26, marginTop: 24,
    style: { background: "transparent", fontSize: "12px", overflow: "visible",
      "--plot-background": "var(--back)" },
    ...options,
  });
  // The frame has the accessible label.
  svg.setAttribute("aria-hidden", "true");
  svg.dataset.label = label;
  return svg;
}
