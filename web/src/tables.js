// SPDX-License-Identifier: BSD-2-Clause
// Tables and records as HTML, with units and origins.
import { format, isNumber } from "./data.js";
import { el } from "./shapes.js";

export { el };

export const originTag = (origin) => el("span", { class: "origin" }, origin);

function head(table) {
  const mixed = table.origins().length > 1;
  return el("thead", {}, el("tr", {}, ...table.columns.map((c) =>
    el("th", { scope: "col", class: isNumber(c) ? null : "text" }, c.name,
      c.unit ? el("span", { class: "unit" }, ` [${c.unit}]`) : null,
      mixed && isNumber(c) ? el("span", { class: "from" }, c.origin) : null))));
}

function row(table, i) {
  return el("tr", {}, ...table.columns.map((c) => {
    const met = c.name === "met" && c.type === "bool";
    const text = (met && c.cells[i] !== null ? (c.cells[i] ? "✓ " : "✗ ") : "") + format(c, c.cells[i]);
    const classes = [isNumber(c) ? "" : "text", text.length > 60 && /^[\d\s:,.-]+$/.test(text) ? "long" : text.length > 60 ? "words" : "",
      c.type === "bool" && c.cells[i] === false ? "no" : met ? "yes" : ""].filter(Boolean).join(" ");
    return el("td", { class: classes || null }, text);
  }));
}

// The first rows; the others on demand.
export function tableNode(table, first = 40) {
  const body = el("tbody");
  let shown = 0;
  const more = el("button", { type: "button" });
  const show = (n) => {
    for (const end = Math.min(table.n, shown + n); shown < end; shown++) body.append(row(table, shown));
    more.textContent = `show more (${table.n - shown} rows left)`;
    more.hidden = shown >= table.n;
  };
  more.addEventListener("click", () => show(500));
  show(first);
  return el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table ${table.name}` },
    el("table", {}, head(table), body)), more);
}

export function recordNode(table) {
  return el("dl", { class: "record" }, ...table.columns.map((c) =>
    el("div", {}, el("dt", {}, c.name), el("dd", {}, format(c, c.cells[0]), c.unit && c.cells[0] !== null ? ` ${c.unit}` : ""))));
}

export function tableLines(table, most = 60) {
  const rows = [table.columns.map((c) => (c.unit ? `${c.name}[${c.unit}]` : c.name))];
  for (let i = 0; i < Math.min(table.n, most); i++)
    rows.push(table.columns.map((c) => format(c, c.cells[i]).slice(0, 48)));
  const widths = table.columns.map((_, k) => Math.max(...rows.map((r) => r[k].length)));
  const lines = rows.map((r) => r.map((t, k) => (isNumber(table.columns[k]) ? t.padStart(widths[k]) : t.padEnd(widths[k]))).join("  "));
  if (table.n > most) lines.push(`... ${table.n - most} more rows`);
  return lines;
}
