// A kernel's forms side by side: what is pointed at in one is lit up in the other; and how two records differ, line by line.
import {choice, el, replace} from './dom.js';

const WORD = /[A-Za-z_]\w{2,}/g;
/** Words of the languages, not of a kernel. */
const COMMON = new Set(['for', 'if', 'else', 'let', 'alloc', 'int', 'unsigned', 'float', 'const', 'void', 'shared', 'local', 'global', 'fragment', 'barrier', 'return', 'asm', 'volatile', 'static', 'where', 'with', 'true', 'false', 'kernel', 'func', 'block', 'loop', 'uint32_t', 'int32_t', 'bf16', 'f16', 'f32', 'i32', 'u32', 'u64', 'extern', 'inline', 'struct', '__device__', '__global__', '__shared__', 'tiles']);
const LONGEST = 6000;

/** The stem by which the levels call one thing: a buffer keeps its name, its parts get endings. */
const stem = word => word.replace(/_(shared|local|frag|fragment|smem|o|i|\d+)$/, '').toLowerCase();

/** A text whose words can be pointed at. @param point is told the stem under the pointer, or null */
function listing(text, point) {
  const lines = text.split('\n').slice(0, LONGEST);
  const pre = el('pre', {tabindex: 0, class: 'linked'}, lines.map(line => {
    const parts = [];
    let at = 0;
    for (const found of line.matchAll(WORD)) {
      if (COMMON.has(found[0])) continue;
      parts.push(line.slice(at, found.index), el('b', {'data-stem': stem(found[0])}, found[0]));
      at = found.index + found[0].length;
    }
    return el('div', {}, parts, line.slice(at) || (parts.length ? '' : '\u00a0'));
  }));
  pre.addEventListener('pointerover', event => point(event.target.dataset?.stem ?? null));
  pre.addEventListener('pointerleave', () => point(null));
  pre.addEventListener('click', event => point(event.target.dataset?.stem ?? null, true));
  return pre;
}

/** Two forms of a kernel beside each other. @param texts {name: text}; @param chosen is told the two when others are */
export function sideBySide(texts, left, right, chosen = () => {}) {
  const names = Object.keys(texts);
  const element = el('div', {class: 'levels'});
  let kept = null;
  const light = (name, keep = false) => {
    if (keep) kept = kept === name ? null : name;
    const wanted = kept ?? name;
    for (const word of element.querySelectorAll('.linked b.lit-word')) word.classList.remove('lit-word');
    for (const line of element.querySelectorAll('.linked .lit-line')) line.classList.remove('lit-line');
    if (!wanted) return;
    for (const word of element.querySelectorAll(`.linked b[data-stem="${CSS.escape(wanted)}"]`)) {
      word.classList.add('lit-word');
      word.parentElement.classList.add('lit-line');
    }
    // In the pane that is not pointed at, the first place is brought into sight.
    if (keep && kept) for (const pane of element.querySelectorAll('.linked')) pane.querySelector('.lit-line')?.scrollIntoView({block: 'nearest'});
  };
  const picks = [];
  const pane = (first, side) => {
    const body = el('div', {});
    const pick = choice(names, names.includes(first) ? first : names.at(side), {'aria-label': side ? 'Form on the right' : 'Form', onchange: () => {
      show();
      chosen(...picks.map(other => other.value));
    }});
    picks.push(pick);
    const show = () => replace(body, listing(texts[pick.value], light));
    show();
    return el('div', {class: 'content'}, pick, body);
  };
  return replace(element, pane(left, 0), pane(right, -1));
}

/** Lines of two texts with what is only in one of them: [[mark, line]], mark ' ', '-' or '+'. */
export function difference(before, after) {
  const a = before.split('\n').slice(0, LONGEST);
  const b = after.split('\n').slice(0, LONGEST);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const out = a.slice(0, head).map(line => [' ', line]);
  if (x.length * y.length > 4e6) out.push(...x.map(line => ['-', line]), ...y.map(line => ['+', line]));
  else {
    // The longest common lines, from the end.
    const wide = y.length + 1;
    const best = new Uint16Array((x.length + 1) * wide);
    for (let i = x.length - 1; i >= 0; i--) {
      for (let j = y.length - 1; j >= 0; j--) best[i * wide + j] = x[i] === y[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
    }
    let i = 0;
    let j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        out.push([' ', x[i++]]);
        j++;
      } else if (i < x.length && (j === y.length || best[(i + 1) * wide + j] >= best[i * wide + j + 1])) out.push(['-', x[i++]]);
      else out.push(['+', y[j++]]);
    }
  }
  return [...out, ...a.slice(a.length - tail).map(line => [' ', line])];
}

const AROUND = 3;

/** A difference as lines, what is the same left out but for a few lines around. */
export function differenceView(before, after) {
  const lines = difference(before, after);
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(([mark]) => mark !== ' '));
  const shown = [];
  lines.forEach(([mark, line], i) => {
    if (near[i]) shown.push(el('div', {class: mark === '-' ? 'gone' : mark === '+' ? 'come' : ''}, `${mark} ${line}`));
    else if (i === 0 || near[i - 1]) shown.push(el('div', {class: 'quiet'}, '…'));
  });
  const changed = mark => lines.filter(line => line[0] === mark).length;
  return [el('p', {class: 'quiet'}, changed('-') + changed('+') ? `${changed('-')} lines go, ${changed('+')} come.` : 'Both are the same here.'), el('pre', {tabindex: 0, class: 'difference'}, shown)];
}

/** A field that leaves of a list only what has all of its words. @param changed is called when there are other words */
export function filterOf(list, label, changed) {
  const input = el('input', {type: 'search', placeholder: 'filter: shape, type, device', 'aria-label': label, oninput: () => {
    apply();
    changed();
  }});
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const button of list.children) {
      const text = button.textContent.toLowerCase().replaceAll('×', 'x');
      button.hidden = !words.every(word => text.includes(word));
    }
  };
  return {input, apply};
}
