// The search for the order with the least loads.
import {attempt, count, el, field, finished, number, numberOf, post} from './dom.js';

/** @param board gives the board that is searched for */
export function searchCard(board) {
  const seconds = number(20, 1, 600);
  const status = el('p', {class: 'quiet', 'aria-live': 'polite'}, 'Proven where it is small: about 6×7 tiles of one GEMM with one block of K, 4×4 with two, 3×3 chained. Others are improved until the time is over.');
  const start = el('button', {type: 'button', class: 'first'}, 'Find the best order');
  const cancel = el('button', {type: 'button', disabled: true}, 'Cancel');
  let id;
  start.onclick = () => attempt(async () => {
    const target = board();
    const p = target.problem;
    if (p.unit === 'B') throw new Error('the search counts blocks: choose Blocks, not Shape');
    const time = numberOf(seconds);
    start.disabled = true;
    cancel.disabled = false;
    try {
      const result = await finished('search', {grid: `${p.rows}x${p.columns}`, capacity: p.capacity, policy: p.policy, depth: p.depth,
        chained: p.chained, parts: p.parts, results: p.cached ? 'cached' : 'past', at: p.atOnce, seconds: time},
      {started: number => (id = number), told: progress => { status.textContent = `${count(progress.states)} states; between ${progress.lowerBound} and ${progress.loads} loads…`; }});
      show(target, p, result);
    } catch (e) {
      status.textContent = e.message;
      throw e;
    } finally {
      start.disabled = false;
      cancel.disabled = true;
    }
  });
  cancel.onclick = () => attempt(() => post('cancel', {id}));
  const show = (target, p, result) => {
    const order = result.path.map(([row, column, gemm, part]) => ({row, column, gemm: gemm ?? 0, part: part ?? 0}));
    // What was found belongs to the problem that was asked about, capacity and policy too.
    const stillThere = JSON.stringify(target.problem) === JSON.stringify(p);
    status.textContent = (result.proven
      ? `${result.loads} loads: proven, no order needs fewer${result.exact ? ` (${count(result.states)} states)` : ''}.`
      : `${result.loads} loads is the best found; no order needs fewer than ${result.lowerBound}.`) + (stillThere ? '' : ' The board has changed since, so it is left as it is.');
    if (!stillThere) return;
    target.set(order);
    if (result.proven) target.prove(p, result.loads);
  };
  return el('section', {class: 'card'}, el('h2', {}, 'Best order'), status,
    el('div', {class: 'pair'}, field('Seconds', seconds), el('div', {class: 'field'}, el('span', {'aria-hidden': 'true'}, '\u00a0'), cancel)), start);
}
