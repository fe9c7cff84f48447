// Draws the charts of a page: each figure has its data in an attribute, as times in seconds since 1970 or amounts, and lines of amounts.

import uPlot from "./uplot/uPlot.esm.js";

/** colors are those of the lines, as variables of the style sheet. */
const colors = ["--line-1", "--line-2", "--line-3", "--line-4"];

/** dashes tell lines of the same color apart. */
const dashes = [undefined, [2, 3], [10, 4], [10, 3, 2, 3]];

/** height is that of a chart, in pixels. */
const height = 220;

/** drawn has what is drawn of each figure. */
const drawn = new Map();

/** forget ends what is drawn of a figure: uPlot listens to the window until then. */
function forget(figure) {
  drawn.get(figure)?.plot.destroy();
  drawn.delete(figure);
  resized.unobserve(figure);
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** amountOf writes an amount with three digits. */
function amountOf(value, unit) {
  if (value == null) return "–";
  return `${Number(value.toPrecision(3)).toLocaleString([], { maximumFractionDigits: 3 })} ${unit}`.trim();
}

/** lone finds the amounts that have no neighbor, so that no line shows them. */
function lone(plot, i, shown) {
  if (shown) return null;
  const all = plot.data[i];
  const found = [...all.keys()].filter((at) => all[at] != null && all[at - 1] == null && all[at + 1] == null);
  return found.length > 0 ? found : null;
}

/** latest writes the last amount, for a chart that nobody points at. */
function latest(amounts, data) {
  return data.along ? "" : amountOf(amounts.findLast((amount) => amount != null), data.unit);
}

/** make draws a chart into a figure. */
function make(figure, data) {
  const axis = { stroke: style("--dim"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 }, font: "12px system-ui" };
  const series = data.lines.map((line, i) => ({
    label: line.name, stroke: style(colors[i % colors.length]), width: 2, spanGaps: false, dash: line.dashed ? [6, 4] : dashes[Math.floor(i / colors.length) % dashes.length],
    points: { fill: style("--raised"), filter: lone }, value: (plot, value, i, at) => (at == null ? latest(plot.data[i], data) : amountOf(value, data.unit)),
  }));
  const options = {
    // Days and hours are in UTC.
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    width: widthOf(figure), height, scales: { x: { time: !data.along }, y: { range: (_, low, high) => [Math.min(low ?? 0, 0), (high ?? 0) > 0 ? high * 1.05 : 1] } },
    axes: [data.along ? { ...axis, values: (_, all) => all.map((at) => amountOf(at, "")) } : axis, { ...axis, size: 70, values: (_, all) => all.map((value) => amountOf(value, data.unit === "%" ? "%" : "")) }],
    series: [{ label: data.along ? "At most" : "Time", value: (_, at) => (at == null ? (data.along ? "" : "latest") : data.along ? amountOf(at, data.along) : new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: data.hours ? "short" : undefined, timeZone: "UTC" })) }, ...series],
    cursor: { drag: { x: false, y: false } },
  };
  return new uPlot(options, [data.at, ...data.lines.map((line) => line.amounts)], figure);
}

const widthOf = (figure) => Math.max(figure.clientWidth - 24, 200);

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) drawn.get(target)?.plot.setSize({ width: widthOf(target), height });
});

/** draw draws the charts in a part of a page whose data has changed. */
export function draw(part) {
  for (const figure of [...drawn.keys()]) if (!figure.isConnected) forget(figure);
  for (const figure of part.querySelectorAll("figure[data-chart]")) {
    const text = figure.dataset.chart;
    const have = drawn.get(figure);
    if (have?.text === text) continue;
    let data;
    try { data = JSON.parse(text); } catch { continue; }
    const shape = JSON.stringify([data.along, data.hours, data.unit, data.lines.map((line) => line.name)]);
    if (have?.shape === shape) {
      have.plot.setData([data.at, ...data.lines.map((line) => line.amounts)]);
      have.text = text;
      continue;
    }
    forget(figure);
    drawn.set(figure, { text, shape, plot: make(figure, data) });
    resized.observe(figure);
  }
}

// Colors are read when a chart is drawn.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const figure of [...drawn.keys()]) forget(figure);
  draw(document);
});
