// SPDX-License-Identifier: BSD-2-Clause
// Elements of a page and of a drawing.
const NS = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) if (v !== null) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style") e.style.cssText = v; // the page's policy forbids the attribute
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}
