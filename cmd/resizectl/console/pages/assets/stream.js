// Keeps a page live: the process sends the part that changes whenever it changes, and that it still runs.

import { draw } from "./chart.js";
import { localize, timeText } from "./times.js";
import { becomeAll } from "./tree.js";

const main = document.getElementById("main");
const alive = document.getElementById("alive");

/** silence is how long the process may say nothing before the page says that it is stale, in milliseconds. */
const silence = 30_000;

/** again is how long a page waits before it opens its stream again if the browser has given up, in milliseconds. */
const again = 5_000;

/** patience is how long another view may take before the page says that it is read, in milliseconds. */
const patience = 300;

/**
 * state is what is known of the process:
 *   served   it has served the page, and nothing else was heard of it yet
 *   heard    it was heard on the stream that is open
 *   hidden   nobody sees the page, which has no stream then: browsers keep few connections to one server
 *   waiting  the page is seen again, and nothing was heard yet
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

/** kept is what somebody asked for while the page waits. */
let kept;

let events;
let timer;

/** trusted reports whether links and forms lead to the process that has served this page. */
export function trusted() { return state === "served" || state === "heard"; }

/** keep does something as soon as the process is heard, if that is soon. */
export function keep(act) { if (state === "waiting") kept = act; }

/** say says how fresh the page is. What changes is read aloud. */
function say(text) {
  document.body.classList.toggle("lost", since !== undefined);
  if (alive.textContent !== text) alive.textContent = text;
}

/** show makes a tree the part that is shown. */
function show(tree) {
  const focused = document.activeElement;
  becomeAll(main, [tree]);
  localize(main);
  draw(main);
  // An element that moves loses the focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

/** freshness says whether what is shown is what the server has said last: the console answers also while the server does not. */
function freshness() {
  if (main.dataset.fixed !== undefined) return "This page does not change by itself.";
  if (turning) return "Reading.";
  if (!current) return "Reading again.";
  if (!main.querySelector("#view.stale")) return "Live.";
  const stale = main.querySelector("#view.stale > [data-key=problem] time");
  return stale ? `Stale since ${stale.textContent}. The top of this page says why.` : "Not known yet. The top of this page says why.";
}

function heard() {
  const quiet = turning?.quiet && since === undefined;
  state = "heard";
  since = undefined;
  clearTimeout(timer);
  timer = setTimeout(lost, silence);
  if (!quiet) say(freshness());
  localize(main); // It may be another day.
  const act = kept;
  kept = undefined;
  act?.();
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
  since ??= new Date();
  say(`${why} at ${new Date().toLocaleTimeString()}. Close this page, and run the command again.`);
}

/** receive takes an event, which must have what only the process that served this page can know. */
function receive(event) {
  if (state === "over") return;
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
  events = new EventSource(main.dataset.live);
  for (const name of ["message", "beat", "ended"]) events.addEventListener(name, receive);
  events.onerror = () => {
    if (!events) return;
    lost();
    // The browser gives up if the console answers with an error, such as after it was started again.
    if (events.readyState === EventSource.CLOSED) {
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

/** turn asks for the view that the address of this page names now. It begins at its top if somebody turns over to other rows. */
export function turn(fromTop) {
  clearTimeout(turning?.timer);
  turning = { fromTop, quiet: true, timer: setTimeout(slow, patience) };
  main.dataset.live = `/live${location.pathname}${location.search}`;
  current = false;
  close();
  open();
}

/** slow says that another view is read. */
function slow() {
  turning.quiet = false;
  document.body.classList.add("turning");
  if (since === undefined) say(freshness());
}

/** turned ends the wait for another view. Its forms have its values. */
function turned() {
  if (!turning) return;
  clearTimeout(turning.timer);
  document.body.classList.remove("turning");
  for (const form of main.querySelectorAll("form")) form.reset();
  if (turning.fromTop) scrollTo(0, 0);
  turning = undefined;
}

// Back and forward lead to other views, too. Links within a page change only what comes after the "#".
addEventListener("popstate", () => {
  if (state !== "over" && main.dataset.live !== `/live${location.pathname}${location.search}`) turn(false);
});
