// Device: what every order and tile size is predicted to cost for one product, and what was measured of it.
import {keys, lineChart} from './charts.js';
import {measureCard} from './measure-view.js';
import {attempt, bytes, choice, count, el, field, get, number, percent, replace, time} from './dom.js';

const METRICS = {
  timeUs: ['Time', time, false],
  dramBytes: ['Device memory', bytes, false],
  l2Bytes: ['L2 to SM', bytes, false],
  hitRate: ['L2 hit rate', percent, true],
  waves: ['Waves', count, false],
  tail: ['Idle part', percent, false],
};

export function deviceView() {
  const f = {m: number(8192, 1, 1e6), n: number(8192, 1, 1e6), k: number(8192, 1, 1e6), dtype: choice(['bf16'], 'bf16'), gpu: choice(['h200'], 'h200')};
  const metric = choice(Object.entries(METRICS).map(([key, [name]]) => [key, name]), 'dramBytes', {'aria-label': 'What is shown', onchange: () => draw()});
  const heat = el('div', {class: 'scroll'});
  const detail = el('div', {class: 'content'});
  const curves = el('div', {class: 'content'});
  const measured = el('div', {class: 'content'});
  const head = el('p', {class: 'quiet'});
  let devices = [];
  let data = null;
  let chosen = '';

  const load = () => attempt(async () => {
    const numbers = {M: f.m.value, N: f.n.value, K: f.k.value};
    const asked = {...numbers, dtype: f.dtype.value, gpu: f.gpu.value};
    const answer = await get('device', asked);
    data = answer;
    for (const p of data.predictions) p.dramBytes = p.dramReadBytes + p.dramWriteBytes;
    const best = data.predictions.reduce((a, b) => (b.timeUs < a.timeUs ? b : a));
    chosen = `${best.tile} ${best.order}`;
    draw();
    await onGpu.load();
  });

  const onGpu = measureCard(
    () => ({M: f.m.value, N: f.n.value, K: f.k.value, dtype: f.dtype.value, tile: chosen.split(' ')[0]}),
    shape => {
      for (const key of ['M', 'N', 'K']) f[key.toLowerCase()].value = shape[key];
      f.gpu.value = 'h200';
      types();
      f.dtype.value = shape.dtype;
      load();
    });

  const draw = () => {
    if (!data) return;
    const [name, text, high] = METRICS[metric.value];
    const tiles = [...new Set(data.predictions.map(p => p.tile))];
    const orders = [...new Set(data.predictions.map(p => p.order))];
    const at = (tile, order) => data.predictions.find(p => p.tile === tile && p.order === order);
    const values = data.predictions.map(p => p[metric.value]);
    const least = Math.min(...values);
    const most = Math.max(...values);
    const best = high ? most : least;
    head.textContent = `${data.gpu}: at least ${bytes(data.leastBytes)} have to move. Stronger is more; the best is marked ●.`;
    replace(heat, el('table', {class: 'heat'},
      el('thead', {}, el('tr', {}, el('th', {}, 'order'), tiles.map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, orders.map(order => el('tr', {}, el('th', {scope: 'row'}, order), tiles.map(tile => {
        const p = at(tile, order);
        const value = p[metric.value];
        const part = most <= least ? 0 : least > 0 ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
        const cell = el('button', {type: 'button', class: part > 0.66 ? 'deep' : '', 'aria-pressed': String(`${tile} ${order}` === chosen),
          'aria-label': `${name} with tiles ${tile} in order ${order}: ${text(value)}`,
          onclick: () => { chosen = `${tile} ${order}`; draw(); }}, text(value), value === best ? ' ●' : '');
        cell.style.setProperty('--heat', String(Math.round(6 + 88 * part)));
        return el('td', {}, cell);
      }))))));
    const p = data.predictions.find(q => `${q.tile} ${q.order}` === chosen);
    const figure = (what, value, note) => el('div', {}, el('dt', {}, what), el('dd', {}, value, note ? el('small', {class: 'quiet'}, ` ${note}`) : null));
    replace(detail, el('h2', {}, `${p.tile}, ${p.order}`), el('dl', {class: 'figures'},
      figure('Predicted time', time(p.timeUs), `${(data.flops / p.timeUs / 1e6).toFixed(0)} TFLOP/s`),
      figure('Device memory', bytes(p.dramBytes), `${(p.dramBytes / data.leastBytes).toFixed(2)}× the least`),
      figure('L2 to SM', bytes(p.l2Bytes), `hit rate ${percent(p.hitRate)}`),
      figure('Waves', count(p.waves), `${count(p.tiles)} tiles`),
      figure('Idle part', percent(p.tail), 'short last wave, edges'),
      figure('Alone', time(p.computeUs), `products; memory ${time(p.memoryUs)}, L2 ${time(p.l2Us)}`)));
    const x = {from: 0, to: Math.max(1, tiles.length - 1), at: tiles.map((_, i) => i), text: v => tiles[v], name: 'tile'};
    const y = {from: 0, to: most * 1.05, text: v => text(v), name};
    const lines = ['row', 'column', 'grouped:8', 'hilbert', 'morton', 'serpentine'];
    replace(curves, el('h2', {}, `${name} over tile sizes`), keys(lines), lineChart({x, y, label: `${name} over tile sizes, a line for each order`,
      series: lines.map(order => ({name: order, marks: true, points: tiles.map((tile, i) => [i, at(tile, order)[metric.value], `${order}, ${tile}: ${text(at(tile, order)[metric.value])}`])}))}));
    drawMeasured(at);
  };

  const drawMeasured = at => {
    if (!data.measured.length) {
      replace(measured, el('h2', {}, 'Counted earlier, kernels written by hand'), el('div', {class: 'empty'},
        el('p', {}, 'There is no measurement of this shape on this device.'),
        el('p', {class: 'quiet'}, `Measured on an H200 with bf16: ${data.shapesMeasured.join(', ')}. bench/orders.sh measures more where a GPU and ncu are.`)));
      return;
    }
    replace(measured, el('h2', {}, 'Counted earlier, kernels written by hand'), el('div', {class: 'scroll'}, el('table', {},
      el('caption', {}, 'Counters of ncu on an H200, 2026-11-20, with cold caches, beside the prediction'),
      el('thead', {}, el('tr', {}, ['tile', 'order'].map(t => el('th', {}, t)), ['time', 'memory', 'predicted', 'error', 'L2 hits', 'predicted'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, data.measured.map(row => {
        const p = at(row.tile, row.order);
        return el('tr', {}, el('td', {}, row.tile), el('td', {}, row.order), el('td', {class: 'n'}, time(row.timeUs)), el('td', {class: 'n'}, bytes(row.dramBytes)),
          el('td', {class: 'n'}, p ? bytes(p.dramBytes) : '–'), el('td', {class: 'n'}, p ? `${p.dramBytes > row.dramBytes ? '+' : '−'}${Math.abs(100 * (p.dramBytes / row.dramBytes - 1)).toFixed(0)} %` : '–'),
          el('td', {class: 'n'}, percent(row.hitRate)), el('td', {class: 'n'}, p ? percent(p.hitRate) : '–'));
      })))));
  };

  const types = () => {
    const device = devices.find(d => d.id === f.gpu.value);
    const kept = device.dtypes.includes(f.dtype.value) ? f.dtype.value : device.dtypes.at(-1);
    replace(f.dtype, device.dtypes.map(t => el('option', {value: t, selected: t === kept}, t)));
  };
  f.gpu.addEventListener('change', types);
  const form = el('form', {class: 'card', onsubmit: event => event.preventDefault(), onchange: load},
    el('h2', {}, 'Product'),
    el('div', {class: 'three'}, field('M', f.m), field('N', f.n), field('K', f.k)),
    field('Device', f.gpu), field('Type', f.dtype), field('Show', metric));
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Device'),
      el('p', {class: 'quiet'}, 'What one product is predicted to cost, for every order of tiles and every tile size: bytes between memory, second-level cache and multiprocessors, waves and time.')),
    el('div', {class: 'side'}, form, el('section', {class: 'card'}, detail)),
    el('div', {class: 'content'}, el('section', {class: 'card'}, head, heat), el('section', {class: 'card'}, curves), onGpu.element, el('section', {class: 'card'}, measured)));
  attempt(async () => {
    devices = (await get('devices')).devices;
    replace(f.gpu, devices.map(d => el('option', {value: d.id, selected: d.id === 'h200'}, d.name)));
    types();
    f.dtype.value = 'bf16';
    await load();
  });
  return {element};
}
