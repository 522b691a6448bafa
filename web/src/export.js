// SPDX-License-Identifier: BSD-2-Clause
// Exports every panel as SVG (a self-contained picture) and as CSV.
import { isNumber } from "./data.js";
import { swatch, swatchWidth } from "./legend.js";

const NS = "http://www.w3.org/2000/svg";

export const save = (name, type, text) => saveBlob(name, new Blob([text], { type }));

function saveBlob(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Converts an SVG to a PNG of twice its size.
export function savePng(name, text) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(name, blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function quote(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function tableCsv(table) {
  const head = table.columns.map((c) => {
    const unit = c.unit ? ` [${c.unit}]` : "";
    return quote(isNumber(c) ? `${c.name}${unit} (${c.origin})` : c.name + unit);
  });
  const lines = [`# ${table.name}: ${table.title}`, head.join(",")];
  for (let i = 0; i < table.n; i++)
    lines.push(table.columns.map((c) => quote(c.cells[i])).join(","));
  return lines.join("\n") + "\n";
}

// Colours of the page are CSS variables; a file needs their values.
function resolve(text) {
  const light = { ink: "#1b2430", soft: "#52606d", line: "#cbd3db",
    back: "#ffffff", panel: "#f6f8fa", accent: "#0b5cad",
    c1: "#0b67b2", c2: "#c25e00", c3: "#00805a", c4: "#b0498a", c5: "#6a5acd",
    c6: "#8a6d00", c7: "#c0392b", c8: "#4a5b6c" };
  return text.replace(/var\(--(\w+)\)/g, (all, name) => light[name] || all)
    .replaceAll("currentColor", light.ink);
}

const STYLE = `text{font-family:sans-serif}
.fabric-node.switch,.switch{fill:#f6f8fa;stroke:#52606d}.host{fill:#00805a;stroke:#fff}
.router{fill:#c25e00;stroke:#fff}.link,.way{fill:none}.hit{stroke:none;fill:none}
.way{stroke:#1b2430;stroke-opacity:.55}.chosen{stroke:#1b2430;stroke-width:2.5}
g[data-fabric] text{font-size:10px;text-anchor:middle;fill:#1b2430}
g[data-fabric] text.tier{font-size:13px;text-anchor:start}`;

const size = (svg) => {
  const box = svg.viewBox.baseVal;
  const real = svg.getBoundingClientRect();
  return { w: (box && box.width) || real.width || 640,
    h: (box && box.height) || real.height || 400 };
};

// Wraps text between words to lines of at most this many characters.
function wrap(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

// All pictures of a panel in a column, with its title and legend.
export function panelSvg(title, parts) {
  const out = document.createElementNS(NS, "svg");
  let y = 28, width = 320;
  const text = (x, at, content, attributes = {}) => {
    const t = document.createElementNS(NS, "text");
    for (const [k, v] of Object.entries({ x, y: at, "font-size": 12, fill: "#1b2430", ...attributes }))
      t.setAttribute(k, v);
    t.textContent = content;
    out.append(t);
  };
  // The title wraps at the width of the widest picture.
  const widest = Math.max(480, ...parts.filter((p) => p.svg).map((p) => size(p.svg).w));
  wrap(title, Math.floor((widest - 20) / 8.2)).forEach((line, k) => text(10, (y = 20 + 19 * k), line, { "font-size": 15, "font-weight": 600 }));
  width = Math.max(width, title.length * 8.2 > widest ? widest : title.length * 8.2 + 20);
  y += 8;
  for (const part of parts) {
    if (part.heading) text(10, (y += 18), part.heading, { "font-weight": 600 });
    let x = 10;
    for (const entry of part.legend || []) {
      const wide = swatchWidth(entry) + 22 + 7 * entry.name.length;
      if (x > 10 && x + wide > widest) {
        x = 10;
        y += 18;
      }
      const mark = swatch(entry);
      mark.setAttribute("x", x);
      mark.setAttribute("y", y + 6);
      out.append(mark);
      text(x + swatchWidth(entry) + 5, y + 16, entry.name);
      x += wide;
      width = Math.max(width, x);
    }
    if (part.legend && part.legend.length) y += 24;
    for (const line of part.lines || []) text(10, (y += 16), line, { "font-family": "monospace", "xml:space": "preserve" });
    if (part.lines) width = Math.max(width, 20 + 7.4 * Math.max(...part.lines.map((l) => l.length)));
    if (!part.svg) continue;
    const copy = part.svg.cloneNode(true);
    const { w, h } = size(part.svg);
    for (const [k, v] of Object.entries({ x: 0, y: y + 4, width: w, height: h }))
      copy.setAttribute(k, v);
    copy.style.cssText = "color:#1b2430";
    out.append(copy);
    y += h + 10;
    width = Math.max(width, w);
  }
  out.setAttribute("xmlns", NS);
  out.setAttribute("width", width);
  out.setAttribute("height", y + 10);
  out.setAttribute("viewBox", `0 0 ${width} ${y + 10}`);
  const back = document.createElementNS(NS, "rect");
  back.setAttribute("width", "100%");
  back.setAttribute("height", "100%");
  back.setAttribute("fill", "#ffffff");
  const style = document.createElementNS(NS, "style");
  style.textContent = STYLE;
  out.prepend(style, back);
  return resolve(new XMLSerializer().serializeToString(out));
}
