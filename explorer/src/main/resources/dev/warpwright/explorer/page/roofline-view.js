// Roofline and staircase: where a workload stands on each device, and how its time climbs with the waves.
import {keys, lineChart, roofChart} from './charts.js';
import {attempt, bytes, choice, count, el, field, get, number, percent, replace, time} from './dom.js';

const KINDS = {
  gemm: [['M', 16], ['N', 14336], ['K', 4096]],
  ffn: [['M', 256], ['D', 4096], ['H', 14336], ['gated', 1]],
  attention: [['M', 1], ['S', 16384], ['heads', 32], ['kv', 8], ['d', 128], ['batch', 1]],
  'model=llama3-8b': [['M', 64], ['batch', 64], ['S', 2048]],
  'model=llama3-70b': [['M', 64], ['batch', 64], ['S', 2048]],
  'model=gpt3': [['M', 2048], ['batch', 1], ['S', 2048]],
};
const FIRST = ['a100', 'a40', '4090', 'h200'];

export function rooflineView() {
  const kind = choice(Object.keys(KINDS).map(k => [k, k.replace('model=', '')]), 'ffn', {onchange: () => { fields(); load(); }});
  const dtype = choice(['f32', 'tf32', 'f16', 'bf16', 'e4m3', 'int8'], 'bf16', {onchange: () => load()});
  const values = el('div', {class: 'pair', onchange: () => load()});
  const gpus = el('div', {class: 'content', role: 'group', 'aria-label': 'Devices', onchange: () => load()});
  const chart = el('div', {class: 'content'});
  const table = el('div', {class: 'content'});
  const stairs = el('div', {class: 'content'});
  let inputs = {};

  const fields = () => {
    inputs = {};
    replace(values, KINDS[kind.value].map(([name, value]) => {
      inputs[name] = number(value, name === 'gated' ? 0 : 1, 1e9);
      return field(name, inputs[name]);
    }));
  };

  const load = () => attempt(async () => {
    const chosen = [...gpus.querySelectorAll('input:checked')].map(box => box.value);
    if (!chosen.length) {
      replace(chart, el('div', {class: 'empty'}, 'Choose a device.'));
      replace(table);
      return;
    }
    const words = [kind.value, ...Object.entries(inputs).map(([k, i]) => `${k}=${i.value}`), `dtype=${dtype.value}`, `gpu=${chosen.join(',')}`];
    const data = await get('analyze', {words: words.join(' ')});
    replace(chart, el('h2', {}, data.workload), keys(data.devices.map(d => d.gpu)),
      roofChart(data.devices.map(d => ({name: d.gpu, peak: d.peak, bandwidth: d.bandwidth,
        points: d.parts.map(p => ({x: p.intensity, name: `${p.name}, ${p.boundBy} bound, at least ${time(p.boundUs)}`}))}))));
    replace(table, data.devices.map(d => el('div', {class: 'scroll'}, el('table', {},
      el('caption', {}, `${d.gpu}: all parts, fused, at least ${time(d.boundUs)}`),
      el('thead', {}, el('tr', {}, el('th', {}, 'part'), el('th', {}, 'bound by'), ['times', 'at least', 'ops a byte', 'tile', 'waves', 'idle', 'predicted', 'memory', 'L2 hits'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, d.parts.map(p => el('tr', {},
        el('td', {}, p.name, p.vanishesWhenFused ? el('small', {}, ' unless fused') : null),
        el('td', {}, el('span', {class: `tag ${p.boundBy}`}, p.boundBy)),
        [count(p.times), time(p.boundUs * p.times), p.intensity.toFixed(p.intensity < 10 ? 1 : 0), p.best?.tile ?? '', p.best ? count(p.best.waves) : '',
          p.best ? percent(p.best.tail) : '', p.best ? time(p.best.timeUs * p.times) : '', bytes(p.best ? p.best.dramReadBytes + p.best.dramWriteBytes : p.bytes), p.best ? percent(p.best.hitRate) : '']
          .map(text => el('td', {class: 'n'}, text)))))))));
  });

  // The staircase.
  const s = {m: number(4096, 1, 1e6), n: number(4096, 1, 1e6), k: number(4096, 1, 1e6), along: choice(['M', 'N', 'K'], 'M'), last: number(8192, 128, 1e6),
    tile: choice(['64x64', '128x64', '64x128', '128x128', '128x256', '256x128', '256x256'], '128x256'), gpu: choice(['h200'], 'h200')};
  const climb = () => attempt(async () => {
    const data = await get('staircase', {M: s.m.value, N: s.n.value, K: s.k.value, along: s.along.value, last: s.last.value, tile: s.tile.value, gpu: s.gpu.value});
    const most = Math.max(...data.points.map(p => p.timeUs));
    const rates = data.points.map(p => [p.at, p.flops / p.timeUs / 1e6, `${s.along.value}=${p.at}: ${(p.flops / p.timeUs / 1e6).toFixed(0)} TFLOP/s, ${p.waves} waves`]);
    const x = {from: 0, to: data.points.at(-1).at, text: v => count(v), name: s.along.value};
    replace(steps,
      lineChart({x, y: {from: 0, to: most * 1.05, text: v => (v === 0 ? '0' : time(v)), name: 'time'}, steps: true, height: 250, label: 'Predicted time', series: [{name: 'time', points: data.points.map(p => [p.at, p.timeUs])}]}),
      lineChart({x, y: {from: 0, to: Math.max(...rates.map(r => r[1])) * 1.08, text: v => count(v), name: 'TFLOP/s'}, height: 210, label: 'Predicted rate', series: [{name: 'rate', points: rates}]}));
  });
  const steps = el('div', {class: 'content'});
  replace(stairs, el('h2', {}, 'Wave staircase'),
    el('p', {class: 'quiet'}, 'Predicted, with one tile size: each new round of tiles costs a step, and the rate falls where a round is nearly empty.'),
    el('form', {class: 'content', onsubmit: event => event.preventDefault(), onchange: climb},
      el('div', {class: 'three'}, field('M', s.m), field('N', s.n), field('K', s.k)),
      el('div', {class: 'three'}, field('Along', s.along), field('Up to', s.last), field('Tile', s.tile)),
      field('Device', s.gpu)), steps);

  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'}, el('h1', {}, 'Roofline'),
      el('p', {class: 'quiet'}, 'Which parts of a workload are bound by memory and which by arithmetic, on the devices of the catalogue. Points lie where a part would be that reaches its bound.')),
    el('div', {class: 'side'},
      el('form', {class: 'card', onsubmit: event => event.preventDefault()}, el('h2', {}, 'Workload'), field('Kind', kind), values, field('Type', dtype)),
      el('section', {class: 'card'}, el('h2', {}, 'Devices'), gpus)),
    el('div', {class: 'content'}, el('section', {class: 'card'}, chart, table), el('section', {class: 'card'}, stairs)));
  fields();
  attempt(async () => {
    const {devices} = await get('devices');
    replace(gpus, devices.map(d => el('label', {class: 'check'}, el('input', {type: 'checkbox', value: d.id, checked: FIRST.includes(d.id)}), d.name)));
    replace(s.gpu, devices.map(d => el('option', {value: d.id, selected: d.id === 'h200'}, d.name)));
    await Promise.all([load(), climb()]);
  });
  return {element};
}
