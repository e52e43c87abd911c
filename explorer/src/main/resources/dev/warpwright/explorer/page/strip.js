// Loads per step as bars, the marker at the step that is shown; and bytes on their way between memory, L2 and SMs.
import {el, svg} from './dom.js';

const HIGH = 44;
const ACROSS = 600;
const PITCH = 52;

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
 * Bytes between SMs, L2 and memory, as profilers draw them, with a legend.
 * @param rows [{name, guessed, fromL2, toL2, fromMemory, toMemory, hitRate}], one below the other; what is guessed is dashed
 */
export function memoryChart(rows, write) {
  const text = value => (value === null ? 'not counted' : write(value));
  const narrow = innerWidth < 560;
  const wide = narrow ? 84 : 104;
  const between = narrow ? 62 : 104;
  const high = 34 + rows.length * PITCH;
  const left = i => 2 + i * (wide + between);
  const middle = i => left(i) + wide / 2;
  const box = (i, label) => [svg('rect', {class: 'box', x: left(i), y: 2, width: wide, height: high, rx: 6}),
    svg('text', {class: 'name', x: middle(i), y: 22, 'text-anchor': 'middle'}, label)];
  const arrow = (from, y, right, cls) => {
    const x = left(from) + wide + 3;
    const long = between - 6;
    return svg('path', {class: `flow ${cls}`, d: right ? `M${x} ${y}h${long}m-7 -4l7 4l-7 4` : `M${x + long} ${y}h-${long}m7 -4l-7 4l7 4`});
  };
  const parts = rows.flatMap((row, i) => {
    const y = 34 + (i + 0.5) * PITCH;
    const guessed = row.guessed ? 'guessed' : '';
    const label = (from, dy, words) => svg('text', {x: left(from) + wide + between / 2, y: y + dy, 'text-anchor': 'middle'}, words);
    return [arrow(0, y - 5, false, `held ${guessed}`), label(0, -11, text(row.fromL2)), arrow(0, y + 5, true, guessed), label(0, 19, text(row.toL2)),
      arrow(1, y - 5, false, `load ${guessed}`), label(1, -11, text(row.fromMemory)), arrow(1, y + 5, true, guessed), label(1, 19, text(row.toMemory)),
      svg('text', {class: 'name', x: middle(1), y: y - 3, 'text-anchor': 'middle'}, `${(100 * row.hitRate).toFixed(0)} % hits`),
      svg('text', {x: middle(1), y: y + 12, 'text-anchor': 'middle'}, row.name), svg('text', {x: middle(0), y: y + 4, 'text-anchor': 'middle'}, row.name)];
  });
  const key = (cls, words) => el('span', {}, el('i', {class: `bar ${cls}`}), words);
  const both = new Set(rows.map(row => Boolean(row.guessed))).size === 2;
  return el('div', {class: 'content'}, svg('svg', {class: 'chart flows', viewBox: `0 0 ${left(2) + wide + 2} ${high + 4}`, role: 'img',
    'aria-label': `Bytes between SMs, L2 and memory: ${rows.map(r => `${r.name}: ${text(r.fromL2)} from L2, ${text(r.fromMemory)} from memory, ${text(r.toMemory)} to memory`).join('; ')}`},
    box(0, 'SMs'), box(1, 'L2'), box(2, 'memory'), parts),
  el('div', {class: 'legend'}, key('held', 'read from L2'), key('load', 'loaded from memory'), key('', 'stored'), both ? [key('guessed', 'predicted'), key('', 'measured')] : null));
}
