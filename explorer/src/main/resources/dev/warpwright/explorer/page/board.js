// One board: tiles to click, the path through them, the cache at a chosen step, what was moved up to it.
import {blocks, bounds, items, nameOfTile, refusal, same} from './model.js';
import {simulate} from './cache.js';
import {nameOf, problemOf, readyMade, readyMadeFor} from './orders.js';
import {attempt, bytes, choice, count, el, field, replace, say, standalone} from './dom.js';
import {LoadStrip, memoryChart} from './strip.js';
import {missText, Picture} from './picture.js';

const MOST_CHIPS = 24;
const PARTS = [1, 2, 3, 4, 6, 8, 16, 32];
const PLAY_MS = 12_000;

export class Board {
  /** @param changed is called with the board after each change of its order, policy or problem; @param moved after each undo */
  constructor(problem, order, title, changed, moved) {
    this.problem = problem;
    this.order = order;
    this.past = [];
    this.future = [];
    this.changed = changed;
    this.moved = moved;
    this.build(title);
    this.layOut();
  }

  build(title) {
    const act = (text, hint, action) => el('button', {type: 'button', title: hint, onclick: action}, text);
    this.undoButton = act('Undo', 'Ctrl+Z', () => this.undo());
    this.redoButton = act('Redo', 'Ctrl+Y', () => this.redo());
    this.resetButton = act('Reset', 'Take all tiles off the order', () => this.set([]));
    this.fill = el('select', {
      'aria-label': 'Fill with a ready-made order',
      onchange: () => {
        if (this.fill.value) this.fillWith(this.fill.value);
        this.fill.value = '';
      },
    });
    this.policy = choice([['lru', 'LRU'], ['fifo', 'FIFO'], ['optimal', 'optimal (Belady)']], this.problem.policy, {
      'aria-label': 'Which block a full cache gives up',
      onchange: () => this.setProblem({...this.problem, policy: this.policy.value}),
    });
    this.parts = el('select', {'aria-label': 'Parts of the K of the second GEMM', onchange: () => this.inParts(Number(this.parts.value))});
    this.partsBox = el('div', {}, this.parts);
    this.stage = el('div', {class: 'stage', tabindex: -1});
    this.hint = el('p', {class: 'quiet', hidden: true}, 'Scroll the board sideways and down to see all tiles.');
    this.told = el('p', {class: 'told', 'aria-live': 'polite'});
    this.figures = el('dl', {class: 'figures'});
    this.slider = el('input', {type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'Step', oninput: () => { this.pause(); this.look(Number(this.slider.value)); }});
    this.playButton = act('Play', 'Step after step', () => (this.playing ? this.pause() : this.play()));
    this.stepText = el('p', {class: 'quiet'});
    this.chips = el('div', {class: 'chips'});
    this.flows = el('div', {class: 'scroll'});
    this.strip = new LoadStrip(step => { this.pause(); this.look(step); });
    this.element = el('section', {class: 'card board', 'aria-label': title},
      el('div', {class: 'row spread'},
        el('div', {class: 'row'}, el('h2', {}, title), this.undoButton, this.redoButton, this.resetButton),
        el('div', {class: 'row'}, el('div', {}, this.fill), this.partsBox, el('div', {}, this.policy))),
      el('div', {class: 'split'},
        el('div', {class: 'content'},
          this.hint,
          this.stage,
          el('div', {class: 'legend'},
            el('span', {}, el('i', {class: 'in'}), 'in the cache'),
            el('span', {}, el('i', {class: 'new'}), 'loaded by this step'),
            el('span', {}, el('i', {class: 'now'}), 'computed by this step'),
            el('span', {}, el('i', {class: 'done'}), 'computed before'),
            el('span', {}, el('i'), 'not yet, or not in the cache')),
          this.told,
          el('div', {class: 'row player'}, this.playButton, el('div', {class: 'grow'}, field('Step', this.slider))),
          this.strip.element,
          this.flows),
        el('div', {class: 'content'},
          this.figures,
          this.stepText,
          el('h3', {}, 'The cache holds'),
          this.chips)));
    this.element.addEventListener('keydown', event => this.key(event));
  }

  /** Draws the tiles anew; needed when the grid or the room changes. */
  layOut() {
    const p = this.problem;
    const before = this.picture?.focus;
    this.picture = new Picture(p, this.stage.clientWidth || 560, {press: tile => this.press(tile), drag: tile => {
      if (!refusal(this.problem, this.order, tile)) this.press(tile);
    }, hover: tile => this.hover(tile)});
    if (before) this.picture.focus = this.picture.within(before);
    replace(this.stage, this.picture.element);
    const fits = this.picture.width <= (this.stage.clientWidth || 560) + 1;
    this.hint.hidden = fits;
    if (!fits) this.stage.tabIndex = 0;
    replace(this.fill, el('option', {value: ''}, 'Fill with…'), readyMadeFor(p).map(name => el('option', {value: name}, nameOf(name))));
    this.partsBox.hidden = !p.chained;
    const counts = PARTS.filter(parts => parts <= p.columns);
    replace(this.parts, [...new Set([...counts, p.parts])].sort((a, b) => a - b).map(parts => el('option', {value: parts}, parts === 1 ? 'whole tiles of E' : `E in ${parts} partial sums`)));
    this.parts.value = p.parts;
    this.update(false, this.shown === undefined || this.run === undefined ? undefined : this.shown);
  }

  key(event) {
    if (event.target !== this.picture.element) return;
    if (event.key === 'Backspace') this.undo();
    else if (event.key === ' ' || event.key === 'Enter') this.press(this.picture.focus);
    else if (event.key.startsWith('Arrow')) {
      this.picture.moveFocus(event.key);
      this.hover(this.picture.focus);
    } else return;
    event.preventDefault();
  }

  /** What happened to a tile: its row of the left and its column of the right operand, which blocks missed, and why. */
  hover(tile) {
    this.picture.light(tile);
    this.told.textContent = tile ? missText(this.problem, this.blocks, this.run, this.order, tile) : '';
  }

  /** A tile was clicked: it comes next; the last one goes off again; an earlier one shows its step. */
  press(tile) {
    this.pause();
    this.picture.focus = tile;
    const at = this.order.findIndex(t => same(t, tile));
    if (at >= 0 && at === this.order.length - 1) this.set(this.order.slice(0, -1));
    else if (at >= 0) this.look(Math.floor(at / this.problem.atOnce) + 1);
    else {
      const why = refusal(this.problem, this.order, tile);
      if (why) say(why, true);
      else this.set([...this.order, tile]);
    }
  }

  fillWith(name) {
    return attempt(() => this.setProblem(problemOf(this.problem, name), readyMade(this.problem, name)));
  }

  /** Splits the K of the second GEMM otherwise; what is in the order of the first one stays. */
  inParts(parts) {
    const rest = this.order.filter(t => t.gemm === 0);
    if (rest.length < this.order.length) say('The tiles of E have other parts now, so they are off the order; Undo brings them back');
    return this.setProblem({...this.problem, parts}, rest);
  }

  set(order) {
    this.change(this.problem, order);
  }

  /** Another problem, or another order, or both; all of it can be undone. @param shown the step to show; the last if not given */
  setProblem(problem, order = this.order, shown = undefined, group = undefined) {
    return this.change(problem, order, shown, group);
  }

  /** @param group of changes to several boards, which are undone together */
  change(problem, order, shown, group) {
    return attempt(() => {
      const run = simulate(problem, order, (shown ?? Math.ceil(order.length / problem.atOnce)) - 1);
      this.past.push({problem: this.problem, order: this.order, group});
      this.future = [];
      this.take({problem, order}, run, shown);
      this.changed(this);
      return true;
    });
  }

  take({problem, order}, run, shown) {
    this.pause();
    const grid = this.problem !== problem && ['rows', 'columns', 'depth', 'chained', 'parts'].some(k => this.problem[k] !== problem[k]);
    this.problem = problem;
    this.order = order;
    this.policy.value = problem.policy;
    this.shown = shown;
    this.run = run;
    if (grid || this.blocks?.count === undefined) this.layOut();
    else this.update(true, shown);
  }

  undo() {
    this.back(this.past, this.future, 'past');
  }

  redo() {
    this.back(this.future, this.past, 'future');
  }

  back(from, to, which) {
    const state = from.pop();
    if (!state) return;
    to.push({problem: this.problem, order: this.order, group: state.group});
    this.take(state);
    this.moved(this, which, state.group);
  }

  /** Shows the cache after so many steps. */
  look(step) {
    this.run = simulate(this.problem, this.order, step - 1);
    this.shown = step;
    this.slider.value = step;
    this.paint();
  }

  play() {
    const steps = this.run.steps.length;
    if (!steps) return;
    let step = this.shown >= steps ? 0 : this.shown;
    this.playButton.textContent = 'Pause';
    const each = Math.max(40, Math.min(700, PLAY_MS / steps));
    this.playing = setInterval(() => {
      this.look(++step);
      if (step >= steps) this.pause();
    }, each);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.playButton.textContent = 'Play';
  }

  /** Plays the order again and shows a step, the last one if none is given. @param known whether the run is there already */
  update(known = false, shown = undefined) {
    const last = Math.ceil(this.order.length / this.problem.atOnce);
    this.shown = Math.min(shown ?? last, last);
    if (!known || !this.run) this.run = simulate(this.problem, this.order, this.shown - 1);
    this.blocks = blocks(this.problem);
    this.bound = bounds(this.problem);
    this.slider.max = last;
    this.slider.value = this.shown;
    this.undoButton.disabled = this.past.length === 0;
    this.redoButton.disabled = this.future.length === 0;
    this.resetButton.disabled = this.order.length === 0;
    this.picture.path(this.order);
    this.paint();
  }

  paint() {
    const step = this.run.steps[this.shown - 1];
    this.picture.paint(this.blocks, this.order, step, this.shown, this.run.contents ?? []);
    this.tell(step);
  }

  /** The picture as a file of its own: with the colours that it has here. */
  drawing() {
    return standalone(this.picture.element);
  }

  /** What was proven of this problem: no order has fewer loads. */
  prove(problem, loads) {
    this.proven = {of: JSON.stringify(problem), loads};
    this.paint();
  }

  tell(step) {
    const p = this.problem;
    const bound = this.bound;
    const all = items(p);
    const end = this.shown === this.run.steps.length;
    const so = end ? this.run : step?.total ?? {loads: 0, loaded: 0, hits: 0, stores: 0, stored: 0, moved: 0, asked: 0};
    const complete = end && this.order.length === all;
    const inBytes = p.unit === 'B';
    const size = inBytes ? bytes : count;
    const proven = this.proven?.of === JSON.stringify(p) ? this.proven.loads : null;
    const least = proven === null ? `at least ${count(bound.loads)}` : `proven: ${count(proven)}`;
    const of = (value, lower, words) => `of ${words}${complete ? `, ${(value / lower).toFixed(2)}×` : ''}`;
    const figure = (name, value, note) => el('div', {}, el('dt', {}, name), el('dd', {}, value, note ? el('small', {class: 'quiet'}, ` ${note}`) : null));
    const left = proven ?? bound.loads;
    replace(this.figures,
      inBytes ? figure('Loaded', bytes(so.loaded), of(so.loaded, bound.loaded, `at least ${bytes(bound.loaded)}`))
        : figure('Loads', count(so.loads), of(so.loads, left, least)),
      inBytes ? figure('Stored', bytes(so.stored), of(so.stored, bound.stored, `at least ${bytes(bound.stored)}`))
        : figure('Stores', count(so.stores), of(so.stores, bound.stores, `at least ${count(bound.stores)}${this.run.flushed ? `, ${this.run.flushed} at the end` : ''}`)),
      figure('Moved', size(so.moved), of(so.moved, proven === null || inBytes ? bound.moved : proven + bound.stored, `at least ${size(proven === null || inBytes ? bound.moved : proven + bound.stored)}${inBytes ? '' : ' blocks'}`)),
      figure('Hits', count(so.hits), so.hits + so.loads ? `${(100 * so.hits / (so.hits + so.loads)).toFixed(0)} % of accesses` : ''),
      figure('Tiles', `${count(Math.min(this.order.length, this.shown * p.atOnce))} / ${count(all)}`),
      inBytes ? figure('Read again', p.chained ? '–' : `A ${times(this.run.perMatrix[0], this.blocks.total(0))}, B ${times(this.run.perMatrix[1], this.blocks.total(1))}`, 'whole order')
        : figure('Step', `${this.shown} / ${this.run.steps.length}`));
    const names = some => some.slice(0, 12).map(this.blocks.name).join(' ') || 'nothing';
    this.stepText.textContent = step
      ? `Step ${this.shown} of ${this.run.steps.length}, ${step.tiles.length > 3 ? `${step.tiles.length} tiles` : step.tiles.map(t => nameOfTile(p, t)).join(', ')}: loads ${step.loaded.length > 4 ? `${count(step.loaded.length)} blocks` : names(step.loaded)}; ${count(step.hits)} hits; gives up ${step.evicted.length > 4 ? `${count(step.evicted.length)} blocks` : names(step.evicted)}.`
      : 'Click a tile to begin, or fill the board with an order.';
    this.strip.draw(this.run.steps.map(s => s.bytes), this.shown, size);
    replace(this.flows, so.asked ? memoryChart([{name: 'this board', fromL2: so.asked, toL2: so.stored, fromMemory: so.loaded, toMemory: so.stored,
      hitRate: so.hits / Math.max(1, so.hits + so.loads)}], value => (inBytes ? bytes(value) : count(value))) : []);
    const contents = this.run.contents ?? [];
    const fresh = new Set(step?.loaded);
    replace(this.chips,
      contents.slice(0, MOST_CHIPS).map(block => el('span', {class: fresh.has(block) ? 'new' : ''}, this.blocks.name(block))),
      contents.length > MOST_CHIPS ? el('span', {}, `and ${count(contents.length - MOST_CHIPS)} more`) : []);
    if (!contents.length) replace(this.chips, el('em', {class: 'quiet'}, 'nothing yet'));
  }
}

const times = (read, all) => `${(read / all).toFixed(2)}×`;
