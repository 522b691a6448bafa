// SPDX-License-Identifier: BSD-2-Clause
// The time of a run: a slider with marks for events, and a button that plays
// it.
import { el } from "./tables.js";

const PACE = 250; // ms for a sample

const at = (time) => `${time.toFixed(1)} us`;

// The step of the slider that contains a time.
function stepOf(f, time) {
  const k = f.times.findIndex((t) => t >= time);
  return k < 0 ? f.times.length : k + 1;
}

// Simultaneous events at many ports share one mark.
function marksOf(f) {
  const marks = new Map();
  for (const e of f.events.filter((one) => one.time >= f.start && one.time <= f.times[f.times.length - 1])) {
    const key = `${e.time} ${e.event}`;
    if (!marks.has(key)) marks.set(key, { ...e, ports: [] });
    marks.get(key).ports.push(e.port);
  }
  return [...marks.values()].slice(0, 40);
}

export function timeControl(view, f) {
  if (!f.times.length) return null;
  const last = f.times.length, said = el("output", {}, "the whole run");
  let timer = null;
  const set = (step) => {
    slider.value = step;
    view.step = step - 1;
    said.textContent = step === 0 ? "the whole run"
      : `${(step > 1 ? f.times[step - 2] : f.start).toFixed(1)} to ${at(f.times[step - 1])}${f.timeByTier ? ", means of tiers" : ""}`;
    view.paint();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
  };
  const go = () => {
    if (timer) return stop();
    if (Number(slider.value) >= last) set(0);
    play.textContent = "⏸ pause";
    timer = setInterval(() => {
      if (!slider.isConnected || Number(slider.value) >= last) stop();
      else set(Number(slider.value) + 1);
    }, PACE);
    return undefined;
  };
  const slider = el("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "time", oninput: (e) => { stop(); set(Number(e.target.value)); } });
  const play = el("button", { type: "button", "data-play": "", onclick: go }, "▶ play");
  const marks = marksOf(f).map((m) => {
    const step = stepOf(f, m.time), more = m.ports.length > 1 ? ` and ${m.ports.length - 1} more` : "", what = `${at(m.time)}: ${m.event} ${m.ports[0]}${more}`;
    return el("button", { type: "button", class: "mark", title: what, "aria-label": what, "data-event": m.event, style: `left:calc(8px + (100% - 16px) * ${step / last})`, onclick: () => { stop(); set(step); } }, "▲");
  });
  return el("div", { class: "controls time" }, play, el("span", { class: marks.length ? "track marked" : "track" }, el("label", {}, "Time", slider), marks.length ? el("span", { class: "marks" }, ...marks) : null), said);
}
