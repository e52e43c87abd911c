// Ready-made orders beside each other: what each loads, how often it reads each operand, and which one wins with which cache.
import {lineChart, keys} from './charts.js';
import {blocks, bounds, tilesOf} from './model.js';
import {simulate} from './cache.js';
import {CHAINED, nameOf, problemOf, readyMade, readyMadeFor} from './orders.js';
import {bytesLike, count, download, el, finished, latestOnly, replace, standalone} from './dom.js';
import {table as csvOf} from './state.js';

const pause = () => new Promise(resolve => setTimeout(resolve));
const CAPACITIES = 9;

/** How many rows and columns of tiles a step covers, the middle one of all steps. */
function covers(p, order) {
  const middle = values => values.sort((a, b) => a - b)[values.length >> 1];
  const rows = [];
  const columns = [];
  for (let first = 0; first + p.atOnce <= order.length || first === 0; first += p.atOnce) {
    const step = order.slice(first, first + p.atOnce).filter(t => t.gemm === 0);
    if (!step.length) continue;
    rows.push(new Set(step.map(t => t.row)).size);
    columns.push(new Set(step.map(t => t.column)).size);
  }
  return [middle(rows), middle(columns)];
}

/** The least of two searches: proven if the better one's loads are, and the other cannot go below. */
const together = (a, b) => {
  const loads = Math.min(a.loads, b.loads);
  const lowerBound = Math.min(a.lowerBound, b.lowerBound);
  return {loads, lowerBound, proven: loads === lowerBound};
};

/** @param board gives the board that is filled; @param device its name, if the board is one's */
export function rankCard(board, device) {
  const why = el('p', {});
  const table = el('div', {class: 'scroll'});
  const winners = el('div', {class: 'content'});
  const save = el('span', {class: 'row'});
  const sweepButton = el('button', {type: 'button', onclick: () => sweep()}, 'Which order wins with which cache?');
  const element = el('section', {class: 'card', 'aria-label': 'Ready-made orders'}, el('h2', {}, 'Ready-made orders'), why, table, el('div', {class: 'row'}, sweepButton, save), winners);
  let shown = '';

  const tell = (p, rows) => {
    const all = blocks(p);
    const inBytes = p.unit === 'B';
    const size = inBytes ? bytesLike(rows.map(r => r.loaded)) : count;
    const least = inBytes ? bounds(p).loaded : bounds(p).loads;
    const chained = p.chained > 0;
    const ranked = [...rows].sort((a, b) => a.loaded - b.loaded);
    replace(table, el('table', {class: 'rank'},
      el('thead', {}, el('tr', {}, el('th', {}, 'order'), ['loaded', 'of the least', ...(chained ? ['C', 'D', 'E', 'stored'] : []), 'A read', 'B read', ...(p.atOnce > 1 ? ['rows × columns at a time'] : [])].map(t => el('th', {class: 'n'}, t)))),
      el('tbody', {}, ranked.map(r => el('tr', {},
        el('td', {}, el('button', {type: 'button', class: 'link', title: 'Fill the board with it', onclick: () => board().fillWith(r.name)}, nameOf(r.name))),
        [size(r.loaded), `${(r.loaded / least).toFixed(2)}×`, ...(chained ? [size(r.per[2]), size(r.per[3]), size(r.per[4]), size(r.stored)] : []), `${(r.per[0] / all.total(0)).toFixed(2)}×`, `${(r.per[1] / all.total(1)).toFixed(2)}×`,
          ...(p.atOnce > 1 ? [r.covers.join(' × ')] : [])].map(text => el('td', {class: 'n'}, text)))))));
    const row = rows.find(r => r.name === 'row');
    const best = ranked[0];
    const hilbert = rows.find(r => r.name === 'hilbert');
    if (chained || p.atOnce === 1 || !row || !hilbert) {
      const name = nameOf(best.name);
      why.textContent = `${name[0].toUpperCase()}${name.slice(1)} loads least of these: ${size(best.loaded)}, ${(best.loaded / least).toFixed(2)}× what every order has to load.`;
      if (chained) {
        const of = (r, m) => `${(r.per[m] / all.total(m)).toFixed(1)}×`;
        const tells = r => `${nameOf(r.name)} reads A ${of(r, 0)}, B ${of(r, 1)} and D ${of(r, 3)}, and C ${r.per[2] ? `${of(r, 2)} from memory` : 'out of the cache'}${r.per[4] ? `, partial sums ${of(r, 4)} from memory` : ''}: ${size(r.loaded)}`;
        const beside = rows.find(r => r.name === (CHAINED.includes(best.name) ? 'row' : 'rows:4')) ?? row;
        why.textContent += ` ${[best, ...(beside && beside !== best ? [beside] : [])].map(tells).map(text => `${text[0].toUpperCase()}${text.slice(1)}`).join('. ')}.`;
      }
      return;
    }
    const says = r => `${nameOf(r.name)} covers ${r.covers[0]} rows and ${r.covers[1]} columns at a time, so A is read ${(r.per[0] / all.total(0)).toFixed(1)}× and B ${(r.per[1] / all.total(1)).toFixed(1)}×: ${size(r.loaded)}`;
    why.textContent = `${p.atOnce} tiles run at a time${device() ? ` on the SMs of ${device()}` : ''}, and what they share is loaded once. ${[row, hilbert, ...(best !== row && best !== hilbert ? [best] : [])].map(says).join('. ')}. The least is ${size(least)}.`;
    why.textContent = why.textContent.replace(/\. (\p{Ll})/gu, (_, letter) => `. ${letter.toUpperCase()}`);
  };

  const load = latestOnly(async (current, p) => {
    await new Promise(resolve => setTimeout(resolve, 120));
    const rows = [];
    for (const name of readyMadeFor(p)) {
      if (!current()) return;
      try {
        const order = readyMade(p, name);
        const run = simulate(problemOf(p, name), order);
        rows.push({name, loaded: run.loaded, stored: run.stored, per: run.perMatrix, covers: covers(p, order)});
      } catch {
        // This one does not suit so many tiles at a time, or so small a cache.
      }
      await pause();
    }
    if (current() && rows.length) tell(p, rows);
  });

  /** Loads of every order over the capacity, and the proven least where the server can prove it. */
  const sweep = latestOnly(async current => {
    const p = {...board().problem, parts: 1};
    replace(winners, el('p', {class: 'quiet'}, 'Playing every order with every cache…'));
    const all = blocks(p);
    const whole = [0, 1, 3].reduce((sum, m) => sum + all.total(m), 0) + (p.cached || p.chained ? all.total(2) + all.total(4) : 0);
    const names = readyMadeFor(p);
    const orders = new Map(names.map(name => [name, readyMade(p, name)]));
    let from = 1;
    const fits = capacity => {
      try {
        simulate({...p, capacity}, orders.get('row'));
        return true;
      } catch {
        return false;
      }
    };
    for (let high = whole; from < high;) {
      const middle = Math.floor((from + high) / 2);
      if (fits(middle)) high = middle;
      else from = middle + 1;
    }
    const capacities = [...new Set(Array.from({length: CAPACITIES}, (_, i) => Math.round(from * (whole / from) ** (i / (CAPACITIES - 1)))))];
    const lines = new Map(names.map(name => [name, []]));
    for (const capacity of capacities) {
      for (const name of names) {
        if (!current()) return;
        try {
          lines.get(name).push([capacity, simulate({...problemOf(p, name), capacity}, orders.get(name)).loaded]);
        } catch {
          // This order needs more at a time.
        }
        await pause();
      }
    }
    const best = capacities.map(capacity => {
      const at = names.map(name => [name, lines.get(name).find(point => point[0] === capacity)?.[1] ?? Infinity]);
      const least = Math.min(...at.map(pair => pair[1]));
      return {capacity, least, names: at.filter(pair => pair[1] === least).map(pair => pair[0])};
    });
    const draw = optima => {
      const inBytes = p.unit === 'B';
      const size = inBytes ? bytesLike(best.map(b => b.least)) : count;
      const space = inBytes ? bytesLike(capacities) : count;
      const drawn = names.filter(name => lines.get(name).length === capacities.length && best.some(b => b.names.includes(name))).slice(0, 6);
      const most = Math.max(...best.map(b => b.least), ...drawn.flatMap(name => lines.get(name).map(point => point[1])));
      replace(winners, keys(drawn.map(nameOf)), lineChart({
        x: {from: capacities[0], to: capacities.at(-1), log: capacities.at(-1) > 20 * capacities[0], text: inBytes ? bytesLike([capacities.at(-1)]) : count, name: 'capacity of the cache'},
        y: {from: 0, to: most * 1.05, text: inBytes ? bytesLike([most]) : count, name: 'loaded'}, label: 'Loads of orders over the capacity', height: 260,
        series: drawn.map(name => ({name, marks: true, points: lines.get(name).map(([c, v]) => [c, v, `${nameOf(name)}, ${space(c)}: ${size(v)}`])}))}),
        el('div', {class: 'scroll'}, el('table', {class: 'wins'}, el('caption', {}, `Under ${p.policy === 'optimal' ? 'optimal replacement' : p.policy.toUpperCase()}${optima ? '' : '; the least of all orders is searched where the board is small'}`),
          el('thead', {}, el('tr', {}, ['capacity', 'loaded', 'least of all orders'].map(t => el('th', {class: 'n'}, t)), el('th', {}, 'wins'))),
          el('tbody', {}, best.map((b, i) => el('tr', {}, el('td', {class: 'n'}, space(b.capacity)), el('td', {class: 'n'}, size(b.least)),
            el('td', {class: 'n'}, optima?.[i] ? (optima[i].proven ? `${count(optima[i].loads)}, proven` : `${count(optima[i].lowerBound)} to ${count(optima[i].loads)}`) : '–'), el('td', {}, b.names.map(nameOf).slice(0, 3).join(', ') + (b.names.length > 3 ? ` and ${b.names.length - 3} more` : '')))))))); 
    };
    draw(null);
    replace(save, el('button', {type: 'button', onclick: () => download('orders.csv', csvOf([['capacity', ...names], ...capacities.map(c => [c, ...names.map(name => lines.get(name).find(point => point[0] === c)?.[1])])]), 'text/csv')}, 'Loads as CSV'),
      el('button', {type: 'button', onclick: () => download('orders.svg', standalone(winners.querySelector('svg')), 'image/svg+xml')}, 'Chart as SVG'));
    if (p.unit === 'B' || p.atOnce > 1 || tilesOf(p) > 42) return;
    // The least in as many parts as any of the orders has: no more can be said of "all orders" than of these.
    let least = null;
    for (const parts of new Set(names.map(name => problemOf(p, name).parts))) {
      const found = await finished('optima', {grid: `${p.rows}x${p.columns}`, policy: p.policy, depth: p.depth, chained: p.chained, parts, results: p.cached ? 'cached' : 'past',
        capacities: capacities.join(' ')}, {wanted: current});
      if (!found || !current()) return;
      least = found.optima.map((optimum, i) => (least ? together(least[i], optimum) : optimum));
    }
    draw(least);
  });

  return {
    element,
    /** Another problem is on the board, or the name of its device is known. */
    load: p => {
      // Each order has parts of its own.
      const whole = {...p, parts: 1};
      const key = JSON.stringify([whole, device()]);
      if (key === shown) return;
      shown = key;
      replace(winners);
      replace(save);
      load(whole);
    },
  };
}
