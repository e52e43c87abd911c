// How a GEMM's predicted time climbs with one of its extents: a step for each new wave.
import {lineChart} from './charts.js';
import {attempt, choice, count, download, el, field, get, latestOnly, number, numberOf, replace, standalone, time} from './dom.js';
import {table} from './state.js';

const TILES = ['best of all', '64x64', '128x64', '64x128', '128x128', '128x256', '256x128', '256x256'];

/** What an address says of the card, by its fields; what it leaves out. */
const KEYS = {m: 'sM', n: 'sN', k: 'sK', along: 'sAlong', last: 'sLast', tile: 'sTile', gpu: 'sGpu', dtype: 'sType'};
const USUAL = {m: '4096', n: '4096', k: '4096', along: 'M', last: '8192', tile: '128x256', gpu: 'h200', dtype: 'bf16'};

/** @param asked what the address says; @param keep is called when the address has to follow */
export function stairsCard(asked, keep) {
  const s = {m: number(4096, 1, 1e6), n: number(4096, 1, 1e6), k: number(4096, 1, 1e6), along: choice(['M', 'N', 'K'], 'M'), last: number(8192, 128, 1e6),
    tile: choice(TILES.map(t => [t === TILES[0] ? '' : t, t]), '128x256'), gpu: choice(['h200'], 'h200'), dtype: choice(['bf16'], 'bf16')};
  let all = [];
  /** A type that the device multiplies: the one that is there, if it does. */
  const types = wanted => {
    const known = all.find(d => d.id === s.gpu.value)?.dtypes ?? [wanted];
    const kept = known.includes(wanted) ? wanted : known.at(-1);
    note.textContent = kept === wanted ? '' : `${s.gpu.selectedOptions[0].text} multiplies no ${wanted}, so ${kept} is shown.`;
    note.hidden = kept === wanted;
    replace(s.dtype, known.map(t => el('option', {value: t, selected: t === kept}, t)));
  };
  const note = el('p', {class: 'note', hidden: true});
  const put = state => {
    for (const [field, key] of Object.entries(KEYS)) {
      const value = state[key] ?? USUAL[field];
      if (field === 'dtype') types(value);
      else if (s[field].tagName !== 'SELECT' || [...s[field].options].some(option => option.value === value)) s[field].value = value;
    }
  };
  s.gpu.addEventListener('change', () => types(s.dtype.value));
  const steps = el('div', {class: 'content'});
  let data = null;
  const load = latestOnly(async current => {
    const asked = {M: numberOf(s.m), N: numberOf(s.n), K: numberOf(s.k), along: s.along.value, last: numberOf(s.last), tile: s.tile.value, gpu: s.gpu.value, dtype: s.dtype.value};
    const answer = await get('staircase', asked);
    if (!current()) return;
    data = answer;
    const most = Math.max(...data.points.map(p => p.timeUs));
    const rates = data.points.map(p => [p.at, p.flops / p.timeUs / 1e6, `${asked.along}=${p.at}: ${(p.flops / p.timeUs / 1e6).toFixed(0)} TFLOP/s, ${p.waves} waves of ${p.tile}`]);
    const x = {from: 0, to: data.points.at(-1).at, text: v => count(v), name: asked.along};
    const about = `${data.gpu}, ${asked.dtype}, ${asked.along === 'M' ? 'M' : asked.M} × ${asked.along === 'N' ? 'N' : asked.N} × ${asked.along === 'K' ? 'K' : asked.K}`;
    replace(steps, el('h3', {}, about),
      lineChart({x, y: {from: 0, to: most * 1.05, text: v => (v === 0 ? '0' : time(v)), name: 'time'}, steps: true, height: 250, label: 'Predicted time', series: [{name: 'time', points: data.points.map(p => [p.at, p.timeUs])}]}),
      lineChart({x, y: {from: 0, to: Math.max(...rates.map(r => r[1])) * 1.08, text: v => count(v), name: 'TFLOP/s'}, height: 210, label: 'Predicted rate', series: [{name: 'rate', points: rates}]}));
  });
  const button = (text, action) => el('button', {type: 'button', onclick: () => attempt(action)}, text);
  const element = el('section', {class: 'card', 'aria-label': 'Wave staircase'}, el('h2', {}, 'Wave staircase'),
    el('p', {class: 'quiet'}, 'Predicted: each new round of tiles costs a step, and the rate falls where a round is nearly empty. A smaller GEMM never takes longer than a larger one, which could be padded to it.'),
    el('form', {class: 'content', onsubmit: event => event.preventDefault(), onchange: () => { load(); keep(); }},
      el('div', {class: 'three'}, field('M', s.m), field('N', s.n), field('K', s.k)),
      el('div', {class: 'three'}, field('Along', s.along), field('Up to', s.last), field('Tile', s.tile)),
      el('div', {class: 'pair'}, field('Device', s.gpu), field('Type', s.dtype))), note, steps,
    el('div', {class: 'row'}, button('CSV', () => download('staircase.csv', table([['at', 'timeUs', 'waves', 'idle', 'tile', 'flops'], ...data.points.map(p => [p.at, p.timeUs, p.waves, p.tail, p.tile, p.flops])]), 'text/csv')),
      button('SVG', () => download('staircase.svg', standalone(steps.querySelector('svg')), 'image/svg+xml'))));
  return {
    element,
    load,
    devices: known => {
      all = known;
      replace(s.gpu, all.map(d => el('option', {value: d.id}, d.name)));
      put(asked);
    },
    put,
    /** What an address has to say of it: what is not as usual. */
    state: () => Object.fromEntries(Object.entries(KEYS).filter(([field]) => s[field].value !== USUAL[field]).map(([field, key]) => [key, s[field].value])),
  };
}
