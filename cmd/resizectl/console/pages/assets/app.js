// Shows a page of the console live: the process sends the part that changes as a tree, which becomes the part that is shown. Elements stay
// the same as far as possible, so that focus, selection and scroll position survive.

import { draw } from "./chart.js";

const main = document.getElementById("main");
const alive = document.getElementById("alive");

/** build makes an element or a text of a tree, for a parent. */
function build(node, parent) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  const element = document.createElementNS(tag === "svg" ? "http://www.w3.org/2000/svg" : parent.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) element.append(build(child, element));
  return element;
}

/** fits tells whether something that is shown can become a node. */
function fits(shown, node) {
  if (typeof node === "string") return shown.nodeType === Node.TEXT_NODE;
  return shown.nodeType === Node.ELEMENT_NODE && shown.localName === node[0] && shown.dataset.key === node[1]["data-key"];
}

/** become changes what is shown to a node that fits. */
function become(shown, node) {
  if (typeof node === "string") {
    if (shown.data !== node) shown.data = node;
    return;
  }
  const [, attributes, children] = node;
  for (const name of shown.getAttributeNames()) {
    // People open and close details.
    if (!(name in attributes) && name !== "open") shown.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (shown.getAttribute(name) !== value && name !== "open") shown.setAttribute(name, value);
  }
  // Times are shown in the zone of the browser, and figures have what is drawn into them.
  if (shown.localName !== "time" && shown.localName !== "figure") becomeAll(shown, children);
}

/** keyOf returns what identifies a node among its siblings, if anything does. */
function keyOf(node) {
  return typeof node === "string" ? undefined : node[1]["data-key"];
}

/** becomeAll changes the children of an element. */
function becomeAll(parent, nodes) {
  const keys = new Set(nodes.map(keyOf));
  const keyed = new Map();
  for (const child of [...parent.children]) {
    const key = child.dataset.key;
    if (key === undefined) continue;
    if (keys.has(key)) keyed.set(key, child); else child.remove();
  }
  let next = parent.firstChild;
  for (const node of nodes) {
    const key = keyOf(node);
    const have = key === undefined ? next : keyed.get(key);
    if (have && fits(have, node)) {
      // What has no key makes way, so that what has one, such as a form that somebody fills in, stays where it is.
      while (next && next !== have && next.dataset?.key === undefined) {
        const after = next.nextSibling;
        next.remove();
        next = after;
      }
      if (have === next) next = next.nextSibling;
      else parent.insertBefore(have, next);
      become(have, node);
    } else {
      parent.insertBefore(build(node, parent), next);
    }
  }
  while (next) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

/** timeText returns a time in the zone of the browser, with its day. */
function timeText(at) {
  return at.toDateString() === new Date().toDateString()
    ? `today ${at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}`
    : at.toLocaleString([], { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** localize shows times in the zone of the browser; the title has UTC. */
function localize() {
  for (const element of main.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = timeText(at);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** zone says in which time zone times are: they have no room for it. */
function zone() {
  const name = new Intl.DateTimeFormat([], { timeZoneName: "short" }).formatToParts(new Date()).find((part) => part.type === "timeZoneName")?.value;
  document.getElementById("zone").textContent = ` Times are in ${name === "UTC" ? "UTC." : `${name}. Point at one to see it in UTC.`}`;
}

/** show makes a tree the part that is shown. */
function show(tree) {
  const focused = document.activeElement;
  becomeAll(main, [tree]);
  localize();
  draw(main);
  // An element that moves loses the focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

/** silence is how long the process may say nothing before the page says that it is stale, in milliseconds. */
const silence = 30_000;

let events;
let timer;

/** over is set once the process has ended. Another process, of another user, may have its port then. */
let over = false;

/** sure is whether the process that served the page was heard since its stream was opened, or serves the page just now. */
let sure = true;

function heard() {
  sure = true;
  clearTimeout(timer);
  timer = setTimeout(lost, silence);
  document.body.classList.remove("lost");
  const text = freshness();
  if (alive.textContent !== text) alive.textContent = text; // What changes is read aloud.
}

/** freshness says whether what is shown is what the server has said last: the console answers also while the server does not. */
function freshness() {
  if (main.dataset.fixed !== undefined) return "This page does not change by itself.";
  if (!main.querySelector("#view.stale")) return "Live.";
  const since = main.querySelector("#view.stale > [data-key=problem] time");
  return since ? `Stale since ${since.textContent}. The top of this page says why.` : "Not known yet. The top of this page says why.";
}

function lost() {
  sure = false;
  if (document.body.classList.contains("lost")) return;
  document.body.classList.add("lost");
  alive.textContent = `Stale since ${timeText(new Date())}: the console does not answer. If it has ended, run its command again.`;
}

/** leave ends the live page for good. */
function leave(why) {
  over = true;
  events?.close();
  events = undefined;
  clearTimeout(timer);
  document.body.classList.add("lost");
  alive.textContent = `${why} at ${new Date().toLocaleTimeString()}. Close this page, and run the command again.`;
}

/** receive takes an event, which must have what only the process that served this page can know. */
function receive(event) {
  if (over) return;
  let data;
  try { data = JSON.parse(event.data); } catch { data = undefined; }
  if (!main.dataset.proof || data?.proof !== main.dataset.proof) {
    leave("The console has ended. Another process answered in its place");
  } else if (event.type === "ended") {
    leave("The console ended");
  } else {
    if (data.tree) show(data.tree);
    heard();
  }
}

function listen() {
  if (over || events || !main.dataset.live) return;
  clearTimeout(timer);
  timer = setTimeout(lost, silence);
  events = new EventSource(main.dataset.live);
  for (const name of ["message", "beat", "ended"]) events.addEventListener(name, receive);
  events.onerror = () => {
    if (!events) return;
    lost();
    // The browser gives up if the console answers with an error, such as after it was started again.
    if (events.readyState === EventSource.CLOSED) { events = undefined; setTimeout(listen, 5_000); }
  };
}

// A browser keeps few connections to one server, so that only pages that somebody sees are live.
function attend() {
  if (!document.hidden) { listen(); return; }
  rest();
}

/** rest ends the stream until the page is seen again. Until something is heard then, another process may have the port. */
function rest() {
  if (over) return;
  events?.close();
  events = undefined;
  clearTimeout(timer);
  sure = false;
  alive.textContent = "";
}

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

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  let content = range.cloneContents();
  let around = range.commonAncestorContainer;
  if (around.nodeType !== Node.ELEMENT_NODE) around = around.parentElement;
  for (; around.closest("table"); around = around.parentElement) {
    const shell = around.cloneNode(false);
    shell.append(content);
    content = shell;
  }
  const copied = document.createElement("div");
  copied.append(content);
  const cells = copied.querySelectorAll("td, th");
  if (cells.length === 0) return;
  for (const cell of cells) if (inert(cell.textContent) !== cell.textContent) cell.prepend("'");
  event.clipboardData.setData("text/html", copied.innerHTML);
  event.clipboardData.setData("text/plain", selection.toString().split("\n").map((line) => line.split("\t").map(inert).join("\t")).join("\n"));
  event.preventDefault();
});

for (const name of ["click", "auxclick", "submit"]) {
  document.addEventListener(name, (event) => {
    if ((over || !sure) && event.target.closest("a[href], form")) event.preventDefault();
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});
document.addEventListener("submit", (event) => {
  const slow = event.target.querySelector("[data-slow]");
  if (slow) slow.textContent = event.target.dataset.says;
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
localize();
draw(main);
attend();
