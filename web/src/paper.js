// SPDX-License-Identifier: BSD-2-Clause
// Experiments of papers: first the figure with published and simulated values,
// then the verdict in a sentence, the settings and the command. A page of many
// experiments starts with a gallery of all of them.
import { partsFor } from "./charts.js";
import { experimentsOf } from "./overview.js";
import { el } from "./tables.js";

const MOST_FIGURES = 2; // of one experiment, without those along a parameter
const GALLERY_FROM = 4; // experiments of a page
const CARD = 280; // width of a small figure

const isBad = (verdict) => !/^(matched|holds|trend holds|reproduced|as computed)/.test(verdict);

function rowsOf(table, id) {
  if (!table) return [];
  const at = table.cells("id").map((cell, i) => (cell === id ? i : -1)).filter((i) => i >= 0);
  return at.map((i) => Object.fromEntries(table.columns.map((c) => [c.name, c.cells[i]])));
}

// "Trend holds: 2 of 3 published values match. Reason, if there is one."
function verdictOf(run, id) {
  const [row] = rowsOf(run.table("verdicts"), id), values = rowsOf(run.table("comparison"), id);
  const good = values.filter((v) => !isBad(v.verdict)).length, first = row.verdict[0].toUpperCase() + row.verdict.slice(1);
  const count = values.length ? `: ${good} of ${values.length} published ${values.length === 1 ? "value or statement holds" : "values and statements hold"}` : "";
  return el("p", { class: `verdict ${isBad(row.verdict) ? "bad" : "good"}`, role: "status" }, `${first}${count}.${row.reason ? ` ${row.reason}` : ""}`);
}

// Plots of the tables of one run that have published values, or else of the
// first tables.
function ownFigures(runs, id, panelFor) {
  const run = runs.find((r) => experimentsOf(r).includes(id));
  if (!run) return [];
  const drawn = run.tables.filter((t) => t.kind !== "record").map((t) => [t, partsFor(t)]).filter(([, parts]) => parts && parts.length);
  const marked = drawn.map(([t, parts]) => [t, parts.filter((p) => p.isPublished)]).filter(([, parts]) => parts.length);
  return (marked.length ? marked : drawn).slice(0, MOST_FIGURES).map(([t, parts]) => panelFor(run, t, parts));
}

// Published and simulated values of one experiment in one plot, if they have an
// axis.
function comparisonFigure(run, id, panelFor) {
  const t = run.table("comparison"), keep = t ? t.cells("id").map((cell, i) => (cell === id ? i : -1)).filter((i) => i >= 0) : [];
  if (!keep.length) return [];
  const own = Object.assign(Object.create(Object.getPrototypeOf(t)), t, { n: keep.length, columns: t.columns.map((c) => ({ ...c, cells: keep.map((i) => c.cells[i]) })) });
  const parts = partsFor(own);
  return parts && parts.length ? [panelFor(run, own, parts)] : [];
}

// An article per experiment of the run with verdicts; takes the sections `along`
// of the same experiments. Empty if no paper was run.
export function paperSections(runs, along, panelFor) {
  const run = runs.find((r) => r.table("verdicts"));
  if (!run) return [];
  const taken = new Set(); // sections of several experiments go to the first
  return run.table("verdicts").cells("id").map((id, i) => {
    const shows = run.table("verdicts").cells("shows")[i];
    const own = along.filter((a) => !taken.has(a) && a.dataset.experiment.split(", ").includes(id)), panels = own.flatMap((a) => [...a.querySelector(".panels").children]);
    const compared = comparisonFigure(run, id, panelFor), rest = panels.length ? panels : ownFigures(runs, id, panelFor);
    const [figures, further] = compared.length ? [compared, rest] : [rest, []];
    const settings = [...new Set(rowsOf(run.table("comparison"), id).map((v) => v.setting).filter(Boolean))];
    const commands = rowsOf(run.table("commands"), id).map((c) => c.command);
    const article = el("article", { class: "run paper", id: own[0]?.id ?? `experiment-${i + 1}` }, el("h2", {}, `${id}: ${shows}`));
    if (figures.length) article.append(el("div", { class: "panels" }, ...figures));
    article.append(verdictOf(run, id));
    if (settings.length) article.append(el("p", {}, `Settings: ${settings.join("; ")}.`));
    article.append(el("p", {}, "Repeat it with:"), el("pre", { tabindex: "0" }, `heddle paper run ${id}`));
    if (commands.length) article.append(el("p", {}, "It runs:"), el("pre", { tabindex: "0" }, commands.join("\n")));
    if (further.length) article.append(el("div", { class: "panels" }, ...further));
    for (const a of own) { a.remove(); taken.add(a); }
    return article;
  });
}

// A card per experiment: the first figure of its article in small, and the
// verdict. A card leads to the article. partOf(article) returns that figure, or
// undefined; whenNear(card, draw) calls draw() when the card comes near the screen.
export function gallerySection(runs, articles, partOf, whenNear) {
  if (articles.length < GALLERY_FROM) return null;
  const table = runs.find((r) => r.table("verdicts")).table("verdicts");
  const cards = articles.map((article, i) => {
    const [id, shows, verdict] = ["id", "shows", "verdict"].map((name) => table.cells(name)[i]), part = partOf(article);
    const drawing = el("div", { class: "drawing", "aria-hidden": "true" });
    const card = el("a", { class: "card", href: `#${article.id}` }, el("h3", {}, id), el("p", {}, shows), part ? drawing : null,
      el("p", { class: `verdict ${isBad(verdict) ? "bad" : "good"}` }, verdict));
    if (part) whenNear(card, () => drawing.append(part.make(CARD, {}).svg));
    return card;
  });
  return el("section", { id: "gallery" }, el("h2", {}, `Gallery: ${cards.length} experiments`), el("div", { class: "cards" }, ...cards));
}
