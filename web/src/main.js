// SPDX-License-Identifier: BSD-2-Clause
// The page: runs, and a panel for every table of each run.
import { alongSections } from "./along.js";
import { readRuns } from "./data.js";
import { partsFor } from "./charts.js";
import { panelSvg, save, savePng, tableCsv } from "./export.js";
import { fabricPanel, isFabricTable } from "./fabric.js";
import { legendNode } from "./legend.js";
import { changeSection, pairOf } from "./change.js";
import { overlaySection } from "./overlay.js";
import { isGoals, nameRuns, overviewSection, verdictLine } from "./overview.js";
import { gallerySection, paperSections } from "./paper.js";
import { el, originTag, recordNode, tableLines, tableNode } from "./tables.js";

const runs = readRuns(document.getElementById("data").textContent);
const FOLD = 3; // more runs than that are opened one by one
nameRuns(runs);
const idOf = (run) => `run-${runs.indexOf(run) + 1}`;
const waiting = new Map(); // panel -> draw, until it comes near the screen
const charts = new WeakMap(); // panel -> its parts

const seen = new IntersectionObserver((entries) => {
  for (const e of entries) if (e.isIntersecting) drawNow(e.target);
}, { rootMargin: "600px" });

function drawNow(panel) {
  const draw = waiting.get(panel);
  if (!draw) return;
  waiting.delete(panel);
  seen.unobserve(panel);
  draw();
}

// For printing, and for tests of the page.
window.drawAll = (within = document) => { for (const panel of [...waiting.keys()]) if (within.contains(panel)) drawNow(panel); };
addEventListener("beforeprint", () => window.drawAll());

const fileName = (run, table) =>
  `${run.command}-${run.id || ""}-${table.name}`.replace(/[^\w.-]+/g, "-");

let number = 0;
function panelFrame(run, table, classes) {
  const id = `panel-${++number}`;
  const buttons = el("span", { class: "exports" });
  const body = el("div", { class: "body" });
  const panel = el("section", { class: `panel ${classes}`, "aria-labelledby": id, "data-table": table.name },
    el("header", {}, el("div", { class: "what" }, el("h3", { id }, table.name)),
      ...table.origins().map(originTag), buttons),
    el("p", { class: "title" }, table.title), body);
  const add = (text, label, action) => buttons.append(el("button", { type: "button", "data-export": text, "aria-label": label, onclick: action }, text), " ");
  return { panel, body, add };
}


// A part draws itself at a given width, and again when the width changes.
function chartPanel(run, table, parts) {
  const small = parts.every((p) => p.small) && parts.length > 1;
  const { panel, body, add } = panelFrame(run, table, small || parts.length > 3 ? "chart wide" : "chart");
  const holder = el("div", { class: small ? "charts" : "" }), above = el("div");
  charts.set(panel, parts);
  body.append(above, holder);
  let done = [];
  const shown = {}; // scale of y: "log", "linear" or as the values suggest; `clip`, `share`
  const whole = () => {
    if (!done.length) fill();
    return panelSvg(`${run.title ? `${run.title}: ` : ""}${table.name}, ${table.title}`, done);
  };
  const fill = () => {
    holder.replaceChildren();
    const total = Math.max(240, Math.floor(body.clientWidth || 520));
    const columns = small ? Math.min(parts.length, 4, Math.max(1, Math.floor((total + 10) / 310))) : 1;
    if (small) holder.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    const width = Math.min(920, Math.floor((total - 10 * (columns - 1)) / columns));
    done = parts.map((part) => ({ ...part.make(width, shown), heading: part.heading }));
    // One common legend if all parts have the same one.
    const shared = small && done.every((d) => JSON.stringify(d.legend) === JSON.stringify(done[0].legend));
    above.replaceChildren(...(shared ? [legendNode(done[0].legend)].filter(Boolean) : []));
    for (const drawn of done) {
      holder.append(el("figure", { class: "plot", style: "margin:0" },
        drawn.heading ? el("h4", {}, drawn.heading) : null, shared ? null : legendNode(drawn.legend),
        el("div", { class: "drawing", role: "img", "aria-label": drawn.svg.dataset.label }, drawn.svg),
        drawn.note ? el("p", { class: "hint" }, drawn.note) : null));
    }
  };
  const rest = el("details", {}, el("summary", {}, `table, ${table.n} ${table.n === 1 ? "row" : "rows"}`));
  rest.addEventListener("toggle", () => { if (rest.open && rest.children.length === 1) rest.append(tableNode(table)); });
  body.append(rest);
  if (parts.some((p) => p.scales)) {
    const box = (name, text, set) => el("label", {}, el("input", { type: "checkbox", "data-view": name, onchange: (e) => { set(e.target.checked); fill(); } }), ` ${text}`);
    const share = parts.some((p) => p.shares) ? [" ", box("share", "throughput as a share of the host links", (on) => { shown.share = on; })] : [];
    above.before(el("p", { class: "views" }, box("log", "logarithmic", (on) => { shown.log = on; }), " ", box("clip", "without the largest tenth", (on) => { shown.clip = on; }), ...share));
  }
  add("PNG", `${table.name} as PNG`, () => savePng(`${fileName(run, table)}.png`, whole()));
  add("SVG", `${table.name} as SVG`, () => save(`${fileName(run, table)}.svg`, "image/svg+xml", whole()));
  add("CSV", `${table.name} as CSV`, () => save(`${fileName(run, table)}.csv`, "text/csv", tableCsv(table)));
  waiting.set(panel, () => {
    let width = body.clientWidth;
    fill();
    new ResizeObserver(() => {
      if (Math.abs(body.clientWidth - width) < 24) return;
      width = body.clientWidth;
      fill();
    }).observe(body);
  });
  return panel;
}

function textPanel(run, table) {
  const record = table.kind === "record";
  const wide = table.columns.length > (record ? 8 : 5);
  const { panel, body, add } = panelFrame(run, table, `table${wide ? " wide" : ""}`);
  add("SVG", `${table.name} as SVG`, () => save(`${fileName(run, table)}.svg`, "image/svg+xml",
    panelSvg(`${run.title ? `${run.title}: ` : ""}${table.name}, ${table.title}`, [{ lines: tableLines(table) }])));
  add("CSV", `${table.name} as CSV`, () => save(`${fileName(run, table)}.csv`, "text/csv", tableCsv(table)));
  waiting.set(panel, () => body.append(record ? recordNode(table) : tableNode(table)));
  return panel;
}

function runHead(run) {
  const meta = run.command === "report" ? "" : [run.created && `begun ${run.created} UTC`, `seed ${run.seed}`, `heddle ${run.version}`].filter(Boolean).join(" · ");
  return [
    el("p", { class: "meta" }, el("code", {}, `heddle ${run.command} ${run.arguments}`), el("br"), meta),
    verdictLine(run),
    run.remarks.length ? el("div", { class: "remarks", role: "note" }, ...run.remarks.map((r) => el("p", {}, r))) : null,
  ].filter(Boolean);
}

function runTail(run) {
  const parts = [];
  if (run.parameters.length) parts.push(el("details", {}, el("summary", {}, `parameters, ${run.parameters.length}`),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "parameters" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "parameter"), el("th", { scope: "col", class: "text" }, "value"))),
      el("tbody", {}, ...run.parameters.map(([n, v]) => el("tr", {}, el("td", { class: "text" }, n), el("td", { class: "text" }, v))))))));
  if (run.scenario) parts.push(el("details", {}, el("summary", {}, "scenario"), el("pre", { tabindex: "0" }, run.scenario)));
  return parts;
}

const heading = (run) => el("h2", {}, (run.id ? `Run ${run.id}: ` : "") + run.title);

// With many runs, a run is a single line until it is opened.
function runSection(run, folded) {
  const article = el("article", { class: "run", id: idOf(run) });
  if (!folded) {
    fillRun(run, article, heading(run));
    return article;
  }
  const fold = el("details", { class: "fold" }, el("summary", {}, heading(run)));
  fold.addEventListener("toggle", () => {
    if (!fold.open || fold.children.length > 1) return;
    fillRun(run, fold);
    for (const panel of waiting.keys()) if (fold.contains(panel)) seen.observe(panel);
  });
  article.append(fold);
  return article;
}

// Order: records and judgements, the fabric, plots, plain tables.
function fillRun(run, section, ...before) {
  section.append(...before, ...runHead(run));
  const panels = el("div", { class: "panels" }), plain = [];
  const drawn = run.tables.filter((t) => !isFabricTable(run, t));
  for (const t of drawn.filter((d) => isGoals(d) || d.kind === "record")) panels.append(textPanel(run, t));
  const picture = fabricPanel(run, panelFrame, { save, fileName: (t) => fileName(run, t) });
  if (picture) { panels.append(picture.panel); waiting.set(picture.panel, picture.draw); }
  for (const t of drawn.filter((d) => d.kind !== "record" && !isGoals(d))) {
    // For a sweep, the curves replace its points; the page of a paper already
    // shows the comparison.
    const parts = (t.name === "points" && run.table("curves")) || (t.name === "comparison" && run.table("verdicts")) ? null : partsFor(t);
    if (parts && parts.length) panels.append(chartPanel(run, t, parts));
    else if ((t.n <= 12 || drawn.length <= 3) && t.n > 0) panels.append(textPanel(run, t));
    else if (t.n) plain.push(t);
  }
  section.append(panels);
  const behind = plain.concat(run.tables.filter((t) => isFabricTable(run, t) && t.n));
  if (behind.length) {
    const more = el("details", { class: "behind" }, el("summary", {}, `${behind.length} more tables`));
    const inner = el("div", { class: "panels" });
    more.append(inner);
    more.addEventListener("toggle", () => {
      if (!more.open || inner.children.length) return;
      for (const t of behind) { const p = textPanel(run, t); inner.append(p); seen.observe(p); }
    });
    section.append(more);
  }
  section.append(...runTail(run));
}

function setTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

// Runs that a link selects for comparison are overlaid initially, and so are
// the runs of a page with only two.
function overlay() {
  const compared = runs[0].command === "report";
  return overlaySection(runs, compared ? runs.slice(1) : pairOf(runs) ?? [], {
    panelFor: (run, table, parts) => {
      const panel = chartPanel(run, table, parts);
      seen.observe(panel);
      return panel;
    },
    discard: (panel) => {
      waiting.delete(panel);
      seen.unobserve(panel);
    },
  });
}

const main = document.getElementById("main");
const together = overlay(), along = alongSections(runs, chartPanel), overview = overviewSection(runs, idOf);
const many = runs.filter((run) => run.command !== "report").length > FOLD;
for (const run of runs) {
  main.append(runSection(run, many && run.command !== "report" && !run.table("verdicts")));
  if (run === runs[0] && together && run.command === "report") main.append(together);
}
if (together && !together.parentNode) main.prepend(together);
const papers = paperSections(runs, along, chartPanel);
main.prepend(...along.filter((a) => !papers.length || !papers.some((p) => p.id === a.id)));
// The page of a paper starts with its figures, other pages with the overview.
if (overview) papers.length ? main.append(overview) : main.prepend(overview);
main.prepend(...papers);
const gallery = gallerySection(runs, papers, (article) => charts.get(article.querySelector(".panel.chart"))?.[0],
  (card, draw) => waiting.set(card, draw));
if (gallery) main.prepend(gallery);
// Two runs with goals start with the changes.
const change = changeSection(runs);
if (change) main.prepend(change);
for (const panel of waiting.keys()) seen.observe(panel);

// Opens the run that a link names.
function openNamed() {
  const fold = document.getElementById(location.hash.slice(1))?.querySelector("details.fold");
  if (fold) fold.open = true;
}
addEventListener("hashchange", openNamed);
openNamed();

if (runs.length > 1) {
  const links = runs.map((run, i) => el("a", { href: `#${idOf(run)}` }, run.command === "report" ? "what differs" : `${run.id || i + 1}: ${run.title}`));
  if (together) links.unshift(el("a", { href: "#overlay" }, "runs in one plot"));
  if (overview) links.unshift(el("a", { href: "#overview" }, "overview"));
  if (gallery) links.unshift(el("a", { href: "#gallery" }, "gallery"));
  if (change) links.unshift(el("a", { href: "#change" }, "before and after"));
  const some = many ? links.filter((a) => /^#[og]/.test(a.getAttribute("href"))) : links;
  document.getElementById("runs").append(...some);
}
document.title = runs.length === 1 ? `Heddle: ${runs[0].title}` : `Heddle report: ${runs.length} runs`;
document.getElementById("theme").addEventListener("change", (e) => setTheme(e.target.value));
document.getElementById("print").addEventListener("click", () => print());
