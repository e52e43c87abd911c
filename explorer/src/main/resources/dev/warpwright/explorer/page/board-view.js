// Tile orders: the parameters, one board or two, the search for the best order, links and files.
import {Board} from './board.js';
import {attempt, choice, count, download, el, field, get, number, post, replace, say} from './dom.js';
import {checked, csv, fromLink, ONE, orderText, pack, parseFile, readyMade, toLink, unpack} from './model.js';

const BYTES = {bf16: 2, f16: 2, f32: 4, e4m3: 1};
const LARGEST_FILE = 4 << 20;
const START = {rows: 6, columns: 6, depth: 1, chained: 0, cached: false, sizes: ONE, unit: 'block', capacity: 5, policy: 'lru', atOnce: 1};

export function boardView() {
  const changed = board => {
    active = board;
    share.value = '';
  };
  const boards = [new Board(START, readyMade(START, 'serpentine').slice(0, 9), 'Board', changed)];
  let active = boards[0];
  const stage = el('div', {class: 'boards'}, boards[0].element);

  // Parameters.
  const mode = el('div', {class: 'tabs', role: 'group', 'aria-label': 'Sizes'});
  const f = {
    rows: number(START.rows, 1, 64), columns: number(START.columns, 1, 64), depth: number(START.depth, 1, 64),
    chained: number(0, 0, 64), capacity: number(START.capacity, 1, 1e6), atOnce: number(1, 1, 4096),
    cached: el('input', {type: 'checkbox'}),
    m: number(4096, 1, 1e6), n: number(4096, 1, 1e6), k: number(4096, 1, 1e6), tm: number(256, 1, 65536), tn: number(256, 1, 65536),
    tk: number(1024, 1, 65536), dtype: choice(Object.keys(BYTES), 'bf16'), cache: number(30, 1, 1e6),
    n2: number(0, 0, 1e6),
  };
  let inBlocks = true;
  const blocksForm = el('div', {class: 'content'},
    el('div', {class: 'pair'}, field('Rows of tiles', f.rows), field('Columns', f.columns)),
    el('div', {class: 'pair'}, field('Blocks along K', f.depth), field('Cache, blocks', f.capacity)),
    field('Columns of a second product', f.chained, 'E = C·D reads the first result; 0 for none'));
  const shapeForm = el('div', {class: 'content', hidden: true},
    el('div', {class: 'three'}, field('M', f.m), field('N', f.n), field('K', f.k)),
    el('div', {class: 'three'}, field('tile M', f.tm), field('tile N', f.tn), field('tile K', f.tk)),
    el('div', {class: 'pair'}, field('Type', f.dtype), field('Cache, MB', f.cache)),
    field('N of a second product', f.n2, '0 for none'));
  const setMode = blocksOnly => {
    inBlocks = blocksOnly;
    blocksForm.hidden = !blocksOnly;
    shapeForm.hidden = blocksOnly;
    [...mode.children].forEach((button, i) => button.setAttribute('aria-pressed', String((i === 0) === blocksOnly)));
  };
  replace(mode,
    el('button', {type: 'button', onclick: () => { setMode(true); apply(); }}, 'Blocks'),
    el('button', {type: 'button', onclick: () => { setMode(false); apply(); }}, 'Shape'));
  setMode(true);

  const read = () => {
    const value = input => (input.value.trim() === '' ? NaN : Number(input.value));
    const common = {cached: f.cached.checked, atOnce: value(f.atOnce), policy: active.problem.policy};
    if (inBlocks) {
      return checked({...common, rows: value(f.rows), columns: value(f.columns), depth: value(f.depth), chained: value(f.chained),
        sizes: ONE, unit: 'block', capacity: value(f.capacity)});
    }
    const [m, n, k, tm, tn, tk, n2] = [f.m, f.n, f.k, f.tm, f.tn, f.tk, f.n2].map(value);
    const es = BYTES[f.dtype.value];
    const tile = (rows, columns) => rows * columns * es;
    return checked({...common, rows: Math.ceil(m / tm), columns: Math.ceil(n / tn), depth: Math.ceil(k / tk), chained: Math.ceil(n2 / tn),
      sizes: {a: tile(tm, tk), b: tile(tk, tn), c: tile(tm, tn), d: tile(tn, tn), e: tile(tm, tn)}, unit: 'B',
      capacity: Math.round(value(f.cache) * 1e6)});
  };
  const apply = () => attempt(() => {
    const problem = read();
    for (const board of boards) {
      const old = board.problem;
      const same = ['rows', 'columns', 'chained'].every(key => old[key] === problem[key]) && (!problem.chained || old.atOnce === problem.atOnce);
      board.setProblem({...problem, policy: board.problem.policy}, same ? undefined : []);
    }
  });
  const showProblem = p => {
    setMode(p.unit !== 'B');
    f.cached.checked = p.cached;
    f.atOnce.value = p.atOnce;
    if (p.unit !== 'B') for (const key of ['rows', 'columns', 'depth', 'chained', 'capacity']) f[key].value = p[key];
  };
  const form = el('form', {class: 'content', onsubmit: event => event.preventDefault(), onchange: apply},
    mode, blocksForm, shapeForm,
    field('Tiles at a time', f.atOnce, 'P tiles run in step on P multiprocessors'),
    el('label', {class: 'check'}, f.cached, 'Results go through the cache'));

  // A second board.
  const compare = el('input', {type: 'checkbox', onchange: () => {
    if (compare.checked) {
      boards.push(new Board({...boards[0].problem}, boards[0].order, 'Second board', changed));
    } else {
      boards.pop();
      active = boards[0];
    }
    stage.classList.toggle('two', compare.checked);
    for (const board of boards) board.element.classList.toggle('narrow', compare.checked);
    replace(stage, boards.map(board => board.element));
    boards.forEach(board => board.layOut());
  }});

  // Links and files.
  const share = el('input', {type: 'text', readonly: true, 'aria-label': 'Link', placeholder: 'a link to this board'});
  const copyLink = async () => {
    const url = `${location.origin}/#board=${toLink(pack(active.problem, active.order))}`;
    share.value = url;
    share.select();
    try {
      await navigator.clipboard.writeText(url);
      say('The link is copied');
    } catch {
      say('Copy the link from its field');
    }
  };
  const load = ({problem, order}) => {
    active.setProblem(problem, order);
    showProblem(problem);
    if (compare.checked) boards.filter(b => b !== active).forEach(b => b.setProblem({...problem, policy: b.problem.policy}, []));
  };
  const file = el('input', {type: 'file', hidden: true, accept: '.json,.txt,.order,text/plain,application/json', 'aria-label': 'Load a file', onchange: () => attempt(async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > LARGEST_FILE) {
      say('the file is too large, at most 4 MB', true);
    } else {
      await attempt(async () => {
        load(parseFile(await chosen.text(), active.problem));
        say(`${active.order.length} tiles loaded`);
      });
    }
    file.value = '';
  })});
  const save = {
    board: () => download('order.json', JSON.stringify(pack(active.problem, active.order)), 'application/json'),
    text: () => download('order.txt', `${orderText(active.problem, active.order)}\n`, 'text/plain'),
    csv: () => download('order.csv', csv(active.problem, active.run), 'text/csv'),
  };
  const button = (text, action, hint) => el('button', {type: 'button', onclick: action, title: hint}, text);

  const search = searchCard(() => active);
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'},
      el('h1', {}, 'Tile orders'),
      el('p', {class: 'quiet'}, 'Click tiles one after the other. Each needs a block of A for its row and of B for its column; see what an order makes the cache load, beside the least that any order needs.')),
    el('div', {class: 'side'},
      el('details', {class: 'card fold', open: innerWidth > 900}, el('summary', {}, 'Problem'), form),
      search,
      el('details', {class: 'card fold', open: innerWidth > 900}, el('summary', {}, 'Compare, share, save'),
        el('div', {class: 'content'},
          el('label', {class: 'check'}, compare, 'Two boards side by side'),
          el('div', {class: 'row'}, button('Copy link', copyLink), button('Load file', () => file.click(), 'A saved board, or t1 = 2 Order 0: [(x, y, gemmId), …]')),
          share,
          el('div', {class: 'row'}, button('Save', save.board, 'All of the board, as JSON'),
            button('As text', save.text, 't1 = tiles at a time, x = column, y = row'), button('CSV', save.csv, 'What each step does')),
          file))),
    stage);
  element.addEventListener('focusin', event => {
    const board = boards.find(b => b.element.contains(event.target));
    if (board) active = board;
  });
  // Wherever the focus is, as long as it is in no field with an undo of its own.
  addEventListener('keydown', event => {
    const typing = event.target.matches?.('input[type=number], input[type=text]');
    if (!element.isConnected || typing || !(event.ctrlKey || event.metaKey)) return;
    if (event.key === 'z') active.undo();
    else if (event.key === 'y') active.redo();
    else return;
    event.preventDefault();
  });
  addEventListener('resize', () => boards.forEach(board => board.layOut()));
  return {
    element,
    open: data => {
      if (data) attempt(() => load(unpack(fromLink(data))));
      else boards.forEach(board => board.layOut());
    },
  };
}

/** The search for the order with the least loads. */
function searchCard(board) {
  const seconds = number(20, 1, 600);
  const status = el('p', {class: 'quiet'}, 'Proven where it is small: about 6×7 tiles of one product with one block along K, 4×4 with two, 3×3 chained. Others are improved until the time is over.');
  const start = el('button', {type: 'button', class: 'first'}, 'Find the best order');
  const cancel = el('button', {type: 'button', disabled: true}, 'Cancel');
  let id;
  start.onclick = () => attempt(async () => {
    const target = board();
    const p = target.problem;
    if (p.unit === 'B') throw new Error('the search counts blocks: choose Blocks, not Shape');
    start.disabled = true;
    cancel.disabled = false;
    try {
      ({id} = await post('search', {grid: `${p.rows}x${p.columns}`, capacity: p.capacity, policy: p.policy, depth: p.depth,
        chained: p.chained, results: p.cached ? 'cached' : 'past', at: p.atOnce, seconds: seconds.value}));
      for (;;) {
        const job = await get('job', {id});
        if (job.error) throw new Error(job.error);
        if (!job.running) {
          show(target, p, job.result);
          return;
        }
        if (job.progress) {
          status.textContent = `${count(job.progress.states)} states; between ${job.progress.lowerBound} and ${job.progress.loads} loads…`;
        }
        await new Promise(resolve => setTimeout(resolve, 150));
      }
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
    const order = result.path.map(([row, column, gemm]) => ({row, column, gemm: gemm ?? 0}));
    const stillThere = ['rows', 'columns', 'depth', 'chained'].every(key => target.problem[key] === p[key]);
    status.textContent = result.proven
      ? `${result.loads} loads: proven, no order needs fewer${result.exact ? ` (${count(result.states)} states)` : ''}.`
      : `${result.loads} loads is the best found; no order needs fewer than ${result.lowerBound}.`;
    if (stillThere) target.set(order);
  };
  return el('section', {class: 'card'}, el('h2', {}, 'Best order'), status,
    el('div', {class: 'pair'}, field('Seconds', seconds), el('div', {class: 'field'}, el('span', {'aria-hidden': 'true'}, '\u00a0'), cancel)), start);
}
