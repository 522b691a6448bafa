// SPDX-License-Identifier: BSD-2-Clause
// Bundles the page and writes it as a C array. Usage: node build.mjs FOLDER
// FOLDER has node_modules and gets page.html (to look at) and page.new (C).
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
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
    legalComments: "eof",
    nodePaths: [join(folder, "node_modules")],
  });
  return done.outputFiles[0].text;
}

// Their licences ask to be told of wherever their code goes.
function notices() {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json")));
  const names = [];
  for (const [path, p] of Object.entries(lock.packages))
    if (path.startsWith("node_modules/") && !p.dev &&
        !/esbuild|commander|iconv-lite|rw$|safer-buffer/.test(path))
      names.push(`${path.slice(13)} ${p.version} (${p.license})`);
  return names.sort().join(", ");
}

const script = await bundle("main.js");
const style = await bundle("style.css");
const page = readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("@NOTICES@", () => notices())
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
writeFileSync(join(folder, "page.html"), page);

const bytes = Buffer.from(page, "utf8");
let c = '/* SPDX-License-Identifier: BSD-2-Clause */\n' +
  '#include "report/page_template.h"\n' +
  'const char page_missing[] = "";\n' +
  `const size_t page_template_len = ${bytes.length};\n` +
  'const unsigned char page_template[] = {\n';
for (let i = 0; i < bytes.length; i += 24)
  c += Array.from(bytes.subarray(i, i + 24)).join(",") + ",\n";
writeFileSync(join(folder, "page.new"), c + "0 };\n");
console.log(`${bytes.length} bytes`);
