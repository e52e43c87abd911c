// The order of a board on the GPU: time and counters beside what is predicted of it. From a search to a file, to a measurement, to a board.
import {attempt, bytesLike, download, el, finished, get, hitsOf, percent, post, replace, timesLike} from './dom.js';
import {items} from './model.js';
import {orderText} from './files.js';

/** What a terminal runs for an order, where the GPU is. */
const command = p => `warpwright order measure M=${p.shape.m} N=${p.shape.n} K=${p.shape.k}${p.shape.n2 ? ` N2=${p.shape.n2}` : ''} dtype=${p.shape.dtype} tile=${p.shape.tm}x${p.shape.tn} file=order.txt`;

const shapeText = s => [s.m, s.n, s.k, ...(s.n2 ? [s.n2] : [])].join(' × ');

/** @param board gives the board whose order is measured */
export function runCard(board) {
  const told = el('p', {class: 'quiet', 'aria-live': 'polite'});
  const out = el('div', {});
  const start = el('button', {type: 'button', class: 'first'}, 'Measure this order');
  const cancel = el('button', {type: 'button', disabled: true}, 'Cancel');
  const save = el('button', {type: 'button', onclick: () => attempt(() => {
    const {problem, order} = ready();
    download('order.txt', `${orderText(problem, order)}\n`, 'text/plain');
    replace(out, el('pre', {tabindex: 0}, command(problem)));
  })}, 'Command for it');
  const actions = el('div', {class: 'row'}, save);

  const ready = () => {
    const {problem, order} = board();
    if (!problem.shape) throw new Error('a measurement needs a shape: choose Shape, not Blocks');
    if (order.length < items(problem)) throw new Error('the order is not complete: every tile has to be in it');
    return {problem, order};
  };
  start.onclick = () => attempt(async () => {
    const {problem: p, order} = ready();
    start.disabled = true;
    cancel.disabled = false;
    try {
      const result = await finished('measure', {M: p.shape.m, N: p.shape.n, K: p.shape.k, dtype: p.shape.dtype, tile: `${p.shape.tm}x${p.shape.tn}`,
        ...(p.chained ? {N2: p.shape.n2} : {}),
        order: `explicit:${order.map(t => `${t.row},${t.column}${p.chained ? `,${t.gemm}` : ''}${p.parts > 1 && t.gemm ? `,${t.part}` : ''}`).join(';')}`, counters: 'yes'},
      {started: id => (cancel.onclick = () => attempt(() => post('cancel', {id}))), told: progress => { told.textContent = `Measuring: ${progress}…`; }});
      if (result.cancelled) {
        told.textContent = 'Cancelled.';
        return;
      }
      const [m] = result.measurements;
      told.textContent = m.failure ? `Wrong: ${m.failure}` : `${shapeText(p.shape)}, ${p.shape.dtype}, on ${m.device}: the result is verified, relative error ${m.relError.toExponential(1)}.`;
      const row = (name, measured, predicted) => el('tr', {}, el('td', {}, name), el('td', {class: 'n'}, measured), el('td', {class: 'n'}, predicted));
      const moved = x => (x ? x.dramReadBytes + x.dramWriteBytes : NaN);
      const times = timesLike([m.timeUs, m.ncu?.timeUs, m.predicted?.timeUs]);
      const sizes = bytesLike([moved(m.ncu), moved(m.predicted)]);
      const idle = m.timeline?.idle ?? m.idle;
      replace(out, el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, ''), el('th', {class: 'n'}, 'measured'), el('th', {class: 'n'}, 'predicted'))),
        el('tbody', {}, row('in a graph', times(m.timeUs), '–'),
          row('one launch', times(m.ncu?.timeUs), times(m.predicted?.timeUs)),
          row('memory', sizes(moved(m.ncu)), sizes(moved(m.predicted))),
          row('L2 hits', m.ncu ? percent(m.ncu.hitRate) : '–', m.predicted ? hitsOf(m.predicted) : '–'),
          row('idle', idle === undefined ? '–' : percent(idle), m.predicted?.idle === undefined ? '–' : percent(m.predicted.idle))))));
    } catch (e) {
      told.textContent = e.message;
      throw e;
    } finally {
      start.disabled = false;
      cancel.disabled = true;
    }
  });
  attempt(async () => {
    const {gpu, why} = await get('gpu');
    if (gpu) replace(actions, start, cancel, save);
    told.textContent = gpu ? `As it is on the board, on ${gpu}.` : `Nothing can be measured here: ${why}.`;
  });
  return el('section', {class: 'card', 'aria-label': 'On the GPU'}, el('h2', {}, 'On the GPU'), told, actions, out);
}
