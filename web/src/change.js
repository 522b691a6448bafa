// SPDX-License-Identifier: BSD-2-Clause
// Two runs of one scenario: goals, changes per row and job, and the causes of
// deteriorations.
import { format } from "./data.js";
import { isGoals } from "./overview.js";
import { el } from "./tables.js";

const SMALL = 5; // percent; smaller changes may be chance

// The two runs that a page compares, or null.
export function pairOf(runs) {
  const pair = runs.filter((run) => run.command !== "report");
  return pair.length === 2 && pair.every((run) => run.command === "sim" && run.tables.some(isGoals)) ? pair : null;
}

const keyOf = (t, i) => [t.has("job") ? "job" : "traffic", "goal", "asked"].map((name) => t.cells(name)[i]).join(" ");

function goalsOf(run) {
  const found = new Map();
  for (const t of run.tables.filter((one) => isGoals(one) && one.has("met", "found"))) for (let i = 0; i < t.n; i++)
    found.set(keyOf(t, i), { of: t.cells(t.has("job") ? "job" : "traffic")[i], goal: t.cells("goal")[i], asked: t.cells("asked")[i], found: t.cells("found")[i], met: t.cells("met")[i] });
  return found;
}

// Result of a row or a job, and whether larger is better.
const MEASURES = [["traffic", "traffic", "delivered", true], ["traffic", "traffic", "mean", false], ["traffic", "traffic", "p99", false],
  ["jobs", "job", "completion", false], ["jobs", "job", "slowdown", false]];

function changesOf([a, b]) {
  const out = [];
  for (const [name, key, measure, more] of MEASURES) {
    const s = a.table(name), t = b.table(name);
    if (!s?.has(key, measure) || !t?.has(key, measure)) continue;
    for (let i = 0; i < s.n; i++) {
      const of = s.cells(key)[i], k = t.cells(key).indexOf(of), column = s.column(measure);
      const before = column.cells[i], after = k < 0 ? null : t.cells(measure)[k];
      const percent = before ? 100 * (after - before) / before : NaN;
      out.push({ of, measure, column, before, after, percent, better: (percent > 0) === more && Math.abs(percent) >= SMALL,
        worse: (percent > 0) !== more && Math.abs(percent) >= SMALL });
    }
  }
  return out.sort((x, y) => (x.of === y.of ? 0 : out.findIndex((c) => c.of === x.of) - out.findIndex((c) => c.of === y.of)));
}

const percentOf = (c) => `${c.percent > 0 ? "+" : "−"}${Math.abs(c.percent).toFixed(1)} %`;

// Rows that gained and rows that lost on shared links.
function reasonOf(change, changes) {
  if (!change.worse) return "";
  const gains = changes.filter((c) => c.better && c.of !== change.of);
  const best = [...new Set(gains.map((c) => c.of))].map((of) => gains.filter((c) => c.of === of).sort((x, y) => Math.abs(y.percent) - Math.abs(x.percent))[0]);
  return best.length ? `load moved to ${best.map((c) => `${c.of} (${c.measure} ${percentOf(c)})`).join(", ")}` : "no other row or job gained";
}

const cell = (text, kind) => el("td", { class: kind ?? null }, text);
const table = (label, head, rows) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", {},
  el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col", class: "text" }, h)))), el("tbody", {}, ...rows)));

// The first section of a page with two runs; null for other pages.
export function changeSection(runs) {
  const pair = pairOf(runs);
  if (!pair) return null;
  const [before, after] = pair.map(goalsOf), changes = changesOf(pair), mark = (g) => (g ? `${g.met ? "✓" : "✗"} ${g.found}` : "–");
  const both = [...before].filter(([key]) => after.has(key)).map(([key, g]) => [g, after.get(key)]);
  const verdict = (a, b) => (a.met ? (b.met ? "kept" : "lost") : b.met ? "won" : "missed");
  const lost = both.filter(([a, b]) => verdict(a, b) === "lost").length, missed = both.filter(([, b]) => !b.met).length;
  const worse = changes.filter((c) => c.worse && c.measure === "delivered");
  return el("article", { class: "run change", id: "change" }, el("h2", {}, "Before and after"),
    el("p", { class: `verdict ${missed ? "bad" : "good"}`, role: "status" },
      `${both.filter(([a]) => a.met).length} of ${both.length} goals met before, ${both.length - missed} after${lost ? `; ${lost} lost` : ""}.`),
    table("goals before and after", ["of", "goal", "asked", "before", "after", "verdict"], both.map(([a, b]) => el("tr", { class: b.met ? null : "missed" },
      cell(a.of, "text"), cell(a.goal, "text"), cell(a.asked, "text"), cell(mark(a), `text ${a.met ? "yes" : "no"}`), cell(mark(b), `text ${b.met ? "yes" : "no"}`), cell(verdict(a, b), "text")))),
    el("h3", {}, "What changed"),
    table("what changed", ["of", "measure", "before", "after", "change", "why it is worse"], changes.filter((c) => c.better || c.worse).map((c) => el("tr", {},
      cell(c.of, "text"), cell(c.column.unit ? `${c.measure} [${c.column.unit}]` : c.measure, "text"), cell(format(c.column, c.before)), cell(format(c.column, c.after)),
      cell(percentOf(c), c.worse ? "no" : "yes"), cell(reasonOf(c, changes), "text words")))),
    el("p", { class: "hint" }, `Changes of less than ${SMALL} % are left out; 'heddle qos verify' has intervals over several seeds.`),
    worse.length ? el("p", { class: "hint" }, `Totals of the whole run, below, include ${worse.map((c) => c.of).join(", ")}: what they lost is in delivered and in the latencies of all packets.`) : null);
}
