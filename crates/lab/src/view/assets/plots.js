// Draws every figure.plot of the page from the JSON inside it, with uPlot.
(() => {
"use strict";

// Lines that coincide must all be seen: the last one, the default engine's, is solid and thinner than the others, which are
// dashed. There is no common factor of dashes and colours, so that lines of one colour are dashed otherwise.
const DASHES = [[7, 5], [14, 3], [2, 3], [20, 6], [9, 3, 2, 3]];
const COLOURS = 8;
const isLast = (model, line) => line === model.lines.at(-1);
const dashes = (model, line) => isLast(model, line) ? [] : DASHES[line.number % DASHES.length];
const colourOf = line => `--e${line.number % COLOURS}`;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';
const dark = matchMedia("(prefers-color-scheme: dark)");
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Numbers as the tables write them.
const count = value => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
const fixed = value =>
  value >= 1000 ? count(value) : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const time = ns => ns < 100 ? `${ns.toFixed(1)} ns` : ns < 1e4 ? `${count(ns)} ns` : ns < 1e7 ? `${fixed(ns / 1e3)} us`
  : ns < 1e10 ? `${fixed(ns / 1e6)} ms` : `${fixed(ns / 1e9)} s`;
const seconds = value => `${value.toFixed(3)} s`;
const plain = value => String(Number(value.toPrecision(6)));
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];
const bytes = value => {
  const unit = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), BYTES.length - 1);
  return `${plain(Number((value / 2 ** (10 * unit)).toPrecision(3)))} ${BYTES[unit]}`;
};
const quantile = value => `${plain(100 - 100 / value)} %`;
// What a value of an axis is called in the legend, and how short it is at a tick.
const UNITS = {
  operations: { say: value => `operation ${count(value)}`, tick: count },
  live: { say: value => `${count(value)} live`, tick: count },
  one_in: { say: quantile, tick: quantile },
  nanoseconds: {
    say: time,
    tick: ns => ns < 1e3 ? `${plain(ns)} ns` : ns < 1e6 ? `${plain(ns / 1e3)} us`
      : ns < 1e9 ? `${plain(ns / 1e6)} ms` : `${plain(ns / 1e9)} s`,
  },
  count: { say: value => Number.isInteger(value) ? count(value) : fixed(value),
    tick: value => value >= 1000 ? count(value) : plain(value) },
  ratio: { say: value => value < 10 ? value.toFixed(3) : fixed(value), tick: plain },
  samples: { say: value => `sample ${count(value)}`, tick: count },
  bytes: { say: bytes, tick: bytes },
  percent: { say: value => `${value.toFixed(1)} %`, tick: value => `${plain(value)} %` },
  run: { say: value => `runs of ${count(value)} or more`, tick: count },
};

// Ticks of a logarithmic axis: as many digits of each power of ten as there is room for.
function logTicks(u, axis, min, max) {
  const pixels = axis === 0 ? u.bbox.width : u.bbox.height;
  const room = pixels / devicePixelRatio / Math.max(Math.log10(max / min), 0.05) / (axis === 0 ? 3.5 : 1);
  const digits = room > 400 ? [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9] : room > 150 ? [1, 2, 3, 5, 7]
    : room > 60 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
    for (const digit of digits) {
      const tick = Number((digit * 10 ** power).toPrecision(3));
      if (tick >= min * 0.9999 && tick <= max * 1.0001) ticks.push(tick);
    }
  }
  return ticks;
}

// Powers of two, as many as there is room for.
function byteTicks(u, axis, min, max) {
  const room = Math.log2(max / min) / (u.bbox.width / devicePixelRatio / 80);
  const step = Math.max(1, Math.ceil(room)), ticks = [];
  for (let power = Math.ceil(Math.log2(min) / step) * step; 2 ** power <= max; power += step) ticks.push(2 ** power);
  return ticks;
}

const QUANTILES = [1, 2, 10, 100, 1000, 10000];

function yRange(model, log) {
  const levels = (model.guides || []).map(guide => guide.value);
  if (log) {
    return (u, min, max) => {
      if (model.y.range) return model.y.range;
      if (min == null) return [1, 10];
      min = Math.min(min, ...levels);
      max = Math.max(max, ...levels);
      const least = Math.max(1, 2 / (max / min)) ** 0.5;
      return [min / least / 1.15, max * least * 1.2];
    };
  }
  // From 0 where that does not press the lines flat.
  return (u, min, max) => {
    if (model.y.range) return model.y.range;
    if (min == null) return [0, 1];
    const span = max - min || Math.abs(max) * 0.01 || 1;
    return [min >= 0 && min < 1.5 * span ? 0 : min - 0.15 * span, max + 0.12 * span];
  };
}

function axes(model, log, width) {
  const common = { stroke: style("--soft"), font: FONT, grid: { stroke: style("--grid"), width: 1 },
    ticks: { stroke: style("--line"), width: 1, size: 5 } };
  const label = unit => (u, splits) => splits.map(value => value == null ? "" : UNITS[unit].tick(value));
  const x = { ...common, label: model.x.title, labelFont: FONT, labelSize: 20, size: 30, gap: 4,
    space: 80, values: label(model.x.unit) };
  // What is whole has whole ticks, so that none is there twice.
  if (["operations", "samples", "count", "run"].includes(model.x.unit)) {
    x.incrs = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map(step => step * 10 ** power)).flat();
  }
  if (model.x.unit === "one_in") {
    x.splits = (u, axis, min, max) => {
      const ticks = QUANTILES.filter(at => at >= min && at <= max);
      return ticks.length > 1 ? ticks : logTicks(u, axis, min, max);
    };
    x.filter = (u, splits) => splits;
  } else if (model.x.log) {
    x.splits = model.x.unit === "bytes" ? byteTicks : logTicks;
    x.filter = (u, splits) => splits;
  }
  const y = { ...common, values: label(model.y.unit), gap: 5,
    size: (u, values) => values == null ? 50 : 18 + Math.max(20, ...values.map(text => text.length * 6.8)) };
  if (log) {
    y.splits = logTicks;
    y.filter = (u, splits) => splits;
  }
  return [x, y];
}

// Each measure of each engine in turn, as the data are.
function eachSeries(model, visit) {
  model.lines.forEach((line, engine) => model.measures.forEach((measure, at) =>
    visit(line, measure, 1 + engine * model.measures.length + at)));
}

// Points without a neighbour, which no line shows.
function lonely(u, number) {
  const values = u.data[number], points = [];
  values.forEach((value, at) => value != null && values[at - 1] == null && values[at + 1] == null && points.push(at));
  return points;
}

function series(model, hidden) {
  const all = [{}];
  eachSeries(model, (line, measure, at) => {
    const light = measure.mark === "light" || measure.mark === "rings";
    const colour = style(colourOf(line)) + (light ? "99" : "");
    const drawn = { label: line.name, stroke: colour, width: light ? 1 : isLast(model, line) ? 2 : 3, spanGaps: false,
      dash: dashes(model, line), show: !hidden.has(line.name), points: { show: true, size: 4, filter: lonely } };
    if (measure.mark === "points") drawn.points = { show: true, size: 7, fill: colour };
    if (measure.mark === "rings") {
      drawn.paths = () => null;
      drawn.points = { show: true, size: 8, width: 1.5, fill: "transparent", stroke: colour };
    }
    all.push(drawn);
  });
  return all;
}

const lastOf = values => {
  let at = values.length - 1;
  while (at >= 0 && values[at] == null) at--;
  return at;
};

// Names the lines at their ends, apart from each other where they meet.
function nameLines(u, model) {
  const context = u.ctx, ratio = devicePixelRatio, names = [];
  eachSeries(model, (line, measure, at) => {
    const last = lastOf(u.data[at]);
    if (measure !== model.measures[0] || last < 0 || !u.series[at].show) return;
    const x = u.valToPos(u.data[0][last], "x", true), y = u.valToPos(u.data[at][last], "y", true);
    if (x <= u.bbox.left + u.bbox.width + 1 && x > u.bbox.left) names.push({ line, x, y });
  });
  context.save();
  context.font = FONT.replace("12px", `600 ${12 * ratio}px`);
  const gap = 10 * ratio, end = name => name.x + gap + context.measureText(name.line.name).width;
  const meet = (one, other) => one.x < end(other) && other.x < end(one);
  names.sort((a, b) => b.y - a.y);
  names.forEach((name, at) => {
    const below = names.slice(0, at).filter(other => meet(other, name));
    const floor = Math.min(...below.map(other => other.y));
    name.y = Math.min(name.y, floor - 15 * ratio);
  });
  // Those that would leave the picture at its top push the others of that end down.
  for (const one of names) {
    const here = names.filter(name => meet(name, one));
    const over = Math.max(0, 8 * ratio - Math.min(...here.map(name => name.y)));
    here.forEach(name => name.y += over);
  }
  context.textBaseline = "middle";
  context.textAlign = "left";
  // A name stays readable where it lies on another line.
  context.strokeStyle = style("--paper");
  context.lineWidth = 4 * ratio;
  context.lineJoin = "round";
  for (const { line, x, y } of names) {
    context.strokeText(line.name, x + gap, y);
    context.fillStyle = style(colourOf(line));
    context.fillText(line.name, x + gap, y);
  }
  context.restore();
}

// Draws the levels that the lines are held against, each with its name above it.
function drawGuides(u, model) {
  const context = u.ctx, ratio = devicePixelRatio, { left, top, width, height } = u.bbox;
  context.save();
  context.font = FONT.replace("12px", `${11 * ratio}px`);
  context.strokeStyle = context.fillStyle = style("--soft");
  context.lineWidth = ratio;
  context.setLineDash([2 * ratio, 4 * ratio]);
  context.textBaseline = "bottom";
  let last = null;
  for (const { value, name } of model.guides || []) {
    const y = u.valToPos(value, "y", true);
    if (y < top || y > top + height) continue;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.stroke();
    // Names too near to each other go to either side.
    const side = last != null && last.right && Math.abs(last.y - y) < 14 * ratio ? "left" : "right";
    context.textAlign = side;
    context.fillText(name, side === "right" ? left + width - 4 * ratio : left + 4 * ratio, y - 2 * ratio);
    last = { y, right: side === "right" };
  }
  context.restore();
}

function element(parent, tag, properties = {}) {
  const child = Object.assign(document.createElement(tag), properties);
  parent.append(child);
  return child;
}

// The line as it is drawn, for the legend.
function sample(model, line) {
  const dash = dashes(model, line).join(" ");
  const holder = document.createElement("span");
  holder.innerHTML = `<svg viewBox="0 0 22 10" aria-hidden="true"><path d="M0 5H22" stroke-width="2.5"
    stroke="var(${colourOf(line)})" stroke-dasharray="${dash}"/></svg>`;
  return holder;
}

// The least and the largest of the values; their unit once if it is the same.
function range(values, say) {
  const known = values.filter(value => value != null);
  if (!known.length) return "\u2013";
  const [least, most] = [Math.min(...known), Math.max(...known)].map(say);
  const unit = / \D+$/.exec(most)?.[0];
  return least === most ? least : `${unit && least.endsWith(unit) ? least.slice(0, -unit.length) : least} \u2013 ${most}`;
}

// A table with each engine's values at the cursor, or over the whole run; its names switch the engines off and on. The
// default engine, which is drawn last, comes first.
function makeLegend(figure, model, toggle) {
  const table = element(figure, "table", { className: "legend" });
  const head = element(element(table, "thead"), "tr");
  const where = element(head, "th");
  for (const measure of model.measures) element(head, "th", { textContent: model.measures.length > 1 ? measure.name : "" });
  const body = element(table, "tbody"), cells = [];
  for (const line of [...model.lines].reverse()) {
    const row = element(body, "tr");
    const button = element(element(row, "th", { scope: "row" }), "button", { type: "button", title: "hide or show" });
    button.append(sample(model, line), line.name);
    button.setAttribute("aria-pressed", "true");
    button.onclick = () => button.setAttribute("aria-pressed", String(toggle(line.name)));
    const first = 1 + model.lines.indexOf(line) * model.measures.length;
    model.measures.forEach((measure, at) => cells.push([element(row, "td"), model.data[first + at]]));
  }
  const say = UNITS[model.y.unit].say;
  return at => {
    const clock = at != null && model.clock ? ` (${seconds(model.clock[at])})` : "";
    where.textContent = at == null ? "from least to most" : `at ${UNITS[model.x.unit].say(model.data[0][at])}${clock}`;
    for (const [cell, values] of cells) {
      cell.textContent = at == null ? range(values, say) : values[at] == null ? "\u2013" : say(values[at]);
    }
  };
}

function start(figure) {
  const model = JSON.parse(figure.querySelector("script").textContent);
  const box = figure.querySelector(".canvas"), bar = figure.querySelector(".bar");
  const hidden = new Set(), wide = figure.classList.contains("wide");
  const log = model.y.log;
  let plot = null;
  const data = model.data;
  const pad = model.x.log ? [data[0][0], data[0][data[0].length - 1] * (model.x.unit === "live" ? 1.06 : 1)] : null;
  const full = model.x.range || pad || [data[0][0], data[0][data[0].length - 1]];
  if (model.x.unit === "live") full[0] /= 1.06;
  const legend = makeLegend(figure, model, name => {
    const show = hidden.delete(name) || !hidden.add(name);
    eachSeries(model, (line, measure, at) => line.name === name && plot.setSeries(at, { show }));
    return show;
  });
  const back = element(bar, "button", { type: "button", textContent: "whole range", hidden: true });
  back.onclick = () => plot.setScale("x", { min: full[0], max: full[1] });
  const title = bar.querySelector(".ytitle"), name = title.textContent;
  const note = () => {
    const text = name + (log ? ", logarithmic" : plot.scales.y.min > 0 ? ", not from 0" : "");
    if (title.textContent !== text) title.textContent = text;
  };
  function draw() {
    const range = plot && [plot.scales.x.min, plot.scales.x.max];
    if (plot) plot.destroy();
    const width = box.clientWidth, named = model.named && width > 600;
    const longest = Math.max(...model.lines.map(line => line.name.length));
    plot = new uPlot({
      width, height: wide ? 380 : 280,
      padding: [10, named ? longest * 7.4 + 12 : model.x.unit === "live" ? 34 : 22, 0, 0],
      scales: {
        x: { time: false, distr: model.x.log ? 3 : 1, range: (u, min, max) => min == null ? full : [min, max] },
        y: { distr: log ? 3 : 1, range: yRange(model, log) },
      },
      axes: axes(model, log, width),
      series: series(model, hidden),
      legend: { show: false },
      cursor: {
        y: false, drag: { x: true, y: false, dist: 5 }, points: { size: 7 },
        bind: { dblclick: () => () => back.onclick() },
      },
      hooks: {
        setCursor: [u => legend(u.cursor.idx)],
        setScale: [(u, scale) => {
          const { min, max } = u.scales.x;
          if (scale === "x") back.hidden = Math.abs(min - full[0]) + Math.abs(max - full[1]) < 1e-6 * (full[1] - full[0]);
        }],
        draw: [u => drawGuides(u, model), u => named && nameLines(u, model), () => plot && note()],
      },
    }, data, box);
    const [min, max] = range || full;
    plot.setScale("x", { min, max });
    note();
    legend(null);
  }
  draw();
  dark.addEventListener("change", draw);
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - plot.width) > 1) draw();
  }).observe(box);
}

document.querySelectorAll("figure.plot").forEach(start);
})();
