// SPDX-License-Identifier: BSD-2-Clause
// A running simulation, or a live fabric: polls its state, draws it, and sends
// the user's actions. Names and texts are inserted as text only, never as HTML.
import { partsFor } from "./charts.js";
import { asRun } from "./data.js";
import { save } from "./export.js";
import { View, controls } from "./fabric.js";
import { legendNode } from "./legend.js";
import { Fabric } from "./model.js";
import { isGoals, verdictLine } from "./overview.js";
import { el, recordNode, tableNode } from "./tables.js";

const EVERY = 500; // ms between two looks
const STEPS = ["100ns", "1us", "10us", "100us", "1ms", "10ms"];
const SPEEDS = [["0s", "as fast as it goes"], ["100ns", "100 ns a second"], ["1us", "1 us a second"], ["10us", "10 us a second"], ["100us", "100 us a second"], ["1ms", "1 ms a second"]];

const at = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const headers = { "X-Heddle": "1", ...(token ? { Authorization: `Bearer ${token}` } : {}) };

let view = null, fabric = null, version = null, last = null, shownWeights = "";

async function ask(path, method = "GET") {
  const answer = await fetch(path, { method, headers, cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer;
}

// Shows an error until the next action.
async function tell(path) {
  at("problem").textContent = "";
  try {
    await ask(path, "POST");
  } catch (e) {
    at("problem").textContent = e.message;
  }
  await look();
}

const quoted = (values) => Object.entries(values).map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&");

// ---- the fabric ---------------------------------------------------------------

function linkActions(l) {
  const down = view.shownDown = fabric.isDown(l, -1), cable = Math.min(l.link, l.back ? l.back.link : l.link);
  return [el("p", {}, el("button", { type: "button", "data-do": down ? "mend" : "cut", onclick: () => tell(`/${down ? "mend" : "cut"}?link=${cable}`) },
    down ? "connect this cable again" : "cut this cable"))];
}

async function drawFabric() {
  const run = asRun(await (await ask("/fabric.json")).json()), chosen = view?.link?.port;
  fabric = new Fabric(run);
  fabric.isDown = (l) => Boolean(l.down); // as the state says it
  view = new View(fabric);
  view.actions = linkActions;
  at("fabric").replaceChildren(...controls(view, fabric), el("div", { class: "fabric" }, el("div", { class: "view" }, view.root), view.aside));
  view.draw();
  const again = fabric.links.find((l) => l.port === chosen);
  if (again) view.chooseLink(again);
  weights(run.table("arbitration"));
}

// Time at which a cable went down: for a run, from its state; for a live
// fabric, if the cable was unplugged on this page.
function since(state, l) {
  const names = [l.port, l.back?.port].map((port) => `link-down ${port}`);
  return l.since ?? state.changes.filter((c) => names.includes(c.what)).at(-1)?.at ?? state.now;
}

function paint(state) {
  const down = new Map(state.down.map((i, k) => [i, state.since?.[k]]));
  fabric.links.forEach((l, i) => {
    l.used = state.used[i] / 10;
    l.waiting = state.waiting[i] / 10;
    l.down = down.has(i);
    l.since = down.get(i);
  });
  fabric.failed = () => fabric.links.filter((l) => l.down && (!l.back || l.link < l.back.link)).map((l) => ({ port: l.port, link: l, time: since(state, l), until: null }));
  view.paint();
  // The details next to the picture are updated while nothing is selected.
  if (view.isFirst()) view.showFirst();
  // The actions on a link depend on its state.
  else if (view.link && Boolean(view.link.down) !== view.shownDown) view.chooseLink(view.link);
}

// ---- what can be changed --------------------------------------------------------

function weights(table) {
  const any = table && table.n ? { high: table.cells("high")[0], low: table.cells("low")[0] } : null;
  const text = JSON.stringify(any);
  if (!any || text === shownWeights) return;
  shownWeights = text;
  const field = (name) => el("input", { type: "text", name, value: /^\d/.test(any[name]) ? any[name] : "", size: 48, maxlength: 390, "aria-label": `${name} table` });
  const high = field("high"), low = field("low");
  const send = (e) => {
    e.preventDefault();
    tell(`/weights?${quoted({ ...(high.value ? { high: high.value } : {}), ...(low.value ? { low: low.value } : {}) })}`);
  };
  at("vls").replaceChildren(el("p", { class: "hint" }, "VL:weight in blocks of 64 bytes; at all ports, from now on."),
    el("form", { onsubmit: send }, el("p", {}, el("label", {}, "high ", high)), el("p", {}, el("label", {}, "low ", low)),
      el("button", { type: "submit", "data-do": "weights" }, "change the tables")));
}

function rows(state) {
  const key = JSON.stringify(state.rows);
  if (at("rows").dataset.key === key) return;
  at("rows").dataset.key = key;
  at("traffic-panel").hidden = !state.rows.length;
  at("rows").replaceChildren(...state.rows.map((r) => {
    if (!r.load) return el("p", { class: "controls" }, r.name, el("span", { class: "hint" }, "has no load that could be changed"));
    const value = el("input", { type: "text", value: r.load, size: 9, maxlength: 30, "aria-label": `load of ${r.name}` });
    const send = (e) => {
      e.preventDefault();
      tell(`/load?${quoted({ row: r.row, value: value.value })}`);
    };
    return el("form", { class: "controls", onsubmit: send }, el("label", {}, r.name, value),
      el("button", { type: "submit", "data-do": "load" }, "change"));
  }));
}

// Routes do not change after a failure unless there is a subnet manager.
function reroute(state) {
  const where = at("reroute"), offered = state.down.length > 0 && !state.manager;
  where.hidden = !offered;
  if (!offered || where.children.length) return;
  where.append("The scenario has no subnet manager: routes still use the failed cable. ",
    el("button", { type: "button", "data-do": "reroute", onclick: () => tell("/reroute") }, "let the subnet manager re-route"));
}

// Number of finished iterations or, of a job with one, of finished ranks if they
// are listed; and the measured values.
function jobs(run) {
  const ranks = run.table("ranks"), of = run.table("jobs"), iterations = run.table("iterations");
  at("jobs-panel").hidden = !of;
  if (!of) return;
  show(at("jobs"), of);
  const done = new Map(of.cells("job").map((job, i) => {
    const by = iterations && of.cells("iterations")[i] > 1 ? "iterations" : "ranks", all = of.cells(by)[i];
    return [job, { by, all, ended: of.cells("completion")[i] === null ? 0 : all }];
  }));
  const count = (table, by) => table?.cells("job").forEach((job, i) => { const j = done.get(job); if (j.by === by && j.ended < j.all && table.cells("end")[i] !== null) j.ended++; });
  count(iterations, "iterations");
  count(ranks, "ranks");
  at("jobs").prepend(...[...done].map(([job, j]) => el("p", {}, el("label", {}, `${job}: ${j.ended} of ${j.all} ${j.by} have ended `, el("progress", { max: j.all, value: j.ended })))));
}

// ---- what is found ---------------------------------------------------------------

function charts(where, table) {
  const parts = table && table.n ? partsFor(table) : null;
  if (!parts) return;
  const width = Math.max(240, Math.min(900, where.clientWidth || 520));
  where.replaceChildren(...parts.map((part) => {
    const drawn = part.make(width);
    return el("figure", { class: "plot", style: "margin:0" }, part.heading ? el("h3", {}, part.heading) : null, legendNode(drawn.legend),
      el("div", { class: "drawing", role: "img", "aria-label": drawn.svg.dataset.label }, drawn.svg));
  }));
}

function show(where, ...tables) {
  const there = tables.filter((t) => t && t.n);
  where.replaceChildren(...there.map((t) => (t.kind === "record" ? recordNode(t) : tableNode(t, 12))));
  return there.length > 0;
}

// A job that still runs has missed no goal.
function withoutVerdict(goals) {
  const isOpen = goals.cells("found").map((f) => f === "never" || f === "unknown");
  const cells = { found: (f, i) => (isOpen[i] ? "not yet" : f), met: (met, i) => (isOpen[i] ? null : met) };
  for (const c of goals.columns) if (cells[c.name]) c.cells = c.cells.map(cells[c.name]);
}

function found(run, warm, hasEnded) {
  if (run.table("job goals") && !hasEnded) withoutVerdict(run.table("job goals"));
  // A value that is not measured yet has missed no goal.
  const line = warm && verdictLine(run);
  at("verdict").replaceChildren(...(line ? [line] : []));
  if (!warm) at("goals").textContent = "Judged once the warm-up is over.";
  else if (!show(at("goals"), ...run.tables.filter(isGoals))) at("goals").textContent = "The scenario asks for nothing.";
  charts(at("traffic"), run.table("traffic over time"));
  jobs(run);
  show(at("ports"), run.table("ports"));
  if (run.table("deadlock") && !fabric.circle.length) {
    fabric.readCircle(run);
    view.drawCircle();
    view.showFirst();
  }
  at("marks-panel").hidden = !show(at("marks"), run.table("control"), run.table("congestion control"), run.table("controlled rows"));
}

// ---- again and again ----------------------------------------------------------

const us = (time) => (time >= 1e6 ? `${(time / 1e6).toFixed(1)} s` : time >= 1000 ? `${(time / 1000).toFixed(3)} ms` : `${time.toFixed(3)} us`);

// Shows the elements that only a run or only a live fabric has.
function kind(live) {
  for (const e of document.querySelectorAll(".of-run")) e.hidden = live;
  for (const e of document.querySelectorAll(".of-fabric")) e.hidden = !live;
}

function changes(state) {
  at("changes").replaceChildren(state.changes.length ? el("ol", {}, ...state.changes.map((c) => el("li", {}, `${us(c.at)}: ${c.what}`))) : "None yet.");
}

function fabricHead(state, run) {
  document.title = at("title").textContent = run.table("summary").title;
  at("state").textContent = `live, looked at for ${us(state.now)}`;
  at("state").dataset.state = state.state;
}

function foundInFabric(run) {
  charts(at("traffic"), run.table("traffic over time"));
  if (!show(at("errors"), run.table("errors"))) at("errors").textContent = "None.";
  show(at("numbers"), run.table("summary"));
  show(at("ports"), run.table("ports"));
}

function head(state, run) {
  const words = { running: "running", paused: "paused", ended: "ended", deadlock: "ended: packets wait for each other in a cycle" };
  document.title = at("title").textContent = run.table("summary")?.title || "Heddle";
  at("state").textContent = `${words[state.state]} at ${us(state.now)}${state.warm ? "" : ", still warming up"}${state.changing ? ", while a change is computed" : ""}${state.failure ? `: ${state.failure}` : ""}`;
  at("state").dataset.state = state.state;
  at("share").value = state.share || 0;
  at("share").hidden = !state.share && !state.rows.length; // the end of jobs is not known
  at("go").textContent = state.state === "running" ? "Pause" : "Run";
  for (const id of ["go", "step"]) at(id).disabled = !["running", "paused"].includes(state.state);
}

async function look() {
  let state;
  try {
    state = await (await ask("/state.json")).json();
  } catch (e) {
    at("state").textContent = `no answer: ${e.message}`;
    return;
  }
  const run = asRun(state.run);
  if (version !== state.version) {
    version = state.version;
    await drawFabric();
  }
  const live = state.state === "live";
  kind(live);
  (live ? fabricHead : head)(state, run);
  changes(state);
  paint(state);
  if (live) return foundInFabric(run);
  rows(state);
  reroute(state);
  // Unchanged parts are not drawn again.
  const key = `${state.version} ${state.now} ${state.state}`;
  if (key !== last) found(run, state.warm, state.state === "ended");
  last = key;
}

async function keepLooking() {
  await look();
  setTimeout(keepLooking, EVERY);
}

async function download(path, name, type) {
  save(name, type, await (await ask(path)).text());
}

at("by").append(...STEPS.map((s) => el("option", { value: s, selected: s === "10us" }, s)));
at("speed").append(el("option", { value: "" }, "as it began"), ...SPEEDS.map(([value, words]) => el("option", { value }, words)));
at("speed").addEventListener("change", (e) => { if (e.target.value) tell(`/speed?time=${e.target.value}`); });
at("go").addEventListener("click", () => tell(at("state").dataset.state === "running" ? "/pause" : "/run"));
at("step").addEventListener("click", () => tell(`/step?time=${at("by").value}`));
at("restart").addEventListener("click", () => tell("/restart"));
at("scenario").addEventListener("click", () => download("/scenario.yaml", "scenario.yaml", "application/yaml"));
at("report").addEventListener("click", () => download("/report.html", "report.html", "text/html"));
at("theme").addEventListener("change", (e) => {
  if (e.target.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = e.target.value;
});
keepLooking();
