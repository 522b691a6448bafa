// SPDX-License-Identifier: BSD-2-Clause
// Looks at report pages in Chromium as a person would, and complains.
// Usage: node browser.mjs WEB PAGES SHOTS
//   WEB has node_modules, PAGES has runs.html, two.html, wrong.html, evil.html,
//   paper.html, figures.html, loads.html, locks.html, swept.html, sizes.html,
//   gallery.html, along.html and large.html.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const [web, pages, shots] = process.argv.slice(2);
const require = createRequire(join(web, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
rmSync(shots, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });

const complaints = [];
let checks = 0;
function expect(truth, what) {
  checks++;
  if (!truth) {
    complaints.push(what);
    console.error(`FAILED: ${what}`);
  }
}

const browser = await chromium.launchPersistentContext(join(pages, "profile"), {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = browser.pages()[0] || (await browser.newPage());
const elsewhere = await browser.newPage(); // where what the page gives away is looked at
await page.bringToFront(); // a page behind another one is drawn rarely
page.setDefaultTimeout(120000); // a busy machine is no fault of the page
let where = "";
let provoked = false; // complaints that a check asks for
page.on("console", (m) => expect(provoked || m.type() !== "error" && m.type() !== "warning", `${where}: console: ${m.text()}`));
page.on("pageerror", (e) => expect(false, `${where}: ${e.stack}`));
page.on("request", (r) => expect(provoked || /^(file|data|blob):/.test(r.url()), `${where}: request of ${r.url()}`));

async function open(name, part = "body") {
  where = name;
  await page.goto(`file://${join(pages, name)}`);
  await page.evaluate(() => { for (const fold of document.querySelectorAll("details.fold")) fold.open = true; });
  await page.waitForTimeout(100); // they are filled when they have opened
  await page.evaluate((within) => window.drawAll(document.querySelector(within)), part);
  await page.waitForTimeout(200);
}

// Every panel has something in it, of a size that can be seen.
async function panelsDraw(part = "body") {
  const panels = await page.$$eval(`${part} .panel`, (all) => all.map((p) => {
    const body = p.querySelector(".body"), box = body.getBoundingClientRect();
    const marks = body.querySelectorAll("svg path, svg circle, svg rect, svg line, tbody tr, dl dd").length;
    const nan = [...body.querySelectorAll("svg [d], svg [x], svg [cx]")].some((e) => /NaN/.test(e.outerHTML.slice(0, 400)));
    const marked = ["line", "dot", "bar", "rect", "area", "tick", "cell"].map((kind) => `[aria-label="${kind}"] *`).join();
    const bare = [...body.querySelectorAll(".drawing > svg")].filter((s) => !s.querySelector(marked)).map((s) => s.dataset.label);
    return { name: p.dataset.table, marks, nan, bare, width: box.width, height: box.height,
      origin: p.querySelectorAll("header .origin").length };
  }));
  expect(panels.length > 5, `${where}: only ${panels.length} panels`);
  for (const p of panels) {
    expect(p.marks > 0 && p.width > 100 && p.height > 20, `${where}: panel '${p.name}' is empty`);
    expect(!p.nan, `${where}: panel '${p.name}' draws at NaN`);
    expect(p.bare.length === 0, `${where}: panel '${p.name}' has empty plots: ${p.bare.join("; ")}`);
    expect(p.origin > 0, `${where}: panel '${p.name}' does not say where its numbers come from`);
  }
  return panels.map((p) => p.name);
}

// Words of a plot must not lie on each other.
async function labelsApart(part = "body") {
  const bad = await page.evaluate((within) => {
    const found = [];
    for (const svg of document.querySelector(within).querySelectorAll(".drawing > svg, .fabric .view svg")) {
      const boxes = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && !t.closest('[aria-label="tip"]'))
        .map((t) => ({ t: t.textContent, r: t.getBoundingClientRect() })).filter((b) => b.r.width > 0);
      const edge = svg.getBoundingClientRect().left - 2;
      for (const b of boxes) if (!svg.closest(".view") && b.r.left < edge) found.push(`${svg.closest(".panel").dataset.table}: '${b.t}' leaves the plot`);
      for (let i = 0; i < boxes.length && i < 400; i++)
        for (let k = i + 1; k < boxes.length && k < 400; k++) {
          const a = boxes[i].r, b = boxes[k].r;
          const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (w > 1.5 && h > 3) found.push(`${svg.closest(".panel").dataset.table}: '${boxes[i].t}' and '${boxes[k].t}'`);
        }
    }
    return found;
  }, part);
  expect(bad.length === 0, `${where}: labels overlap: ${bad.slice(0, 5).join("; ")}`);
}

// Pointing at a mark of each plot shows what it is.
async function hover(part = "body") {
  const plots = page.locator(`${part} .panel.chart`);
  for (let i = 0; i < (await plots.count()); i++) {
    const panel = plots.nth(i), svg = panel.locator(".drawing > svg").first();
    await svg.scrollIntoViewIfNeeded();
    const name = await panel.getAttribute("data-table");
    const spot = await svg.evaluate((s) => {
      const marks = s.querySelectorAll('[aria-label="dot"] > *, [aria-label="bar"] > *, [aria-label="rect"] > *, [aria-label="cell"] > *, [aria-label="line"] path');
      const m = marks[Math.floor(marks.length / 2)];
      if (!m) return null;
      if (m.tagName === "path" && m.getTotalLength && m.closest('[aria-label="line"]')) {
        const at = m.getPointAtLength(m.getTotalLength() / 2).matrixTransform(m.getScreenCTM());
        return [at.x, at.y];
      }
      const r = m.getBoundingClientRect();
      return [r.x + r.width / 2, r.y + r.height / 2];
    });
    expect(spot, `${where}: '${name}' has no mark to point at`);
    if (!spot) continue;
    await page.mouse.move(spot[0], spot[1]);
    await page.mouse.move(spot[0] + 1, spot[1]);
    const tip = await svg.evaluate(async (s) => {
      for (let n = 0; n < 20; n++) {
        const t = s.querySelector('[aria-label="tip"]')?.textContent;
        if (t) return t;
        await new Promise((done) => setTimeout(done, 25));
      }
      return "";
    });
    expect(/\((simulated|computed|measured|published|given)\)/.test(tip), `${where}: '${name}' says nothing when pointed at: '${tip}'`);
  }
}

// Every panel exports a complete SVG and a CSV with all rows.
async function exports(part = "body", kinds = ["SVG", "CSV"]) {
  const files = await page.evaluate(async ([within, wanted]) => {
    const made = [], real = URL.createObjectURL;
    URL.createObjectURL = (blob) => { made.push(blob); return real.call(URL, blob); };
    HTMLAnchorElement.prototype.click = function () {};
    const out = [];
    for (const panel of document.querySelectorAll(`${within} .panel`))
      for (const kind of wanted) {
        made.length = 0;
        panel.querySelector(`[data-export="${kind}"]`)?.click();
        const text = made.length ? await made[0].text() : "";
        out.push({ name: panel.dataset.table, kind, text });
      }
    URL.createObjectURL = real;
    return out;
  }, [part, kinds]);
  const marks = await elsewhere.evaluate((texts) => texts.map((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return parsed.querySelector("parsererror") ? 0 : parsed.querySelectorAll("path, circle, rect, text").length;
  }), files.map((f) => (f.kind === "SVG" ? f.text : "<none/>")));
  files.forEach((f, i) => {
    expect(f.text.length > 40, `${where}: '${f.name}' gives no ${f.kind}`);
    if (f.kind === "SVG") expect(!f.text.includes("var(--") && marks[i] > 2, `${where}: the SVG of '${f.name}' does not stand alone`);
    else expect(f.text.split("\n").length > 2, `${where}: the CSV of '${f.name}' has no rows`);
  });
  return new Map(files.filter((f) => f.kind === "CSV").map((f) => [f.name, f.text.trim().split("\n").slice(2)]));
}

async function accessible(part = "body", rules = null) {
  await page.evaluate(axe);
  const found = await page.evaluate(async ([within, only]) => (await window.axe.run(within, { resultTypes: ["violations"], ...(only ? { runOnly: only } : {}) })).violations
    .map((v) => ({ id: v.id, impact: v.impact, n: v.nodes.length, first: v.nodes[0].html.slice(0, 160), why: v.nodes[0].failureSummary })), [part, rules]);
  for (const v of found)
    expect(!["serious", "critical"].includes(v.impact), `${where}: axe: ${v.id} (${v.impact}) ${v.n} times: ${v.first} ${v.why}`);
}

// Screenshots from top to bottom: a long page in one picture takes three times
// as long and is too small to be looked at.
async function look(name, part = "body") {
  const { top, bottom, high } = await page.evaluate((within) => {
    const box = document.querySelector(within).getBoundingClientRect();
    return { top: box.top + scrollY, bottom: box.bottom + scrollY, high: innerHeight };
  }, part);
  for (let y = top, k = 1; y < bottom; y += high, k++) {
    await page.evaluate((to) => scrollTo(0, to), y);
    await page.screenshot({ path: join(shots, `${name}-${String(k).padStart(2, "0")}.png`) });
  }
}

const aside = (panel) => panel.locator(".aside").innerText();
const strokes = (panel) => panel.locator(".view .link").evaluateAll((l) => l.map((e) => e.getAttribute("stroke")).join());

// A switch shows its tables, a link its counters, a flow its way.
async function fabric(panel, name) {
  await panel.scrollIntoViewIfNeeded();
  await panel.locator(".node.switch").first().click();
  let text = await aside(panel);
  for (const word of ["LFT", "SL to VL", "VL arbitration", "tier", "used"])
    expect(text.includes(word), `${where}: ${name}: a switch does not show '${word}'`);
  await panel.locator("[data-link]").first().dispatchEvent("click");
  text = await aside(panel);
  for (const word of ["used (simulated)", "Gb/s", "packets", "VL arbitration", "over time"])
    expect(text.includes(word), `${where}: ${name}: a link does not show '${word}'`);
  await panel.locator('[data-show="path"]').click();
  text = await aside(panel);
  expect(/SL 0 → VL \d/.test(text), `${where}: ${name}: no VLs along a path`);
  const drawn = await panel.locator(".view .way").count();
  expect(drawn >= 2, `${where}: ${name}: a path of ${drawn} links is drawn`);
  // What the page finds from the tables is what the program recorded.
  const paths = panel.locator('select[aria-label="path of a flow"]');
  await paths.selectOption({ index: 1 });
  const recorded = await panel.locator(".aside table").first().innerText();
  const [, from, to] = /(\S+) -> (\S+)$/.exec(await paths.inputValue());
  const sl = /SL (\d+) →/.exec(recorded)[1];
  await panel.locator('[data-pick="from host"]').selectOption({ label: from });
  await panel.locator('[data-pick="to host"]').selectOption({ label: to });
  await panel.locator('select[aria-label="service level"]').selectOption(sl);
  await panel.locator('[data-show="path"]').click();
  const computed = await panel.locator(".aside table").first().innerText();
  expect(computed === recorded, `${where}: ${name}: the path from ${from} to ${to} is\n${computed}\nnot\n${recorded}`);
  const before = await strokes(panel);
  await panel.locator('input[type="range"]').fill("1");
  expect((await strokes(panel)) !== before, `${where}: ${name}: time changes no colour`);
  await panel.locator('input[type="range"]').fill("0");
  await panel.locator('select[aria-label="colour links by"]').selectOption("waiting");
  expect((await strokes(panel)) !== before, `${where}: ${name}: stall has the colours of use`);
  await panel.locator('select[aria-label="colour links by"]').selectOption("used");
  await panel.locator('input[type="search"]').fill(from);
  await panel.locator('input[type="search"]').press("Enter");
  await panel.locator('input[type="search"]').blur();
  expect((await aside(panel)).startsWith(`${from}:`), `${where}: ${name}: '${from}' is not found`);
}

// On a mesh of 4 by 4 with two hosts each, columns first, a cable in the middle
// of a row carries most: 4 hosts send to 16 over it. A host's own carries 31.
async function staticLoads() {
  await open("loads.html");
  expect((await page.locator(".verdict").count()) === 0, `${where}: routes that cannot lock up have missed something`);
  await open("locks.html");
  const verdict = await page.locator(".verdict").innerText();
  expect(verdict.includes("routes can lock up: a circle of 6 channels"), `${where}: of routes around a ring of six it says '${verdict}'`);
  await open("loads.html");
  const panel = page.locator(".panel.picture");
  await panel.scrollIntoViewIfNeeded();
  await panel.screenshot({ path: join(shots, "loads.png") });
  const drawn = await panel.locator(".view .hit").evaluateAll((all) => all.map((hit) => [hit.firstChild.textContent, hit.previousSibling.getAttribute("stroke"), Number(hit.previousSibling.getAttribute("stroke-width"))]));
  const find = (text) => drawn.find(([title]) => title === text) || [];
  const middle = find("s-1-1:1 to s-2-1: all pairs 100.0 %"), host = find(`h0 to s-0-0: all pairs ${((100 * 31) / 64).toFixed(1)} %`);
  expect(middle[1] === "rgb(190,25,60)", `${where}: the busiest link is ${middle[1]}`);
  expect(host[2] < middle[2] && host[1] !== middle[1], `${where}: a host's link is drawn as the busiest`);
  const by = panel.locator('select[aria-label="colour links by"]');
  expect((await by.locator("option").count()) === 2, `${where}: other than two ways to colour links`);
  const before = await strokes(panel);
  await by.selectOption("shifts");
  expect((await strokes(panel)) !== before, `${where}: shifts have the colours of all pairs`);
  await accessible();
}

// Latency over what was delivered, as points of the table stand along the load;
// updn delivers less at 50 % than at 30 %, so that its curve turns back.
async function throughput() {
  await open("swept.html", '[data-table="curves"]');
  // Of two fields, offered and then measures, each with its interval if it has one.
  const column = { delivered: 3, mean: 5, p50: 7, p99: 8, max: 10 };
  const rows = (await exports("body", ["CSV"])).get("curves").map((line) => line.split(",")).sort((a, b) => a[0] - b[0]);
  const plots = await page.$$eval('[data-table="curves"] .plot', (all) => all.map((p) => ({
    heading: p.querySelector("h4").textContent,
    label: p.querySelector(".drawing").getAttribute("aria-label"),
    dots: [...p.querySelectorAll('[aria-label="dot"] circle')].map((c) => [Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]),
    curves: [...p.querySelectorAll('[aria-label="line"] path')].map((l) => [...l.getAttribute("d").matchAll(/[ML]([\d.]+),([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])])),
    bands: p.querySelectorAll('[aria-label="area"] path').length,
    aside: p.querySelectorAll('[aria-label="rule"] line').length,
  })));
  const of = (heading) => plots.find((p) => p.heading === heading);
  for (const latency of ["mean", "p50", "p99", "max"]) {
    const plot = of(`${latency} over delivered`);
    expect(plot && plot.dots.length === 10 && plot.curves.length === 2, `${where}: no two curves of ${latency} over delivered`);
    if (!plot) continue;
    expect(plot.label.endsWith("along traffic.all.load"), `${where}: '${plot.label}'`);
    // Both axes are linear here: pixels are to each other as numbers are.
    const scale = (k, name) => {
      const v = rows.map((r) => Number(r[column[name]])), p = plot.dots.map((d) => d[k]), low = v.indexOf(Math.min(...v)), high = v.indexOf(Math.max(...v));
      return v.every((x, i) => Math.abs(p[i] - p[low] - ((x - v[low]) / (v[high] - v[low])) * (p[high] - p[low])) < 0.5);
    };
    expect(scale(0, "delivered") && scale(1, latency), `${where}: ${latency} over delivered is not at its numbers`);
    const [xy, updn] = plot.curves;
    expect(xy.every((p, i) => i === 0 || p[1] <= xy[i - 1][1]) && updn[2][0] < updn[1][0], `${where}: ${latency} over delivered does not run along the load`);
    expect(plot.aside >= 10, `${where}: ${latency} over delivered shows no interval of what was delivered`);
    expect(plot.bands === (["mean", "p99"].includes(latency) ? 8 : 0), `${where}: ${latency} over delivered has ${plot.bands} pieces of a band`);
  }
  expect(of("mean").curves.every((c) => c.every((p, i) => i === 0 || p[0] > c[i - 1][0])), `${where}: a curve goes back and forth over the load`);
  await labelsApart('[data-table="curves"]');
  const xNames = () => page.$$eval('[data-table="curves"] svg', (all) => all.map((s) => s.textContent));
  expect(!(await xNames()).some((t) => t.includes("host links [%] →")), `${where}: throughput is a share before that is asked for`);
  await page.check('[data-table="curves"] [data-view="share"]');
  expect((await xNames()).filter((t) => t.includes("host links [%] →")).length >= 3, `${where}: throughput is not shown as a share of the host links`);
  await page.uncheck('[data-table="curves"] [data-view="share"]');
  await hover();
  await page.mouse.move(2, 2);
  await accessible('[data-table="curves"]');
  await look("throughput", '[data-table="curves"]');
  await page.emulateMedia({ colorScheme: "dark" });
  await accessible('[data-table="curves"]', ["color-contrast"]);
  await look("throughput-dark", '[data-table="curves"]');
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await look("throughput-print", '[data-table="curves"]');
  await page.emulateMedia({ media: "screen" });
  await open("sizes.html", '[data-table="curves"]');
  const others = await page.$$eval('[data-table="curves"] h4', (all) => all.map((h) => h.textContent));
  expect(others.includes("mean") && !others.some((h) => /over/.test(h)), `${where}: no sweep over the load: ${others}`);
}

// Two runs in the same plots: a line, a colour and a name for each, and the
// numbers of both.
async function overlay() {
  const names = await panelsDraw("#overlay");
  for (const wanted of ["latency percentiles", "delay histogram", "jitter", "ports", "traffic", "VL shares", "deadlines", "traffic over time"])
    expect(names.includes(wanted), `${where}: runs have no '${wanted}' together`);
  const plots = await page.$$eval("#overlay .plot", (all) => all.map((plot) => ({
    table: plot.closest(".panel").dataset.table,
    legend: [...plot.closest(".panel").querySelectorAll(".legend li")].map((li) => li.textContent),
    units: [...plot.querySelectorAll("svg text")].some((t) => /\[.+\]/.test(t.textContent)),
    lines: [...plot.querySelectorAll('[aria-label="line"] path')].map((l) => l.getAttribute("stroke") || l.parentNode.getAttribute("stroke")),
  })));
  for (const p of plots) {
    for (const run of ["run 1", "run 2"]) expect(p.legend.includes(run), `${where}: the legend of '${p.table}' has no ${run}: ${p.legend}`);
    expect(p.units, `${where}: a plot of '${p.table}' has no unit`);
    if (p.lines.length) expect(p.lines.length === 2 && new Set(p.lines).size === 2, `${where}: '${p.table}' draws ${p.lines.length} lines in ${new Set(p.lines).size} colours`);
  }
  await labelsApart("#overlay");
  await hover("#overlay");
  await accessible("#overlay");
  const both = await exports("#overlay"), own = [await exports("#run-2", ["CSV"]), await exports("#run-3", ["CSV"])];
  for (const [name, rows] of both) for (const k of [0, 1]) {
    const mine = rows.filter((r) => r.endsWith(`,run ${k + 1}`)).map((r) => r.slice(0, -",run 1".length));
    expect(mine.join() === own[k].get(name).join(), `${where}: the rows of run ${k + 1} in '${name}' are not its own`);
  }
  // What is chosen is drawn.
  const box = page.locator("#overlay input").nth(1);
  await box.uncheck();
  expect((await page.locator("#overlay .panel").count()) === 0, `${where}: one run alone is drawn on itself`);
  await box.check();
  await page.evaluate(() => window.drawAll(document.querySelector("#overlay")));
  expect((await panelsDraw("#overlay")).length === names.length, `${where}: a run chosen again does not come back`);
}

// Six runs that differ in a load and an engine are two curves along the load.
async function along() {
  await open("along.html");
  const names = await panelsDraw();
  for (const wanted of ["summary", "traffic"]) expect(names.filter((n) => n === wanted).length === 7, `${where}: no curves of '${wanted}' next to those of six runs: ${names}`);
  const plot = await page.$$eval('#along-1 [data-table="summary"] .plot', (all) => all.filter((p) => p.querySelector("h4").textContent === "offered")
    .map((p) => ({ x: p.querySelector("svg").textContent.includes("load [%]"), lines: [...p.querySelectorAll('[aria-label="line"] path')]
      .map((l) => [...l.getAttribute("d").matchAll(/[ML]([\d.]+),([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])])) })));
  expect(plot.length === 1 && plot[0].x && plot[0].lines.length === 2, `${where}: offered is no plot of two lines over the load`);
  for (const line of plot[0]?.lines ?? [])
    expect(line.length === 3 && line.every(([x, y], i) => i === 0 || (x > line[i - 1][0] && y < line[i - 1][1])), `${where}: a curve does not rise along the load`);
  // By load, then engine; each number is that of its run.
  const rows = (await exports("#along-1", ["CSV"])).get("summary").map((r) => r.split(","));
  expect(rows.map((r) => `${r[0]} ${r[1]}`).join() === [10, 30, 50].flatMap((load) => ["xy", "updn"].map((e) => `${load} fabric.routing.engine ${e}`)).join(), `${where}: the rows are ${rows.map((r) => r.slice(0, 2).join(" "))}`);
  for (const [k, at] of [[1, 4], [2, 0], [3, 2], [4, 5], [5, 1], [6, 3]]) {
    const own = (await exports(`#run-${k}`, ["CSV"])).get("summary")[0].split(",");
    expect(own.includes(rows[at][2]) && own.includes(rows[at][3]), `${where}: what run ${k} found is not in its place`);
  }
  const overview = await page.locator("#overview").innerText();
  expect(/curves\s.*6 runs/.test(overview), `${where}: the overview has each point of a curve: ${overview}`);
  await labelsApart("#along-1");
  await hover("#along-1");
  await accessible("#along-1");
}

// A legend shows the marks of its plot, and shares stand on a linear axis.
async function legendsMatch(part = "body") {
  const bad = await page.$$eval(`${part} .plot`, (plots) => plots.flatMap((plot) => {
    const panel = plot.closest(".panel"), name = panel.dataset.table, out = [];
    const items = [...(plot.querySelector(".legend") || panel.querySelector(".legend"))?.querySelectorAll("li svg") ?? []];
    const kinds = items.map((i) => (i.querySelector("rect") ? "bar" : i.querySelector("line") ? "line" : "symbol"));
    const has = (label) => plot.querySelector(`.drawing [aria-label="${label}"] *`);
    if (kinds.includes("symbol") && !has("dot")) out.push(`${name}: symbols without dots`);
    if (kinds.includes("bar") && !has("bar") && !has("rect")) out.push(`${name}: squares without bars`);
    if (kinds.includes("line") && !has("line") && !has("tick") && !has("rule")) out.push(`${name}: strokes without lines`);
    const literal = [...plot.querySelectorAll('.drawing [aria-label="line"] path')].map((l) => l.closest("[stroke]").getAttribute("stroke")).filter((s) => !s.startsWith("var(--"));
    if (literal.length) out.push(`${name}: lines of the colour '${literal[0]}', which the legend does not have`);
    const label = [...plot.querySelectorAll(".drawing text")].map((t) => t.textContent).join(" ");
    const ticks = [...plot.querySelectorAll('[aria-label="y-axis tick label"] text')].map((t) => Number(t.textContent)).filter((v) => v > 0);
    const ratio = ticks.length > 2 && Math.abs(ticks[1] / ticks[0] - ticks[2] / ticks[1]) < 1e-9 && ticks[1] / ticks[0] > 2;
    if (/↑[^↑]*\[%\]/.test(label) && ratio) out.push(`${name}: shares on a logarithmic axis`);
    return out;
  }));
  expect(bad.length === 0, `${where}: ${bad.join("; ")}`);
}

// What goes wrong is said first and seen at once.
async function wrong() {
  const overview = await page.locator("#overview").innerText();
  expect(overview.includes("0 of 2 runs with goals meet all of them, 2 do not"), `${where}: the overview does not count goals: ${overview}`);
  const goals = page.locator("#run-3 .verdict");
  expect((await goals.innerText()).includes("in delivered: asked >= 99%"), `${where}: the missed goal is not on top`);
  const names = await page.$$eval("#run-3 .panel", (all) => all.map((p) => p.dataset.table));
  expect(names.indexOf("goals") >= 0 && names.indexOf("goals") < names.indexOf("the fabric"), `${where}: goals stand below the picture`);
  expect((await page.locator("#run-1 .way.circle").count()) === 6, `${where}: the deadlock's circle of six links is not drawn`);
  const cell = page.locator("#run-3 .cell");
  expect((await cell.count()) === 2 * 24 * 12, `${where}: the matrix has ${await cell.count()} halves of cells`);
  expect((await page.locator("#run-3 .cell.down").count()) === 2, `${where}: the failed cable is not dashed in the matrix`);
  const picture = page.locator("#run-3 .panel.picture");
  expect((await aside(picture)).includes("s1-0:15"), `${where}: the failed cable is not named`);
  await picture.locator('select[aria-label="draw as"]').selectOption("lines");
  expect((await picture.locator(".link.down").count()) === 2, `${where}: the failed cable is not dashed`);
  const last = await picture.locator("[data-link]").last().evaluate((e) => e.textContent);
  expect(/down/.test(last), `${where}: '${last}' is drawn on top`);
  const widths = await picture.locator(".link:not(.down)").evaluateAll((all) => all.map((e) => Number(e.getAttribute("stroke-width"))));
  expect(Math.max(...widths) === widths[widths.length - 1] && Math.max(...widths) > 1.5 * Math.min(...widths), `${where}: busy links are not thick and on top`);
  // Before it fails it is whole; its mark on the slider leads there.
  await picture.locator('input[type="range"]').fill("1");
  expect((await picture.locator(".link.down").count()) === 0, `${where}: the cable is down before it fails`);
  await picture.locator('[data-event="link-down"]').click();
  expect((await picture.locator(".link.down").count()) === 2, `${where}: the mark does not lead to where the cable fails`);
  await picture.locator('input[type="range"]').fill("1");
  await picture.locator("[data-play]").click();
  await page.waitForFunction(() => Number(document.querySelector('#run-3 input[type="range"]').value) >= 3);
  await picture.locator("[data-play]").click();
  await picture.locator('select[aria-label="draw as"]').selectOption("0");
  // Names are text.
  expect(!(await page.evaluate(() => window.smuggled)), `${where}: a name ran as a script`);
  expect((await page.locator("main img, main script").count()) === 0, `${where}: a name became an element`);
  expect((await page.locator("#run-2").innerText()).includes("<img src=x"), `${where}: the name of the run is not shown`);
}

// How long each part took, for those who wonder.
let last = Date.now();
function lap(what) {
  console.log(`${what}: ${Date.now() - last} ms`);
  last = Date.now();
}

const names = [];
await open("runs.html");
lap("open");
const overview = await page.locator("#overview").innerText();
for (const words of ["heddle mcast compare --topology 'kind: node-mesh", "heddle qos plan --goals goals.yaml", "all 5 goals met"])
  expect(overview.includes(words), `'${words}' is not in the overview: ${overview}`);
names.push(...(await panelsDraw()));
for (const wanted of ["the fabric", "latency percentiles", "VL shares", "ports", "delay histogram", "jitter", "deadlines", "rates",
  "points", "simulated", "bandwidth", "latency", "registration", "traffic over time", "rank timeline", "job pairs"])
  expect(names.includes(wanted), `there is no panel '${wanted}'`);
// examples/jobs.yaml: 16 ranks of one job and 9 of another; each of the first
// sends to the next one and to 3 others, each of the second to 4 servers.
const marks = (table, kind) => page.locator(`[data-table="${table}"] .drawing [aria-label="${kind}"]`).evaluateAll((g) => g.map((e) => e.children.length));
const [cells, spans] = [await marks("job pairs", "cell"), await marks("rank timeline", "rect")];
expect(cells.join() === "64,72", `the cells of the matrix of pairs are ${cells}`);
expect(spans.length === 2 && spans[0] >= 16 * 4 && spans[1] >= 9, `the timelines have ${spans} spans`);
await labelsApart();
await legendsMatch();
lap("panels and labels");
await hover();
lap("hover");
await page.mouse.move(2, 2);
const layouts = await page.$$eval(".panel.picture .title", (t) => t.map((e) => e.textContent));
for (const [i, how] of ["as a grid", "in layers", "by springs"].entries())
  expect(layouts[i]?.includes(how), `picture ${i + 1} is not drawn ${how}: ${layouts[i]}`);
for (let i = 0; i < 3; i++) await fabric(page.locator(".panel.picture").nth(i), `picture ${i + 1}`);
lap("clicks");
await accessible();
lap("axe");
await look("light");
lap("screenshots");
await exports();
lap("exports");

await page.emulateMedia({ colorScheme: "dark" });
where = "runs.html, dark";
await accessible("#run-1", ["color-contrast"]);
await look("dark", "#run-1");
await page.emulateMedia({ colorScheme: "light" });
lap("dark");

await page.setViewportSize({ width: 390, height: 800 });
await open("runs.html");
where = "runs.html, on a phone";
await panelsDraw();
await labelsApart();
const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
expect(wide <= 0, `the page is ${wide} pixels wider than a phone`);
await look("phone", "#run-1");
lap("phone");

// A page of two runs with goals starts with what changed, and both are selected.
async function change() {
  const text = await page.locator("#change").innerText();
  for (const words of ["1 of 2 goals met before, 2 after", "lookups", "won", "kept"])
    expect(text.includes(words), `${where}: '${words}' is not in: ${text}`);
  expect(await page.evaluate(() => document.querySelector("main").firstElementChild.id === "change"), `${where}: does not start with the goals`);
  expect((await page.locator("#overlay input:checked").count()) === 2, `${where}: the runs are not selected`);
  // Each row of a number that got worse says why.
  const rows = await page.$$eval("#change tbody:last-of-type tr", (all) => all.map((r) => [...r.cells].map((c) => c.className + ":" + c.innerText)));
  for (const r of rows.filter((cells) => cells.length === 6 && cells[4].startsWith("no:")))
    expect(/load moved to|no other row/.test(r[5]), `${where}: no reason for ${r[0]} ${r[1]}`);
  expect((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${where}: wider than the window`);
  await accessible("#change");
}
for (const width of [1280, 390]) {
  await page.setViewportSize({ width, height: 900 });
  await open("change.html", "#change");
  await change();
}
lap("before and after");

await page.setViewportSize({ width: 1280, height: 900 });
await open("two.html", "#overlay");
await overlay();
await look("overlay", "#overlay");
await page.emulateMedia({ colorScheme: "dark" });
await page.setViewportSize({ width: 390, height: 800 });
where = "two.html, on a phone";
await page.waitForTimeout(300);
await labelsApart("#overlay");
expect((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "runs in one plot are wider than a phone");
await look("overlay-phone", "#overlay");
lap("runs in one plot");

// On paper nothing is dark or cut off: 718 pixels are the width of A4.
await page.emulateMedia({ media: "print" });
await page.setViewportSize({ width: 718, height: 1000 });
where = "two.html, printed";
await page.waitForTimeout(300);
const printed = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth - innerWidth, back: getComputedStyle(document.body).backgroundColor }));
expect(printed.wide <= 0, `${where}: ${printed.wide} pixels exceed the paper`);
expect(printed.back === "rgb(255, 255, 255)", `${where}: the paper is ${printed.back}`);
await look("print", "#run-1");
await page.emulateMedia({ media: "screen", colorScheme: "light" });
lap("print");

await page.setViewportSize({ width: 1280, height: 900 });
await open("wrong.html");
await panelsDraw();
await legendsMatch();
await wrong();
await accessible("#run-3");
await look("wrong");
lap("what goes wrong");

// Of groups, jobs, goals, events, swept values, experiments and adapters, too.
await open("evil.html");
await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
await page.waitForTimeout(500);
const evil = await page.evaluate(() => ({ smuggled: !!window.smuggled, made: document.querySelectorAll("main img, main script").length, said: document.body.textContent.split("window.smuggled=1").length - 1 }));
expect(!evil.smuggled && evil.made === 0, `a name ran as a script, or ${evil.made} became elements`);
expect(evil.said > 20, `the names stand in the page ${evil.said} times only`);
lap("names");

// The three printed frame times are points on our curve: 1x, 4x and 12x.
await open("paper.html");
const curve = page.locator('.drawing[aria-label="ours next to what was published: in ms by x"]');
expect((await curve.count()) === 1, "no curve of the paper's table");
const drawn = await curve.evaluate((d) => ({ lines: d.querySelectorAll('g[aria-label="line"] path').length, dots: [...d.querySelectorAll('g[aria-label="dot"] path')].map((p) => p.getAttribute("transform").match(/[\d.]+/g).map((v) => Math.round(v / 2)).join()) }));
expect(drawn.lines === 1 && drawn.dots.length === 6, `${drawn.lines} lines and ${drawn.dots.length} points`);
expect(new Set(drawn.dots).size === 3, "what was printed is not where ours is");
lap("a paper");

// A card per experiment, with a figure where there is one, that leads to the article.
await open("gallery.html", "#gallery");
expect((await page.locator("#gallery .card").count()) === 4, "not a card per experiment");
expect((await page.locator("#gallery .card svg").count()) >= 3, "cards without figures");
expect((await page.$$eval("#gallery .card", (all) => all.every((a) => /^#./.test(a.getAttribute("href")) && document.getElementById(a.hash.slice(1))?.matches("article.paper")))), "a card leads to no article");
await accessible("#gallery");
await look("gallery", "#gallery");
lap("a gallery");

await staticLoads();
lap("static loads");

await throughput();
lap("a sweep");

await along();
lap("runs along a number");

await open("large.html");
lap("large page");
await panelsDraw();
const big = page.locator(".panel.picture");
await big.scrollIntoViewIfNeeded();
await look("large", ".panel.picture");
const boxes = await big.locator("[data-box]").count();
expect(boxes > 20 && boxes <= 200, `the large fabric has ${boxes} boxes`);
await big.locator("[data-box]").nth(40).click();
expect((await aside(big)).includes("busiest links"), "a box of the large fabric says nothing");
await big.locator('select[aria-label="path of a flow"]').selectOption({ index: 2 });
expect(/SL 0 → VL \d/.test(await aside(big)), "no path in the large fabric");
await big.locator('input[type="range"]').fill("2");
await big.locator('input[type="search"]').fill("s1-0");
await big.locator('input[type="search"]').press("Enter");
await big.locator('input[type="search"]').blur();
expect((await big.locator("[data-node]").count()) === 37, "the neighbours of a leaf switch are not drawn");
await look("large-node", ".panel.picture");
await accessible(".panel.picture");
lap("large clicks");

// What got into the page against our will does not run and loads nothing.
provoked = true;
const refused = await page.evaluate(async () => {
  const seen = new Set();
  document.addEventListener("securitypolicyviolation", (e) => seen.add(e.effectiveDirective));
  const add = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields));
  add("script", { textContent: "window.smuggled = true" });
  add("style", { textContent: "body { display: none }" });
  add("img", { src: "https://localhost:1/x.png" });
  add("iframe", { src: "data:text/html,x" });
  add("base", { href: "https://localhost:1/" });
  document.body.insertAdjacentHTML("beforeend", '<p onclick="window.smuggled = true" style="color: red">x</p>');
  document.body.lastElementChild.click();
  await fetch("https://localhost:1/").catch(() => {});
  await new Promise((done) => setTimeout(done, 100));
  return { seen: [...seen].sort().join(" "), smuggled: !!window.smuggled };
});
expect(!refused.smuggled, "a foreign script ran");
expect(refused.seen === "base-uri connect-src frame-src img-src script-src-attr script-src-elem style-src-attr style-src-elem",
  `the page's policy refused only: ${refused.seen}`);

await browser.close();
console.log(`${checks} checks, ${names.length} panels, screenshots in ${shots}`);
if (complaints.length) {
  console.error(`${complaints.length} complaints`);
  process.exit(1);
}
