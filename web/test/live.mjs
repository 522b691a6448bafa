// SPDX-License-Identifier: BSD-2-Clause
// Follows a run in Chromium as a person would: watches, pauses, steps, cuts a
// cable, changes a load and weights, and sees goals turn red.
// Then jobs, and a live fabric, whose cable is pulled.
// Usage: node live.mjs WEB FOLDER SHOTS URL EVIL-URL JOBS-URL LIVE-URL EVIL-LIVE-URL
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [web, folder, shots, url, evil, withJobs, fabric, evilFabric] = process.argv.slice(2);
const require = createRequire(join(web, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });

const complaints = [];
function expect(truth, what) {
  if (truth) return;
  complaints.push(what);
  console.error(`FAILED: ${what}`);
}

const browser = await chromium.launchPersistentContext(join(folder, "profile-live"), {
  executablePath: "/usr/bin/chromium", headless: true, viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = browser.pages()[0] || (await browser.newPage());
page.setDefaultTimeout(60000);
let refused = false;
page.on("console", (m) => expect(refused || (m.type() !== "error" && m.type() !== "warning"), `console: ${m.text()}`));
page.on("pageerror", (e) => expect(false, e.stack));
page.on("request", (r) => expect(r.url().startsWith(new URL(page.url() === "about:blank" ? url : page.url()).origin) || /^(data|blob|about):|^http:\/\/127/.test(r.url()), `request of ${r.url()}`));

const stateIs = (word) => page.waitForFunction((w) => document.getElementById("state").dataset.state === w, word);
const now = () => page.$eval("#state", (e) => parseFloat(/at ([\d.]+)/.exec(e.textContent)[1]) * (/ ms/.test(e.textContent) ? 1000 : 1));
const verdict = () => page.$eval("#verdict", (e) => e.textContent);

await page.goto(url);
await stateIs("paused");
await page.waitForSelector(".fabric .view .link");
expect((await page.title()) === "followed by a test", `the title is '${await page.title()}'`);
expect(!/still warming up/.test(await page.textContent("#state")) || (await verdict()) === "", `judged before anything is measured: ${await verdict()}`);
// Watched: time passes, links get colours.
const strokes = () => page.$$eval(".view .link", (all) => all.map((l) => l.getAttribute("stroke")).join());
const before = await strokes();
await page.selectOption("#speed", "10us");
await page.click("#go");
await stateIs("running");
await page.waitForFunction(() => /at ([2-9]\d|\d{3,})/.test(document.getElementById("state").textContent));
expect((await strokes()) !== before, "links keep their colours while it runs");
await page.click("#go");
await stateIs("paused");
await page.waitForTimeout(600);
const stood = await now();
await page.waitForTimeout(1200);
expect((await now()) === stood, "a paused run continues");
expect(await page.$eval("#ports .scroll", (e) => e.scrollWidth <= e.clientWidth), "the table of ports is cut");
expect(/✓/.test(await verdict()), `goals are not met in the beginning: ${await verdict()}`);
await page.screenshot({ path: join(shots, "live-before.png"), fullPage: true });
// A step is a step.
await page.selectOption("#by", "1us");
await page.click("#step");
await page.waitForFunction((was) => Math.abs(parseFloat(/at ([\d.]+)/.exec(document.getElementById("state").textContent)[1]) - was - 1) < 1e-6, stood);
// A cable is cut by a click; then goals turn red.
await page.locator('[data-link="40"]').dispatchEvent("click");
await page.click('[data-do="cut"]');
await page.waitForFunction(() => /link-down/.test(document.getElementById("changes").textContent));
await page.selectOption("#by", "10us");
await page.click("#step");
await page.waitForSelector("#verdict .verdict.bad");
expect(/lost/.test(await verdict()), `not the lost packets are missed: ${await verdict()}`);
await page.waitForSelector(".view .link.down");
expect((await page.locator(".view .link.down").count()) === 2, "the cut cable is not dashed");
expect((await page.locator("#goals td.no").count()) >= 1, "the missed goal is not red in the table");
await page.screenshot({ path: join(shots, "live-cut.png"), fullPage: true });
// The scenario has no subnet manager; the page offers one, and it re-routes.
expect(/no subnet manager/.test(await page.textContent("#reroute")), "the page does not say that routes stay");
await page.click('[data-do="reroute"]');
await page.waitForFunction(() => /manager re-routes/.test(document.getElementById("changes").textContent));
await page.waitForFunction(() => document.getElementById("reroute").hidden);
// And connected again, a load and the weights are changed.
await page.locator('[data-link="40"]').dispatchEvent("click");
await page.click('[data-do="mend"]');
await page.waitForFunction(() => /link-up/.test(document.getElementById("changes").textContent));
await page.locator("#rows input").first().fill("20%");
await page.locator("#rows input").first().press("Enter");
await page.waitForFunction(() => /20%/.test(document.getElementById("changes").textContent));
await page.getByLabel("low table").fill("0:10,1:200");
await page.click('[data-do="weights"]');
await page.waitForFunction(() => /low 0:10,1:200/.test(document.getElementById("changes").textContent));
expect((await page.locator("#changes li").count()) === 5, "there are not five changes");
// An invalid value is refused with a message, and the run stays.
refused = true;
await page.getByLabel("low table").fill("0:9999");
await page.click('[data-do="weights"]');
await page.waitForFunction(() => /VL arbitration table/.test(document.getElementById("problem").textContent));
refused = false;
expect((await page.locator("#changes li").count()) === 5, "a refused change was made");
await page.evaluate(axe);
const faults = await page.evaluate(async () => (await window.axe.run("main", { resultTypes: ["violations"] })).violations.map((v) => ({ id: v.id, impact: v.impact, first: v.nodes[0].html.slice(0, 120) })));
for (const v of faults) expect(!["serious", "critical"].includes(v.impact), `axe: ${v.id} (${v.impact}): ${v.first}`);

// Names of a file are text, wherever they are shown.
await page.goto(evil);
await stateIs("paused");
await page.click("#step");
await page.waitForFunction(() => /at 10/.test(document.getElementById("state").textContent));
for (let i = 0; i < 4; i++) await page.locator("[data-link]").nth(i).dispatchEvent("click");
await page.locator(".node.switch").first().dispatchEvent("click");
await page.waitForTimeout(700);
expect(!(await page.evaluate(() => window.smuggled)), "a name ran as a script");
expect((await page.locator("main img, main script").count()) === 0, "a name became an element");
expect((await page.textContent("#title")).includes("<img src=x"), "the title is not shown as it is");
expect((await page.textContent("#rows")).includes("<img src=x"), "the row is not shown as it is");

// Jobs show how far they are; a goal is missed when its job has ended, not before.
await page.goto(withJobs);
await stateIs("paused");
await page.selectOption("#by", "10us");
for (let i = 1; i <= 12; i++) {
  await page.click("#step");
  await page.waitForFunction((t) => document.getElementById("state").textContent.includes(`at ${t}0.000 us`), i);
}
await page.waitForFunction(() => /train: 1 of 3 iterations/.test(document.getElementById("jobs").textContent));
expect((await verdict()) === "", `jobs are judged before they end: ${await verdict()}`);
expect((await page.$$eval("#goals td", (all) => all.filter((c) => /not yet/.test(c.textContent)).length)) === 2, "open goals are not shown as open");
expect(!(await page.locator("#goals td.no").count()), "an open goal is red");
expect(!(await page.locator("#traffic-panel").isVisible()), "a panel for traffic that the scenario lacks");
await page.selectOption("#speed", "1ms");
await page.click("#go");
await stateIs("ended");
await page.waitForSelector("#verdict .verdict");
expect(/train/.test(await page.textContent("#goals")) && !/not yet/.test(await page.textContent("#goals")), "goals stay open after the end");

// A live fabric: no run to steer, but cables to pull.
await page.goto(fabric);
await stateIs("live");
await page.waitForSelector(".fabric .view .link");
expect((await page.title()) === "the live fabric 'fabric'", `the title is '${await page.title()}'`);
for (const id of ["go", "restart", "share", "scenario", "vls", "goals"]) expect(!(await page.locator(`#${id}`).isVisible()), `#${id} is shown for a live fabric`);
expect(/SymbolErrorCounter\s*7/.test(await page.textContent("#errors")), "the error that was counted is not shown");
expect(/active\D*16/.test(await page.textContent("#numbers")), "the numbers are others");
await page.waitForSelector("#traffic svg");
await page.locator('[data-link="31"]').dispatchEvent("click");
await page.click('[data-do="cut"]');
await page.waitForFunction(() => /link-down s1-3:2/.test(document.getElementById("changes").textContent));
await page.waitForFunction(() => document.querySelectorAll(".view .link.down").length === 2);
await page.waitForFunction(() => /LinkDownedCounter/.test(document.getElementById("errors").textContent));
await page.screenshot({ path: join(shots, "live-fabric.png"), fullPage: true });
// The manager reroutes meanwhile: what was chosen stays, to be mended.
await page.click('[data-do="mend"]');
await page.waitForFunction(() => document.querySelectorAll(".view .link.down").length === 0);
await page.evaluate(axe);
for (const v of await page.evaluate(async () => (await window.axe.run("main", { resultTypes: ["violations"] })).violations.map((one) => ({ id: one.id, impact: one.impact, first: one.nodes[0].html.slice(0, 120) }))))
  expect(!["serious", "critical"].includes(v.impact), `axe: ${v.id} (${v.impact}): ${v.first}`);

// Names of a fabric that runs are text, too.
await page.goto(evilFabric);
await page.waitForSelector(".fabric .view .link");
for (let i = 0; i < 4; i++) await page.locator("[data-link]").nth(i).dispatchEvent("click");
await page.click('[data-do="cut"]');
await page.waitForFunction(() => /link-down.*<img src=x/.test(document.getElementById("changes").textContent));
expect(!(await page.evaluate(() => window.smuggled)), "a name of a live fabric ran as a script");
expect((await page.locator("main img, main script").count()) === 0, "a name of a live fabric became an element");
await browser.close();
console.log(complaints.length ? `${complaints.length} complaints` : "followed");
process.exit(complaints.length ? 1 : 0);
