// SPDX-License-Identifier: BSD-2-Clause
// Runs of one command in common plots; the reader selects the runs.
import { overlayParts, stack } from "./charts.js";
import { isFabricTable } from "./model.js";
import { el } from "./tables.js";

const MOST_RUNS = 8; // colours that can be distinguished

// Runs that can be overlaid: command -> its runs, if there are at least two.
function kinds(runs) {
  const found = new Map();
  for (const run of runs) {
    if (run.command === "report") continue;
    if (!found.has(run.command)) found.set(run.command, []);
    found.get(run.command).push(run);
  }
  return new Map([...found].filter(([, same]) => same.length > 1));
}

// The parameters of a run, without its output options.
export const told = (run) => run.arguments.replace(/(^| )(-q|--quiet|(--db|--html|--output|-o) \S+)(?= |$)/g, "").trim();

export const valueOf = (run, name) => run.parameters.find(([n]) => n === name)?.[1];

// Names of parameters in which runs differ, except those that only identify a
// run ("point": its key).
const NAMES = ["title", "point"];
export const differing = (runs) => [...new Set(runs.flatMap((run) => run.parameters.map(([name]) => name)))]
  .filter((name) => !NAMES.includes(name) && runs.some((run) => valueOf(run, name) !== valueOf(runs[0], name)));

// The parameters, or else the arguments and the seed, in which runs differ.
export function differences(run, all) {
  const differ = differing(all).filter((name) => valueOf(run, name) !== undefined).map((name) => `${name} ${valueOf(run, name)}`);
  if (!differ.length && all.some((r) => told(r) !== told(run))) differ.push(told(run));
  if (all.some((r) => r.seed !== run.seed) && !differ.some((d) => /seed/.test(d))) differ.push(`seed ${run.seed}`);
  return differ;
}

// Tables that the first run shares with at least one other run, as panels.
function panelsOf(chosen, panelFor) {
  const names = chosen.map((run) => `run ${run.id}`), out = [];
  for (const first of chosen[0].tables) {
    if (isFabricTable(chosen[0], first)) continue;
    const have = chosen.map((run, k) => [run.table(first.name), names[k]]).filter(([t]) => t && t.n && t.kind === first.kind);
    if (have.length < 2) continue;
    const stacked = stack(have.map(([t]) => t), have.map(([, n]) => n));
    const parts = overlayParts(stacked, first);
    if (parts && parts.length) out.push(panelFor({ command: chosen[0].command, id: chosen.map((r) => r.id).join("-") }, stacked, parts));
  }
  return out;
}

// The section, or null if no command has two runs. `panelFor` creates a panel
// from parts, `discard` removes one; `chosen` are the initial runs.
export function overlaySection(runs, chosen, { panelFor, discard }) {
  const all = kinds(runs);
  if (!all.size) return null;
  const panels = el("div", { class: "panels" }), hint = el("p", { class: "hint" });
  const list = el("fieldset", { class: "choice" });
  const section = el("article", { class: "run overlay", id: "overlay" }, el("h2", {}, "Runs in one plot"));
  const kind = el("select", { "aria-label": "runs of which command", onchange: () => fill([]) },
    ...[...all].map(([command, same]) => el("option", { value: command }, `heddle ${command} (${same.length} runs)`)));
  const show = (same) => {
    const picked = [...list.querySelectorAll("input:checked")].map((box) => same[box.value]);
    for (const box of list.querySelectorAll("input")) box.disabled = !box.checked && picked.length >= MOST_RUNS;
    for (const panel of panels.children) discard(panel);
    panels.replaceChildren(...(picked.length > 1 ? panelsOf(picked, panelFor) : []));
    section.toggleAttribute("data-drawn", panels.children.length > 0);
    hint.textContent = picked.length < 2 ? `Choose two or more runs, at most ${MOST_RUNS}.`
      : panels.children.length ? "" : "These runs have no plot in common.";
  };
  const fill = (first) => {
    const same = all.get(kind.value);
    list.replaceChildren(el("legend", {}, "Runs"), ...same.map((run, i) => el("label", {},
      el("input", { type: "checkbox", value: i, checked: first.includes(run), onchange: () => show(same) }),
      `${run.id || runs.indexOf(run) + 1}: ${[run.title, ...(run.told ? [] : differences(run, same).slice(0, 4))].filter(Boolean).join(", ")}`)));
    show(same);
  };
  if (chosen.length && all.has(chosen[0].command)) kind.value = chosen[0].command;
  section.append(el("div", { class: "controls" }, el("label", {}, "Runs of", kind)), list, hint, panels);
  fill(chosen.filter((run) => run.command === kind.value).slice(0, MOST_RUNS));
  return section;
}
