// Kernels: the texts of a folder, their CUDA C++, and the simulator's findings and counters.
import {attempt, el, field, get, number, post, replace} from './dom.js';

export function kernelView() {
  const list = el('div', {class: 'list'});
  const body = el('div', {class: 'content'});
  let buttons = [];

  const open = name => attempt(async () => {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.textContent === name));
    replace(body, el('p', {class: 'quiet'}, 'Printing…'));
    const data = await get('kernel', {name});
    const code = el('pre', {tabindex: 0});
    const views = {'Kernel text': data.text, [data.shape ? `CUDA C++ for ${data.shape}` : 'CUDA C++']: data.cuda};
    const tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'Form'}, Object.keys(views).map(view => el('button', {type: 'button', onclick: () => choose(view)}, view)));
    const choose = view => {
      code.textContent = views[view];
      for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.textContent === view));
    };
    choose('Kernel text');
    replace(body, el('section', {class: 'card'}, el('div', {class: 'row spread'}, el('h2', {}, data.names.join(', ')), tabs), code), simulator(name, data.text));
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
        const {id} = await post('simulate', {name, ...Object.fromEntries(Object.entries(inputs).map(([s, input]) => [s, input.value]))});
        for (;;) {
          const job = await get('job', {id});
          if (job.error) throw new Error(job.error);
          if (!job.running) {
            replace(out, el('pre', {tabindex: 0}, job.result.text), el('details', {}, el('summary', {}, 'All of the report'), el('pre', {tabindex: 0}, JSON.stringify(job.result.details, null, 1))));
            return;
          }
          await new Promise(resolve => setTimeout(resolve, 250));
        }
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

  const tuning = el('section', {class: 'card'}, el('h2', {}, 'Tuning runs'),
    el('div', {class: 'empty'}, el('p', {}, 'There are no tuning runs here yet.'),
      el('p', {class: 'quiet'}, 'Curves, winning schedules and their explain tables appear once kernels are tuned.')));
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Kernels'),
      el('p', {class: 'quiet'}, 'Kernels as text, the CUDA C++ that is printed from them, and what the simulator says of them.')),
    el('div', {class: 'side'}, el('section', {class: 'card'}, el('h2', {}, 'Kernels'), list), tuning),
    body);
  attempt(async () => {
    const data = await get('kernels');
    if (!data.kernels.length) {
      replace(list, el('div', {class: 'empty'}, `There are no kernels in ${data.folder}; start with --kernels FOLDER.`));
      return;
    }
    buttons = data.kernels.map(name => el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => open(name)}, name));
    replace(list, buttons);
    await open(data.kernels[0]);
  });
  return {element};
}
