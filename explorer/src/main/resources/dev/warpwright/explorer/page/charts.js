// Charts as SVG: lines over an axis, a roofline. Axes may be logarithmic.
import {el, svg} from './dom.js';

/** Text keeps its size where the page is narrow, so the drawing is narrower there. */
const across = () => (innerWidth < 560 ? 370 : 760);
const PAD = {left: 64, right: 16, top: 24, bottom: 42};

/** @param axis {from, to, log, text: value => label, name} */
function scale(axis, first, last) {
  const f = axis.log ? Math.log10 : v => v;
  const a = f(axis.from);
  const b = f(axis.to);
  return value => first + ((f(value) - a) / (b - a || 1)) * (last - first);
}

function ticks(axis) {
  if (axis.at) return across() < 500 ? axis.at.filter((_, i) => i % 2 === 0) : axis.at;
  if (axis.log) {
    const out = [];
    for (let e = Math.ceil(Math.log10(axis.from)); e <= Math.floor(Math.log10(axis.to)); e++) out.push(10 ** e);
    return out;
  }
  const step = 10 ** Math.floor(Math.log10((axis.to - axis.from) / 2 || 1));
  const unit = [1, 2, 5, 10].map(k => k * step).find(u => (axis.to - axis.from) / u <= (across() < 500 ? 4 : 6)) ?? step * 10;
  const out = [];
  for (let v = Math.ceil(axis.from / unit) * unit; v <= axis.to * 1.0001; v += unit) out.push(v);
  return out;
}

/** About how far a label of 12 pixels reaches to either side. */
const halfOf = text => 3.8 * text.length;

function frame(x, y, height, label) {
  const width = across();
  const sx = scale(x, PAD.left, width - PAD.right);
  const sy = scale(y, height - PAD.bottom, PAD.top);
  const parts = [];
  for (const v of ticks(x)) {
    parts.push(svg('line', {class: 'grid', x1: sx(v), x2: sx(v), y1: PAD.top, y2: height - PAD.bottom}),
      svg('text', {x: sx(v), y: height - PAD.bottom + 18, 'text-anchor': sx(v) + halfOf(x.text(v)) > width ? 'end' : 'middle'}, x.text(v)));
  }
  for (const v of ticks(y)) {
    parts.push(svg('line', {class: 'grid', x1: PAD.left, x2: width - PAD.right, y1: sy(v), y2: sy(v)}),
      svg('text', {x: PAD.left - 8, y: sy(v) + 4, 'text-anchor': 'end'}, y.text(v)));
  }
  parts.push(svg('text', {class: 'name', x: (PAD.left + width - PAD.right) / 2, y: height - 6, 'text-anchor': 'middle'}, x.name));
  if (y.name) parts.push(svg('text', {class: 'name', x: PAD.left, y: 11}, y.name));
  const picture = svg('svg', {class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label}, parts);
  return {sx, sy, picture};
}

/** Lines. @param series [{name, points: [[x, y, title]], marks}] */
export function lineChart({x, y, series, label, height = 320, steps = false}) {
  const {sx, sy, picture} = frame(x, y, height, label);
  series.forEach((line, i) => {
    const c = (i % 8) + 1;
    let d = '';
    let before;
    for (const [px, py] of line.points) {
      if (before === undefined) d += `M${sx(px)} ${sy(py)}`;
      else d += steps ? `H${sx(px)}V${sy(py)}` : `L${sx(px)} ${sy(py)}`;
      before = py;
    }
    if (!line.dotsOnly) picture.append(svg('path', {class: `line c${c}`, d}));
    if (line.marks || line.dotsOnly || line.dots) {
      for (const [px, py, title] of line.dots ?? line.points) {
        picture.append(svg('circle', {class: `dot f${c}`, cx: sx(px), cy: sy(py), r: 4.5}, svg('title', {}, title ?? line.name)));
      }
    }
  });
  return picture;
}

/**
 * Rooflines with their points: at the bound, and under it where kernels are predicted and were measured.
 * @param devices [{name, peak, bandwidth, points: [{x, name, label, flops, predicted, measured}]}], times in microseconds
 */
export function roofChart(devices) {
  const xs = devices.flatMap(d => [d.peak / d.bandwidth, ...d.points.map(p => p.x)]);
  const x = {from: 10 ** Math.floor(Math.log10(Math.min(1, ...xs))), to: 10 ** Math.ceil(Math.log10(Math.max(1000, ...xs) * 1.2)), log: true, text: power, name: 'operations for each byte'};
  const top = Math.max(...devices.map(d => d.peak)) * 2;
  const low = Math.min(...devices.map(d => x.from * d.bandwidth));
  const y = {from: 10 ** Math.floor(Math.log10(low)), to: top, log: true, text: v => `${rate(v)}`, name: 'operations a second'};
  const {sx, sy, picture} = frame(x, y, 380, 'Rooflines: operations a second over operations a byte');
  const labels = [];
  devices.forEach((d, i) => {
    const c = (i % 8) + 1;
    const ridge = d.peak / d.bandwidth;
    picture.append(svg('path', {class: `line c${c}`, d: `M${sx(x.from)} ${sy(x.from * d.bandwidth)}L${sx(ridge)} ${sy(d.peak)}H${sx(x.to)}`}));
    for (const p of d.points) {
      const [px, py] = [sx(p.x), sy(Math.min(d.peak, p.x * d.bandwidth))];
      const under = (us, cls, what) => {
        const reached = sy(Math.max(y.from, p.flops / us * 1e6));
        picture.append(svg('line', {class: `gap c${c}`, x1: px, x2: px, y1: py, y2: reached}),
          svg('circle', {class: `${cls} c${c} f${c}`, cx: px, cy: reached, r: 4}, svg('title', {}, `${d.name}: ${p.label}, ${what} ${rate(p.flops / us * 1e6)}FLOP/s`)));
      };
      if (p.predicted) under(p.predicted, 'guess', 'predicted');
      if (p.measured) under(p.measured, 'fact', 'measured');
      picture.append(svg('circle', {class: `dot f${c}`, cx: px, cy: py, r: 5}, svg('title', {}, `${d.name}: ${p.name}`)));
      // The highest roof has the names; where one would cover another, the first stays.
      if (d.peak === Math.max(...devices.map(other => other.peak)) && p.label && !labels.some(([lx, ly]) => Math.abs(lx - px) < 90 && Math.abs(ly - py) < 15)) {
        labels.push([px, py]);
        const right = px > across() - 130;
        picture.append(svg('text', {class: 'name', x: px + (right ? -8 : 8), y: py - 8, 'text-anchor': right ? 'end' : 'start'}, p.label));
      }
    }
  });
  return picture;
}

/** What the colours mean. */
export const keys = names => el('div', {class: 'keys'}, names.map((name, i) => el('span', {}, el('i', {class: `b${(i % 8) + 1}`}), name)));

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const power = v => (v >= 1 && v < 10000 ? String(v) : `10${[...String(Math.round(Math.log10(v)))].map(c => (c === '-' ? '⁻' : RAISED[c])).join('')}`);
export const rate = v => (v >= 1e15 ? `${v / 1e15} P` : v >= 1e12 ? `${+(v / 1e12).toPrecision(3)} T` : v >= 1e9 ? `${+(v / 1e9).toPrecision(3)} G` : `${+(v / 1e6).toPrecision(3)} M`);
