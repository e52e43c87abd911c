// Chooses the view by the address: #board, #board=DATA, #preset=NAME, #device=STATE, #roofline=STATE, #kernels.
import {boardView} from './board-view.js';
import {deviceView} from './device-view.js';
import {find, replace} from './dom.js';
import {kernelView} from './kernel-view.js';
import {rooflineView} from './roofline-view.js';

const VIEWS = {board: boardView, device: deviceView, roofline: rooflineView, kernels: kernelView};
const made = new Map();
let shown;

function show() {
  const [name, data] = location.hash.slice(1).split(/=(.*)/s);
  const view = Object.hasOwn(VIEWS, name) ? name : 'board';
  if (!made.has(view)) made.set(view, VIEWS[view](data));
  for (const link of document.querySelectorAll('.top nav a')) {
    if (link.getAttribute('href') === `#${view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (shown !== view) replace(find('view'), made.get(view).element);
  shown = view;
  made.get(view).open?.(data, name);
}

addEventListener('hashchange', show);
show();
