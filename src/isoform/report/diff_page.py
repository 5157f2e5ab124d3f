"""Style and script of the page of `isoform diff`. The script only lays out what the page holds as JSON, as text:
nothing of a file under test is ever taken for HTML."""

DIFF_STYLE = """
body { max-width: 96rem; }
.identical { color: var(--equivalent); } .affected { color: var(--bounded); } .added, .removed { color: var(--soft); }
.bar { position: sticky; top: 0; background: var(--paper); padding: .6rem 0; display: flex; flex-wrap: wrap; gap: .5rem;
  align-items: center; border-bottom: 1px solid var(--line); }
.bar input[type=search] { font: inherit; color: inherit; background: var(--band); border: 1px solid var(--line);
  border-radius: 6px; padding: .25rem .6rem; min-width: 16rem; }
.bar label { border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .6rem; cursor: pointer; }
.bar label:has(:not(:checked)) { opacity: .55; }
table.diff { width: 100%; table-layout: fixed; } table.diff td { border-top: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
table.diff th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
table.diff th[aria-sort=ascending] button::after { content: " ▴"; }
table.diff th[aria-sort=descending] button::after { content: " ▾"; }
tr.row { cursor: pointer; scroll-margin-top: 6rem; }
tr.row:hover { background: var(--band); } tr.row button { font: inherit; color: inherit;
  background: none; border: 0; padding: 0; cursor: pointer; text-align: left; font-family: ui-monospace, monospace; }
tr.row.plain, tr.row.plain button { cursor: default; }
tr.details > td { background: var(--band); padding: .5rem 1rem; } tr.details .code { background: var(--paper); }
.number { text-align: right; } .code .cause { background: color-mix(in srgb, var(--different) 22%, transparent);
  font-weight: 600; } .code .cause::before { content: "◆ "; color: var(--different); }
.code .where { color: var(--soft); font-style: italic; } .code { max-height: 32rem; overflow: auto; }
#more { font: inherit; margin: 1rem 0; } .accepted { text-decoration: line-through; }
.none { padding: 2rem; color: var(--soft); }
@media (max-width: 50rem) { .sides { grid-template-columns: 1fr; } .wide { display: none; } }
"""

DIFF_SCRIPT = """
"use strict";
const AT_ONCE = 300;
const body = document.querySelector("table.diff tbody");
const data = JSON.parse(document.getElementById("rows").textContent);
const rows = data.rows.map(([answer, name, where, why, matched, size, seconds, time, opens, accepted], number) => ({
  number, answer, name, where, why, matched, size, seconds, time, opens, accepted, tr: null, details: null,
  text: (name + " " + where + " " + why + " " + matched).toLowerCase() }));
const boxes = Array.from(document.querySelectorAll(".bar input[type=checkbox]"));
const search = document.querySelector(".bar input[type=search]");
const shownCount = document.querySelector("#shown");
const none = document.querySelector(".none");
const more = document.querySelector("#more");
let shown = [], count = 0;

function element(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

function element_of(row) {
  const tr = element("tr", row.opens ? "row" : "row plain");
  tr.id = "f" + row.number;
  const answer = element("td"), name = element("td");
  const button = element("button", row.accepted ? "accepted" : "", row.name);
  answer.append(element("span", row.answer, data.symbols[row.answer] + " " + row.answer));
  button.setAttribute("aria-expanded", "false");
  name.append(button, element("br"), element("span", "soft", row.where));
  tr.append(answer, name, element("td", "", row.why), element("td", "wide soft", row.matched),
    element("td", "wide number", row.size), element("td", "wide number soft", row.time));
  tr.addEventListener("click", () => {
    if (String(getSelection())) return;
    toggle(row);
    if (row.details) history.replaceState(null, "", "#f" + row.number);
  });
  return tr;
}

function extend(until) {
  const added = document.createDocumentFragment();
  for (; count < Math.min(until, shown.length); count++) {
    const row = shown[count];
    row.tr ??= element_of(row);
    added.append(row.tr);
    if (row.details) added.append(row.details);
  }
  body.append(added);
  more.hidden = count === shown.length;
  more.textContent = "show " + Math.min(AT_ONCE, shown.length - count) + " of " + (shown.length - count) + " more";
}

function filter() {
  const wanted = new Set(boxes.filter(box => box.checked).map(box => box.value));
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  shown = rows.filter(row => wanted.has(row.answer) && words.every(word => row.text.includes(word)));
  shownCount.textContent = shown.length + " of " + rows.length + " shown";
  none.hidden = shown.length > 0;
  count = 0;
  body.replaceChildren();
  extend(AT_ONCE);
}

function sort(key, descending) {
  const sign = descending ? -1 : 1;
  rows.sort((a, b) => (a[key] < b[key] ? -sign : a[key] > b[key] ? sign : a.number - b.number));
  filter();
}

function side(content) {
  const code = element("div", "code");
  code.append(element("b", "", content.title));
  for (const [kind, offset, text] of content.lines) {
    const line = element("div", kind);
    if (offset) line.append(element("span", "soft", offset + "  "));
    line.append(text);
    code.append(line);
  }
  return code;
}

function made(row) {
  const content = JSON.parse(document.getElementById("d" + row.number).textContent);
  const tr = element("tr", "details"), cell = element("td");
  cell.colSpan = row.tr.cells.length;
  const list = element("dl");
  for (const [label, lines] of content.entries) {
    const said = element("dd");
    lines.forEach((line, index) => said.append(...(index ? [element("br")] : []), line));
    list.append(element("dt", "", label), said);
  }
  cell.append(list);
  if (content.observables.length) {
    const table = element("table");
    for (const cells of [["", "old", "new"], ...content.observables]) {
      const line = element("tr");
      cells.forEach(text => line.append(element("td", "", text)));
      table.append(line);
    }
    cell.append(table);
  }
  if (content.sides.length) {
    const both = element("div", "sides");
    content.sides.forEach(one => both.append(side(one)));
    cell.append(both);
  }
  tr.append(cell);
  return tr;
}

function toggle(row) {
  if (!row.opens) return;
  const button = row.tr.querySelector("button");
  if (row.details) {
    row.details.remove();
    row.details = null;
  } else {
    row.details = made(row);
    row.tr.after(row.details);
  }
  button.setAttribute("aria-expanded", String(row.details !== null));
}

for (const head of document.querySelectorAll("table.diff th[data-key]"))
  head.querySelector("button").addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    sort(head.dataset.key, descending);
  });
boxes.forEach(box => box.addEventListener("change", filter));
search.addEventListener("input", filter);

more.addEventListener("click", () => extend(count + AT_ONCE));

filter();
const asked = rows.find(row => "#f" + row.number === location.hash);
if (asked) {
  const box = boxes.find(one => one.value === asked.answer);
  if (!box.checked) box.click();
  extend(shown.indexOf(asked) + 1);
  toggle(asked);
  asked.tr.scrollIntoView();
}
document.documentElement.dataset.ready = String(Math.round(performance.now()));
"""
