// Kernels: the texts of a folder, their CUDA C++, and the simulator's findings and counters; tuning runs.
import {keys, lineChart} from './charts.js';
import {recordCard} from './record-view.js';
import {attempt, count, download, el, field, finished, get, number, numberOf, replace, standalone, time} from './dom.js';
import {filterOf, sideBySide} from './levels.js';
import {keepState, stateOf, table} from './state.js';

/** So many candidates are a run, not only its winners. */
const WHOLE = 10;

const FORMS = {text: 'Kernel text', cuda: 'CUDA C++', both: 'Side by side'};

export function kernelView(address) {
  const list = el('div', {class: 'list'});
  const body = el('div', {class: 'content'});
  let buttons = [];

  /** What is shown, as the address says it. */
  let shown = {};
  const keep = () => keepState('kernels', {...shown, ...(kernelFilter.input.value ? {kernels: kernelFilter.input.value} : {}), ...(runFilter.input.value ? {runs: runFilter.input.value} : {})});
  const remember = changes => {
    Object.assign(shown, changes);
    for (const key of Object.keys(shown)) if (shown[key] === undefined) delete shown[key];
    keep();
  };

  const open = (name, form = 'text') => attempt(async () => {
    const button = buttons.find(button => button.textContent === name);
    press(button);
    shown = {};
    remember({kernel: name, form});
    replace(body, el('p', {class: 'quiet'}, 'Printing…'));
    const data = await get('kernel', {name});
    if (pressed !== button) return;
    const code = el('pre', {tabindex: 0});
    const names = {...FORMS, cuda: data.shape ? `${FORMS.cuda} for ${data.shape}` : FORMS.cuda};
    const tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'Form'}, Object.entries(names).map(([view, name]) => el('button', {type: 'button', 'data-view': view, onclick: () => choose(view)}, name)));
    const both = el('div', {});
    const choose = view => {
      code.textContent = data[view] ?? '';
      code.hidden = view === 'both';
      replace(both, view === 'both' ? sideBySide({[FORMS.text]: data.text, [FORMS.cuda]: data.cuda}, FORMS.text, FORMS.cuda) : []);
      for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.dataset.view === view));
      remember({form: view});
    };
    choose(Object.hasOwn(FORMS, form) ? form : 'text');
    replace(body, el('section', {class: 'card'}, el('div', {class: 'row spread'}, el('h2', {}, data.names.join(', ')), tabs), code, both), simulator(name, data.text));
  });

  const simulator = (name, text) => {
    const scalars = [...text.matchAll(/\b([A-Z][A-Z0-9]*): i32 in (\d+)\.\.(\d+)/g)].filter(m => m[1] !== 'T');
    const small = (least, most, name) => Math.max(least, Math.min(most, name.startsWith('K') ? 64 : 128));
    const inputs = Object.fromEntries(scalars.map(([, s, least, most]) => [s, number(small(Number(least), Number(most), s), least, Math.min(4096, most))]));
    const out = el('div', {class: 'content'});
    const start = el('button', {type: 'button', class: 'first'}, 'Simulate');
    start.onclick = () => attempt(async () => {
      start.disabled = true;
      replace(out, el('p', {class: 'quiet'}, 'Simulating: every access is checked, so this takes a while…'));
      try {
        const result = await finished('simulate', {name, ...Object.fromEntries(Object.entries(inputs).map(([s, input]) => [s, numberOf(input)]))});
        replace(out, el('pre', {tabindex: 0}, result.text), el('details', {}, el('summary', {}, 'All of the report'), el('pre', {tabindex: 0}, JSON.stringify(result.details, null, 1))));
      } catch (e) {
        replace(out, el('p', {class: 'quiet'}, e.message));
      } finally {
        start.disabled = false;
      }
    });
    return el('section', {class: 'card'}, el('h2', {}, 'Simulator'),
      el('p', {class: 'quiet'}, 'Runs the kernel on random data under the sanitizers: bounds, races, barriers, fences, deadlocks.'),
      el('div', {class: 'three'}, Object.entries(inputs).map(([s, input]) => field(s, input))), el('div', {class: 'row'}, start), out);
  };

  const runs = el('div', {class: 'list'});
  const kernelFilter = filterOf(list, 'Filter kernels', () => keep());
  const runFilter = filterOf(runs, 'Filter tuning runs', () => keep());
  const tuning = el('section', {class: 'card'}, el('h2', {}, 'Tuning runs'), runFilter.input, runs);
  // The last choice is what is shown, however late the answer to an earlier one comes.
  let pressed = null;
  const press = button => {
    pressed = button;
    for (const other of [...list.children, ...runs.children]) other.setAttribute('aria-pressed', String(other === button));
  };

  const openRun = (run, button, asked = {}) => attempt(async () => {
    press(button);
    shown = {};
    remember({...asked, workload: run.workload, device: run.device});
    const data = await get('tuning-run', {workload: run.workload, device: run.device});
    if (pressed !== button) return;
    const good = data.trials.map((t, i) => ({...t, number: i + 1})).filter(t => t.timeUs !== undefined);
    const failures = Object.entries(Object.groupBy(data.trials.filter(t => t.failure), t => t.failure));
    const content = [el('h2', {}, run.workload), el('p', {class: 'quiet'}, `${run.device}: ${count(run.trials)} candidates, ${count(run.failures)} without a time${failures.length ? ` (${failures.map(([why, some]) => `${why} ${some.length}`).join(', ')})` : ''}.`)];
    if (good.length) {
      let best = Infinity;
      const curve = good.map(t => [t.number, (best = Math.min(best, t.timeUs))]);
      const times = good.map(t => t.timeUs);
      content.push(keys(['best so far', 'candidate']), lineChart({
        x: {from: 0, to: data.trials.length, text: v => count(v), name: 'candidate'},
        y: {from: Math.min(...times) * 0.9, to: Math.max(...times) * 1.1, log: Math.max(...times) > 20 * Math.min(...times), text: time, name: 'time'},
        steps: true, label: 'Time of the candidates, and the best so far',
        series: [{name: 'best so far', points: curve}, {name: 'candidate', dotsOnly: true, points: good.map(t => [t.number, t.timeUs, `${time(t.timeUs)}: ${t.point}`])}],
      }));
    }
    const card = el('section', {class: 'card', 'aria-label': 'Tuning run'}, content);
    const save = (text, action) => el('button', {type: 'button', onclick: action}, text);
    card.append(el('div', {class: 'row'},
      save('CSV', () => download('tuning-run.csv', table([['candidate', 'timeUs', 'relError', 'failure', 'at', 'point'], ...data.trials.map((t, i) => [i + 1, t.timeUs, t.relError, t.failure, t.at, t.point])]), 'text/csv')),
      good.length ? save('SVG', () => download('tuning-run.svg', standalone(card.querySelector('svg')), 'image/svg+xml')) : null));
    replace(body, card, good.length ? recordCard(run, good, asked, remember) : []);
  });

  let known = [];
  const showRuns = data => {
    // Whole runs have a curve; of others the winner came along.
    known = data.runs.toSorted((a, b) => (b.trials >= WHOLE) - (a.trials >= WHOLE));
    if (!data.runs.length) {
      replace(runs, el('div', {class: 'empty'}, el('p', {}, 'There are no tuning runs here yet.'),
        el('p', {class: 'quiet'}, `warpwright tune writes them to ${data.database}.`)));
      return;
    }
    if (data.shipped) runs.before(el('p', {class: 'quiet'}, `These come with Warpwright, measured on an H200; warpwright tune writes its own to ${data.database}.`));
    replace(runs, known.map(run => {
      const button = el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => openRun(run, button)}, run.workload,
        el('small', {}, ` ${run.device}, ${run.bestUs === null ? 'no time' : time(run.bestUs)}, ${count(run.trials)} candidate${run.trials === 1 ? '' : 's'}`));
      return button;
    }));
    runFilter.apply();
  };

  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Kernels'),
      el('p', {class: 'quiet'}, 'Kernels as text, the CUDA C++ that is printed from them, and what the simulator says of them.')),
    el('div', {class: 'side'}, el('section', {class: 'card'}, el('h2', {}, 'Kernels'), kernelFilter.input, list), tuning),
    body);
  /** Shows what an address asks for; the first kernel if it asks for nothing. */
  const go = asked => {
    kernelFilter.input.value = asked.kernels ?? '';
    runFilter.input.value = asked.runs ?? '';
    kernelFilter.apply();
    runFilter.apply();
    const {kernels, runs: filter, kernel, form, workload, device, ...rest} = asked;
    const at = known.findIndex(run => run.workload === workload && run.device === device);
    if (at >= 0) return openRun(known[at], runs.children[at], rest);
    if (workload) attempt(() => { throw new Error('there is no such tuning run here'); });
    const names = buttons.map(button => button.textContent);
    const name = names.includes(kernel) ? kernel : names[0];
    return name ? open(name, form) : undefined;
  };
  const listRuns = attempt(async () => showRuns(await get('tuning')));
  const listKernels = attempt(async () => {
    const data = await get('kernels');
    if (!data.kernels.length) {
      replace(list, el('div', {class: 'empty'}, `There are no kernels in ${data.folder}; start with --kernels FOLDER.`));
      return;
    }
    buttons = data.kernels.map(name => el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => open(name)}, name));
    replace(list, buttons);
  });
  const ready = Promise.all([listRuns, listKernels]).then(() => (pressed ? undefined : go(stateOf(address))));
  let last = address;
  return {
    element,
    open: async address => {
      if (address === last) return;
      await ready;
      if (!address) return keep();
      last = address;
      return go(stateOf(address));
    },
  };
}
