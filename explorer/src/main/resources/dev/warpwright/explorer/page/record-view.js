// A record of a tuning run: its kernel at every level, what its decisions are worth, what the simulator counts.
import {attempt, bytesLike, choice, count, el, finished, get, replace, time, timesLike} from './dom.js';
import {differenceView, sideBySide} from './levels.js';

const MOST_RECORDS = 40;
const TEXTS = {schedule: 'Schedule', tiles: 'Tile program', kernel: 'Kernel', cuda: 'CUDA C++'};
const NAMES = {Schedule: 'schedule', 'Tile program': 'tiles', Kernel: 'kernel', 'CUDA C++': 'cuda'};
const ASKED = {both: 'Side by side', difference: 'Difference to…', explain: 'Explain', counters: 'Simulator counters'};

/** @param good trials with a time; @param run its workload and device */
export function recordCard(run, good) {
  const best = [...good].sort((a, b) => a.timeUs - b.timeUs).slice(0, MOST_RECORDS);
  const pick = choice(best.map((t, i) => [String(i), `${i === 0 ? 'the winner' : `place ${i + 1}`}: ${time(t.timeUs)}, candidate ${t.number}`]), '0', {'aria-label': 'Record', onchange: () => open()});
  const chips = el('div', {class: 'chips'});
  const error = el('p', {class: 'quiet'});
  const tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'What to show of it'});
  const body = el('div', {class: 'content'});
  let texts = null;
  let latest = 0;
  let shown = 'schedule';

  const asked = () => ({workload: run.workload, device: run.device, point: best[Number(pick.value)].point});
  const press = view => {
    shown = view;
    for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.dataset.view === view));
  };

  const show = view => attempt(async () => {
    press(view);
    const mine = ++latest;
    try {
      if (view in TEXTS) {
        texts ??= await get('tuned', asked());
        if (mine === latest) replace(body, el('pre', {tabindex: 0}, texts[view]));
        return;
      }
      if (view === 'both' || view === 'difference') {
        texts ??= await get('tuned', asked());
        if (mine === latest) replace(body, view === 'both' ? sideBySide(Object.fromEntries(Object.entries(NAMES).map(([name, key]) => [name, texts[key]])), 'Schedule', 'Kernel') : differences());
        return;
      }
      replace(body, el('p', {class: 'quiet'}, 'Working…'));
      const result = await finished(view, asked(), {wanted: () => mine === latest, told: progress => replace(body, el('p', {class: 'quiet'}, `${progress}…`))});
      if (result) replace(body, view === 'explain' ? explained(result) : counted(result));
    } catch (e) {
      if (mine === latest) replace(body, el('p', {class: 'quiet'}, e.message));
    }
  });

  /** What another record has otherwise, on any level. */
  const differences = () => {
    const out = el('div', {class: 'content'});
    const other = choice(best.map((t, i) => [String(i), `${i === 0 ? 'the winner' : `place ${i + 1}`}: ${time(t.timeUs)}, candidate ${t.number}`]), pick.value === '0' ? '1' : '0', {'aria-label': 'Other record', onchange: () => compare()});
    const level = choice(Object.entries(TEXTS), 'schedule', {'aria-label': 'Level', onchange: () => compare()});
    let asking = 0;
    const compare = () => attempt(async () => {
      const mine = ++asking;
      const there = best[Number(other.value)];
      let theirs;
      try {
        theirs = await get('tuned', {...asked(), point: there.point});
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

  const open = () => {
    const trial = best[Number(pick.value)];
    texts = null;
    replace(chips, trial.point.split(' ').map(decision => el('span', {}, decision)));
    error.textContent = `${time(trial.timeUs)}, relative error ${trial.relError.toExponential(1)}.`;
    return show(shown in TEXTS ? shown : 'schedule');
  };
  replace(tabs, Object.entries({...TEXTS, ...ASKED}).map(([view, name]) => el('button', {type: 'button', 'data-view': view, onclick: () => show(view)}, name)));
  open();
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
