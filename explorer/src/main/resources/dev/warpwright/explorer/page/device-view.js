// Device: what every order and tile size is predicted to cost for one GEMM, and what was measured of it.
import {chainCard} from './chain-card.js';
import {keys, lineChart} from './charts.js';
import {measureCard} from './measure-view.js';
import {attempt, bytes, bytesLike, choice, count, download, el, field, get, latestOnly, number, numberOf, percent, replace, standalone, time, timesLike} from './dom.js';
import {pack, toLink} from './files.js';
import {BYTES, LIMITS, MOST_TILES, ofShape} from './model.js';
import {readyMade} from './orders.js';
import {keepState, stateOf, table} from './state.js';
import {memoryChart} from './strip.js';

const METRICS = {
  timeUs: ['Time', timesLike, false],
  dramBytes: ['Device memory', bytesLike, false],
  l2Bytes: ['L2 to SM', bytesLike, false],
  hitRate: ['L2 hit rate', () => percent, true],
  waves: ['Waves', () => count, false],
  tail: ['Idle part', () => percent, false],
};

export function deviceView(address) {
  const asked = {M: 8192, N: 8192, K: 8192, dtype: 'bf16', gpu: 'h200', show: 'dramBytes', ...stateOf(address)};
  const f = {m: number(asked.M, 1, 1e6), n: number(asked.N, 1, 1e6), k: number(asked.K, 1, 1e6), dtype: choice([asked.dtype], asked.dtype), gpu: choice([asked.gpu], asked.gpu)};
  const metric = choice(Object.entries(METRICS).map(([key, [name]]) => [key, name]), Object.hasOwn(METRICS, asked.show) ? asked.show : 'dramBytes', {'aria-label': 'What is shown', onchange: event => {
    event.stopPropagation();
    keep();
    draw();
  }});
  const heat = el('div', {class: 'scroll'});
  const detail = el('div', {class: 'content'});
  const curves = el('div', {class: 'content'});
  const flows = el('div', {class: 'scroll'});
  const measured = el('div', {class: 'content'});
  const head = el('p', {class: 'quiet'});
  let devices = [];
  let data = null;
  let chosen = '';
  let wanted = asked.cell ?? '';

  const shape = () => ({M: numberOf(f.m), N: numberOf(f.n), K: numberOf(f.k), dtype: f.dtype.value});
  const keep = () => keepState('device', {M: f.m.value, N: f.n.value, K: f.k.value, dtype: f.dtype.value, gpu: f.gpu.value, show: metric.value, ...(chosen ? {cell: chosen} : {}), ...pair.state()});
  const load = latestOnly(async current => {
    const numbers = shape();
    const answer = await get('device', {...numbers, gpu: f.gpu.value});
    if (!current()) return;
    data = answer;
    for (const p of data.predictions) p.dramBytes = p.dramReadBytes + p.dramWriteBytes;
    const best = data.predictions.reduce((a, b) => (b.timeUs < a.timeUs ? b : a));
    chosen = data.predictions.some(p => `${p.tile} ${p.order}` === wanted) ? wanted : `${best.tile} ${best.order}`;
    wanted = '';
    keep();
    draw();
    await onGpu.load();
    await pair.load();
  });
  const pair = chainCard(() => ({...shape(), gpu: f.gpu.value}), asked, () => keep());

  const onGpu = measureCard(
    () => ({...shape(), tile: chosen.split(' ')[0]}),
    recorded => {
      for (const key of ['M', 'N', 'K']) f[key.toLowerCase()].value = recorded[key];
      f.gpu.value = 'h200';
      types();
      f.dtype.value = recorded.dtype;
      load();
    });

  /** The board that shows a cell's tiles in its order, step by step; or why there is none. */
  const boardOf = p => {
    const device = devices.find(d => d.id === f.gpu.value);
    const [tm, tn] = p.tile.split('x').map(Number);
    const [m, n, k] = [data.M, data.N, data.K];
    const tiles = Math.ceil(m / tm) * Math.ceil(n / tn);
    if (!device || !(data.dtype in BYTES)) return {why: `boards are of ${Object.keys(BYTES).join(', ')}`};
    if (Math.max(Math.ceil(m / tm), Math.ceil(n / tn)) > LIMITS.rows[1] || tiles > MOST_TILES) return {why: `a board has at most ${LIMITS.rows[1]} tiles a side`};
    const depth = Math.max(1, Math.min(32, Math.floor(2 ** 18 / tiles), Math.ceil(k / 64)));
    const problem = ofShape({m, n, k, n2: 0, tm, tn, tk: Math.ceil(k / depth), dtype: data.dtype, cache: Number((device.l2Bytes / 1e6).toFixed(3)), gpu: device.id},
      {cached: false, atOnce: p.atOnce, policy: 'lru'});
    const order = readyMade(problem, p.order);
    return {link: `#board=${toLink(pack([{problem, order, shown: Math.ceil(order.length / problem.atOnce)}]))}`};
  };

  const draw = () => {
    if (!data) return;
    const [name, like, high] = METRICS[metric.value];
    const tiles = [...new Set(data.predictions.map(p => p.tile))];
    const orders = [...new Set(data.predictions.map(p => p.order))];
    const at = (tile, order) => data.predictions.find(p => p.tile === tile && p.order === order);
    const values = data.predictions.map(p => p[metric.value]);
    const text = like(values);
    const least = Math.min(...values);
    const most = Math.max(...values);
    const best = high ? most : least;
    head.textContent = `${data.gpu}, ${data.M} × ${data.N} × ${data.K}, ${data.dtype}: at least ${bytes(data.leastBytes)} have to move. Stronger is more; the best is marked ●.`;
    replace(heat, el('table', {class: 'heat'},
      el('thead', {}, el('tr', {}, el('th', {}, 'order'), tiles.map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, orders.map(order => el('tr', {}, el('th', {scope: 'row'}, order), tiles.map(tile => {
        const p = at(tile, order);
        const value = p[metric.value];
        const part = most <= least ? 0 : least > 0 ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
        const cell = el('button', {type: 'button', 'aria-pressed': String(`${tile} ${order}` === chosen),
          'aria-label': `${name} with tiles ${tile} in order ${order}: ${text(value)}`,
          onclick: () => { chosen = `${tile} ${order}`; keep(); draw(); }}, text(value), value === best ? ' ●' : '');
        cell.style.setProperty('--heat', String(Math.round(4 + 36 * part)));
        return el('td', {}, cell);
      }))))));
    const p = data.predictions.find(q => `${q.tile} ${q.order}` === chosen);
    const figure = (what, value, note) => el('div', {}, el('dt', {}, what), el('dd', {}, value, note ? el('small', {class: 'quiet'}, ` ${note}`) : null));
    const counted = data.measured.find(row => row.tile === p.tile && row.order === p.order);
    const board = boardOf(p);
    replace(detail, el('h2', {}, `${p.tile}, ${p.order}`), el('dl', {class: 'figures'},
      figure('Predicted time', time(p.timeUs), `${(data.flops / p.timeUs / 1e6).toFixed(0)} TFLOP/s`),
      figure('Device memory', bytes(p.dramBytes), `${(p.dramBytes / data.leastBytes).toFixed(2)}× the least`),
      figure('L2 to SM', bytes(p.l2Bytes), `hit rate ${percent(p.hitRate)}`),
      figure('Waves', count(p.waves), `${count(p.tiles)} tiles`),
      figure('Idle part', percent(p.tail), 'short last wave, edges'),
      figure('Alone', time(p.computeUs), `compute; memory ${time(p.memoryUs)}, L2 ${time(p.l2Us)}`)),
    board.link ? el('a', {class: 'button first', href: board.link}, 'Open as a board') : el('p', {class: 'quiet'}, `No board: ${board.why}.`));
    replace(flows, el('h2', {}, `Memory, ${p.tile}, ${p.order}`), memoryChart([{name: 'predicted', guessed: true, fromL2: p.l2Bytes, toL2: p.dramWriteBytes, fromMemory: p.dramReadBytes, toMemory: p.dramWriteBytes, hitRate: p.hitRate},
      ...(counted ? [{name: 'measured', fromL2: counted.l2Bytes, toL2: null, fromMemory: counted.dramReadBytes, toMemory: counted.dramWriteBytes, hitRate: counted.hitRate}] : [])], bytes));
    const x = {from: 0, to: Math.max(1, tiles.length - 1), at: tiles.map((_, i) => i), text: v => tiles[v], name: 'tile'};
    const y = {from: 0, to: most * 1.05 || 1, text: v => text(v), name};
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
    const rows = data.measured.map(row => ({row, p: at(row.tile, row.order)}));
    const times = timesLike(rows.map(r => r.row.timeUs));
    const sizes = bytesLike(rows.flatMap(({row, p}) => [row.dramBytes, p?.dramBytes ?? 0]));
    replace(measured, el('h2', {}, 'Counted earlier, kernels written by hand'), el('div', {class: 'scroll'}, el('table', {},
      el('caption', {}, 'Counters of ncu on an H200, 2026-11-20, with cold caches, beside the prediction'),
      el('thead', {}, el('tr', {}, ['tile', 'order'].map(t => el('th', {}, t)), ['time', 'memory', 'predicted', 'error', 'L2 hits', 'predicted'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, rows.map(({row, p}) => el('tr', {}, el('td', {}, row.tile), el('td', {}, row.order), [times(row.timeUs), sizes(row.dramBytes),
        p ? sizes(p.dramBytes) : '–', p ? `${p.dramBytes > row.dramBytes ? '+' : '−'}${Math.abs(100 * (p.dramBytes / row.dramBytes - 1)).toFixed(0)} %` : '–',
        percent(row.hitRate), p ? percent(p.hitRate) : '–'].map(text => el('td', {class: 'n'}, text))))))));
  };

  const types = () => {
    const device = devices.find(d => d.id === f.gpu.value) ?? devices[0];
    const kept = device.dtypes.includes(f.dtype.value) ? f.dtype.value : device.dtypes.at(-1);
    replace(f.dtype, device.dtypes.map(t => el('option', {value: t, selected: t === kept}, t)));
  };
  f.gpu.addEventListener('change', types);
  const button = (text, action) => el('button', {type: 'button', onclick: () => attempt(action)}, text);
  const save = el('div', {class: 'row'},
    button('CSV', () => download('device.csv', table([['gpu', 'M', 'N', 'K', 'dtype', 'tile', 'order', 'tiles', 'waves', 'idle', 'timeUs', 'dramReadBytes', 'dramWriteBytes', 'l2Bytes', 'hitRate'],
      ...data.predictions.map(p => [data.gpu, data.M, data.N, data.K, data.dtype, p.tile, p.order, p.tiles, p.waves, p.tail, p.timeUs, p.dramReadBytes, p.dramWriteBytes, p.l2Bytes, p.hitRate])]), 'text/csv')),
    button('SVG', () => download('device.svg', standalone(curves.querySelector('svg')), 'image/svg+xml')));
  const form = el('form', {class: 'card', onsubmit: event => event.preventDefault(), onchange: () => load()},
    el('h2', {}, 'GEMM'),
    el('div', {class: 'three'}, field('M', f.m), field('N', f.n), field('K', f.k)),
    field('Device', f.gpu), field('Type', f.dtype), field('Show', metric), save);
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Device'),
      el('p', {class: 'quiet'}, 'What one GEMM is predicted to cost, for every order of tiles and every tile size: bytes between memory, L2 and SMs, waves and time. Choose a cell to see it, and open it as a board.')),
    el('div', {class: 'side'}, form, el('section', {class: 'card'}, detail)),
    el('div', {class: 'content'}, el('section', {class: 'card'}, head, heat), el('section', {class: 'card'}, flows), el('section', {class: 'card'}, curves), onGpu.element, pair.element, el('section', {class: 'card'}, measured)));
  const ready = attempt(async () => {
    devices = (await get('devices')).devices;
    const known = devices.some(d => d.id === asked.gpu) ? asked.gpu : 'h200';
    replace(f.gpu, devices.map(d => el('option', {value: d.id, selected: d.id === known}, d.name)));
    types();
    await load();
  });
  let last = address;
  return {
    element,
    open: async address => {
      await ready;
      if (!address || address === last) return keep();
      last = address;
      const next = stateOf(address);
      for (const key of ['m', 'n', 'k']) if (next[key.toUpperCase()]) f[key].value = next[key.toUpperCase()];
      if (devices.some(d => d.id === next.gpu)) f.gpu.value = next.gpu;
      types();
      if ([...f.dtype.options].some(option => option.value === next.dtype)) f.dtype.value = next.dtype;
      if (Object.hasOwn(METRICS, next.show ?? '')) metric.value = next.show;
      wanted = next.cell ?? '';
      pair.open(next);
      return load();
    },
  };
}
