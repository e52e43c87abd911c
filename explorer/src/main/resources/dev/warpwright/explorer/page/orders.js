// Ready-made orders, those of dev.warpwright.perf.order.TileOrders.
import {partBegin, Progress, UserError} from './model.js';

export const READY_MADE = ['row', 'column', 'serpentine', 'grouped:2', 'grouped:4', 'grouped:8', 'morton', 'hilbert',
  'nested:2', 'nested:4'];

/** Orders of two GEMMs that take turns: rows of the first and then of the second, both in one stream, or part after part of the second's K. */
export const CHAINED = ['rows:1', 'rows:2', 'rows:4', 'rows:8', 'halves', 'mixed:1', 'mixed:2', 'mixed:4', 'mixed:8',
  'partial:2', 'partial:4', 'partial:8', 'partial:4:4', 'partial:8:8'];

export const NAMES = {row: 'row by row', column: 'column by column', serpentine: 'serpentine', morton: 'Morton', hilbert: 'Hilbert',
  'rows:1': 'a row of C, its row of E', 'rows:2': '2 rows of C, their rows of E', 'rows:4': '4 rows of C, their rows of E', 'rows:8': '8 rows of C, their rows of E',
  halves: 'half a row of C, half a row of E', 'mixed:1': 'interleaved, 1 row high', 'mixed:2': 'interleaved, 2 rows high', 'mixed:4': 'interleaved, 4 rows high', 'mixed:8': 'interleaved, 8 rows high',
  'partial:2': 'partial sums, K in 2 parts', 'partial:4': 'partial sums, K in 4 parts', 'partial:8': 'partial sums, K in 8 parts',
  'partial:4:4': 'partial sums, K in 4 parts, 4 rows', 'partial:8:8': 'partial sums, K in 8 parts, 8 rows'};

export const nameOf = order => NAMES[order] ?? order;

/** The orders that a problem can be filled with. */
export const readyMadeFor = p => (p.chained > 0 ? [...CHAINED, ...READY_MADE] : READY_MADE);

/** The problem of which a name is an order: in as many parts as it says, at most as many as there are blocks along K. */
export function problemOf(p, name) {
  const [word, parameter] = name.split(':');
  return {...p, parts: word === 'partial' && p.chained > 0 ? Math.min(Number(parameter), p.columns) : 1};
}

/** An order of the problem of its name. */
export function readyMade(problem, name) {
  const p = problemOf(problem, name);
  if (CHAINED.includes(name)) return settled(p, chained(p, name));
  const of = (gemm, columns) => tiles(name, p.rows, columns).map(([row, column]) => ({gemm, row, column, part: 0}));
  return p.chained > 0 ? settled(p, [...of(0, p.columns), ...of(1, p.chained)]) : of(0, p.columns);
}

function chained(p, name) {
  const [word, ...parameters] = name.split(':');
  const height = Number(parameters[word === 'partial' ? 1 : 0] ?? 1);
  const bands = [];
  for (let top = 0; top < p.rows; top += height) {
    const rows = Array.from({length: Math.min(height, p.rows - top)}, (_, i) => top + i);
    const across = (gemm, from, to, part = 0) => Array.from({length: to - from}, (_, c) => rows.map(row => ({gemm, row, column: from + c, part}))).flat();
    bands.push({all: gemm => across(gemm, 0, gemm ? p.chained : p.columns), part: across});
  }
  const out = [];
  if (word === 'rows') {
    for (const band of bands) out.push(...band.all(0), ...band.all(1));
    return out;
  }
  if (word === 'partial') {
    for (const band of bands) {
      for (let part = 0; part < p.parts; part++) out.push(...band.part(0, partBegin(p, part), partBegin(p, part + 1)), ...band.part(1, 0, p.chained, part));
    }
    return out;
  }
  if (word === 'halves') {
    const [c, e] = [p.columns, p.chained].map(width => Math.ceil(width / 2));
    out.push(...bands[0].all(0));
    for (let i = 1; i <= bands.length; i++) {
      const first = i < bands.length ? bands[i] : null;
      out.push(...(first?.part(0, 0, c) ?? []), ...bands[i - 1].part(1, 0, e));
      out.push(...(first?.part(0, c, p.columns) ?? []), ...bands[i - 1].part(1, e, p.chained));
    }
    return out;
  }
  // The second GEMM of a band takes turns with the first one of the next.
  out.push(...bands[0].all(0));
  for (let i = 1; i <= bands.length; i++) {
    const first = i < bands.length ? bands[i].all(0) : [];
    const second = bands[i - 1].all(1);
    for (let j = 0; j < Math.max(first.length, second.length); j++) out.push(...second.slice(j, j + 1), ...first.slice(j, j + 1));
  }
  return out;
}

/** Where several tiles run at a time, those of the second GEMM that would wait in their own step come later. */
export function settled(p, order) {
  if (p.atOnce === 1) return order;
  const progress = new Progress(p);
  const out = [];
  let waiting = [];
  let at = 0;
  while (out.length < order.length) {
    const step = [];
    const still = [];
    const take = tile => {
      if (step.length < p.atOnce && progress.missing(tile) === null) {
        progress.take(tile);
        step.push(tile);
      } else still.push(tile);
    };
    waiting.forEach(take);
    while (at < order.length && step.length < p.atOnce) take(order[at++]);
    // Nothing else is left: such an order is refused where it is used.
    while (step.length < p.atOnce && still.length) step.push(still.shift());
    waiting = still;
    progress.end(step);
    out.push(...step);
  }
  return out;
}

export function tiles(name, rows, columns) {
  const [word, parameter] = name.split(':');
  const n = Number(parameter);
  switch (word) {
    case 'row':
      return grouped(rows, columns, 1);
    case 'column':
      return grouped(rows, columns, rows);
    case 'grouped':
      return grouped(rows, columns, n);
    case 'serpentine':
      return grouped(rows, columns, 1).map(([r, c]) => [r, r % 2 ? columns - 1 - c : c]);
    case 'morton':
      return sorted(rows, columns, (r, c) => spread(c) + 2 * spread(r));
    case 'nested':
      return sorted(rows, columns, (r, c) => Math.floor(r / n) * columns + Math.floor(c / n));
    case 'hilbert': {
      const levels = 32 - Math.clz32(Math.max(rows, columns) - 1);
      return sorted(rows, columns, (r, c) => hilbert(r, c, levels));
    }
    case 'explicit':
      return name.slice('explicit:'.length).split(';').map(pair => pair.split(',').map(Number));
    default:
      throw new UserError('there is no such order');
  }
}

function grouped(rows, columns, band) {
  const out = [];
  for (let top = 0; top < rows; top += band) {
    for (let c = 0; c < columns; c++) for (let r = top; r < Math.min(rows, top + band); r++) out.push([r, c]);
  }
  return out;
}

function sorted(rows, columns, key) {
  return grouped(rows, columns, 1)
    .map(tile => [key(...tile), tile])
    .sort((x, y) => x[0] - y[0])
    .map(([, tile]) => tile);
}

function spread(value) {
  let out = 0;
  for (let bit = 0; bit < 12; bit++) out += ((value >> bit) & 1) * 4 ** bit;
  return out;
}

function hilbert(row, column, levels) {
  let key = 0;
  for (let level = levels - 1; level >= 0; level--) {
    const right = (column >> level) & 1;
    const down = (row >> level) & 1;
    key = key * 4 + ((3 * right) ^ down);
    if (down === 0) {
      const mask = (1 << level) - 1;
      const r = right ? mask - (column & mask) : column & mask;
      column = right ? mask - (row & mask) : row & mask;
      row = r;
    }
  }
  return key;
}
