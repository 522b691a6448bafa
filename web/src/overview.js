// SPDX-License-Identifier: BSD-2-Clause
// Outcome of goals: one line for one run, a table for many runs.
import { format } from "./data.js";
import { differences, told } from "./overlay.js";
import { el } from "./tables.js";

const GOALS = ["goals", "job goals"];
export const isGoals = (table) => GOALS.includes(table.name) && (table.has("met") || table.has("verdict"));

// The goal in row i and its outcome, in words; null if unknown.
function outcomeOf(t, i) {
  const say = (name) => format(t.column(name), t.cells(name)[i]);
  if (t.has("met") && t.cells("met")[i] === null) return null;
  if (t.has("met")) return { met: t.cells("met")[i], words: `${say(t.has("job") ? "job" : "traffic")} ${say("goal")}: asked ${say("asked")}, found ${say("found")}` };
  const found = t.columns.filter((c) => c.origin === "simulated" && c.unit && c.cells[i] !== null).map((c) => `${c.name} ${format(c, c.cells[i])} ${c.unit}`);
  return t.cells("verdict")[i] ? { met: t.cells("verdict")[i] === "met", words: `${say("class")}: asked ${say("goal")}, found ${found.join(", ")}` } : null;
}

// Verdicts on published numbers that count as failures.
const isBad = (verdict) => !/^(matched|holds|trend holds|reproduced)/.test(verdict);

// Faults that are always shown: deadlocks of a simulation, and routes that a
// check found to permit deadlock or not to deliver.
function lockedUp(run) {
  const found = run.table("deadlock"), check = run.table("check"), out = [];
  if (found && !found.has("free of deadlock")) out.push("packets wait for each other in a cycle");
  else if (found && !found.cells("free of deadlock")[0]) out.push(`routes can lock up: a circle of ${found.cells("cycle")[0]} channels`);
  if (check?.has("unreachable") && check.cells("unreachable")[0]) out.push(`${check.cells("unreachable")[0]} pairs of end ports that are not reached`);
  return out;
}

// { met, missed: [words] } over all goals of a run, or null.
export function judge(run) {
  const missed = [];
  let met = 0;
  for (const t of run.tables.filter(isGoals)) for (let i = 0; i < t.n; i++) {
    const outcome = outcomeOf(t, i);
    if (outcome?.met) met++;
    else if (outcome) missed.push(outcome.words);
  }
  const judged = run.table("verdicts") || run.table("published");
  if (judged && judged.has("verdict")) judged.cells("verdict").forEach((verdict, i) => {
    if (isBad(verdict)) missed.push(`${judged.cells("id")[i]} ${judged.has("what") ? judged.cells("what")[i] : judged.cells("shows")[i]}: ${verdict}`);
    else met++;
  });
  // Unless the paper published that outcome.
  if (!judged) missed.push(...lockedUp(run));
  return met + missed.length ? { met, missed } : null;
}

const said = (j) => (j.met + j.missed.length === 1 ? (j.met ? "✓ goal met" : "✗ goal missed")
  : j.missed.length ? `✗ ${j.missed.length} of ${j.met + j.missed.length} goals missed` : `✓ all ${j.met} goals met`);
export const badge = (j) => el("span", { class: `badge ${j.missed.length ? "bad" : "good"}` }, said(j));

// The line below the title of a run.
export function verdictLine(run) {
  const j = judge(run);
  if (!j) return null;
  const some = j.missed.slice(0, 6), left = j.missed.length - some.length;
  return el("div", { class: `verdict ${j.missed.length ? "bad" : "good"}`, role: "status" }, badge(j),
    ...some.map((m) => el("span", {}, m)), left > 0 ? el("span", {}, `and ${left} more`) : null);
}

// The ids of the experiments that a run belongs to: ["004/fig5.3", "004/fig5.4"].
export const experimentsOf = (run) => /^paper \w+ (\S.*)$/.exec(run.command)?.[1].split(" ") ?? [];
const FEW = 3; // differences that a title has room for, if they are enough

// Runs with equal names are distinguished by their arguments.
function tellApart(runs) {
  const called = new Map();
  for (const run of runs) called.set(run.title, [...(called.get(run.title) || []), run]);
  for (const same of [...called.values()].filter((list) => list.length > 1)) {
    const all = same.map((run) => differences(run, same)), most = Math.max(...all.map((d) => d.length));
    const first = (n) => all.map((d) => d.slice(0, n).join(", "));
    let n = FEW;
    while (n < most && new Set(first(n)).size < new Set(first(most)).size) n++;
    const told = first(n);
    same.forEach((run, i) => {
      run.told = told[i];
      if (told[i]) run.title += ` (${told[i]})`;
    });
  }
}

// The command line of a run without a title.
const UNTITLED = "the run as a whole", UNTITLED_STUDY = "what each point gave", ROOM = 90;
function commandLine(run) {
  const words = told(run).replace(/(^|[ '=])[^ ']*\/([^ '\/]+\.(?:ya?ml|ibnet|net|conf|json|txt))/g, "$1$2");
  const line = `heddle ${run.command} ${words}`.trim();
  return line.length > ROOM ? `${line.slice(0, ROOM)} …` : line;
}

function titleOf(run, shows) {
  const ids = experimentsOf(run), given = run.table("summary")?.title;
  if (run.command === "report") return "What differs";
  if (given && given !== UNTITLED) return given;
  // A study has the title of its points.
  const study = run.command === "sweep" && run.table("points")?.title;
  if (study && study !== UNTITLED_STUDY) return study;
  if (ids.length) return `${ids.join(", ")}${shows.has(ids[0]) ? `: ${shows.get(ids[0])}` : ""}`;
  return run.table("verdicts") ? `heddle ${run.command}: what became of each experiment` : commandLine(run);
}

export function nameRuns(runs) {
  const shows = new Map();
  for (const t of runs.map((r) => r.table("verdicts")).filter((v) => v && v.has("id", "shows")))
    t.cells("id").forEach((id, i) => shows.set(id, t.cells("shows")[i]));
  for (const run of runs) run.title = titleOf(run, shows);
  tellApart(runs);
}

// For a record "summary": the first column with one of these names.
const KEY = [["delivered"], ["latency mean", "mean"], ["latency p99", "p99"], ["lost"], ["busiest link used"]];
const keyOf = (run, names) => run.table("summary")?.columns.find((c) => names.includes(c.name));

// One row per run, with a link to it; null if there is only one run.
export function overviewSection(runs, idOf) {
  const all = runs.filter((r) => r.command !== "report");
  if (all.length < 2) return null;
  const judged = all.map((run) => [run, judge(run)]), asked = judged.filter(([, j]) => j), missing = asked.filter(([, j]) => j.missed.length);
  const keys = KEY.filter((names) => all.some((run) => keyOf(run, names)));
  const head = ["run", "what", "goals", ...keys.map((names) => all.map((r) => keyOf(r, names)).find(Boolean)).map((c) => (c.unit ? `${c.name} [${c.unit}]` : c.name))];
  // Points of a curve without goals share a line.
  const first = new Map(judged.filter(([run, j]) => run.along && !j).reverse().map(([run]) => [run.along.id, run]));
  const shown = judged.filter(([run, j]) => !run.along || j || first.get(run.along.id) === run);
  const rows = shown.map(([run, j]) => run.along && !j ? el("tr", {},
    el("td", { class: "text" }, el("a", { href: `#${run.along.id}` }, "curves")), el("td", { class: "text words" }, `${run.along.title}: ${run.along.n} runs`),
    el("td", { class: "text" }, "–"), ...keys.map(() => el("td", {}, "–"))) : el("tr", { class: j?.missed.length ? "missed" : null },
    el("td", { class: "text" }, el("a", { href: `#${idOf(run)}` }, run.id || runs.indexOf(run) + 1)), el("td", { class: "text words" }, run.title),
    el("td", { class: "text", title: j ? j.missed.slice(0, 6).join("\n") : null }, j ? badge(j) : "–"),
    ...keys.map((names) => { const c = keyOf(run, names); return el("td", {}, c ? format(c, c.cells[0]) : "–"); })));
  const text = asked.length ? `${asked.length - missing.length} of ${asked.length} ${asked.length === 1 ? "run" : "runs"} with goals ${asked.length - missing.length === 1 ? "meets" : "meet"} all of them${missing.length ? `, ${missing.length} ${missing.length === 1 ? "does" : "do"} not` : ""}.` : "None of these runs was given goals.";
  return el("article", { class: "run overview", id: "overview" }, el("h2", {}, `${all.length} runs`),
    el("p", { class: `verdict ${missing.length ? "bad" : asked.length ? "good" : ""}`, role: "status" }, text),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "all runs" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", class: i < 3 ? "text" : null }, h)))), el("tbody", {}, ...rows))));
}
