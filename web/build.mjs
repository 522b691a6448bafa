// SPDX-License-Identifier: BSD-2-Clause
// Bundles the pages and writes them as C arrays. Usage: node build.mjs FOLDER
// FOLDER has node_modules and gets page.html and live.html (to look at) and
// page.new (C).
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
const require = createRequire(join(folder, "package.json"));
const esbuild = require("esbuild");

async function bundle(entry) {
  const done = await esbuild.build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2020", "chrome90", "firefox90", "safari15"],
    charset: "ascii",
    legalComments: "none",
    metafile: true,
    nodePaths: [join(folder, "node_modules")],
  });
  return { text: done.outputFiles[0].text, inputs: Object.keys(done.metafile.inputs) };
}

const escape = (text) => text.replace(/[&<]/g, (c) => (c === "&" ? "&amp;" : "&lt;"));

// Licences must be distributed with the code: each text once.
function licences(inputs) {
  const names = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1]).filter(Boolean));
  const byText = new Map();
  for (const name of [...names].sort()) {
    const where = join(folder, "node_modules", name);
    const about = JSON.parse(readFileSync(join(where, "package.json")));
    const file = readdirSync(where).find((f) => /^licen[cs]e/i.test(f));
    const text = file ? readFileSync(join(where, file), "utf8").trim() : `Licence: ${about.license}`;
    byText.set(text, [...(byText.get(text) || []), `${name} ${about.version}`]);
  }
  return [...byText].map(([text, who]) => `${who.join(", ")}\n\n${text}`).join("\n\n\n");
}

// Observable Plot puts a style sheet into every plot: always the same text.
function plotStyles(inputs) {
  const source = inputs.filter((path) => path.includes("@observablehq/plot/src/")).map((path) => readFileSync(path, "utf8"));
  const name = source.map((text) => /return "(plot-[0-9a-f]+)"/.exec(text)?.[1]).find(Boolean);
  const sheets = source.flatMap((text) => [...text.matchAll(/"style"\)\.text\(\s*`([^`]*)`/g)].map((m) => m[1].replaceAll("${className}", name)));
  if (!name || !sheets.length)
    throw new Error("the style sheets of Observable Plot are not where they were");
  return sheets;
}

// What the page may do: run its own script, use its own styles, and nothing
// from elsewhere, whatever names the results contain.
function policy(script, styles, more) {
  const hashes = (texts) => texts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ");
  return ["default-src 'none'", `script-src ${hashes([script])}`, `style-src ${hashes(styles)}`, "img-src data:",
    "base-uri 'none'", "form-action 'none'", ...more].join("; ");
}

const style = await bundle("style.css");

// A page of src/, whose script is src/`entry`; `more` of its policy.
async function pageOf(name, entry, more) {
  const script = await bundle(entry);
  const page = readFileSync(join(here, "src", name), "utf8")
    .replace("@LICENCES@", () => escape(licences(script.inputs)))
    .replace("@POLICY@", () => policy(script.text, [style.text, ...plotStyles(script.inputs)], more))
    .replace("@STYLE@", () => style.text)
    .replace("@SCRIPT@", () => script.text);
  writeFileSync(join(folder, name), page);
  return Buffer.from(page, "utf8");
}

function asC(name, bytes) {
  let c = `const size_t ${name}_len = ${bytes.length};\nconst unsigned char ${name}[] = {\n`;
  for (let i = 0; i < bytes.length; i += 24)
    c += Array.from(bytes.subarray(i, i + 24)).join(",") + ",\n";
  return c + "0 };\n";
}

// The page of a run requests data from its own origin only.
const page = await pageOf("page.html", "main.js", []);
const live = await pageOf("live.html", "live.js", ["connect-src 'self'"]);
writeFileSync(join(folder, "page.new"), '/* SPDX-License-Identifier: BSD-2-Clause */\n' +
  '#include "report/page_template.h"\n' +
  'const char page_missing[] = "";\n' + asC("page_template", page) + asC("page_live_template", live));
console.log(`${page.length} and ${live.length} bytes`);
