// A view's fields in the address, so that a link shows what is shown.

/** What an address says of fields: {name: value}. */
export const stateOf = data => Object.fromEntries(new URLSearchParams(data ?? ''));

/** Writes a view's state into the address, without a step in the browser's history. */
export function keepState(view, values) {
  if (!location.hash.startsWith(`#${view}`)) return;
  history.replaceState(null, '', `#${view}=${new URLSearchParams(values)}`);
}

/** Rows of cells as CSV. */
export const table = rows => `${rows.map(row => row.map(cell => (/[",\n]/.test(String(cell ?? '')) ? `"${String(cell).replaceAll('"', '""')}"` : cell ?? '')).join(',')).join('\n')}\n`;
