// Orders and boards as text: files of the authors' form, saved boards, links, tables. What is read may come from anywhere.
import {blocks, checked, checkOrder, MOST_TILES, ofShape, UserError} from './model.js';

const LONGEST_TEXT = 4 << 20;

/** An order as text: x is the column, y the row. */
export const orderText = (p, order) =>
  `t1 = ${p.atOnce}${p.parts > 1 ? `, parts = ${p.parts}` : ''} Order 0: [${order.map(t => `(${t.column}, ${t.row}, ${t.gemm}${hasPart(p, t) ? `, ${t.part}` : ''})`).join(', ')}]`;

const hasPart = (p, t) => p.parts > 1 && t.gemm === 1;

/** Reads all orders of a text: [{atOnce, parts, order, line}], at least one. The form is that of dev.warpwright.perf.order.OrderText. */
export function parseOrderTexts(text) {
  const patterns = {
    space: /(?:\s|(?<=^|\n)#[^\n]*)*/y,
    field: /([A-Za-z_]\w{0,39})\s*=\s*(\d{1,9})\s*,?/y,
    head: /Order(?:\s+\d{1,6})?\s*:\s*\[\s*/y,
    item: /\(\s*(\d{1,7})\s*,\s*(\d{1,7})\s*(?:,\s*([01])\s*(?:,\s*(\d{1,7})\s*)?)?\)\s*(,\s*)?/y,
  };
  let at = 0;
  const next = pattern => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const line = () => text.slice(0, at).split('\n').length;
  const wrong = what => new UserError(`line ${line()}: ${what}`);
  const orders = [];
  let atOnce = 1;
  for (;;) {
    next(patterns.space);
    if (at === text.length && orders.length) return orders;
    const begins = line();
    let parts = 1;
    for (let found = next(patterns.field); found; found = next(patterns.field)) {
      if (found[1] === 't' || found[1] === 't1') atOnce = Number(found[2]);
      else if (found[1] === 'parts') parts = Number(found[2]);
      next(patterns.space);
    }
    if (!next(patterns.head)) {
      throw wrong(orders.length ? 'behind an order only another one may follow' : "an order begins like 't1 = 2 Order 0: [(0, 0, 0), (1, 0, 0)]'");
    }
    const order = [];
    let pairs = null;
    for (let more = true; more;) {
      const found = next(patterns.item);
      if (!found) break;
      if (pairs !== null && pairs !== (found[3] === undefined)) throw wrong(`tile ${order.length}: all are (x, y), or all are (x, y, gemmId)`);
      pairs = found[3] === undefined;
      order.push({gemm: Number(found[3] ?? 0), row: Number(found[2]), column: Number(found[1]), part: Number(found[4] ?? 0)});
      more = found[5] !== undefined;
      if (order.length > MOST_TILES) throw new UserError(`an order of more than ${MOST_TILES} tiles`);
    }
    if (text[at] !== ']') throw wrong(`tile ${order.length}: expected (x, y, gemmId) or (x, y, gemmId, part) with gemmId 0 or 1, (x, y), or ]`);
    at++;
    orders.push({atOnce, parts, order, line: begins});
  }
}

const listed = (p, order) => order.map(t => [t.row, t.column, t.gemm, ...(hasPart(p, t) ? [t.part] : [])]);

/** Boards as data that fits into a link or a file: one, or two that stand side by side. Each is {problem, order, shown}. */
export function pack(boards) {
  const p = boards[0].problem;
  return {
    v: 2, rows: p.rows, columns: p.columns, depth: p.depth, chained: p.chained, cached: p.cached, sizes: p.sizes, unit: p.unit,
    capacity: p.capacity, atOnce: p.atOnce, shape: p.shape ?? null,
    boards: boards.map(b => ({policy: b.problem.policy, parts: b.problem.parts, step: b.shown, order: listed(b.problem, b.order)})),
  };
}

/** The boards in such data, all of it checked. */
export function unpack(data) {
  const known = data !== null && typeof data === 'object' && (data.v === 1 || data.v === 2);
  const packed = !known ? null : data.v === 1 ? [{policy: data.policy, step: null, order: data.order}] : data.boards;
  if (!Array.isArray(packed) || packed.length < 1 || packed.length > 2) throw new UserError('this is no board of Warpwright');
  return packed.map(board => {
    const {policy, step, parts = 1, order: tiles} = board ?? {};
    if (!Array.isArray(tiles)) throw new UserError('this is no board of Warpwright');
    const common = {cached: data.cached === true, atOnce: data.atOnce, policy, parts};
    const sizes = {};
    for (const key of 'abcde') sizes[key] = data.sizes?.[key];
    const problem = data.shape && typeof data.shape === 'object'
      ? ofShape({...Object.fromEntries(['m', 'n', 'k', 'n2', 'tm', 'tn', 'tk', 'cache'].map(key => [key, data.shape[key]])),
        dtype: String(data.shape.dtype), gpu: String(data.shape.gpu ?? '').slice(0, 40)}, common)
      : checked({...common, rows: data.rows, columns: data.columns, depth: data.depth, chained: data.chained, sizes,
        unit: data.unit === 'B' ? 'B' : 'block', capacity: data.capacity});
    if (tiles.length > MOST_TILES) throw new UserError(`an order of more than ${MOST_TILES} tiles`);
    const order = tiles.map(tile => {
      if (!Array.isArray(tile) || tile.length < 2 || !tile.every(Number.isInteger)) {
        throw new UserError('an order lists its tiles as [row, column, gemm, part]');
      }
      return {row: tile[0], column: tile[1], gemm: tile[2] === 1 ? 1 : 0, part: tile[3] ?? 0};
    });
    const most = Math.ceil(order.length / problem.atOnce);
    return {problem, order: checkOrder(problem, order), shown: Number.isInteger(step) && step >= 0 && step <= most ? step : most};
  });
}

/**
 * Reads a saved file of either form: [[{problem, order, shown, line}], …], one entry for each order in it. An order as text
 * belongs to the board that is there.
 */
export function parseFile(text, problem) {
  if (text.length > LONGEST_TEXT) throw new UserError('the file is too large, at most 4 MB');
  if (!/^\s*[[{]/.test(text) && text.trim()) {
    return parseOrderTexts(text).map(({atOnce, parts, order, line}) => {
      const changed = checked({...problem, atOnce, parts});
      return [{problem: changed, order: checkOrder(changed, order), shown: Math.ceil(order.length / atOnce), line}];
    });
  }
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new UserError("the file is neither a saved board nor an order 't1 = 2 Order 0: [...]'");
  }
  return [unpack(data)];
}

const PACKED = 'z.';

const encode = bytes => {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

/** What a stream makes of bytes, at most as much as a file may have. */
async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value);
    length += next.value.length;
    if (length > LONGEST_TEXT) {
      await reader.cancel();
      throw new UserError('this link holds too much');
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Data as text for an address, as it is; short ones need no more. */
export const toLink = data => encode(new TextEncoder().encode(JSON.stringify(data)));

/** The same, packed: the largest boards fit, too. */
export async function toPackedLink(data) {
  const plain = new TextEncoder().encode(JSON.stringify(data));
  return PACKED + encode(await through(plain, new CompressionStream('deflate-raw')));
}

/** The data of either form. */
export async function fromLink(text) {
  try {
    const packed = text.startsWith(PACKED);
    const binary = atob(text.slice(packed ? PACKED.length : 0).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, c => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(packed ? await through(bytes, new DecompressionStream('deflate-raw')) : bytes));
  } catch {
    throw new UserError('this link holds no board; it may be cut off');
  }
}

/** A table of the steps; the cache's contents are those of a run that kept all of them. */
export function csv(p, run) {
  const {name} = blocks(p);
  const list = some => `"${some.map(name).join(' ')}"`;
  const lines = run.steps.map((s, i) => {
    const where = s.tiles.map(t => `${t.gemm}:${t.row}:${t.column}${hasPart(p, t) ? `:${t.part}` : ''}`).join(' ');
    return `${i},${where},${list(s.loaded)},${s.hits},${list(s.evicted)},${list(s.stored)},${list(s.contents)}`;
  });
  return `step,tiles,loaded,hits,evicted,stored,contents\n${lines.join('\n')}\n`;
}
