// What a device really did: a row for each SM with a bar for each work item, and the grid of tiles by when
// they began. An event is [item, block, SM, begin, end]; events come in the order in which they began.
import {count, el, replace, svg, time} from './dom.js';
import {tiles as tilesOf} from './orders.js';

const SHADES = 12;
const PAD = {left: 40, right: 10, top: 8, bottom: 26};

/** @param m a measurement with a timeline */
export function timelineCard(m) {
  const {unit, events, end} = m.timeline;
  const [height, width] = m.tile.split('x').map(Number);
  const rows = Math.ceil(m.M / height);
  const columns = Math.ceil(m.N / width);
  const tiles = tilesOf(m.order, rows, columns);
  const items = tiles.length;
  const sms = [...new Set(events.map(e => e[2]))].sort((a, b) => a - b);
  const line = new Map(sms.map((sm, i) => [sm, i]));
  const text = v => (unit === 'ns' ? time(v / 1000) : `${count(v)} turns`);
  const shade = part => Math.min(SHADES - 1, Math.floor(part * SHADES));

  // Bars, all of one shade in one path.
  const across = innerWidth < 560 ? 360 : 760;
  const barHeight = Math.max(1.6, Math.min(14, 400 / sms.length));
  const down = PAD.top + barHeight * sms.length;
  const x = v => PAD.left + (v / (end || 1)) * (across - PAD.left - PAD.right);
  const paths = Array.from({length: SHADES}, () => '');
  const box = ([, , sm, begin, stop]) => [x(begin), PAD.top + line.get(sm) * barHeight, Math.max(0.5, x(stop) - x(begin) - 0.4), barHeight - (barHeight > 3 ? 0.6 : 0.2)];
  for (const e of events) {
    const [left, top, w, h] = box(e).map(v => v.toFixed(2));
    paths[shade(e[0] / items)] += `M${left} ${top}h${w}v${h}h-${w}z`;
  }
  const mark = svg('rect', {class: 'chosen'});
  const chart = svg('svg', {class: 'chart timeline', viewBox: `0 0 ${across} ${down + PAD.bottom}`, role: 'img', 'aria-label': `Timeline: ${sms.length} SMs, ${events.length} work items, ${text(end)}`},
    paths.map((d, i) => svg('path', {class: `shade${i}`, d})),
    [0, 0.25, 0.5, 0.75, 1].map(part => svg('text', {x: x(part * end), y: down + 18, 'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}, text(part * end))),
    [0, sms.length - 1].map(i => svg('text', {x: PAD.left - 6, y: PAD.top + (i + (i ? 1 : 0.5)) * barHeight + 3, 'text-anchor': 'end'}, sms[i])),
    svg('text', {x: 2, y: PAD.top + (sms.length / 2) * barHeight + 4}, 'SM'), mark);

  // Tiles, by when their first block began.
  const began = new Map();
  for (const e of events) if (!began.has(e[0])) began.set(e[0], began.size);
  const side = Math.max(3, Math.min(22, Math.floor(300 / Math.max(rows, columns))));
  const gap = side > 7 ? 0.6 : 0;
  const cells = Array.from({length: SHADES}, () => '');
  tiles.forEach(([r, c], i) => (cells[shade(began.get(i) / items)] += `M${c * side} ${r * side}h${side - gap}v${side - gap}h-${side - gap}z`));
  const spot = svg('rect', {class: 'chosen', width: side, height: side});
  const grid = svg('svg', {class: 'launches', viewBox: `-1 -1 ${columns * side + 2} ${rows * side + 2}`, width: columns * side + 2, height: rows * side + 2, role: 'img', 'aria-label': `${rows} × ${columns} tiles, the later they began the lighter`},
    cells.map((d, i) => svg('path', {class: `shade${i}`, d})), spot);

  const told = el('p', {class: 'quiet told', 'aria-live': 'polite'});
  const slider = el('input', {type: 'range', min: 0, max: events.length - 1, value: 0, 'aria-label': 'Work item, as it began', oninput: () => show(Number(slider.value))});
  const show = i => {
    slider.value = i;
    const e = events[i];
    const [item, block, sm, begin, stop] = e;
    const [r, c] = tiles[item];
    const [left, top, w, h] = box(e);
    for (const [key, value] of Object.entries({x: left - 0.5, y: top - 0.5, width: w + 1, height: h + 1})) mark.setAttribute(key, value);
    spot.setAttribute('x', c * side);
    spot.setAttribute('y', r * side);
    told.textContent = `Began as number ${count(i)}: tile (${r}, ${c}), number ${count(item)} of the order, block ${count(block)} on SM ${sm}, from ${text(begin)} to ${text(stop)}.`;
  };
  chart.addEventListener('pointerdown', event => {
    const frame = chart.getBoundingClientRect();
    const px = ((event.clientX - frame.left) / frame.width) * across;
    const py = ((event.clientY - frame.top) / frame.height) * (down + PAD.bottom);
    const sm = sms[Math.floor((py - PAD.top) / barHeight)];
    const at = ((px - PAD.left) / (across - PAD.left - PAD.right)) * end;
    const hit = events.findIndex(e => e[2] === sm && e[3] <= at && e[4] >= at);
    if (hit >= 0) show(hit);
  });
  show(0);
  return el('div', {class: 'content'},
    el('p', {class: 'quiet'}, `${count(sms.length)} SMs, ${(100 * m.timeline.idle).toFixed(0)} % of their time idle; ${count(m.timeline.overtaken)} of ${count(events.length)} work items began after one that comes later in the order.`),
    chart,
    el('div', {class: 'ramp', 'aria-hidden': 'true'}, el('span', {}, 'first of the order'), Array.from({length: SHADES}, (_, i) => el('i', {class: `shade${i}`})), el('span', {}, 'last')),
    el('label', {class: 'field'}, el('span', {}, 'Work item, as it began'), slider), told,
    el('h3', {}, 'Tiles, by when they began'), el('div', {class: 'scroll'}, grid));
}

/** Shows one timeline of several measurements, to be chosen. */
export function timelines(measurements) {
  const usable = measurements.filter(m => m.timeline);
  const place = el('div', {class: 'content'});
  if (!usable.length) return place;
  const name = m => `${m.tile}, ${m.order}`;
  const pick = el('select', {'aria-label': 'Timeline of', onchange: () => draw()}, usable.map((m, i) => el('option', {value: i}, name(m))));
  const draw = () => replace(body, timelineCard(usable[Number(pick.value)]));
  const body = el('div', {class: 'content'});
  draw();
  return replace(place, el('div', {class: 'row spread'}, el('h3', {}, 'Blocks by SM'), el('div', {}, pick)), body);
}
