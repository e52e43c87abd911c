// Loads per step as bars, the marker at the step that is shown; and bytes on their way between memory, L2 and multiprocessors.
import {el, svg} from './dom.js';

const HIGH = 44;
const ACROSS = 600;

/** Bars to click: a step of an order each. @param look shows a step */
export class LoadStrip {
  constructor(look) {
    this.bars = svg('path', {class: 'bars'});
    this.past = svg('path', {class: 'bars past'});
    this.mark = svg('rect', {class: 'mark', y: 0, height: HIGH});
    this.picture = svg('svg', {class: 'strip', viewBox: `0 0 ${ACROSS} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Loads of each step'},
      this.past, this.bars, this.mark);
    this.most = el('small', {class: 'quiet'});
    this.element = el('div', {class: 'strips'}, el('div', {class: 'row spread'}, el('h3', {}, 'Loads of each step'), this.most), this.picture);
    this.steps = 0;
    this.picture.addEventListener('click', event => {
      const frame = this.picture.getBoundingClientRect();
      if (this.steps) look(Math.min(this.steps, 1 + Math.floor(((event.clientX - frame.left) / frame.width) * this.steps)));
    });
  }

  /** @param loads of each step; @param text writes them */
  draw(loads, shown, text) {
    this.steps = loads.length;
    const most = Math.max(1, ...loads);
    const wide = ACROSS / Math.max(1, loads.length);
    const bar = (load, i) => {
      const high = (load / most) * (HIGH - 2);
      return load ? `M${(i * wide).toFixed(2)} ${HIGH}v${-high.toFixed(2)}h${Math.max(0.4, wide - (wide > 4 ? 1 : 0)).toFixed(2)}V${HIGH}z` : '';
    };
    this.past.setAttribute('d', loads.slice(0, shown).map(bar).join(''));
    this.bars.setAttribute('d', loads.slice(shown).map((load, i) => bar(load, i + shown)).join(''));
    this.mark.setAttribute('x', Math.max(0, (shown - 1) * wide));
    this.mark.setAttribute('width', shown ? Math.max(2, wide) : 0);
    this.most.textContent = loads.length ? `at most ${text(Math.max(...loads))}` : '';
  }
}

/**
 * Bytes between multiprocessors, L2 and memory, as profilers draw them.
 * @param rows [{name, fromL2, toL2, fromMemory, toMemory, hitRate}], one below the other
 */
export function memoryChart(rows, write) {
  const text = value => (value === null ? 'not counted' : write(value));
  const box = (x, label, note) => [svg('rect', {class: 'box', x, y: 22, width: 96, height: 46 + rows.length * 34, rx: 6}),
    svg('text', {class: 'name', x: x + 48, y: 42, 'text-anchor': 'middle'}, label), note ? svg('text', {x: x + 48, y: 57, 'text-anchor': 'middle'}, note) : null];
  const high = 72 + rows.length * 34;
  const arrow = (x, y, right, cls) => svg('path', {class: `flow ${cls}`, d: right ? `M${x} ${y}h100m-7 -4l7 4l-7 4` : `M${x + 100} ${y}h-100m7 -4l-7 4l7 4`});
  const parts = rows.flatMap((row, i) => {
    const y = 78 + i * 34;
    const cls = `c${i + 1}`;
    const label = (x, dy, words) => svg('text', {x, y: y + dy, 'text-anchor': 'middle'}, words);
    return [arrow(104, y - 6, false, cls), label(154, -10, text(row.fromL2)), arrow(104, y + 6, true, cls), label(154, 18, text(row.toL2)),
      arrow(316, y - 6, false, cls), label(366, -10, text(row.fromMemory)), arrow(316, y + 6, true, cls), label(366, 18, text(row.toMemory)),
      svg('text', {class: 'name', x: 260, y: y - 2, 'text-anchor': 'middle'}, `${(100 * row.hitRate).toFixed(0)} % hits`),
      svg('text', {x: 260, y: y + 12, 'text-anchor': 'middle'}, row.name), svg('text', {x: 52, y: y + 4, 'text-anchor': 'middle'}, row.name)];
  });
  return svg('svg', {class: 'chart flows', viewBox: `0 0 520 ${high + 8}`, role: 'img',
    'aria-label': `Bytes between multiprocessors, L2 and memory: ${rows.map(r => `${r.name}: ${text(r.fromL2)} from L2, ${text(r.fromMemory)} from memory, ${text(r.toMemory)} to memory`).join('; ')}`},
    box(4, 'SMs'), box(212, 'L2'), box(420, 'memory'), parts);
}
