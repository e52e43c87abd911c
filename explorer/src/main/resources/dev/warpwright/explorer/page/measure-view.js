// Measured on a GPU: this machine's, where there is one, or what an H200 said, which comes along.
import {attempt, bytesLike, el, finished, get, hitsOf, percent, post, replace, timesLike} from './dom.js';
import {timelines} from './timeline.js';

/**
 * @param asked gives the shape, the type and the chosen tile, as parameters of a request
 * @param go shows another shape
 */
export function measureCard(asked, go) {
  const what = el('p', {class: 'quiet'});
  const actions = el('div', {class: 'row'});
  const table = el('div', {class: 'content'});
  const lines = el('div', {class: 'content'});
  const shapes = el('div', {class: 'row'});
  let state = null;
  let latest = 0;

  const show = (measurements, heading) => {
    what.textContent = heading;
    if (!measurements.length) {
      replace(table);
      replace(lines);
      return;
    }
    const error = (p, value) => (p ? el('small', {class: 'quiet'}, ` ${p > value ? '+' : '−'}${Math.abs(100 * (p / value - 1)).toFixed(0)} %`) : null);
    const pair = (value, predicted, text) => [el('td', {class: 'n'}, text(value)), el('td', {class: 'n'}, predicted === undefined ? '–' : [text(predicted), error(predicted, value)])];
    const all = key => measurements.flatMap(m => [m.ncu?.[key] ?? 0, m.predicted?.[key] ?? 0]);
    const time = timesLike([...measurements.map(m => m.timeUs ?? 0), ...all('timeUs')]);
    const memory = m => (m ? m.dramReadBytes + m.dramWriteBytes : 0);
    const bytes = bytesLike(measurements.flatMap(m => [memory(m.ncu), memory(m.predicted)]));
    const none = [el('td', {class: 'n'}, '–'), el('td', {class: 'n'}, '–')];
    replace(table, el('div', {class: 'scroll'}, el('table', {},
      el('caption', {}, `${measurements[0].device}, ${measurements[0].on}: random data, every result verified; in a graph: back to back, the clock falling as the GPU warms up; the rest is one launch by ncu with cold caches`),
      el('thead', {}, el('tr', {}, ['tile', 'order', 'kernel'].map(t => el('th', {}, t)), ['in a graph', 'one launch', 'predicted', 'memory', 'predicted', 'L2 hits', 'predicted', 'idle'].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, measurements.map(m => el('tr', {}, el('td', {}, m.tile), el('td', {}, m.order), el('td', {}, m.kernel),
        m.failure ? el('td', {colspan: 8}, `wrong: ${m.failure}`) : [
          el('td', {class: 'n'}, m.timeUs === undefined ? '–' : time(m.timeUs)),
          m.ncu ? pair(m.ncu.timeUs, m.predicted?.timeUs, time) : [none[0], el('td', {class: 'n'}, m.predicted ? time(m.predicted.timeUs) : '–')],
          m.ncu ? pair(m.ncu.dramReadBytes + m.ncu.dramWriteBytes, m.predicted && m.predicted.dramReadBytes + m.predicted.dramWriteBytes, bytes) : none,
          m.ncu ? [el('td', {class: 'n'}, percent(m.ncu.hitRate)), el('td', {class: 'n'}, m.predicted ? hitsOf(m.predicted) : '–')] : none,
          el('td', {class: 'n'}, m.timeline ? percent(m.timeline.idle) : '–')].flat()))))));
    replace(lines, timelines(measurements));
  };

  const measure = () => attempt(async () => {
    const mine = ++latest;
    start.disabled = true;
    cancel.disabled = false;
    try {
      what.textContent = 'Measuring…';
      const result = await finished('measure', {...asked(), order: 'row,column,grouped:4,grouped:8,hilbert,morton', counters: counted.checked ? 'yes' : 'no'}, {
        started: id => (cancel.onclick = () => attempt(() => post('cancel', {id}))),
        told: progress => { if (mine === latest) what.textContent = `Measuring: ${progress}…`; },
      });
      if (mine !== latest) return;
      if (result.cancelled) what.textContent = 'Cancelled.';
      else show(result.measurements, 'Measured here, beside the prediction.');
    } catch (e) {
      if (mine === latest) what.textContent = e.message;
      throw e;
    } finally {
      start.disabled = false;
      cancel.disabled = true;
    }
  });
  const start = el('button', {type: 'button', class: 'first', onclick: measure}, 'Measure this tile');
  const cancel = el('button', {type: 'button', disabled: true}, 'Cancel');
  const counted = el('input', {type: 'checkbox', checked: true});

  /** Another shape was chosen: shows what is recorded of it. */
  const load = async () => {
    const mine = ++latest;
    if (!state) {
      state = await get('gpu');
      replace(actions, state.gpu ? [start, cancel, el('label', {class: 'check'}, counted, 'count by ncu')] : el('p', {class: 'quiet'}, `Nothing can be measured here: ${state.why}. What an H200 said comes along.`));
    }
    const {M, N, K, dtype} = asked();
    const {measurements} = await get('recorded', {M, N, K, dtype});
    if (mine !== latest) return;
    show(measurements, measurements.length ? 'Recorded, not measured here.' : 'Nothing is recorded of this shape.');
    replace(shapes, state.recorded.length ? [el('span', {class: 'quiet'}, 'Recorded:'), state.recorded.map(s =>
      el('button', {type: 'button', 'aria-pressed': String([s.M, s.N, s.K].join() === [M, N, K].map(Number).join()), onclick: () => go(s)}, `${s.M} × ${s.N} × ${s.K}`))].flat() : []);
  };
  return {element: el('section', {class: 'card', 'aria-label': 'On the GPU'}, el('h2', {}, 'On the GPU'), actions, what, shapes, table, lines), load};
}
