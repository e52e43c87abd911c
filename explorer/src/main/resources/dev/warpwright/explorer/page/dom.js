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
  return el('label', {class: 'field'}, el('span', {}, label), control, hint ? el('small', {}, hint) : null);
}

export function number(value, least, most, attributes = {}) {
  return el('input', {type: 'number', inputmode: 'numeric', value, min: least, max: most, step: 1, required: true, ...attributes});
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

export const percent = value => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;

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

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  el('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
