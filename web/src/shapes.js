// SPDX-License-Identifier: BSD-2-Clause
// Elements of a drawing.
const NS = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const e = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) if (v !== null) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
