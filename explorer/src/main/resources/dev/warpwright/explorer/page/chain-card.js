// Two chained GEMMs in one persistent kernel, played in time: what each order is predicted to cost, and who waits when.
import {attempt, bytesLike, choice, count, el, field, get, latestOnly, number, numberOf, percent, replace, svg, time, timesLike} from './dom.js';

const PAD = {left: 40, right: 10, top: 8, bottom: 26};
const TILES = ['128x128', '64x128', '128x64', '64x64'];
const WAITS = [['row', 'its row of C'], ['tile', 'single tiles of C'], ['rows:4', 'four rows of C'], ['grid', 'all of C']];
const KINDS = [['gemm0', 'a tile of C'], ['gemm1', 'a tile of E'], ['waits', 'waiting']];

/** Blocks over time, a line each, those of an SM below each other. An event is [item, gemm, row, column, block, SM, taken, waited, ended]. */
function timeline(answer) {
  const {events, blocks, timeUs} = answer;
  const sms = Math.max(1, ...events.map(e => e[5] + 1));
  const perSm = Math.max(1, Math.round(blocks / sms));
  const across = innerWidth < 560 ? 360 : 760;
  const each = Math.max(1.4, Math.min(12, 420 / blocks));
  const down = PAD.top + each * blocks;
  const x = v => PAD.left + (v / (timeUs || 1)) * (across - PAD.left - PAD.right);
  const y = e => PAD.top + (e[5] * perSm + Math.floor(e[4] / sms)) * each;
  const bar = (e, from, to) => `M${x(from).toFixed(2)} ${y(e).toFixed(2)}h${Math.max(0.3, x(to) - x(from)).toFixed(2)}v${(each * 0.85).toFixed(2)}h-${Math.max(0.3, x(to) - x(from)).toFixed(2)}z`;
  const paths = {gemm0: '', gemm1: '', waits: ''};
  for (const e of events) {
    if (e[7] > 0) paths.waits += bar(e, e[6], e[6] + e[7]);
    paths[`gemm${e[1]}`] += bar(e, e[6] + e[7], e[8]);
  }
  const mark = svg('rect', {class: 'chosen'});
  const chart = svg('svg', {class: 'chart played', viewBox: `0 0 ${across} ${down + PAD.bottom}`, role: 'img', 'aria-label': `Timeline: ${sms} SMs, ${events.length} tiles, ${time(timeUs)}`},
    KINDS.map(([key]) => svg('path', {class: key, d: paths[key]})),
    [0, 0.25, 0.5, 0.75, 1].map(part => svg('text', {x: x(part * timeUs), y: down + 18, 'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}, time(part * timeUs))),
    svg('text', {x: 2, y: PAD.top + (blocks / 2) * each + 4}, 'SM'),
    [0, sms - 1].map(sm => svg('text', {x: PAD.left - 6, y: PAD.top + (sm * perSm + (sm ? perSm : 1)) * each + (sm ? 0 : 6), 'text-anchor': 'end'}, sm)), mark);
  const told = el('p', {class: 'quiet told', 'aria-live': 'polite'});
  const slider = el('input', {type: 'range', min: 0, max: Math.max(0, events.length - 1), value: 0, 'aria-label': 'Tile, as it ended', oninput: () => show(Number(slider.value))});
  const show = i => {
    const e = events[i];
    if (!e) return;
    slider.value = i;
    for (const [key, value] of Object.entries({x: x(e[6]) - 0.5, y: y(e) - 0.5, width: x(e[8]) - x(e[6]) + 1, height: each + 1})) mark.setAttribute(key, value);
    told.textContent = `Tile (${e[2]}, ${e[3]}) of ${'CE'[e[1]]}, number ${count(e[0])} of the order, block ${e[4]} on SM ${e[5]}: from ${time(e[6])} to ${time(e[8])}${e[7] > 0 ? `, waited ${time(e[7])}` : ''}.`;
  };
  chart.addEventListener('pointerdown', event => {
    const frame = chart.getBoundingClientRect();
    const px = ((event.clientX - frame.left) / frame.width) * across;
    const py = ((event.clientY - frame.top) / frame.height) * (down + PAD.bottom);
    const at = ((px - PAD.left) / (across - PAD.left - PAD.right)) * timeUs;
    const hit = events.findIndex(e => py >= y(e) && py <= y(e) + each && e[6] <= at && e[8] >= at);
    if (hit >= 0) show(hit);
  });
  show(0);
  return el('div', {class: 'content'}, el('div', {class: 'row'}, KINDS.map(([key, name]) => el('span', {class: 'kind'}, el('i', {class: key, 'aria-hidden': 'true'}), name))),
    chart, el('label', {class: 'field'}, el('span', {}, 'Tile, as it ended'), slider), told);
}

/**
 * @param asked gives M, N, K, dtype and gpu
 * @param state what the address says of the card
 * @param keep writes it there
 */
export function chainCard(asked, state, keep) {
  const last = number(state.n2 || 4096, 1, 1e6);
  const tile = choice(TILES, TILES.includes(state.pairTile) ? state.pairTile : TILES[0]);
  const wait = choice(WAITS, WAITS.some(([key]) => key === state.wait) ? state.wait : 'row');
  let order = state.pairOrder ?? '';
  let shown = Boolean(state.n2);
  const table = el('div', {class: 'scroll'});
  const lines = el('div', {class: 'content'});
  const said = el('p', {class: 'quiet', 'aria-live': 'polite'}, 'Blocks draw tiles of C = A · B and of E = C · D in one order; a tile of E waits for what it reads.');

  const draw = answer => {
    const all = answer.orders;
    const times = timesLike(all.map(o => o.timeUs));
    const sizes = bytesLike(all.map(o => o.dramBytes));
    const best = Math.min(...all.filter(o => !o.deadlock).map(o => o.timeUs));
    said.textContent = `${answer.gpu}, ${answer.tile}, waiting for ${Object.fromEntries(WAITS)[answer.wait]}. Choose an order to see its blocks.`;
    replace(table, el('table', {},
      el('caption', {}, 'Predicted, fitted to single GEMMs on an H200; three chained orders of kernels that drew their next tile ahead were measured there, 2 to 8 % off'),
      el('thead', {}, el('tr', {}, el('th', {}, 'order'), ['time', 'blocks wait', 'SMs idle', 'memory', 'L2 hits'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, all.map(o => el('tr', {}, el('td', {}, el('button', {type: 'button', 'aria-pressed': String(o.order === answer.order), onclick: () => { order = o.order; load(); }}, o.order, o.timeUs === best && !o.deadlock ? ' ●' : '')),
        o.deadlock ? el('td', {colspan: 5}, `deadlock: ${o.deadlock}`) : [times(o.timeUs), percent(o.waiting), percent(o.idle), sizes(o.dramBytes), percent(o.hitRate)].map(t => el('td', {class: 'n'}, t)))))));
    replace(lines, el('h3', {}, `Blocks by SM, ${answer.order}`), answer.events.length ? timeline(answer) : el('p', {class: 'quiet'}, 'Too many tiles to draw.'));
  };
  const load = latestOnly(async current => {
    if (!shown) return;
    const numbers = {...asked(), N2: numberOf(last), tile: tile.value, wait: wait.value};
    const answer = await get('chain', order ? {...numbers, order} : numbers);
    if (!current()) return;
    order = answer.order;
    keep();
    draw(answer);
  });
  const play = () => attempt(() => { shown = true; return load(); });
  const again = () => attempt(load);
  for (const control of [last, tile, wait]) control.addEventListener('change', event => { event.stopPropagation(); again(); });
  const element = el('section', {class: 'card', 'aria-label': 'Two chained GEMMs'}, el('h2', {}, 'Two chained GEMMs in one kernel'), said,
    el('div', {class: 'three'}, field('N of the second GEMM', last), field('Tile of both', tile), field('A tile of E waits for', wait)),
    el('div', {class: 'row'}, el('button', {type: 'button', class: 'first', onclick: play}, 'Play the orders')), table, lines);
  return {element, load, state: () => (shown ? {n2: last.value, pairTile: tile.value, wait: wait.value, pairOrder: order} : {}),
    open: next => {
      if (!next.n2) return;
      shown = true;
      last.value = next.n2;
      if (TILES.includes(next.pairTile)) tile.value = next.pairTile;
      if (WAITS.some(([key]) => key === next.wait)) wait.value = next.wait;
      order = next.pairOrder ?? '';
    }};
}
