// The picture of a board: the operands' blocks above and beside the tiles, the path through them, what a tile reads lit up.
import {svg} from './dom.js';
import {moments, nameOfTile, partBegin, same as sameTile} from './model.js';

const STRIP = 40;
const GAP = 8;
const EDGE = 18;
/** Sides of tiles are no smaller: a finger needs more room than a mouse. */
const least = () => (innerWidth < 560 ? 13 : 9);
/** Where tiles are smaller, heads of arrows would hide them. */
const HEADS_FROM = 16;

export class Picture {
  /** @param on {press, drag, hover}: what is done with a tile */
  constructor(p, room, on) {
    this.problem = p;
    this.focus = {gemm: 0, row: 0, column: 0, part: 0};
    const wide = p.columns + p.chained;
    const free = room - STRIP - GAP * (p.chained ? 4 : 2) - EDGE - 8;
    const s = Math.max(least(), Math.min(72, Math.floor(free / wide), Math.floor(600 / p.rows)));
    this.side = s;
    // Parts of a tile of E are slices of it; where they would be too narrow, the tile is wider than high.
    const slice = p.parts > 1 ? Math.max(s / p.parts, Math.ceil(least() / 2)) : s;
    this.slice = slice;
    const wideE = slice * p.parts;
    const left = EDGE + STRIP + GAP;
    const top = EDGE + STRIP + GAP;
    const second = left + p.columns * s + GAP * 2;
    this.corner = gemm => [gemm === 0 ? left : second, top];
    const width = (p.chained ? second + p.chained * wideE : left + p.columns * s) + 4;
    const height = top + p.rows * s + 4;
    this.width = width;
    // A, B and D: where each block is. C and E are the tiles themselves.
    this.strips = [
      {matrix: 0, x: EDGE, y: top, w: STRIP / p.depth, h: s, columns: p.depth, rows: p.rows},
      {matrix: 1, x: left, y: EDGE, w: s, h: STRIP / p.depth, columns: p.columns, rows: p.depth},
      ...(p.chained ? [{matrix: 3, x: second, y: EDGE, w: wideE, h: STRIP / p.columns, columns: p.chained, rows: p.columns}] : []),
    ];
    const ground = svg('path', {class: 'block', d: this.strips.map(f => cells(f, grid(f.rows, f.columns))).join('')});
    this.inCache = svg('path', {class: 'block in'});
    this.loaded = svg('path', {class: 'block new'});
    this.tileAt = new Map();
    this.labelAt = new Map();
    const rows = [];
    for (let gemm = 0; gemm <= (p.chained ? 1 : 0); gemm++) {
      const [x, y] = this.corner(gemm);
      for (let row = 0; row < p.rows; row++) {
        const line = [];
        const [count, wide] = gemm ? [p.chained * p.parts, slice] : [p.columns, s];
        for (let i = 0; i < count; i++) {
          const [column, part] = gemm ? [Math.floor(i / p.parts), i % p.parts] : [i, 0];
          const key = keyOf({gemm, row, column, part});
          const rect = svg('rect', {
            class: 'tile', x: x + i * wide, y: y + row * s, width: wide, height: s, rx: Math.min(4, wide / 6), 'data-tile': key,
            role: 'gridcell', tabindex: -1, 'aria-label': `tile ${row}, ${column}${p.chained ? ` of ${'CE'[gemm]}` : ''}${gemm && p.parts > 1 ? `, part ${part}` : ''}`,
          });
          this.tileAt.set(key, {rect, painted: 'tile'});
          line.push(rect);
          if (wide >= 24) {
            const text = svg('text', {class: 'label', x: x + i * wide + 4, y: y + row * s + 12});
            this.labelAt.set(key, {text, shown: ''});
            line.push(text);
          }
        }
        rows.push(svg('g', {role: 'row'}, line));
      }
    }
    // Where a tile of E begins among the parts.
    this.frames = svg('path', {class: 'frames', d: p.chained && p.parts > 1 ? Array.from({length: p.rows * p.chained}, (_, i) =>
      `M${second + (i % p.chained) * wideE} ${top + Math.floor(i / p.chained) * s}h${wideE}v${s}h-${wideE}z`).join('') : ''});
    this.line = svg('path', {class: 'path'});
    this.across = svg('path', {class: 'path across'});
    this.heads = svg('path', {class: 'heads'});
    this.lit = [0, 1].map(() => svg('rect', {class: 'lit', rx: 2, visibility: 'hidden'}));
    const names = [[EDGE + STRIP / 2, top - 4, 'A'], [left - 8, EDGE + STRIP / 2 + 4, 'B']];
    if (p.chained) names.push([second - 8, EDGE + STRIP / 2 + 4, 'D'], [second + (p.chained * wideE) / 2, EDGE - 5, 'E = C·D']);
    names.push([left + (p.columns * s) / 2, EDGE - 5, 'C = A·B']);
    this.element = svg('svg', {class: s < HEADS_FROM ? 'fine' : null, width, height, viewBox: `0 0 ${width} ${height}`, role: 'grid', 'aria-label': 'Tiles; arrows move, space takes the next tile', tabindex: 0},
      ground, this.inCache, this.loaded, rows, this.frames, this.line, this.across, this.heads, this.lit,
      names.map(([x, y, text]) => svg('text', {class: 'axis', x, y, 'text-anchor': 'middle'}, text)));
    const tileOf = event => {
      const key = event.target.dataset?.tile;
      if (!key) return null;
      const [gemm, row, column, part = 0] = key.split(':').map(Number);
      return {gemm, row, column, part};
    };
    this.element.addEventListener('click', event => {
      const tile = tileOf(event);
      if (tile) on.press(tile);
    });
    this.element.addEventListener('pointermove', event => {
      const tile = tileOf(event);
      if (tile && event.pointerType === 'mouse' && event.buttons === 1) on.drag(tile);
    });
    this.element.addEventListener('pointerover', event => {
      const tile = tileOf(event);
      if (tile) on.hover(tile);
    });
    this.element.addEventListener('pointerleave', () => on.hover(null));
    this.segments = [];
  }

  /** A tile of the grid as near as may be. */
  within(tile) {
    const p = this.problem;
    const gemm = p.chained ? tile.gemm : 0;
    return {gemm, row: Math.min(tile.row, p.rows - 1), column: Math.min(tile.column, (gemm ? p.chained : p.columns) - 1), part: gemm ? Math.min(tile.part, p.parts - 1) : 0};
  }

  moveFocus(key) {
    const p = this.problem;
    const f = {...this.focus};
    const across = {ArrowLeft: -1, ArrowRight: 1}[key] ?? 0;
    f.row = Math.max(0, Math.min(p.rows - 1, f.row + ({ArrowUp: -1, ArrowDown: 1}[key] ?? 0)));
    const now = f.gemm ? p.columns + f.column * p.parts + f.part : f.column;
    const place = Math.max(0, Math.min(p.columns + p.chained * p.parts - 1, now + across));
    f.gemm = place >= p.columns ? 1 : 0;
    f.column = f.gemm ? Math.floor((place - p.columns) / p.parts) : place;
    f.part = f.gemm ? (place - p.columns) % p.parts : 0;
    const before = this.tileAt.get(keyOf(this.focus));
    before.rect.classList.remove('focus');
    this.focus = f;
    const {rect} = this.tileAt.get(keyOf(f));
    rect.classList.add('focus');
    rect.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  /** Frames what a tile reads: a row of the left and a column of the right operand; nothing if there is none. */
  light(tile) {
    const [left, right] = this.lit;
    for (const rect of this.lit) rect.setAttribute('visibility', tile ? 'visible' : 'hidden');
    if (!tile) return;
    const s = this.side;
    const p = this.problem;
    const [from, to] = [partBegin(p, tile.part), partBegin(p, tile.part + 1)];
    const [x, y] = this.corner(tile.gemm);
    const put = (rect, box) => Object.entries(box).forEach(([key, value]) => rect.setAttribute(key, value));
    const [cx, cy] = this.corner(0);
    put(left, tile.gemm === 0 ? {x: EDGE - 1, y: y + tile.row * s, width: STRIP + 2, height: s} : {x: cx + from * s, y: cy + tile.row * s, width: (to - from) * s, height: s});
    put(right, tile.gemm === 0 ? {x: x + tile.column * s, y: EDGE - 1, width: s, height: STRIP + 2}
      : {x: x + tile.column * this.slice * p.parts, y: EDGE - 1 + (from * STRIP) / p.columns, width: this.slice * p.parts, height: ((to - from) * STRIP) / p.columns + 2});
  }

  /** Draws the way through the tiles; only what is new of it is made anew. */
  path(order) {
    const s = this.side;
    const centre = t => {
      const [x, y] = this.corner(t.gemm);
      return [t.gemm === 0 ? x + (t.column + 0.5) * s : x + (t.column * this.problem.parts + t.part + 0.5) * this.slice, y + (t.row + 0.5) * s];
    };
    let same = 0;
    while (same < order.length && same < this.segments.length && this.segments[same].tile === order[same]) same++;
    this.segments.length = same;
    for (let i = same; i < order.length; i++) {
      const [x, y] = centre(order[i]);
      const before = order[i - 1];
      const part = {tile: order[i], line: '', across: '', heads: ''};
      if (!before) part.line = `M${x} ${y}`;
      else {
        const [fx, fy] = centre(before);
        if (before.gemm === order[i].gemm) part.line = `L${x} ${y}`;
        else {
          part.line = `M${x} ${y}`;
          part.across = `M${fx} ${fy}L${x} ${y}`;
        }
        if (s >= HEADS_FROM) part.heads = arrow(fx, fy, x, y, Math.min(9, s / 3));
      }
      this.segments.push(part);
    }
    this.line.setAttribute('d', this.segments.map(part => part.line).join(''));
    this.across.setAttribute('d', this.segments.map(part => part.across).join(''));
    this.heads.setAttribute('d', this.segments.map(part => part.heads).join(''));
  }

  /** Shows a step: which tiles are done, which blocks are there, which of them just came. */
  paint(blocks, order, step, shown, contents) {
    const p = this.problem;
    const wanted = new Map();
    const done = shown * p.atOnce;
    const now = new Set(step?.tiles.map(keyOf));
    order.forEach((tile, i) => {
      const key = keyOf(tile);
      wanted.set(key, {name: now.has(key) ? 'tile now' : i < done ? 'tile done' : 'tile later', number: i});
    });
    const cached = [[], [], []];
    const fresh = [[], [], []];
    const slot = {0: 0, 1: 1, 3: 2};
    const held = new Set();
    const isFresh = new Set(step?.loaded);
    for (const block of contents) {
      const [m, row, column] = blocks.place(block);
      if (m in slot) (isFresh.has(block) ? fresh : cached)[slot[m]].push([row, column]);
      else if (m === 2) held.add(keyOf({gemm: 0, row, column, part: 0}));
      else for (let part = 0; part < p.parts; part++) held.add(keyOf({gemm: 1, row, column, part}));
    }
    for (const block of step?.loaded ?? []) {
      const [m, row, column] = blocks.place(block);
      if (m in slot) fresh[slot[m]].push([row, column]);
    }
    this.inCache.setAttribute('d', this.strips.map((f, i) => cells(f, cached[i])).join(''));
    this.loaded.setAttribute('d', this.strips.map((f, i) => cells(f, fresh[i])).join(''));
    const focus = keyOf(this.focus);
    for (const [key, cell] of this.tileAt) {
      const name = `${wanted.get(key)?.name ?? 'tile'}${held.has(key) ? ' held' : ''}${key === focus ? ' focus' : ''}`;
      if (cell.painted !== name) {
        cell.rect.setAttribute('class', name);
        cell.painted = name;
      }
      const label = this.labelAt.get(key);
      if (label) {
        const number = wanted.has(key) ? String(wanted.get(key).number) : '';
        const kind = now.has(key) ? 'label now' : 'label';
        if (label.shown !== number + kind) {
          label.text.textContent = number;
          label.text.setAttribute('class', kind);
          label.shown = number + kind;
        }
      }
    }
  }
}

const keyOf = t => `${t.gemm}:${t.row}:${t.column}${t.part ? `:${t.part}` : ''}`;

const grid = (rows, columns) => Array.from({length: rows}, (_, r) => Array.from({length: columns}, (_, c) => [r, c])).flat();

/** Cells of a strip as a path, with hairlines between them where there is room. */
function cells({x, y, w, h}, places) {
  const gapX = w > 3 ? 1 : 0;
  const gapY = h > 3 ? 1 : 0;
  return places.map(([row, column]) => {
    const wide = (w - gapX).toFixed(2);
    return `M${(x + column * w).toFixed(2)} ${(y + row * h).toFixed(2)}h${wide}v${(h - gapY).toFixed(2)}h-${wide}z`;
  }).join('');
}

/** What became of a tile's accesses, in words. */
export function missText(p, blocks, run, order, tile) {
  const name = `${nameOfTile(p, tile)}${p.chained ? ` of ${'CE'[tile.gemm]}` : ''}`;
  const at = order.findIndex(t => sameTile(t, tile));
  const [left, right] = tile.gemm ? ['C', 'D'] : ['A', 'B'];
  const ofPart = tile.gemm && p.parts > 1 ? `part ${tile.part} of ` : '';
  if (at < 0) return `${name} is not in the order yet; it reads ${ofPart}row ${tile.row} of ${left} and ${ofPart}column ${tile.column} of ${right}.`;
  const number = Math.floor(at / p.atOnce);
  const step = run.steps[number];
  const operand = (letter, matrix, mine) => {
    let first = 0;
    const given = new Map();
    step.loaded.forEach((block, i) => {
      const [m, row, column] = blocks.place(block);
      if (m !== matrix || !mine(row, column)) return;
      const along = matrix === 2 ? column : row;
      if (tile.gemm && (along < partBegin(p, tile.part) || along >= partBegin(p, tile.part + 1))) return;
      if (step.why[i] < 0) first++;
      else given.set(step.why[i], (given.get(step.why[i]) ?? 0) + 1);
    });
    const all = moments(p, tile);
    const parts = [];
    if (first) parts.push(all === 1 ? 'loaded for the first time' : `${first} of ${all} blocks loaded for the first time`);
    const again = [...given.values()].reduce((a, b) => a + b, 0);
    if (again) {
      const steps = [...given.keys()].sort((a, b) => a - b).map(s => s + 1);
      parts.push(`${all === 1 ? '' : `${again} of ${all} blocks `}missed because evicted at step ${steps.length > 2 ? `${steps[0]} to ${steps.at(-1)}` : steps.join(' and ')}`);
    }
    return `${letter}: ${parts.join(', ') || 'all in the cache'}`;
  };
  const l = tile.gemm ? 2 : 0;
  const r = tile.gemm ? 3 : 1;
  const sum = () => {
    if (!ofPart) return '';
    if (!order.slice(0, number * p.atOnce).some(t => t.gemm === 1 && t.row === tile.row && t.column === tile.column)) return ' It is the first part of its tile.';
    return step.loaded.includes(blocks.result(tile)) ? ' The partial sum is read back from memory.' : ' The partial sum is still in the cache.';
  };
  return `${name}, step ${number + 1}. ${operand(`${ofPart}row ${tile.row} of ${left}`, l, row => row === tile.row)}; ${operand(`${ofPart}column ${tile.column} of ${right}`, r, (_, column) => column === tile.column)}.${sum()}`;
}

/** A small triangle in the second half of a segment. */
function arrow(x1, y1, x2, y2, size) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const ux = (x2 - x1) / length;
  const uy = (y2 - y1) / length;
  const tx = x1 + (x2 - x1) * 0.5 + (ux * size) / 2;
  const ty = y1 + (y2 - y1) * 0.5 + (uy * size) / 2;
  const bx = tx - ux * size;
  const by = ty - uy * size;
  const w = size * 0.42;
  const f = v => v.toFixed(1);
  return `M${f(tx)} ${f(ty)}L${f(bx - uy * w)} ${f(by + ux * w)}L${f(bx + uy * w)} ${f(by - ux * w)}Z`;
}
