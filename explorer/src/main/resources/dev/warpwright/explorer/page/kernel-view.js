// Kernels: the texts of a folder, their CUDA C++, and the simulator's findings and counters; tuning runs.
import {keys, lineChart} from './charts.js';
import {recordCard} from './record-view.js';
import {attempt, count, el, field, finished, get, number, numberOf, replace, time} from './dom.js';
import {filterOf, sideBySide} from './levels.js';

export function kernelView() {
  const list = el('div', {class: 'list'});
  const body = el('div', {class: 'content'});
  let buttons = [];

  const open = name => attempt(async () => {
    const button = buttons.find(button => button.textContent === name);
    press(button);
    replace(body, el('p', {class: 'quiet'}, 'Printing…'));
    const data = await get('kernel', {name});
    if (pressed !== button) return;
    const code = el('pre', {tabindex: 0});
    const views = {'Kernel text': data.text, [data.shape ? `CUDA C++ for ${data.shape}` : 'CUDA C++']: data.cuda};
    const tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'Form'}, Object.keys(views).map(view => el('button', {type: 'button', onclick: () => choose(view)}, view)));
    const choose = view => {
      code.textContent = views[view];
      code.hidden = false;
      replace(both);
      for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.textContent === view));
    };
    const both = el('div', {});
    tabs.append(el('button', {type: 'button', onclick: () => {
      for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab === tabs.lastChild));
      code.hidden = true;
      replace(both, sideBySide({'Kernel text': data.text, 'CUDA C++': data.cuda}, 'Kernel text', 'CUDA C++'));
    }}, 'Side by side'));
    choose('Kernel text');
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
  const kernelFilter = filterOf(list, 'Filter kernels');
  const runFilter = filterOf(runs, 'Filter tuning runs');
  const tuning = el('section', {class: 'card'}, el('h2', {}, 'Tuning runs'), runFilter.input, runs);
  // The last choice is what is shown, however late the answer to an earlier one comes.
  let pressed = null;
  const press = button => {
    pressed = button;
    for (const other of [...list.children, ...runs.children]) other.setAttribute('aria-pressed', String(other === button));
  };

  const openRun = (run, button) => attempt(async () => {
    press(button);
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
    replace(body, el('section', {class: 'card'}, content), good.length ? recordCard(run, good) : []);
  });

  const showRuns = data => {
    if (!data.runs.length) {
      replace(runs, el('div', {class: 'empty'}, el('p', {}, 'There are no tuning runs here yet.'),
        el('p', {class: 'quiet'}, `warpwright tune writes them to ${data.database}.`)));
      return;
    }
    if (data.shipped) runs.before(el('p', {class: 'quiet'}, `These come with Warpwright, measured on an H200; warpwright tune writes its own to ${data.database}.`));
    replace(runs, data.runs.map(run => {
      const button = el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => openRun(run, button)}, run.workload,
        el('small', {}, ` ${run.device}, ${run.bestUs === null ? 'no time' : time(run.bestUs)}`));
      return button;
    }));
    runFilter.apply();
  };

  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Kernels'),
      el('p', {class: 'quiet'}, 'Kernels as text, the CUDA C++ that is printed from them, and what the simulator says of them.')),
    el('div', {class: 'side'}, el('section', {class: 'card'}, el('h2', {}, 'Kernels'), kernelFilter.input, list), tuning),
    body);
  attempt(async () => showRuns(await get('tuning')));
  attempt(async () => {
    const data = await get('kernels');
    if (!data.kernels.length) {
      replace(list, el('div', {class: 'empty'}, `There are no kernels in ${data.folder}; start with --kernels FOLDER.`));
      return;
    }
    buttons = data.kernels.map(name => el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => open(name)}, name));
    replace(list, buttons);
    kernelFilter.apply();
    if (!pressed) await open(data.kernels[0]);
  });
  return {element};
}
