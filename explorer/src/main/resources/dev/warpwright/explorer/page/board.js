// One board: tiles to click, the path through them, the cache at a chosen step, what was moved so far.
import {blocks, bounds, readyMade, READY_MADE, refusal, simulate} from './model.js';
import {attempt, bytes, choice, count, el, field, replace, say, svg} from './dom.js';

const STRIP = 40;
const GAP = 8;
const EDGE = 18;
const MOST_CHIPS = 48;

export class Board {
  /** @param changed is called after each change of the order or the policy */
  constructor(problem, order, title, changed) {
    this.problem = problem;
    this.order = order;
    this.past = [];
    this.future = [];
    this.changed = changed;
    this.focus = {gemm: 0, row: 0, column: 0};
    this.build(title);
    this.layOut();
  }

  build(title) {
    const act = (text, hint, action) => el('button', {type: 'button', title: hint, onclick: action}, text);
    this.undoButton = act('Undo', 'Ctrl+Z', () => this.undo());
    this.redoButton = act('Redo', 'Ctrl+Y', () => this.redo());
    this.resetButton = act('Reset', 'Take all tiles off the order', () => this.set([]));
    this.fill = choice([['', 'Fill with…'], ...READY_MADE], '', {
      'aria-label': 'Fill with a ready-made order',
      onchange: () => {
        if (this.fill.value) this.set(readyMade(this.problem, this.fill.value));
        this.fill.value = '';
      },
    });
    this.policy = choice([['lru', 'LRU'], ['fifo', 'FIFO'], ['optimal', 'optimal (Belady)']], this.problem.policy, {
      'aria-label': 'Which block a full cache gives up',
      onchange: () => this.setProblem({...this.problem, policy: this.policy.value}),
    });
    this.stage = el('div', {class: 'stage'});
    this.figures = el('dl', {class: 'figures'});
    this.meter = el('i');
    this.slider = el('input', {type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'Step', oninput: () => this.look(Number(this.slider.value))});
    this.stepText = el('p', {class: 'quiet'});
    this.chips = el('div', {class: 'chips'});
    this.element = el('section', {class: 'card board', 'aria-label': title},
      el('div', {class: 'row spread'},
        el('div', {class: 'row'}, el('h2', {}, title), this.undoButton, this.redoButton, this.resetButton),
        el('div', {class: 'row'}, el('div', {}, this.fill), el('div', {}, this.policy))),
      el('div', {class: 'split'},
        el('div', {},
          this.stage,
          el('div', {class: 'legend'},
            el('span', {}, el('i', {class: 'in'}), 'in the cache'),
            el('span', {}, el('i', {class: 'new'}), 'loaded by this step'),
            el('span', {}, el('i'), 'not in the cache'))),
        el('div', {class: 'content'},
          this.figures,
          el('div', {class: 'meter', role: 'img', 'aria-label': 'moved, beside the lower bound'}, this.meter),
          field('Step', this.slider),
          this.stepText,
          el('h3', {}, 'The cache holds'),
          this.chips)));
    this.element.addEventListener('keydown', event => this.key(event));
  }

  /** Draws the tiles anew; needed when the grid changes. */
  layOut() {
    const p = this.problem;
    const wide = p.columns + p.chained;
    const room = (this.stage.clientWidth || 560) - STRIP - GAP * (p.chained ? 4 : 2) - EDGE - 8;
    const s = Math.max(13, Math.min(72, Math.floor(room / wide), Math.floor(600 / p.rows)));
    this.side = s;
    const left = EDGE + STRIP + GAP;
    const top = EDGE + STRIP + GAP;
    const second = left + p.columns * s + GAP * 2;
    this.corner = gemm => [gemm === 0 ? left : second, top];
    const width = (p.chained ? second + p.chained * s : left + p.columns * s) + 4;
    const height = top + p.rows * s + 4;
    const b = blocks(p);
    this.blocks = b;
    this.blockAt = new Map();
    const strips = [];
    const strip = (matrix, rows, columns, x, y, w, h) => {
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < columns; c++) {
          const block = b.of(matrix, r, c);
          const rect = svg('rect', {class: 'block', x: x + c * w, y: y + r * h, width: w, height: h, rx: Math.min(2, w / 4)},
            svg('title', {}, b.name(block)));
          this.blockAt.set(block, rect);
          strips.push(rect);
        }
      }
    };
    strip(0, p.rows, p.depth, EDGE, top, STRIP / p.depth, s);
    strip(1, p.depth, p.columns, left, EDGE, s, STRIP / p.depth);
    if (p.chained) strip(3, p.columns, p.chained, second, EDGE, s, STRIP / p.columns);
    this.tileAt = new Map();
    this.labelAt = new Map();
    const grid = [];
    for (let gemm = 0; gemm <= (p.chained ? 1 : 0); gemm++) {
      const [x, y] = this.corner(gemm);
      for (let row = 0; row < p.rows; row++) {
        const cells = [];
        for (let column = 0; column < (gemm ? p.chained : p.columns); column++) {
          const key = `${gemm}:${row}:${column}`;
          const rect = svg('rect', {
            class: 'tile', x: x + column * s, y: y + row * s, width: s, height: s, rx: Math.min(4, s / 6), 'data-tile': key,
            role: 'gridcell', tabindex: -1,
          });
          this.tileAt.set(key, rect);
          cells.push(rect);
          if (s >= 24) {
            const text = svg('text', {class: 'label', x: x + column * s + 4, y: y + row * s + 12});
            this.labelAt.set(key, text);
            cells.push(text);
          }
        }
        grid.push(svg('g', {role: 'row'}, cells));
      }
    }
    this.path = svg('path', {class: 'path'});
    this.heads = svg('path', {class: 'heads'});
    const names = [[EDGE + STRIP / 2, top - 4, 'A'], [left - 8, EDGE + STRIP / 2 + 4, 'B']];
    if (p.chained) names.push([second - 8, EDGE + STRIP / 2 + 4, 'D'], [second + (p.chained * s) / 2, EDGE - 5, 'E = C·D']);
    names.push([left + (p.columns * s) / 2, EDGE - 5, 'C = A·B']);
    this.picture = svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'grid', 'aria-label': 'Tiles; arrows move, space takes the next tile', tabindex: 0},
      strips, grid, this.path, this.heads,
      names.map(([x, y, text]) => svg('text', {class: 'axis', x, y, 'text-anchor': 'middle'}, text)));
    this.picture.addEventListener('click', event => {
      const key = event.target.dataset?.tile;
      if (key) this.press(tileOf(key));
    });
    this.picture.addEventListener('pointermove', event => {
      if (event.pointerType !== 'mouse' || event.buttons !== 1) return;
      const key = event.target.dataset?.tile;
      const tile = key && tileOf(key);
      if (tile && !refusal(this.problem, this.order, tile)) this.press(tile);
    });
    replace(this.stage, this.picture);
    this.update();
  }

  key(event) {
    if (event.target !== this.picture) return;
    if (event.key === 'Backspace') this.undo();
    else if (event.key === ' ' || event.key === 'Enter') this.press(this.focus);
    else if (event.key.startsWith('Arrow')) this.moveFocus(event.key);
    else return;
    event.preventDefault();
  }

  moveFocus(key) {
    const p = this.problem;
    const f = {...this.focus};
    const across = {ArrowLeft: -1, ArrowRight: 1}[key] ?? 0;
    f.row = Math.max(0, Math.min(p.rows - 1, f.row + ({ArrowUp: -1, ArrowDown: 1}[key] ?? 0)));
    const place = Math.max(0, Math.min(p.columns + p.chained - 1, f.gemm * p.columns + f.column + across));
    f.gemm = place >= p.columns ? 1 : 0;
    f.column = place - f.gemm * p.columns;
    this.focus = f;
    this.update();
  }

  /** A tile was clicked: it comes next; the last one goes off again; an earlier one shows its step. */
  press(tile) {
    this.focus = tile;
    const at = this.order.findIndex(t => same(t, tile));
    if (at >= 0 && at === this.order.length - 1) this.undo();
    else if (at >= 0) this.look(Math.floor(at / this.problem.atOnce) + 1);
    else {
      const why = refusal(this.problem, this.order, tile);
      if (why) say(why, true);
      else this.set([...this.order, tile]);
    }
  }

  set(order) {
    const before = this.order;
    attempt(() => {
      simulate(this.problem, order, false);
      this.past.push(before);
      this.future = [];
      this.order = order;
      this.update(true);
    });
  }

  /** Another problem; the order stays where it still fits. */
  setProblem(problem, order) {
    const old = this.problem;
    return attempt(() => {
      const next = order ?? this.order;
      simulate(problem, next, false);
      this.problem = problem;
      this.policy.value = problem.policy;
      if (next !== this.order) {
        this.past.push(this.order);
        this.future = [];
      }
      this.order = next;
      const grid = ['rows', 'columns', 'depth', 'chained'].some(k => old[k] !== problem[k]);
      if (grid) {
        this.past = [];
        this.future = [];
        this.focus = {gemm: 0, row: 0, column: 0};
        this.layOut();
      }
      this.update(true);
      return true;
    });
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.order);
    this.order = this.past.pop();
    this.update(true);
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.order);
    this.order = this.future.pop();
    this.update(true);
  }

  /** Shows the cache after so many steps. */
  look(step) {
    this.shown = step;
    this.slider.value = step;
    this.paint();
  }

  /** Plays the order again and shows its end. */
  update(tell = false) {
    this.run = simulate(this.problem, this.order);
    this.shown = this.run.steps.length;
    this.slider.max = this.run.steps.length;
    this.slider.value = this.shown;
    this.undoButton.disabled = this.past.length === 0;
    this.redoButton.disabled = this.future.length === 0;
    this.resetButton.disabled = this.order.length === 0;
    this.drawPath();
    this.paint();
    if (tell) this.changed(this);
  }

  drawPath() {
    const s = this.side;
    const centre = t => {
      const [x, y] = this.corner(t.gemm);
      return [x + (t.column + 0.5) * s, y + (t.row + 0.5) * s];
    };
    let line = '';
    let heads = '';
    let before = null;
    for (const tile of this.order) {
      const [x, y] = centre(tile);
      if (before && before.gemm === tile.gemm) {
        const [fx, fy] = centre(before);
        line += `L${x} ${y}`;
        heads += arrow(fx, fy, x, y, Math.min(9, s / 3));
      } else line += `M${x} ${y}`;
      before = tile;
    }
    this.path.setAttribute('d', line);
    this.heads.setAttribute('d', heads);
  }

  paint() {
    const p = this.problem;
    const step = this.run.steps[this.shown - 1];
    const done = this.shown * p.atOnce;
    for (const rect of this.tileAt.values()) rect.classList.remove('done', 'now', 'later', 'held', 'focus');
    for (const text of this.labelAt.values()) {
      text.textContent = '';
      text.classList.remove('now');
    }
    this.order.forEach((tile, i) => {
      const key = keyOf(tile);
      const now = step?.tiles.includes(tile);
      this.tileAt.get(key).classList.add(now ? 'now' : i < done ? 'done' : 'later');
      const text = this.labelAt.get(key);
      if (text) {
        text.textContent = i;
        if (now) text.classList.add('now');
      }
    });
    this.tileAt.get(keyOf(this.focus))?.classList.add('focus');
    for (const rect of this.blockAt.values()) rect.classList.remove('in', 'new');
    for (const block of step?.contents ?? []) {
      this.blockAt.get(block)?.classList.add('in');
      const m = this.blocks.matrix(block);
      if (m === 2 || m === 4) this.tileOfResult(block, m)?.classList.add('held');
    }
    for (const block of step?.loaded ?? []) this.blockAt.get(block)?.classList.add('new');
    this.tell(step);
  }

  tileOfResult(block, matrix) {
    const width = matrix === 2 ? this.problem.columns : this.problem.chained;
    const index = block - this.blocks.of(matrix, 0, 0);
    return this.tileAt.get(`${matrix === 2 ? 0 : 1}:${Math.floor(index / width)}:${index % width}`);
  }

  tell(step) {
    const p = this.problem;
    const bound = bounds(p);
    const total = p.rows * (p.columns + p.chained);
    const complete = this.order.length === total;
    const size = p.unit === 'B' ? bytes : count;
    const figure = (name, value, note) => el('div', {}, el('dt', {}, name), el('dd', {}, value, note ? el('small', {class: 'quiet'}, ` ${note}`) : null));
    replace(this.figures,
      figure('Loads', count(this.run.loads), `of at least ${count(bound.loads)}`),
      figure('Moved', size(this.run.moved), `of at least ${size(bound.moved)}${p.unit === 'B' ? '' : ' blocks'}`),
      figure('Hits', count(this.run.hits)),
      figure('Stores', count(this.run.stores), this.run.flushed ? `${this.run.flushed} at the end` : ''),
      figure('Tiles', `${count(this.order.length)} / ${count(total)}`),
      figure('Over the bound', complete ? `${(this.run.moved / bound.moved).toFixed(2)}×` : '–'));
    const part = this.run.moved / bound.moved;
    this.meter.style.width = `${Math.min(100, 100 * part)}%`;
    this.meter.classList.toggle('over', part > 1);
    const names = some => some.map(this.blocks.name).join(' ') || 'nothing';
    this.stepText.textContent = step
      ? `Step ${this.shown} of ${this.run.steps.length}, ${step.tiles.length > 3 ? `${step.tiles.length} tiles` : `tile ${step.tiles.map(t => `(${t.row}, ${t.column})`).join(' ')}`}: loads ${brief(names(step.loaded))}; ${step.hits} hits; gives up ${brief(names(step.evicted))}.`
      : 'Click a tile to begin, or fill the board with an order.';
    const contents = step?.contents ?? [];
    const fresh = new Set(step?.loaded);
    replace(this.chips,
      contents.slice(0, MOST_CHIPS).map(block => el('span', {class: fresh.has(block) ? 'new' : ''}, this.blocks.name(block))),
      contents.length > MOST_CHIPS ? el('span', {}, `and ${contents.length - MOST_CHIPS} more`) : []);
    if (!contents.length) replace(this.chips, el('em', {class: 'quiet'}, 'nothing yet'));
  }
}

const same = (a, b) => a.gemm === b.gemm && a.row === b.row && a.column === b.column;
const keyOf = t => `${t.gemm}:${t.row}:${t.column}`;
const tileOf = key => {
  const [gemm, row, column] = key.split(':').map(Number);
  return {gemm, row, column};
};
const brief = text => (text.length > 90 ? `${text.slice(0, 88)}…` : text);

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
