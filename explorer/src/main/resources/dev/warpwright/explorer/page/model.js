// Orders of tiles and a cache, as in the package dev.warpwright.perf.order: the same model, here so that a click needs no
// server. Tiles are {gemm, row, column, part}, part being one of the second GEMM's K, else 0; blocks are numbered A, B, C, D, E,
// each matrix row by row.

export const POLICIES = ['lru', 'fifo', 'optimal'];
export const ONE = {a: 1, b: 1, c: 1, d: 1, e: 1};
export const BYTES = {bf16: 2, f16: 2, f32: 4, e4m3: 1};
export const MOST_TILES = 128 * 128;
const MOST_ACCESSES = 1 << 21;

/** The limits of a problem's numbers, and of a shape's. */
export const LIMITS = {rows: [1, 128], columns: [1, 128], depth: [1, 64], chained: [0, 128], parts: [1, 128], capacity: [1, 2 ** 45], atOnce: [1, 4096],
  extent: [1, 1e6], tile: [1, 65536], cache: [1, 1e6]};

/** A message for the user, not a bug. */
export class UserError extends Error {}

const whole = (name, value, [least, most]) => {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new UserError(`${name} must be a whole number between ${least} and ${most}`);
  }
};

/** Checks a problem's numbers; throws a UserError. */
export function checked(problem) {
  whole('Rows', problem.rows, LIMITS.rows);
  whole('Columns', problem.columns, LIMITS.columns);
  whole('Blocks along K', problem.depth, LIMITS.depth);
  whole('Columns of the second GEMM', problem.chained, LIMITS.chained);
  whole('Parts of the K of the second GEMM', problem.parts, [1, problem.chained ? problem.columns : 1]);
  whole('Tiles at a time', problem.atOnce, LIMITS.atOnce);
  whole('Capacity', problem.capacity, LIMITS.capacity);
  if (items(problem) > MOST_TILES) throw new UserError(`more than ${MOST_TILES} tiles`);
  const accesses = 2 * problem.rows * problem.columns * (problem.depth + problem.chained);
  if (accesses > MOST_ACCESSES) throw new UserError(`more than ${MOST_ACCESSES} accesses; take larger tiles, or fewer blocks along K`);
  if (!POLICIES.includes(problem.policy)) throw new UserError('policy is none of lru, fifo, optimal');
  for (const size of Object.values(problem.sizes)) whole('The size of a block', size, [1, 2 ** 40]);
  return problem;
}

/**
 * The problem of a GEMM in bytes: C = A·B of m × n × k, with n2 > 0 also E = C·D; blocks at the edge are as small as they are.
 * @param shape {m, n, k, n2, tm, tn, tk, dtype, cache in MB, gpu}
 */
export function ofShape(shape, {cached, atOnce, policy, parts = 1}) {
  for (const key of ['m', 'n', 'k']) whole(key.toUpperCase(), shape[key], LIMITS.extent);
  whole('N of the second GEMM', shape.n2, [0, LIMITS.extent[1]]);
  for (const key of ['tm', 'tn', 'tk']) whole(`tile ${key[1].toUpperCase()}`, shape[key], LIMITS.tile);
  if (!(shape.cache >= LIMITS.cache[0] && shape.cache <= LIMITS.cache[1])) {
    throw new UserError(`Cache, MB must be a number between ${LIMITS.cache[0]} and ${LIMITS.cache[1]}`);
  }
  const bytes = BYTES[shape.dtype];
  if (!bytes) throw new UserError('the type is none of bf16, f16, f32, e4m3');
  const {m, n, k, n2, tm, tn, tk} = shape;
  const size = (rows, columns) => Math.min(rows[0], rows[1]) * Math.min(columns[0], columns[1]) * bytes;
  return checked({
    rows: Math.ceil(m / tm), columns: Math.ceil(n / tn), depth: Math.ceil(k / tk), chained: Math.ceil(n2 / tn), parts, cached, atOnce, policy,
    sizes: {a: size([tm, m], [tk, k]), b: size([tk, k], [tn, n]), c: size([tm, m], [tn, n]), d: n2 ? size([tn, n], [tn, n2]) : 1, e: n2 ? size([tm, m], [tn, n2]) : 1},
    unit: 'B', capacity: Math.round(shape.cache * 1e6), shape: {...shape},
  });
}

/** Tiles of all results. */
export const tilesOf = p => p.rows * (p.columns + p.chained);

/** What a complete order lists: tiles of the first result, and all parts of those of the second. */
export const items = p => p.rows * (p.columns + p.chained * p.parts);

/** The first column of the first result in a part. */
export const partBegin = (p, part) => Math.floor((part * p.columns) / p.parts);
const partOf = (p, column) => Math.floor(((column + 1) * p.parts - 1) / p.columns);

/** Whether two tiles, and their parts, are the same. */
export const same = (a, b) => a.gemm === b.gemm && a.row === b.row && a.column === b.column && a.part === b.part;

/** What a tile is called. */
export const nameOfTile = (p, t) => `${p.parts > 1 && t.gemm === 1 ? `part ${t.part} of ` : ''}tile (${t.row}, ${t.column})`;
const offsets = p => {
  const counts = [p.rows * p.depth, p.depth * p.columns, p.rows * p.columns, p.columns * p.chained, p.rows * p.chained];
  const out = [0];
  for (const count of counts) out.push(out.at(-1) + count);
  return out;
};

/** Sizes of all blocks. */
function sizes(p, at) {
  const out = new Float64Array(at[5]);
  if (!p.shape) {
    [p.sizes.a, p.sizes.b, p.sizes.c, p.sizes.d, p.sizes.e].forEach((size, m) => out.fill(size, at[m], at[m + 1]));
    return out;
  }
  const {m, n, k, n2, tm, tn, tk, dtype} = p.shape;
  const cut = (all, tile, count) => Array.from({length: count}, (_, i) => Math.min(tile, all - i * tile));
  const [rows, columns, depth, last] = [cut(m, tm, p.rows), cut(n, tn, p.columns), cut(k, tk, p.depth), cut(n2, tn, p.chained)];
  [[rows, depth], [depth, columns], [rows, columns], [columns, last], [rows, last]].forEach(([down, across], matrix) => {
    let block = at[matrix];
    for (const height of down) for (const width of across) out[block++] = height * width * BYTES[dtype];
  });
  return out;
}

/** A numbering of a problem's blocks. */
export function blocks(p) {
  const at = offsets(p);
  const width = [p.depth, p.columns, p.columns, p.chained, p.chained];
  const size = sizes(p, at);
  const matrix = block => {
    let m = 0;
    while (block >= at[m + 1]) m++;
    return m;
  };
  const place = block => {
    const m = matrix(block);
    return [m, Math.floor((block - at[m]) / width[m]), (block - at[m]) % width[m]];
  };
  return {
    count: at[5],
    of: (m, row, column) => at[m] + row * width[m] + column,
    matrix,
    /** Matrix, row and column. */
    place,
    sizes: size,
    size: block => size[block],
    /** The size of a whole matrix. */
    total: m => {
      let sum = 0;
      for (let i = at[m]; i < at[m + 1]; i++) sum += size[i];
      return sum;
    },
    name: block => {
      const [m, row, column] = place(block);
      return `${'ABCDE'[m]}(${row},${column})`;
    },
    left: (t, k) => (t.gemm === 0 ? at[0] + t.row * p.depth + k : at[2] + t.row * p.columns + partBegin(p, t.part) + k),
    right: (t, k) => (t.gemm === 0 ? at[1] + k * p.columns + t.column : at[3] + (partBegin(p, t.part) + k) * p.chained + t.column),
    result: t => (t.gemm === 0 ? at[2] + t.row * p.columns + t.column : at[4] + t.row * p.chained + t.column),
  };
}

/** Blocks along K of a tile. */
export const moments = (p, tile) => (tile.gemm === 0 ? p.depth : partBegin(p, tile.part + 1) - partBegin(p, tile.part));

/** What is done while an order is gone through, step by step. */
export class Progress {
  constructor(p) {
    this.problem = p;
    this.done = new Int32Array(p.rows * p.parts);
    this.begun = new Uint8Array(p.rows * p.chained);
    this.inStep = new Set();
  }

  place(tile) {
    return tile.row * this.problem.chained + tile.column;
  }

  /** Why a tile may not be in the step that comes next: 'row', 'part' or 'sibling'; null if it may. */
  missing(tile) {
    const p = this.problem;
    if (tile.gemm === 0) return null;
    if (this.done[tile.row * p.parts + tile.part] < moments(p, tile)) return p.parts > 1 ? 'part' : 'row';
    return this.inStep.has(this.place(tile)) ? 'sibling' : null;
  }

  /** Whether it finds a partial sum, to which it adds. */
  adds(tile) {
    return tile.gemm === 1 && this.begun[this.place(tile)] === 1;
  }

  /** Puts it into the step that comes next. */
  take(tile) {
    if (tile.gemm === 1) this.inStep.add(this.place(tile));
  }

  /** Ends a step. */
  end(step) {
    for (const tile of step) {
      if (tile.gemm === 1) this.begun[this.place(tile)] = 1;
      else this.done[tile.row * this.problem.parts + partOf(this.problem, tile.column)]++;
    }
    this.inStep.clear();
  }
}

/** Why a tile may not come next in an order; null if it may. */
export function refusal(p, order, tile) {
  if (order.some(t => same(t, tile))) return 'this tile is already in the order';
  if (tile.gemm === 0) return null;
  const progress = new Progress(p);
  const steps = Math.floor(order.length / p.atOnce) * p.atOnce;
  progress.end(order.slice(0, steps));
  for (const earlier of order.slice(steps)) progress.take(earlier);
  return {
    row: `row ${tile.row} of the first GEMM has to be done in an earlier step`,
    part: `part ${tile.part} of row ${tile.row} of the first GEMM has to be done in an earlier step`,
    sibling: 'another part of this tile is in the same step: it has to be done before',
  }[progress.missing(tile)] ?? null;
}

/** Checks an order that comes from outside; throws a UserError. */
export function checkOrder(p, order) {
  const seen = new Set();
  const progress = new Progress(p);
  let begin = 0;
  order.forEach((t, i) => {
    const width = t.gemm === 0 ? p.columns : p.chained;
    const place = `${nameOfTile(p, t)} of GEMM ${t.gemm}, number ${i} of the order,`;
    if (!(t.row >= 0 && t.row < p.rows && t.column >= 0 && t.column < width)) {
      throw new UserError(`${place} is outside the grid`);
    }
    const parts = t.gemm === 0 ? 1 : p.parts;
    if (!(t.part >= 0 && t.part < parts)) throw new UserError(`${place} has K in ${parts} ${parts === 1 ? 'part' : 'parts'}: there is no part ${t.part}`);
    const key = `${t.gemm}:${t.row}:${t.column}:${t.part}`;
    if (seen.has(key)) throw new UserError(`${place} comes a second time`);
    seen.add(key);
    const missing = progress.missing(t);
    if (missing === 'sibling') throw new UserError(`${place} comes in the same step as another part of its tile, to whose sum it adds`);
    if (missing) throw new UserError(`${place} comes before ${missing === 'part' ? `part ${t.part} of ` : ''}row ${t.row} of GEMM 0 is done`);
    progress.take(t);
    if (i + 1 - begin === p.atOnce) {
      progress.end(order.slice(begin, i + 1));
      begin = i + 1;
    }
  });
  return order;
}

/** What no order goes below: loads and what they bring, stores and what they take away, both. */
export function bounds(p) {
  const uniform = !p.shape && Object.values(p.sizes).every(size => size === 1);
  // Past the cache the second GEMM reads the first's result again, and every partial sum but the last of each tile.
  const past = p.chained > 0 && !p.cached;
  const sums = past ? p.parts - 1 : 0;
  const reread = past ? p.rows * (p.columns + sums * p.chained) : 0;
  let loads = p.depth * (p.rows + p.columns) + p.columns * p.chained + reread;
  if (uniform && p.chained === 0 && p.atOnce === 1 && p.capacity >= 2) {
    const pairs = p.rows * p.columns * p.depth;
    const first = Math.floor((p.capacity * p.capacity) / 4);
    if (pairs > first) loads = Math.max(loads, p.capacity + Math.ceil((pairs - first) / (p.capacity - 1)));
  }
  const total = blocks(p).total;
  const loaded = uniform ? loads : total(0) + total(1) + total(3) + (past ? total(2) + sums * total(4) : 0);
  const stored = total(2) + (1 + sums) * total(4);
  return {loads, loaded, stores: past ? items(p) : tilesOf(p), stored, moved: loaded + stored};
}
