// What people do on a page: follow links, fill in forms, copy, and use keys.

import { draw } from "./chart.js";
import { attend, keep, rest, trusted, turn, turns } from "./stream.js";
import { localize, zone } from "./times.js";

const main = document.getElementById("main");

async function copy(button) {
  const label = button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = button.dataset.copy;
  }
  setTimeout(() => { button.textContent = label; }, 3_000);
}

/** inert returns the text of a cell so that a spreadsheet does not take it for a formula. A number and the sign for nothing are none. */
function inert(text) {
  return /^(\s*[=+\-@]|[\t\r])/.test(text) && !/^\s*[+-]?(\d+(\.\d+)?)?\s*$/.test(text) ? `'${text}` : text;
}

/** take puts what is selected into a clipboard, without formulas, and reports whether it did. Commands stay as they are. */
function take(clipboard) {
  const selection = getSelection();
  if (selection.isCollapsed) return false;
  const range = selection.getRangeAt(0);
  let content = range.cloneContents();
  let around = range.commonAncestorContainer;
  if (around.nodeType !== Node.ELEMENT_NODE) around = around.parentElement;
  if (around.closest("code")) return false;
  for (; around.closest("table"); around = around.parentElement) {
    const shell = around.cloneNode(false);
    shell.append(content);
    content = shell;
  }
  const copied = document.createElement("div");
  copied.append(content);
  const cells = copied.querySelectorAll("td, th");
  for (const cell of cells) if (inert(cell.textContent) !== cell.textContent) cell.prepend("'");
  const code = new Set([...copied.querySelectorAll("code")].flatMap((one) => one.textContent.split("\n")));
  clipboard.clearData(); // What is dragged is there already.
  if (cells.length > 0) clipboard.setData("text/html", copied.innerHTML);
  clipboard.setData("text/plain", selection.toString().split("\n").map((line) => code.has(line) ? line : line.split("\t").map(inert).join("\t")).join("\n"));
  return true;
}

document.addEventListener("copy", (event) => {
  if (!event.target.closest?.("input, textarea") && take(event.clipboardData)) event.preventDefault();
});
document.addEventListener("dragstart", (event) => {
  if (event.target.nodeType !== Node.ELEMENT_NODE) take(event.dataTransfer);
});

/** go leads to another view of this page without a new page. It is scrolled to top, unless that is undefined; Back leads to where it was. */
function go(url, top) {
  if (url.href !== location.href) {
    history.replaceState({ top: scrollY }, "");
    history.pushState(null, "", url);
  }
  turn(top);
}

for (const name of ["click", "auxclick"]) {
  document.addEventListener(name, (event) => {
    const link = event.target.closest("a[href]");
    if (!link) return;
    const plain = name === "click" && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!trusted()) {
      event.preventDefault();
      if (plain) keep(() => link.click());
    } else if (plain && main.contains(link) && turns(new URL(link.href))) {
      event.preventDefault();
      go(new URL(link.href), link.closest("th") ? undefined : 0); // A table that is sorted stays where it is.
    }
  });
}
document.addEventListener("submit", (event) => {
  const form = event.target;
  const url = new URL(form.action);
  if (!trusted()) {
    event.preventDefault();
    keep(() => form.requestSubmit(event.submitter));
  } else if (main.contains(form) && turns(url)) {
    event.preventDefault();
    url.search = new URLSearchParams(new FormData(form, event.submitter)).toString();
    go(url);
  } else {
    const slow = form.querySelector("[data-slow]");
    if (slow) slow.textContent = form.dataset.says;
  }
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-submit] select")) event.target.form.requestSubmit();
});
// Fields that say nothing stay out of the address.
document.addEventListener("formdata", (event) => {
  for (const [name, value] of [...event.formData.entries()]) if (value === "") event.formData.delete(name);
});
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("[data-search]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  field.focus();
  field.select();
});
document.addEventListener("visibilitychange", attend);
addEventListener("pageshow", attend);
addEventListener("pagehide", rest);
zone();
localize(main);
draw(main);
attend();
