// Orders of tiles and a cache, as in the package dev.warpwright.cost.order: the same model, here so that a click needs no
// server. Tiles are {gemm, row, column}; blocks are numbered A, B, C, D, E, each matrix row by row.

export const POLICIES = ['lru', 'fifo', 'optimal'];
export const ONE = {a: 1, b: 1, c: 1, d: 1, e: 1};
const MOST_TILES = 64 * 64 * 2;
const LONGEST_TEXT = 4 << 20;

/** A message for the user, not a bug. */
export class UserError extends Error {}

/** Checks a problem's numbers; throws a UserError. */
export function checked(problem) {
  const whole = (name, value, least, most) => {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new UserError(`${name} must be a whole number between ${least} and ${most}`);
    }
  };
  whole('Rows', problem.rows, 1, 64);
  whole('Columns', problem.columns, 1, 64);
  whole('Blocks along K', problem.depth, 1, 64);
  whole('Columns of the second product', problem.chained, 0, 64);
  whole('Tiles at a time', problem.atOnce, 1, 4096);
  whole('Capacity', problem.capacity, 1, 2 ** 45);
  if (items(problem) > MOST_TILES) throw new UserError(`more than ${MOST_TILES} tiles`);
  if (!POLICIES.includes(problem.policy)) throw new UserError('policy is none of lru, fifo, optimal');
  for (const size of Object.values(problem.sizes)) whole('The size of a block', size, 1, 2 ** 40);
  return problem;
}

export const items = p => p.rows * (p.columns + p.chained);
const offsets = p => {
  const counts = [p.rows * p.depth, p.depth * p.columns, p.rows * p.columns, p.columns * p.chained, p.rows * p.chained];
  const out = [0];
  for (const count of counts) out.push(out.at(-1) + count);
  return out;
};

/** A numbering of a problem's blocks. */
export function blocks(p) {
  const at = offsets(p);
  const width = [p.depth, p.columns, p.columns, p.chained, p.chained];
  const sizes = [p.sizes.a, p.sizes.b, p.sizes.c, p.sizes.d, p.sizes.e];
  const matrix = block => {
    let m = 0;
    while (block >= at[m + 1]) m++;
    return m;
  };
  return {
    count: at[5],
    of: (m, row, column) => at[m] + row * width[m] + column,
    matrix,
    size: block => sizes[matrix(block)],
    name: block => {
      const m = matrix(block);
      const index = block - at[m];
      return `${'ABCDE'[m]}(${Math.floor(index / width[m])},${index % width[m]})`;
    },
    left: (t, k) => (t.gemm === 0 ? at[0] + t.row * p.depth + k : at[2] + t.row * p.columns + k),
    right: (t, k) => (t.gemm === 0 ? at[1] + k * p.columns + t.column : at[3] + k * p.chained + t.column),
    result: t => (t.gemm === 0 ? at[2] + t.row * p.columns + t.column : at[4] + t.row * p.chained + t.column),
  };
}

const moments = (p, tile) => (tile.gemm === 0 ? p.depth : p.columns);

/** Why a tile may not come next in an order; null if it may. */
export function refusal(p, order, tile) {
  if (order.some(t => t.gemm === tile.gemm && t.row === tile.row && t.column === tile.column)) {
    return 'this tile is already in the order';
  }
  if (tile.gemm === 1) {
    const earlier = order.slice(0, Math.floor(order.length / p.atOnce) * p.atOnce);
    const done = earlier.filter(t => t.gemm === 0 && t.row === tile.row).length;
    if (done < p.columns) return `row ${tile.row} of the first product has to be done in an earlier step`;
  }
  return null;
}

/** Checks an order that comes from outside; throws a UserError. */
export function checkOrder(p, order) {
  const seen = new Set();
  const done = new Array(p.rows).fill(0);
  let begin = 0;
  order.forEach((t, i) => {
    const width = t.gemm === 0 ? p.columns : p.chained;
    const place = `tile (${t.row}, ${t.column}) of product ${t.gemm}, number ${i} of the order,`;
    if (!(t.row >= 0 && t.row < p.rows && t.column >= 0 && t.column < width)) {
      throw new UserError(`${place} is outside the grid`);
    }
    const key = `${t.gemm}:${t.row}:${t.column}`;
    if (seen.has(key)) throw new UserError(`${place} comes a second time`);
    seen.add(key);
    if (t.gemm === 1 && done[t.row] < p.columns) {
      throw new UserError(`${place} comes before row ${t.row} of product 0 is done`);
    }
    if (i + 1 - begin === p.atOnce) {
      for (let j = begin; j <= i; j++) if (order[j].gemm === 0) done[order[j].row]++;
      begin = i + 1;
    }
  });
  return order;
}

/** Plays an order: totals, and for each step what it loads, hits, gives up, stores, and what the cache then holds. */
export function simulate(p, order, withContents = true) {
  const b = blocks(p);
  const used = [];
  const moment = [];
  const written = [];
  const stepEnd = [];
  let now = 0;
  for (let first = 0; first < order.length; first += p.atOnce) {
    const step = order.slice(first, first + p.atOnce);
    const longest = Math.max(...step.map(t => moments(p, t)));
    for (let k = 0; k < longest; k++) {
      for (const tile of step) {
        if (k < moments(p, tile)) {
          used.push(b.left(tile, k), b.right(tile, k));
          moment.push(now, now);
          written.push(false, false);
        }
      }
      now++;
    }
    if (p.cached) {
      for (const tile of step) {
        used.push(b.result(tile));
        moment.push(now++);
        written.push(true);
      }
    }
    stepEnd.push(used.length);
  }

  const next = p.policy === 'optimal' ? nextUses(used, moment, b.count) : null;
  // Insertion order of the map is the policy's order, oldest first; its values say when a block is needed again.
  const cache = new Map();
  const dirty = new Set();
  const pinned = new Int32Array(b.count).fill(-1);
  const total = {loads: 0, loaded: 0, hits: 0, stores: 0, stored: 0, flushed: 0};
  const steps = [];
  let room = p.capacity;
  let access = 0;
  let step;
  const store = block => {
    total.stores++;
    total.stored += b.size(block);
    step?.stored.push(block);
  };
  const evict = at => {
    let victim = -1;
    for (const [block, when] of cache) {
      if (pinned[block] === at) continue;
      if (!next) {
        victim = block;
        break;
      }
      const best = victim < 0 ? -1 : cache.get(victim);
      if (when > best || (when === best && block < victim)) victim = block;
    }
    if (victim < 0) {
      throw new UserError('the cache cannot hold what is used at the same time; give it more, or fewer tiles at a time');
    }
    cache.delete(victim);
    room += b.size(victim);
    step.evicted.push(victim);
    if (dirty.delete(victim)) store(victim);
  };
  for (let s = 0; s < stepEnd.length; s++) {
    const tiles = order.slice(s * p.atOnce, (s + 1) * p.atOnce);
    step = {tiles, loaded: [], evicted: [], stored: [], hits: 0, contents: null};
    while (access < stepEnd[s]) {
      const at = moment[access];
      let end = access;
      while (end < used.length && moment[end] === at) pinned[used[end++]] = at;
      for (; access < end; access++) {
        const block = used[access];
        if (cache.has(block)) {
          step.hits++;
          if (p.policy === 'lru') cache.delete(block);
          cache.set(block, next ? next[access] : 0);
        } else {
          const size = b.size(block);
          while (size > room) evict(at);
          room -= size;
          cache.set(block, next ? next[access] : 0);
          if (!written[access]) {
            total.loads++;
            total.loaded += size;
            step.loaded.push(block);
          }
        }
        if (written[access]) dirty.add(block);
      }
    }
    if (!p.cached) for (const tile of tiles) store(b.result(tile));
    total.hits += step.hits;
    step.loads = total.loads;
    step.moved = total.loaded + total.stored;
    if (withContents) step.contents = [...cache.keys()];
    steps.push(step);
  }
  step = null;
  for (const block of cache.keys()) {
    if (dirty.has(block)) {
      store(block);
      total.flushed++;
    }
  }
  return {...total, moved: total.loaded + total.stored, steps};
}

function nextUses(used, moment, count) {
  const next = new Array(used.length);
  const soonest = new Float64Array(count).fill(Infinity);
  const after = new Float64Array(count).fill(Infinity);
  for (let i = used.length - 1; i >= 0; i--) {
    const block = used[i];
    if (soonest[block] !== moment[i]) {
      after[block] = soonest[block];
      soonest[block] = moment[i];
    }
    next[i] = after[block];
  }
  return next;
}

/** Loads and bytes that no order goes below. */
export function bounds(p) {
  const uniform = Object.values(p.sizes).every(size => size === 1);
  const reread = p.chained > 0 && !p.cached ? p.rows * p.columns : 0;
  let loads = p.depth * (p.rows + p.columns) + p.columns * p.chained + reread;
  if (uniform && p.chained === 0 && p.atOnce === 1 && p.capacity >= 2) {
    const pairs = p.rows * p.columns * p.depth;
    const first = Math.floor((p.capacity * p.capacity) / 4);
    if (pairs > first) loads = Math.max(loads, p.capacity + Math.ceil((pairs - first) / (p.capacity - 1)));
  }
  const loaded = uniform
    ? loads
    : p.depth * (p.rows * p.sizes.a + p.columns * p.sizes.b) + p.columns * p.chained * p.sizes.d + reread * p.sizes.c;
  const stored = p.rows * p.columns * p.sizes.c + p.rows * p.chained * p.sizes.e;
  return {loads, moved: loaded + stored};
}

// Ready-made orders.

export const READY_MADE = ['row', 'column', 'serpentine', 'grouped:2', 'grouped:4', 'grouped:8', 'morton', 'hilbert',
  'nested:2', 'nested:4'];

export function readyMade(p, name) {
  const of = (gemm, columns) => tiles(name, p.rows, columns).map(([row, column]) => ({gemm, row, column}));
  return p.chained > 0 ? [...of(0, p.columns), ...of(1, p.chained)] : of(0, p.columns);
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

// Files and links.

/** An order as text: x is the column, y the row. */
export const orderText = (p, order) =>
  `t1 = ${p.atOnce} Order 0: [${order.map(t => `(${t.column}, ${t.row}, ${t.gemm})`).join(', ')}]`;

export function parseOrderText(text) {
  const head = /^\s*t1\s*=\s*(\d{1,6})\s*Order\s+\d{1,6}\s*:\s*\[/.exec(text);
  if (!head) throw new UserError("an order begins like 't1 = 2 Order 0: [(0, 0, 0), (1, 0, 0)]'");
  const item = /\s*(?:\(\s*(\d{1,7})\s*,\s*(\d{1,7})\s*,\s*([01])\s*\)\s*(,?)|(\]))/y;
  item.lastIndex = head[0].length;
  const order = [];
  let more = true;
  for (;;) {
    const found = item.exec(text);
    if (!found || (found[1] !== undefined && !more)) {
      throw new UserError(`order, tile ${order.length}: expected (x, y, gemmId) with gemmId 0 or 1, or ]`);
    }
    if (found[5]) return {atOnce: Number(head[1]), order};
    order.push({gemm: Number(found[3]), row: Number(found[2]), column: Number(found[1])});
    more = found[4] === ',';
    if (order.length > MOST_TILES) throw new UserError(`an order of more than ${MOST_TILES} tiles`);
  }
}

/** A board as data that fits into a link or a file. */
export const pack = (p, order) => ({
  v: 1, rows: p.rows, columns: p.columns, depth: p.depth, chained: p.chained, cached: p.cached, sizes: p.sizes,
  unit: p.unit, capacity: p.capacity, policy: p.policy, atOnce: p.atOnce,
  order: order.map(t => [t.row, t.column, t.gemm]),
});

/** The board in such data, all of it checked: it may come from anywhere. */
export function unpack(data) {
  if (data === null || typeof data !== 'object' || data.v !== 1 || !Array.isArray(data.order)) {
    throw new UserError('this is no board of Warpwright');
  }
  const sizes = {};
  for (const key of 'abcde') sizes[key] = data.sizes?.[key];
  const problem = checked({
    rows: data.rows, columns: data.columns, depth: data.depth, chained: data.chained, cached: data.cached === true, sizes,
    unit: data.unit === 'B' ? 'B' : 'block', capacity: data.capacity, policy: data.policy, atOnce: data.atOnce,
  });
  if (data.order.length > MOST_TILES) throw new UserError(`an order of more than ${MOST_TILES} tiles`);
  const order = data.order.map(tile => {
    if (!Array.isArray(tile) || tile.length < 2 || !tile.every(Number.isInteger)) {
      throw new UserError('an order lists its tiles as [row, column, product]');
    }
    return {row: tile[0], column: tile[1], gemm: tile[2] === 1 ? 1 : 0};
  });
  return {problem, order: checkOrder(problem, order)};
}

/** Reads a saved file of either form; an order as text belongs to the board that is there. */
export function parseFile(text, problem) {
  if (text.length > LONGEST_TEXT) throw new UserError('the file is too large, at most 4 MB');
  if (/^\s*t1\b/.test(text)) {
    const {atOnce, order} = parseOrderText(text);
    const changed = checked({...problem, atOnce});
    return {problem: changed, order: checkOrder(changed, order)};
  }
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new UserError("the file is neither a saved board nor an order 't1 = 2 Order 0: [...]'");
  }
  return unpack(data);
}

export const toLink = data => {
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

export function fromLink(text) {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, c => c.charCodeAt(0))));
  } catch {
    throw new UserError('this link holds no board; it may be cut off');
  }
}

/** A table of the steps. */
export function csv(p, run) {
  const {name} = blocks(p);
  const list = some => `"${some.map(name).join(' ')}"`;
  const lines = run.steps.map((s, i) => {
    const where = s.tiles.map(t => `${t.gemm}:${t.row}:${t.column}`).join(' ');
    return `${i},${where},${list(s.loaded)},${s.hits},${list(s.evicted)},${list(s.stored)},${list(s.contents)}`;
  });
  return `step,tiles,loaded,hits,evicted,stored,contents\n${lines.join('\n')}\n`;
}
