// Roofline: where a workload stands on each device.
import {keys, lineChart, roofChart} from './charts.js';
import {attempt, bytesLike, choice, count, download, el, field, get, latestOnly, number, numberOf, percent, post, replace, standalone, time, timesLike} from './dom.js';
import {stairsCard} from './stairs.js';
import {keepState, stateOf, table as csvOf} from './state.js';

const FILE = 'file';
const KINDS = {
  gemm: [['M', 16], ['N', 14336], ['K', 4096]],
  ffn: [['M', 256], ['D', 4096], ['H', 14336], ['gated', 1]],
  attention: [['M', 1], ['S', 16384], ['heads', 32], ['kv', 8], ['d', 128], ['batch', 1]],
  'model=llama3-8b': [['M', 64], ['batch', 64], ['S', 2048]],
  'model=llama2-13b': [['M', 64], ['batch', 64], ['S', 2048]],
  'model=llama3-70b': [['M', 64], ['batch', 64], ['S', 2048]],
  'model=gpt3': [['M', 2048], ['batch', 1], ['S', 2048]],
  [FILE]: [['M', 64]],
};
const MODEL_FORM = '{"name": "mine", "layers": [{"name": "up", "N": 13824, "K": 5120, "times": 40}]}';
const DEVICE_FORM = '{"name": "mine", "like": "a100", "SMs": 96, "GBs": 1600, "L2MiB": 32}';
const WAITS = {memory: 'memory', compute: 'arithmetic'};
const LONGEST_KEPT = 4000;
const LONGEST_FILE = 32 << 10;
const FIRST = ['a100', 'a40', '4090', 'h200'];
const TYPES = ['f32', 'tf32', 'f16', 'bf16', 'e4m3', 'int8'];

/** A button that puts a file's text into a field. */
function fileField(name, target) {
  const file = el('input', {type: 'file', hidden: true, 'aria-label': name, accept: '.json,application/json', onchange: event => {
    event.stopPropagation();
    attempt(async () => {
      if (file.files[0]?.size > LONGEST_FILE) throw new Error('the file is too large, at most 32 kB');
      target.value = (await file.files[0]?.text()) ?? '';
      file.value = '';
      target.dispatchEvent(new Event('change', {bubbles: true}));
    });
  }});
  return el('div', {class: 'row'}, el('button', {type: 'button', onclick: () => file.click()}, name), file);
}

export function rooflineView(address) {
  let asked = stateOf(address);
  const kind = choice(Object.keys(KINDS).map(k => [k, k === FILE ? 'my model file' : k.replace('model=', '')]), Object.hasOwn(KINDS, asked.kind) ? asked.kind : 'ffn', {onchange: () => fields()});
  const dtype = choice(TYPES, TYPES.includes(asked.dtype) ? asked.dtype : 'bf16');
  const values = el('div', {class: 'pair'});
  const gpus = el('div', {class: 'content', role: 'group', 'aria-label': 'Devices', onchange: () => load()});
  const notes = el('div', {class: 'content'});
  const chart = el('div', {class: 'content'});
  const table = el('div', {class: 'content'});
  let inputs = {};
  let data = null;
  let model = asked.model ?? '';
  let device = asked.device ?? '';
  const stairs = stairsCard(asked, () => keep());
  const modelField = el('textarea', {rows: 4, spellcheck: 'false', 'aria-label': 'Model', placeholder: MODEL_FORM, onchange: () => { model = modelField.value; }});
  const deviceField = el('textarea', {rows: 3, spellcheck: 'false', 'aria-label': 'Device of your own', placeholder: DEVICE_FORM, onchange: () => { device = deviceField.value; load(); }});
  modelField.value = model;
  deviceField.value = device;
  const modelCard = el('div', {class: 'content', hidden: true}, fileField('Load a model file', modelField), modelField);

  const fields = () => {
    inputs = {};
    modelCard.hidden = kind.value !== FILE;
    replace(values, KINDS[kind.value].map(([name, value]) => {
      inputs[name] = number(asked[name] ?? value, name === 'gated' ? 0 : 1, name === 'gated' ? 1 : 1e9);
      return field(name, inputs[name]);
    }));
  };

  const chosen = () => [...gpus.querySelectorAll('input:checked')].map(box => box.value);
  const keep = () => {
    const kept = text => (text && text.length < LONGEST_KEPT ? text : undefined);
    const own = {...(kind.value === FILE && kept(model) ? {model} : {}), ...(kept(device) ? {device} : {})};
    keepState('roofline', {kind: kind.value, ...own, ...Object.fromEntries(Object.entries(inputs).map(([k, i]) => [k, i.value])), dtype: dtype.value, gpus: chosen().join(','), ...stairs.state()});
  };
  const load = latestOnly(async current => {
    const devices = chosen();
    keep();
    if (!devices.length && !device) {
      replace(chart, el('div', {class: 'empty'}, 'Choose a device.'));
      replace(table);
      replace(notes);
      return;
    }
    if (kind.value === FILE && !model.trim()) {
      replace(chart, el('div', {class: 'empty'}, 'Write a model, or load its file.'));
      replace(table);
      replace(notes);
      return;
    }
    const answer = await ask(words());
    if (!current()) return;
    data = answer;
    draw();
    await sweep(current);
  });

  const words = (changed = {}) => [...(kind.value === FILE ? [] : [kind.value]), ...Object.entries(inputs).map(([k, i]) => `${k}=${changed[k] ?? numberOf(i)}`), `dtype=${dtype.value}`,
    ...(chosen().length ? [`gpu=${chosen().join(',')}`] : [])].join(' ');
  const ask = words => {
    const files = {...(kind.value === FILE ? {model} : {}), ...(device.trim() ? {device} : {})};
    return Object.keys(files).length ? post('analyze', {words, ...files}) : get('analyze', {words});
  };

  /** How the whole climbs with its rows. */
  const sweep = async current => {
    const most = 2 ** Math.ceil(Math.log2(Math.max(4096, Number(inputs.M.value))));
    // What is decoded comes in whole batches: one token for each sequence.
    const swept = inputs.batch && kind.value !== 'attention' ? words({M: `1..${most}`, batch: 1}) : words({M: `1..${most}`});
    const answer = await ask(swept);
    if (!current()) return;
    const points = answer.devices.flatMap(d => d.points.flatMap(p => [p.boundUs, p.predictedUs]));
    replace(climb, el('h2', {}, `Over M, ${kind.value.replace('model=', '')}, ${dtype.value}`),
      el('p', {class: 'quiet'}, 'All parts, fused: predicted as a line, at least as dots. Where it is flat, more rows cost nothing: the weights are what is waited for.'),
      keys(answer.devices.map(d => d.gpu)), lineChart({
        x: {from: 1, to: most, log: true, text: v => count(v), name: 'M'},
        y: {from: Math.min(...points) * 0.8, to: Math.max(...points) * 1.2, log: true, text: time, name: 'time'}, label: 'Time over M', height: 280,
        series: answer.devices.map(d => ({name: d.gpu, points: d.points.map(p => [p.at, p.predictedUs]), dots: d.points.map(p => [p.at, p.boundUs, `${d.gpu}, M=${p.at}: at least ${time(p.boundUs)}, ${p.boundBy} bound; predicted ${time(p.predictedUs)}${p.fits ? '' : '; does not fit'}`])}))}),
      el('div', {class: 'row'}, button('CSV', () => download('over-m.csv', csvOf([['gpu', 'M', 'boundUs', 'predictedUs', 'boundBy', 'fits'],
        ...answer.devices.flatMap(d => d.points.map(p => [d.gpu, p.at, p.boundUs, p.predictedUs, p.boundBy, p.fits]))]), 'text/csv')),
      button('SVG', () => download('over-m.svg', standalone(climb.querySelector('svg')), 'image/svg+xml'))));
  };

  /** What a device waits for, and in which parts. */
  const waitsOf = d => {
    const parts = d.parts.filter(p => !p.vanishesWhenFused);
    const all = parts.reduce((sum, p) => sum + p.boundUs * p.times, 0);
    const by = Object.entries(Object.groupBy(parts, p => p.boundBy)).map(([what, some]) => ({what: WAITS[what] ?? what, names: some.map(p => p.name), part: some.reduce((sum, p) => sum + p.boundUs * p.times, 0) / all}));
    const [most, ...others] = by.sort((a, b) => b.part - a.part);
    return `${d.gpu} waits for ${most.what} ${percent(most.part)} of the least time, in ${most.names.join(', ')}${others.map(o => `; for ${o.what} ${percent(o.part)}, in ${o.names.join(', ')}`).join('')}.`;
  };

  const draw = () => {
    replace(notes, data.notes.map(note => el('p', {class: 'note'}, `${note}.`)));
    replace(chart, el('h2', {}, `${data.workload}, ${data.dtype}`), keys(data.devices.map(d => d.gpu)),
      roofChart(data.devices.map(d => ({name: d.gpu, peak: d.peak, bandwidth: d.bandwidth,
        points: d.parts.map(p => ({x: p.intensity, label: p.name, flops: p.flops, bound: p.boundUs, predicted: p.best?.timeUs, measured: p.measuredUs,
          name: `${p.name}, ${p.boundBy} bound, at least ${time(p.boundUs)}`}))}))),
      el('div', {class: 'keys'}, el('span', {}, el('i', {class: 'mark bound'}), 'the bound'), el('span', {}, el('i', {class: 'mark predicted'}), 'predicted'), el('span', {}, el('i', {class: 'mark measured'}), 'measured')));
    replace(table, el('div', {class: 'content', role: 'note', 'aria-label': 'What is waited for'}, data.devices.map(d => el('p', {}, waitsOf(d)))), data.devices.map(d => {
      const times = timesLike(d.parts.flatMap(p => [p.boundUs * p.times, p.best ? p.best.timeUs * p.times : 0]));
      const sizes = bytesLike(d.parts.flatMap(p => [p.best ? p.best.dramReadBytes + p.best.dramWriteBytes : p.bytes, p.l2Bytes ?? 0]));
      return el('div', {class: 'scroll'}, el('table', {class: 'fits'},
        el('caption', {}, `${d.gpu}: all parts, fused, at least ${time(d.boundUs)}`, d.fits === false ? el('b', {class: 'wrong'}, ` does not fit: ${sizeOf(d.needBytes)} of ${sizeOf(d.memoryBytes)}`) : null,
          d.extrapolated ? ' (the model was fitted on another device)' : ''),
        el('thead', {}, el('tr', {}, el('th', {}, 'part'), el('th', {}, 'bound by'), ['times', 'at least', 'ops a byte', 'tile', 'waves', 'idle', 'predicted', 'memory', 'L2 to SM', 'L2 hits'].map(t => el('th', {class: 'n'}, t)))),
        el('tbody', {}, d.parts.map(p => el('tr', {},
          el('td', {}, p.name, p.vanishesWhenFused ? el('small', {}, ' unless fused') : null),
          el('td', {}, el('span', {class: `tag ${p.boundBy}`}, p.boundBy)),
          [count(p.times), times(p.boundUs * p.times), p.intensity.toFixed(p.intensity < 10 ? 1 : 0), p.best?.tile ?? '', p.best ? count(p.best.waves) : '',
            p.best ? percent(p.best.tail) : '', p.best ? times(p.best.timeUs * p.times) : '', sizes(p.best ? p.best.dramReadBytes + p.best.dramWriteBytes : p.bytes),
            p.l2Bytes === undefined ? '' : sizes(p.l2Bytes), p.best ? percent(p.best.hitRate) : '']
            .map(text => el('td', {class: 'n'}, text)))))));
    }));
  };
  const sizeOf = value => bytesLike([value])(value);

  const climb = el('div', {class: 'content'});
  const button = (text, action) => el('button', {type: 'button', onclick: () => attempt(action)}, text);
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Roofline'),
      el('p', {class: 'quiet'}, 'Which parts of a workload are bound by memory and which by arithmetic, on the devices of the catalogue; how near the model expects kernels to come, and how near measured ones came.')),
    el('div', {class: 'side'},
      el('form', {class: 'card', onsubmit: event => event.preventDefault(), onchange: () => load()}, el('h2', {}, 'Workload'), field('Kind', kind), modelCard, values, field('Type', dtype),
        el('div', {class: 'row'},
          button('CSV', () => download('roofline.csv', csvOf([['gpu', 'part', 'times', 'flops', 'bytes', 'boundUs', 'boundBy', 'predictedUs', 'measuredUs', 'l2Bytes'],
            ...data.devices.flatMap(d => d.parts.map(p => [d.gpu, p.name, p.times, p.flops, p.bytes, p.boundUs, p.boundBy, p.best?.timeUs, p.measuredUs, p.l2Bytes]))]), 'text/csv')),
          button('SVG', () => download('roofline.svg', standalone(chart.querySelector('svg')), 'image/svg+xml')))),
      el('section', {class: 'card'}, el('h2', {}, 'Devices'), gpus, el('h3', {}, 'Your own'), fileField('Load a device file', deviceField), deviceField)),
    el('div', {class: 'content'}, el('section', {class: 'card'}, notes, chart, table), el('section', {class: 'card', 'aria-label': 'Over M'}, climb), stairs.element));
  fields();
  const ready = attempt(async () => {
    const {devices} = await get('devices');
    const wanted = asked.gpus?.split(',') ?? FIRST;
    replace(gpus, devices.map(d => el('label', {class: 'check'}, el('input', {type: 'checkbox', value: d.id, checked: wanted.includes(d.id)}), d.name)));
    stairs.devices(devices);
    await Promise.all([load(), stairs.load()]);
  });
  let last = address;
  return {
    element,
    open: async address => {
      await ready;
      if (!address || address === last) return keep();
      last = address;
      asked = stateOf(address);
      if (Object.hasOwn(KINDS, asked.kind)) kind.value = asked.kind;
      if (TYPES.includes(asked.dtype)) dtype.value = asked.dtype;
      modelField.value = model = asked.model ?? '';
      deviceField.value = device = asked.device ?? '';
      fields();
      const wanted = asked.gpus?.split(',');
      if (wanted) for (const box of gpus.querySelectorAll('input')) box.checked = wanted.includes(box.value);
      stairs.put(asked);
      return Promise.all([load(), stairs.load()]);
    },
  };
}
