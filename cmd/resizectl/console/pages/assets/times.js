// Shows times in the zone of the browser.

/** timeText returns a time in the zone of the browser, with its day. */
export function timeText(at) {
  return at.toDateString() === new Date().toDateString()
    ? `today ${at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}`
    : at.toLocaleString([], { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** localize shows the times of a part in the zone of the browser; their titles have UTC. */
export function localize(part) {
  for (const element of part.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = timeText(at);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** zone says in which time zone times are: they have no room for it. */
export function zone() {
  const name = new Intl.DateTimeFormat([], { timeZoneName: "short" }).formatToParts(new Date()).find((part) => part.type === "timeZoneName")?.value;
  document.getElementById("zone").textContent = ` Times are in ${name === "UTC" ? "UTC." : `${name}; charts are in UTC. Point at a time to see it in UTC.`}`;
}
