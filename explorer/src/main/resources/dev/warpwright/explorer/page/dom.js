// Small helpers: elements, numbers as people read them, requests, messages. Text is set as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element: attributes, listeners for keys that begin with "on", children. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

export const find = id => document.getElementById(id);

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat());
  return parent;
}

/** A labelled field. */
export function field(label, control, hint) {
  control.dataset.name ??= label;
  return el('label', {class: 'field'}, el('span', {}, label), control, hint ? el('small', {}, hint) : null);
}

export function number(value, least, most, attributes = {}) {
  return el('input', {type: 'number', inputmode: 'numeric', value, min: least, max: most, step: 1, required: true, ...attributes});
}

/** What a field of a number says; throws where it breaks its limits, and marks it. */
export function numberOf(input) {
  const value = input.value.trim() === '' ? NaN : Number(input.value);
  const [least, most] = [Number(input.min), Number(input.max)];
  const right = Number.isFinite(value) && value >= least && value <= most && (input.step === 'any' || Number.isInteger(value));
  input.setAttribute('aria-invalid', String(!right));
  if (!right) throw new Error(`${input.dataset.name} must be a ${input.step === 'any' ? '' : 'whole '}number between ${least} and ${most}`);
  return value;
}

export function choice(options, chosen, attributes = {}) {
  return el('select', attributes, options.map(option => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return el('option', {value, selected: value === chosen}, text);
  }));
}

export const count = new Intl.NumberFormat('en').format;

export function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; value >= 1000 && i < units.length - 1; i++) value /= 1000;
  return `${i === 0 ? count(value) : value.toPrecision(3)} ${units[i]}`;
}

export function time(us) {
  if (us < 1000) return `${us < 10 ? us.toPrecision(2) : us.toFixed(us < 100 ? 1 : 0)} µs`;
  return us < 1e6 ? `${(us / 1e3).toPrecision(3)} ms` : `${(us / 1e6).toPrecision(3)} s`;
}

/** Writes all of a column's values in one unit, that of the largest. */
function inOneUnit(values, units, step, plain) {
  const known = values.filter(v => Number.isFinite(v));
  let i = 0;
  for (let most = Math.max(0, ...known); most >= step && i < units.length - 1; i++) most /= step;
  const scale = step ** i;
  const most = Math.max(0, ...known) / scale;
  const digits = i === 0 && plain ? 0 : most >= 100 ? 0 : most >= 10 ? 1 : 2;
  // What is small beside the largest keeps two digits, lest it read as nothing.
  const text = v => (v !== 0 && Math.abs(v) < 10 ** -digits ? String(Number(v.toPrecision(2))) : v.toFixed(digits));
  return value => (Number.isFinite(value) ? `${text(value / scale)} ${units[i]}` : '–');
}

export const bytesLike = values => inOneUnit(values, ['B', 'kB', 'MB', 'GB', 'TB'], 1000, true);
export const timesLike = values => inOneUnit(values, ['µs', 'ms', 's'], 1000, false);

export const percent = value => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;

/** A predicted hit rate, from that on uneven SMs on where it is another one. */
export const hitsOf = p => [...new Set([p.unevenHitRate ?? p.hitRate, p.hitRate].map(percent))].join(' to ');

export async function get(name, parameters = {}) {
  return answer(await fetch(`/api/${name}?${new URLSearchParams(parameters)}`));
}

export async function post(name, parameters = {}) {
  return answer(await fetch(`/api/${name}`, {method: 'POST', body: new URLSearchParams(parameters)}));
}

async function answer(response) {
  const data = await response.json();
  if (!response.ok) throw new Error(data.error);
  return data;
}

let hiding;

/** Shows a message at the foot of the page for a while. */
export function say(message, isError = false) {
  const box = find('message');
  clearTimeout(hiding);
  box.textContent = message;
  box.className = isError ? 'shown error' : 'shown';
  hiding = setTimeout(() => (box.className = ''), isError ? 9000 : 3500);
}

/** Runs something that may fail, and says so. */
export async function attempt(action) {
  try {
    return await action();
  } catch (e) {
    say(e instanceof TypeError && /fetch/i.test(e.message) ? 'warpwright explore no longer runs; start it again' : e.message, true);
    return undefined;
  }
}

/**
 * An action whose answer counts only while no later one was asked for: it gets a function that says so. What an overtaken
 * one would say or draw, its errors too, is dropped.
 */
export function latestOnly(action) {
  let last = 0;
  return async (...values) => {
    const mine = ++last;
    const current = () => mine === last;
    try {
      return await action(current, ...values);
    } catch (e) {
      return current() ? attempt(() => { throw e; }) : undefined;
    }
  };
}

/** Waits for a job, whose progress is told; it ends where the page does. Gives its result; null if it is not wanted any more. */
export async function finished(name, parameters, {told = () => {}, wanted = () => true, started = () => {}} = {}) {
  const {id} = await post(name, parameters);
  running.add(id);
  started(id);
  try {
    for (;;) {
      const job = await get('job', {id});
      if (!wanted()) {
        if (job.running) await post('cancel', {id});
        return null;
      }
      if (job.error) throw new Error(job.error);
      if (!job.running) return job.result;
      if (job.progress !== null) told(job.progress);
      await new Promise(resolve => setTimeout(resolve, 150));
    }
  } finally {
    running.delete(id);
  }
}

const running = new Set();
addEventListener('pagehide', () => {
  for (const id of running) navigator.sendBeacon('/api/cancel', new URLSearchParams({id}));
});

const STYLES = ['fill', 'stroke', 'stroke-width', 'opacity', 'font-size', 'font-family', 'visibility'];

/** A picture of the page as the text of an SVG file, with the styles that it has here. */
export function standalone(picture) {
  const copy = picture.cloneNode(true);
  const from = [picture, ...picture.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    for (const key of STYLES) element.setAttribute(key, style.getPropertyValue(key));
    for (const name of ['tabindex', 'class', 'data-tile']) element.removeAttribute(name);
  });
  copy.setAttribute('xmlns', SVG);
  const ground = svg('rect', {width: '100%', height: '100%', fill: getComputedStyle(document.documentElement).getPropertyValue('--surface').trim()});
  copy.prepend(ground);
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  el('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
