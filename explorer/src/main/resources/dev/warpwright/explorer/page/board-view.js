// Tile orders: what the page opens on, the parameters, one board or two, links and files.
import {Board} from './board.js';
import {attempt, choice, download, el, field, get, latestOnly, number, numberOf, replace, say} from './dom.js';
import {csv, fromLink, orderText, pack, parseFile, toPackedLink, unpack} from './files.js';
import {BYTES, checked, LIMITS, ofShape, ONE} from './model.js';
import {simulate} from './cache.js';
import {problemOf, readyMade} from './orders.js';
import {BLOCKS, FIRST, PRESETS} from './presets.js';
import {rankCard} from './rank-card.js';
import {runCard} from './run-card.js';
import {searchCard} from './search-card.js';

const LARGEST_FILE = 4 << 20;
const START = {rows: 6, columns: 6, depth: 1, chained: 0, parts: 1, cached: false, sizes: ONE, unit: 'block', capacity: 5, policy: 'lru', atOnce: 1};

const ofPreset = ({shape, gpu, cache, sms, cached}) => ofShape({...shape, dtype: 'bf16', cache, gpu}, {cached: cached ?? false, atOnce: sms, policy: 'lru'});

export function boardView() {
  let group = 0;
  let writing;
  const changed = board => {
    active = board;
    share.value = '';
    rank.load(board.problem);
    // The address is that of what is shown, so that it can be kept or sent; a click need not wait for it.
    clearTimeout(writing);
    writing = setTimeout(write, 400);
  };
  const write = latestOnly(async current => {
    const data = await toPackedLink(pack(boards));
    if (current() && element.isConnected) history.replaceState(null, '', `#board=${data}`);
  });
  /** A board went back or forth: the other one too if both had changed together; the fields say what is shown. */
  const moved = (board, which, together) => {
    active = board;
    for (const other of boards) if (other !== board && together !== undefined && other[which].at(-1)?.group === together) other.back(other[which], other[which === 'past' ? 'future' : 'past'], which);
    showProblem(board.problem);
    changed(board);
  };
  const first = ofPreset(PRESETS[FIRST]);
  let devices = [];

  // Parameters.
  const mode = el('div', {class: 'tabs', role: 'group', 'aria-label': 'Sizes'});
  const limits = key => LIMITS[key];
  const f = {
    rows: number(START.rows, ...limits('rows')), columns: number(START.columns, ...limits('columns')), depth: number(START.depth, ...limits('depth')),
    chained: number(0, ...limits('chained')), capacity: number(START.capacity, 1, 1e6), atOnce: number(1, ...limits('atOnce')),
    cached: el('input', {type: 'checkbox'}),
    m: number(4096, ...limits('extent')), n: number(4096, ...limits('extent')), k: number(4096, ...limits('extent')), tm: number(256, ...limits('tile')), tn: number(256, ...limits('tile')),
    tk: number(1024, ...limits('tile')), dtype: choice(Object.keys(BYTES), 'bf16'), cache: number(30, ...limits('cache'), {step: 'any'}),
    n2: number(0, 0, 1e6), gpu: choice([['', 'none']], ''),
  };
  let inBlocks = true;
  const blocksForm = el('div', {class: 'content'},
    el('div', {class: 'pair'}, field('Rows of tiles', f.rows), field('Columns', f.columns)),
    el('div', {class: 'pair'}, field('Blocks along K', f.depth), field('Cache, blocks', f.capacity)),
    field('Columns of a second GEMM', f.chained, 'E = C·D reads the first result; 0 for none'));
  const shapeForm = el('div', {class: 'content', hidden: true},
    field('GPU', f.gpu, 'fills in its L2 and its SMs'),
    el('div', {class: 'three'}, field('M', f.m), field('N', f.n), field('K', f.k)),
    el('div', {class: 'three'}, field('tile M', f.tm), field('tile N', f.tn), field('tile K', f.tk)),
    el('div', {class: 'pair'}, field('Type', f.dtype), field('Cache, MB', f.cache)),
    field('N of a second GEMM', f.n2, '0 for none'));
  const setMode = blocksOnly => {
    inBlocks = blocksOnly;
    blocksForm.hidden = !blocksOnly;
    shapeForm.hidden = blocksOnly;
    [...mode.children].forEach((button, i) => button.setAttribute('aria-pressed', String((i === 0) === blocksOnly)));
  };
  replace(mode,
    el('button', {type: 'button', onclick: () => { setMode(true); apply(); }}, 'Blocks'),
    el('button', {type: 'button', onclick: () => { setMode(false); apply(); }}, 'Shape'));

  const read = () => {
    const common = {cached: f.cached.checked, atOnce: numberOf(f.atOnce), policy: active.problem.policy, parts: 1};
    const numbers = keys => Object.fromEntries(keys.map(key => [key, numberOf(f[key])]));
    return inBlocks
      ? checked({...common, ...numbers(['rows', 'columns', 'depth', 'chained', 'capacity']), sizes: ONE, unit: 'block'})
      : ofShape({...numbers(['m', 'n', 'k', 'n2', 'tm', 'tn', 'tk', 'cache']), dtype: f.dtype.value, gpu: f.gpu.value}, common);
  };
  const apply = () => attempt(() => {
    const problem = read();
    // Policy and parts are each board's own.
    const shared = p => JSON.stringify({...p, policy: '', parts: 1});
    if (boards.every(board => shared(board.problem) === shared(problem))) return;
    group++;
    let emptied = false;
    for (const board of boards) {
      const old = board.problem;
      const same = ['rows', 'columns', 'chained'].every(key => old[key] === problem[key]) && (!problem.chained || old.atOnce === problem.atOnce);
      emptied ||= !same && board.order.length > 0;
      board.setProblem({...problem, policy: board.problem.policy, parts: same ? old.parts : 1}, same ? undefined : [], undefined, group);
    }
    if (emptied) say('The grid is another one, so its order begins anew; Undo brings the old one back');
  });
  const showProblem = p => {
    setMode(p.unit !== 'B');
    f.cached.checked = p.cached;
    f.atOnce.value = p.atOnce;
    for (const input of Object.values(f)) input.removeAttribute('aria-invalid');
    if (!p.shape) for (const key of ['rows', 'columns', 'depth', 'chained', 'capacity']) f[key].value = p[key];
    else {
      for (const key of ['m', 'n', 'k', 'n2', 'tm', 'tn', 'tk', 'dtype', 'cache']) f[key].value = p.shape[key];
      if (p.shape.gpu && ![...f.gpu.options].some(option => option.value === p.shape.gpu)) f.gpu.append(el('option', {value: p.shape.gpu}, p.shape.gpu));
      f.gpu.value = p.shape.gpu ?? '';
    }
  };
  const chooseGpu = () => {
    const device = devices.find(d => d.id === f.gpu.value);
    if (!device) return;
    f.cache.value = Number((device.l2Bytes / 1e6).toFixed(3));
    f.atOnce.value = device.sms;
  };
  f.gpu.addEventListener('change', chooseGpu);
  const form = el('form', {class: 'content', onsubmit: event => event.preventDefault(), onchange: apply},
    mode, blocksForm, shapeForm,
    field('Tiles at a time', f.atOnce, 'P tiles run in step on P SMs'),
    el('label', {class: 'check'}, f.cached, 'Results go through the cache'));

  // A second board.
  const compare = el('input', {type: 'checkbox', onchange: () => stand(compare.checked ? [boards[0], new Board({...boards[0].problem}, boards[0].order, 'Second board', changed, moved)] : [boards[0]])});
  const stand = next => {
    boards.splice(0, boards.length, ...next);
    if (!boards.includes(active)) active = boards[0];
    const two = boards.length === 2;
    compare.checked = two;
    stage.classList.toggle('two', two);
    for (const board of boards) board.element.classList.toggle('narrow', two);
    replace(stage, boards.map(board => board.element));
    boards.forEach(board => board.layOut());
  };

  // Links and files.
  const share = el('input', {type: 'text', readonly: true, 'aria-label': 'Link', placeholder: 'a link to this board'});
  const copyLink = async () => {
    const url = `${location.origin}/#board=${await toPackedLink(pack(boards))}`;
    share.value = url;
    share.select();
    try {
      await navigator.clipboard.writeText(url);
      say('The link is copied');
    } catch {
      say('Copy the link from its field');
    }
  };
  /** Shows what was loaded: one board goes where the focus was, two take the place of all; it can be undone. */
  const load = loaded => {
    group++;
    if (loaded.length === 2 && boards.length === 1) stand([boards[0], new Board(boards[0].problem, boards[0].order, 'Second board', changed, moved)]);
    const into = loaded.length === 2 ? boards : [active];
    into.forEach((board, i) => board.setProblem(loaded[i].problem, loaded[i].order, loaded[i].shown, group));
    if (loaded.length === 1) boards.filter(b => b !== active).forEach(b => b.setProblem({...loaded[0].problem, policy: b.problem.policy}, [], undefined, group));
    active = into[0];
    showProblem(active.problem);
  };
  const several = el('select', {'aria-label': 'Order of the file', hidden: true});
  const offer = orders => {
    several.hidden = orders.length < 2;
    replace(several, orders.map((boards, i) => el('option', {value: i}, `order on line ${boards[0].line}: ${boards[0].order.length} tiles`)));
    several.onchange = () => attempt(() => load(orders[Number(several.value)]));
  };
  const file = el('input', {type: 'file', hidden: true, accept: '.json,.txt,.order,text/plain,application/json', 'aria-label': 'Load a file', onchange: () => attempt(async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > LARGEST_FILE) {
      say('the file is too large, at most 4 MB', true);
    } else {
      await attempt(async () => {
        const orders = parseFile(await chosen.text(), active.problem);
        load(orders[0]);
        offer(orders);
        say(`${active.order.length} tiles loaded${orders.length > 1 ? `, the first of ${orders.length} orders` : ''}`);
      });
    }
    file.value = '';
  })});
  const save = {
    board: () => download('order.json', JSON.stringify(pack(boards)), 'application/json'),
    text: () => download('order.txt', `${orderText(active.problem, active.order)}\n`, 'text/plain'),
    csv: () => download('order.csv', csv(active.problem, simulate(active.problem, active.order, 'all')), 'text/csv'),
    svg: () => download('order.svg', active.drawing(), 'image/svg+xml'),
  };
  const button = (text, action, hint) => el('button', {type: 'button', onclick: action, title: hint}, text);

  // What it opens on.
  const preset = choice([...Object.entries(PRESETS).map(([id, p]) => [id, p.name]), [BLOCKS, '6 × 6 blocks, to draw by hand']], FIRST, {'aria-label': 'Begin with', onchange: () => begin(preset.value)});
  const begin = name => attempt(() => {
    const chosen = Object.hasOwn(PRESETS, name) ? PRESETS[name] : null;
    preset.value = chosen ? name : BLOCKS;
    const problem = chosen ? problemOf(ofPreset(chosen), chosen.order) : START;
    load([{problem, order: chosen ? readyMade(problem, chosen.order) : readyMade(START, 'serpentine').slice(0, 9)}]);
  });

  const boards = [new Board(first, readyMade(first, PRESETS[FIRST].order), 'Board', changed, moved)];
  let active = boards[0];
  const stage = el('div', {class: 'boards'}, boards[0].element);
  const search = searchCard(() => active);
  const rank = rankCard(() => active, () => devices.find(d => d.id === active.problem.shape?.gpu)?.name ?? '');
  const element = el('div', {class: 'page'},
    el('div', {class: 'intro'},
      el('h1', {}, 'Tile orders'),
      el('p', {}, 'A GPU computes a GEMM tile by tile, as many at a time as it has SMs. In which order it takes them decides what its L2 still holds, and so what comes from memory again. Play an order, hover a tile to see what it misses and why, and compare.'),
      el('div', {class: 'row begin'}, el('span', {class: 'quiet'}, 'Begin with'), el('div', {}, preset))),
    el('div', {class: 'side'},
      el('details', {class: 'card fold', open: innerWidth > 900}, el('summary', {}, 'Problem'), form),
      search, runCard(() => active),
      el('details', {class: 'card fold', open: innerWidth > 900}, el('summary', {}, 'Compare, share, save'),
        el('div', {class: 'content'},
          el('label', {class: 'check'}, compare, 'Two boards side by side'),
          el('div', {class: 'row'}, button('Copy link', copyLink), button('Load file', () => file.click(), 'A saved board, or t1 = 2 Order 0: [(x, y, gemmId), …]')),
          several, share,
          el('div', {class: 'row'}, button('Save', save.board, 'All of the board, as JSON'),
            button('As text', save.text, 't1 = tiles at a time, x = column, y = row'), button('CSV', save.csv, 'What each step does'), button('SVG', save.svg, 'The picture')),
          file))),
    el('div', {class: 'content main'}, stage, rank.element));
  showProblem(first);
  rank.load(first);
  element.addEventListener('focusin', event => {
    const board = boards.find(b => b.element.contains(event.target));
    if (board) {
      active = board;
      rank.load(board.problem);
    }
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
  addEventListener('resize', () => { if (element.isConnected) boards.forEach(board => board.layOut()); });
  const opened = latestOnly(async (current, data) => {
    const loaded = unpack(await fromLink(data));
    if (current()) load(loaded);
  });
  attempt(async () => {
    ({devices} = await get('devices'));
    const chosen = f.gpu.value;
    replace(f.gpu, el('option', {value: ''}, 'none'), devices.map(d => el('option', {value: d.id}, d.name)));
    f.gpu.value = chosen;
    showProblem(active.problem);
    rank.load(active.problem);
  });
  return {
    element,
    open: (data, name) => {
      if (name === 'preset') begin(data);
      else if (data) opened(data);
      else {
        boards.forEach(board => board.layOut());
        // Back from another view: the address is that of what is there.
        if (boards.some(board => board.past.length)) write();
      }
    },
  };
}
