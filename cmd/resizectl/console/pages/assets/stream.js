// Keeps a page live: the process sends the part that changes whenever it changes, and that it still runs.

import { draw } from "./chart.js";
import { localize, timeText } from "./times.js";
import { becomeAll } from "./tree.js";

const main = document.getElementById("main");
const alive = document.getElementById("alive");
const news = document.getElementById("news");

/** silence is how long the process may say nothing before the page says that it is stale, in milliseconds. */
const silence = 30_000;

/** again is how long a page waits before it opens its stream again if the browser has given up, in milliseconds. */
const again = 5_000;

/** patience is how long another view may take before the page says that it is read, and is grey, in milliseconds. */
const patience = 300;

/** soon is how long a click is kept, in milliseconds. After that, somebody does something else. */
const soon = 2_000;

/**
 * state is what is known of the process:
 *   served   it has served the page, and nothing else was heard of it yet
 *   heard    it was heard on the stream that is open
 *   hidden   nobody sees the page, which has no stream then: browsers keep few connections to one server
 *   waiting  its stream was opened again, and nothing was heard yet
 *   lost     it is silent
 *   over     it has ended, so that another process, of another user, may have its port
 */
let state = "served";

/** current is whether what is shown is what the process has sent since the stream was opened. */
let current = true;

/** since is when the process was lost; undefined if it is not. */
let since;

/** turning is set while another view of the page was asked for and is not shown yet. */
let turning;

/** edited has the forms that somebody has changed since then. */
const edited = new Set();

/** kept is what somebody asked for while the page waits, and when. */
let kept;

let events;
let timer;

/** trusted reports whether links and forms lead to the process that has served this page. */
export function trusted() { return state === "served" || state === "heard"; }

/** keep does something as soon as the process is heard, if that is soon. */
export function keep(act) { if (state === "waiting") kept = { act, at: performance.now() }; }

/** say says how fresh the page is. What changes is read aloud. */
function say(text) {
  mark();
  if (alive.textContent !== text) alive.textContent = text;
}

/** mark makes what may not be true now grey, unless another view is about to replace it: drawing the whole page twice more takes longer. */
function mark() {
  document.body.classList.toggle("lost", since !== undefined);
  document.body.classList.toggle("old", !current && !turning?.quiet && main.dataset.fixed === undefined);
}

/** show makes a tree the part that is shown. */
function show(tree) {
  const focused = document.activeElement;
  becomeAll(main, [tree]);
  localize(main);
  draw(main);
  // An element that moves or goes loses the focus.
  if (focused !== document.activeElement) (focused?.isConnected ? focused : main).focus({ preventScroll: true });
}

/** freshness says whether what is shown is what the server has said last: the console answers also while the server does not. */
function freshness() {
  if (main.dataset.fixed !== undefined) return "This page does not change by itself.";
  if (turning) return "Reading.";
  if (!current) return "Reading again.";
  if (!main.querySelector("#view.stale, #view.unread")) return "Live.";
  const stale = main.querySelector("#view.stale > [data-key=problem] time");
  return stale ? `Stale since ${stale.textContent}. The top of this page says why.` : "Not known yet. This page says why.";
}

function heard() {
  const quiet = turning?.quiet && since === undefined;
  state = "heard";
  since = undefined;
  clearTimeout(timer);
  timer = setTimeout(lost, silence);
  if (quiet) mark(); else say(freshness());
  localize(main); // It may be another day.
  const asked = kept;
  kept = undefined;
  if (asked && performance.now() - asked.at < soon) asked.act();
}

function lost() {
  state = "lost";
  current = false;
  kept = undefined;
  since ??= new Date();
  say(`Stale since ${timeText(since)}: the console does not answer. If it has ended, run its command again.`);
}

/** leave ends the live page for good. */
function leave(why) {
  close();
  state = "over";
  current = false;
  since ??= new Date();
  say(`${why} at ${new Date().toLocaleTimeString()}. Close this page, and run the command again.`);
}

/** receive takes an event of a stream, which must have what only the process that served this page can know. */
function receive(stream, event) {
  if (stream !== events) return;
  let data;
  try { data = JSON.parse(event.data); } catch { data = undefined; }
  if (!main.dataset.proof || data?.proof !== main.dataset.proof) {
    leave("The console has ended. Another process answered in its place");
  } else if (event.type === "ended") {
    leave("The console ended");
  } else {
    if (data.tree) {
      show(data.tree);
      current = true;
      turned();
    }
    heard();
  }
}

function open() {
  if (events || !main.dataset.live) return;
  timer = setTimeout(lost, silence);
  const stream = new EventSource(main.dataset.live);
  events = stream;
  for (const name of ["message", "beat", "ended"]) stream.addEventListener(name, (event) => receive(stream, event));
  stream.onerror = () => {
    if (stream !== events) return;
    const closed = stream.readyState === EventSource.CLOSED;
    // The browser gives up if the console answers with an error. The page of a view that it refuses says why.
    if (closed && turning && since === undefined) { location.reload(); return; }
    lost();
    if (closed) {
      close();
      timer = setTimeout(open, again);
    }
  };
}

function close() {
  events?.close();
  events = undefined;
  clearTimeout(timer);
  kept = undefined;
}

/** attend opens the stream of a page that somebody sees, and closes that of one that nobody sees. */
export function attend() {
  if (document.hidden) { rest(); return; }
  if (state === "hidden") {
    state = "waiting";
    if (since === undefined) say("Reading again.");
  }
  if (state !== "over") open();
}

/** rest closes the stream until the page is seen again. Until something is heard then, another process may have the port. */
export function rest() {
  if (state === "over") return;
  close();
  state = "hidden";
  current = false;
}

/** turns reports whether an address is another view of this page: the process can send it without a new page. */
export function turns(url) {
  return main.dataset.live && main.dataset.fixed === undefined && url.origin === location.origin && url.pathname === location.pathname && url.hash === "";
}

/** turn asks for the view that the address of this page names now. It is scrolled to top, in pixels, unless that is undefined. */
export function turn(top) {
  clearTimeout(turning?.timer);
  turning = { top, quiet: true, timer: setTimeout(slow, patience) };
  edited.clear();
  main.dataset.live = `/live${location.pathname}${location.search}`;
  current = false;
  if (trusted()) state = "waiting";
  close();
  mark();
  open();
}

/** slow says that another view is read. */
function slow() {
  turning.quiet = false;
  if (since === undefined) say(freshness());
}

/** turned ends the wait for another view. Its forms have its values. */
function turned() {
  if (!turning) return;
  clearTimeout(turning.timer);
  for (const form of main.querySelectorAll("form")) if (!edited.has(form)) form.reset();
  if (turning.top !== undefined) scrollTo(0, turning.top);
  turning = undefined;
  // A new page would be read aloud.
  news.textContent = main.querySelector("#view .problem, #view .count, #view .empty")?.textContent ?? "";
}

// Back and forward lead to other views, too. Links within a page change only what comes after the "#".
addEventListener("popstate", (event) => {
  const url = new URL(`${location.pathname}${location.search}`, location.href);
  if (state !== "over" && turns(url) && main.dataset.live !== `/live${url.pathname}${url.search}`) turn(event.state?.top);
});
document.addEventListener("input", (event) => { if (event.target.form) edited.add(event.target.form); });
for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => { kept = undefined; }, true);
