// A record of a tuning run: its kernel at every level, what its decisions are worth, what the simulator counts.
import {attempt, bytesLike, choice, count, el, finished, get, replace, time, timesLike} from './dom.js';
import {differenceView, sideBySide} from './levels.js';

const MOST_RECORDS = 40;
const TEXTS = {schedule: 'Schedule', tiles: 'Tile program', kernel: 'Kernel', cuda: 'CUDA C++'};
const ASKED = {both: 'Side by side', passes: 'Passes', difference: 'Difference to…', explain: 'Explain', counters: 'Simulator counters'};

/** All forms by their names, in the order in which one becomes the next: those after each pass too. */
const formsOf = texts => ({
  [TEXTS.schedule]: texts.schedule, [TEXTS.tiles]: texts.tiles,
  ...Object.fromEntries(texts.passes.map(({pass, text}, i) => [`${i + 1}. after ${pass}`, text])),
  [TEXTS.kernel]: texts.kernel, [TEXTS.cuda]: texts.cuda,
});

/**
 * @param good trials with a time; @param run its workload and device
 * @param asked what the address says: candidate, view, left, right, pass, other, level; @param remember is told what changes
 */
export function recordCard(run, good, asked, remember) {
  const best = [...good].sort((a, b) => a.timeUs - b.timeUs).slice(0, MOST_RECORDS);
  const pick = choice(best.map((t, i) => [String(i), `${i === 0 ? 'the winner' : `place ${i + 1}`}: ${time(t.timeUs)}, candidate ${t.number}`]), String(Math.max(0, best.findIndex(t => String(t.number) === asked.candidate))), {'aria-label': 'Record', onchange: () => {
    remember({candidate: best[Number(pick.value)].number});
    open();
  }});
  const chips = el('div', {class: 'chips'});
  const error = el('p', {class: 'quiet'});
  const tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'What to show of it'});
  const body = el('div', {class: 'content'});
  let texts = null;
  let latest = 0;
  let shown = Object.hasOwn({...TEXTS, ...ASKED}, asked.view ?? '') ? asked.view : 'schedule';

  const record = () => ({workload: run.workload, device: run.device, point: best[Number(pick.value)].point});
  const press = view => {
    shown = view;
    for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.dataset.view === view));
  };

  const show = view => attempt(async () => {
    press(view);
    const mine = ++latest;
    try {
      if (view in TEXTS) {
        texts ??= await get('tuned', record());
        if (mine === latest) replace(body, el('pre', {tabindex: 0}, texts[view]));
        return;
      }
      if (view === 'both' || view === 'passes' || view === 'difference') {
        texts ??= await get('tuned', record());
        if (mine !== latest) return;
        replace(body, view === 'both' ? sideBySide(formsOf(texts), asked.left ?? TEXTS.schedule, asked.right ?? TEXTS.kernel, (left, right) => remember(Object.assign(asked, {left, right})))
          : view === 'passes' ? passes() : differences());
        return;
      }
      replace(body, el('p', {class: 'quiet'}, 'Working…'));
      const result = await finished(view, record(), {wanted: () => mine === latest, told: progress => replace(body, el('p', {class: 'quiet'}, `${progress}…`))});
      if (result) replace(body, view === 'explain' ? explained(result) : counted(result));
    } catch (e) {
      if (mine === latest) replace(body, el('p', {class: 'quiet'}, e.message));
    }
  });

  /** What each pass changed, beside what it was given. */
  const passes = () => {
    const out = el('div', {class: 'content'});
    const steps = [{pass: 'the schedule', text: texts.tiles}, ...texts.passes];
    const known = steps.findIndex(({pass}) => pass === asked.pass);
    const step = choice(texts.passes.map(({pass}, i) => [String(i + 1), `${i + 1}. ${pass}`]), String(Math.max(1, known)), {'aria-label': 'Pass', onchange: () => draw()});
    const move = by => {
      const next = Number(step.value) + by;
      if (next >= 1 && next < steps.length) {
        step.value = String(next);
        draw();
      }
    };
    const draw = () => {
      const i = Number(step.value);
      remember(Object.assign(asked, {pass: steps[i].pass}));
      replace(out, el('p', {class: 'quiet'}, `What ${steps[i].pass} makes of what ${steps[i - 1].pass} left.`), differenceView(steps[i - 1].text, steps[i].text));
    };
    draw();
    return el('div', {class: 'content'}, el('div', {class: 'row'}, el('button', {type: 'button', onclick: () => move(-1)}, 'Earlier pass'), el('div', {}, step), el('button', {type: 'button', onclick: () => move(1)}, 'Later pass')), out);
  };

  /** What another record has otherwise, on any level. */
  const differences = () => {
    const out = el('div', {class: 'content'});
    const other = choice(best.map((t, i) => [String(i), `${i === 0 ? 'the winner' : `place ${i + 1}`}: ${time(t.timeUs)}, candidate ${t.number}`]), String(best.findIndex(t => String(t.number) === asked.other) >= 0 ? best.findIndex(t => String(t.number) === asked.other) : pick.value === '0' ? 1 : 0), {'aria-label': 'Other record', onchange: () => compare()});
    const level = choice(Object.entries(TEXTS), Object.hasOwn(TEXTS, asked.level ?? '') ? asked.level : 'schedule', {'aria-label': 'Level', onchange: () => compare()});
    let asking = 0;
    const compare = () => attempt(async () => {
      const mine = ++asking;
      const there = best[Number(other.value)];
      remember(Object.assign(asked, {other: String(there.number), level: level.value}));
      let theirs;
      try {
        theirs = await get('tuned', {...record(), point: there.point});
      } catch (e) {
        if (mine === asking) replace(out, el('p', {class: 'quiet'}, e.message));
        return;
      }
      if (mine !== asking) return;
      const here = best[Number(pick.value)].point.split(' ');
      const changed = there.point.split(' ').filter(decision => !here.includes(decision));
      replace(out, el('p', {class: 'quiet'}, changed.length ? `Decided otherwise there: ${changed.join(', ')}.` : 'The same decisions.'), differenceView(texts[level.value], theirs[level.value]));
    });
    compare();
    return el('div', {class: 'content'}, best.length < 2 ? el('p', {class: 'quiet'}, 'There is one record only.') : el('div', {class: 'row'}, el('div', {}, other), el('div', {}, level)), out);
  };

  const open = (again = true) => {
    const trial = best[Number(pick.value)];
    texts = null;
    replace(chips, trial.point.split(' ').map(decision => el('span', {}, decision)));
    error.textContent = `${time(trial.timeUs)}, relative error ${trial.relError.toExponential(1)}.`;
    // What takes long is begun by a press, or by an address that asks for it.
    return show(again && (shown === 'explain' || shown === 'counters') ? 'schedule' : shown);
  };
  replace(tabs, Object.entries({...TEXTS, ...ASKED}).map(([view, name]) => el('button', {type: 'button', 'data-view': view, onclick: () => {
    remember(Object.assign(asked, {view}));
    show(view);
  }}, name)));
  open(false);
  return el('section', {class: 'card', 'aria-label': 'A record'}, el('div', {class: 'row spread'}, el('h2', {}, 'A record'), el('div', {}, pick)), error, chips, el('div', {class: 'scroll'}, tabs), body);
}

function explained(e) {
  const of = key => [e.winner, ...e.rows].map(row => row[key] ?? 0);
  const us = timesLike(of('timeUs'));
  const [dram, l2, shared] = [bytesLike(of('dramBytes')), bytesLike(of('l2Bytes')), bytesLike(of('sharedBytes'))];
  const cells = row => [
    row.timeUs === null || row.timeUs === undefined ? row.failure ?? '–' : us(row.timeUs), row.ratio ? `${row.ratio.toFixed(2)}×` : '–',
    row.dramBytes === undefined ? '–' : dram(row.dramBytes), row.l2Bytes === undefined ? '–' : l2(row.l2Bytes),
    number(row.bankConflicts), number(row.registers), row.sharedBytes === undefined ? '–' : shared(row.sharedBytes), number(row.spills),
  ].map(text => el('td', {class: 'n'}, text));
  const also = row => Object.entries(row.also ?? {}).map(([name, value]) => `${name} ${value || 'no longer decided'}`).join(', ');
  return [
    el('p', {class: 'quiet'}, `What each decision is worth, one changed at a time; times are ${e.measured ? 'measured' : 'predicted, not measured'} for ${e.device}.`),
    el('div', {class: 'scroll'}, el('table', {class: 'fits'},
      el('thead', {}, el('tr', {}, el('th', {}, 'changed'), [e.measured ? 'time' : 'predicted', 'by the winner', 'memory', 'L2', 'conflicts', 'registers', 'shared', 'spills'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, el('tr', {}, el('td', {}, 'as it is'), cells(e.winner)),
        e.rows.map(row => el('tr', {}, el('td', {}, `${row.decision} ${row.from} → ${row.to}`, also(row) ? el('small', {class: 'quiet'}, ` with ${also(row)}`) : null), cells(row)))))),
  ];
}

const number = value => (value === null || value === undefined ? '–' : count(Math.round(value)));

function counted(c) {
  return [
    el('p', {class: 'quiet'}, `One cluster's tiles and two steps along K, ${c.work}, in the simulator.`),
    el('dl', {class: 'figures'}, Object.entries(c.counters).map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, count(Math.round(value)))))),
    el('div', {class: 'scroll'}, el('table', {},
      el('caption', {}, 'Statements of the kernel by what they ask of the memories'),
      el('thead', {}, el('tr', {}, el('th', {}, 'line'), ['requests', 'wavefronts or sectors', 'of these lost'].map(t => el('th', {class: 'n'}, t)), el('th', {}, 'what'), el('th', {}, 'statement'))),
      el('tbody', {}, c.statements.map(s => el('tr', {}, el('td', {class: 'n'}, s.line), [s.requests, s.units, s.lost].map(v => el('td', {class: 'n'}, count(Math.round(v)))), el('td', {}, s.what), el('td', {}, el('code', {}, s.statement))))))),
  ];
}
