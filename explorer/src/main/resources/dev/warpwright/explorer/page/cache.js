// Plays an order of tiles through a cache: totals after every step, and for each what it loads, hits, gives up and stores.
import {blocks, moments, Progress, UserError} from './model.js';

/**
 * All accesses: the block of each, its moment, whether a miss brings it in, whether it writes; where each step ends; and which tiles
 * find a partial sum, which they read and write.
 */
function traceOf(p, b, order) {
  const perTile = tile => 2 * moments(p, tile) + (p.cached ? 1 : 0);
  let length = 0;
  for (const tile of order) length += perTile(tile);
  const used = new Int32Array(length);
  const moment = new Int32Array(length);
  const fetched = new Uint8Array(length);
  const written = new Uint8Array(length);
  const progress = new Progress(p);
  const adds = new Uint8Array(order.length);
  const stepEnd = [];
  let now = 0;
  let at = 0;
  for (let first = 0; first < order.length; first += p.atOnce) {
    const last = Math.min(order.length, first + p.atOnce);
    let longest = 0;
    for (let i = first; i < last; i++) longest = Math.max(longest, moments(p, order[i]));
    for (let k = 0; k < longest; k++, now++) {
      for (let i = first; i < last; i++) {
        const tile = order[i];
        if (k < moments(p, tile)) {
          for (const block of [b.left(tile, k), b.right(tile, k)]) {
            used[at] = block;
            fetched[at] = 1;
            moment[at++] = now;
          }
        }
      }
    }
    for (let i = first; i < last; i++) {
      adds[i] = progress.adds(order[i]) ? 1 : 0;
      if (p.cached) {
        used[at] = b.result(order[i]);
        fetched[at] = adds[i];
        written[at] = 1;
        moment[at++] = now++;
      }
    }
    progress.end(order.slice(first, last));
    stepEnd.push(at);
  }
  return {used, moment, fetched, written, stepEnd, adds, end: now};
}

/** For each access the moment in which its block is used again; {@code never} if it is not. */
function nextUses({used, moment, end}, count) {
  const next = new Int32Array(used.length);
  const soonest = new Int32Array(count).fill(end);
  const after = new Int32Array(count).fill(end);
  for (let i = used.length - 1; i >= 0; i--) {
    const block = used[i];
    if (soonest[block] !== moment[i]) {
      after[block] = soonest[block];
      soonest[block] = moment[i];
    }
    next[i] = after[block];
  }
  return next;
}

/** The block that is used again last; of several the one with the lowest number. Outdated entries stay until they are met. */
class FarthestUse {
  constructor(count, most) {
    this.count = count;
    this.keys = new Float64Array(most + 1);
    this.size = 0;
  }

  push(block, when) {
    const key = when * this.count + (this.count - 1 - block);
    let i = this.size++;
    const keys = this.keys;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (keys[parent] >= key) break;
      keys[i] = keys[parent];
      i = parent;
    }
    keys[i] = key;
  }

  pop() {
    const keys = this.keys;
    const top = keys[0];
    const last = keys[--this.size];
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && keys[child + 1] > keys[child]) child++;
      if (keys[child] <= last) break;
      keys[i] = keys[child];
      i = child;
    }
    keys[i] = last;
    const when = Math.floor(top / this.count);
    return [this.count - 1 - (top - when * this.count), when];
  }
}

/**
 * Plays an order.
 * @param keep the number of the step after which the cache's contents are kept, 'all', or nothing
 * @return totals, {@code steps} with the totals after each, and {@code contents} after the step that was asked for
 */
export function simulate(p, order, keep) {
  const b = blocks(p);
  const trace = traceOf(p, b, order);
  const {used, moment, fetched, written, stepEnd, adds} = trace;
  const sizes = b.sizes;
  const optimal = p.policy === 'optimal';
  const next = optimal ? nextUses(trace, b.count) : null;
  const farthest = optimal ? new FarthestUse(b.count, used.length) : null;
  const when = optimal ? new Int32Array(b.count).fill(-1) : null;
  // A ring in the order in which the policy looks at blocks, the oldest first; NOWHERE if a block is not in the cache.
  const NOWHERE = -1;
  const head = b.count;
  const younger = new Int32Array(b.count + 1).fill(NOWHERE);
  const older = new Int32Array(b.count + 1).fill(NOWHERE);
  younger[head] = head;
  older[head] = head;
  const dirty = new Uint8Array(b.count);
  const pinned = new Int32Array(b.count).fill(-1);
  const evictedAt = new Int32Array(b.count).fill(-1);
  const total = {loads: 0, loaded: 0, hits: 0, asked: 0, stores: 0, stored: 0, flushed: 0};
  const perMatrix = [0, 0, 0, 0, 0];
  const steps = [];
  let contents = null;
  let room = p.capacity;
  let access = 0;
  let step;
  const unlink = block => {
    younger[older[block]] = younger[block];
    older[younger[block]] = older[block];
  };
  const append = block => {
    const last = older[head];
    younger[last] = block;
    older[block] = last;
    younger[block] = head;
    older[head] = block;
  };
  const load = block => {
    total.loads++;
    total.loaded += sizes[block];
    perMatrix[b.matrix(block)] += sizes[block];
    step.bytes += sizes[block];
    step.loaded.push(block);
    step.why.push(evictedAt[block]);
  };
  const store = block => {
    total.stores++;
    total.stored += sizes[block];
    step?.stored.push(block);
  };
  const victimOf = at => {
    if (!optimal) {
      let block = younger[head];
      while (block !== head && pinned[block] === at) block = younger[block];
      return block;
    }
    const kept = [];
    let victim = head;
    while (victim === head && farthest.size > 0) {
      const [block, uses] = farthest.pop();
      if (younger[block] === NOWHERE || when[block] !== uses) continue;
      if (pinned[block] === at) kept.push(block);
      else victim = block;
    }
    for (const block of kept) farthest.push(block, when[block]);
    return victim;
  };
  const evict = at => {
    const victim = victimOf(at);
    if (victim === head) {
      throw new UserError('the cache cannot hold what is used at the same time; give it more, or fewer tiles at a time');
    }
    unlink(victim);
    younger[victim] = NOWHERE;
    room += sizes[victim];
    evictedAt[victim] = steps.length;
    step.evicted.push(victim);
    if (dirty[victim]) {
      dirty[victim] = 0;
      store(victim);
    }
  };
  const list = () => {
    const out = [];
    for (let block = younger[head]; block !== head; block = younger[block]) out.push(block);
    return out;
  };
  for (let s = 0; s < stepEnd.length; s++) {
    const tiles = order.slice(s * p.atOnce, (s + 1) * p.atOnce);
    // Of each loaded block, why says in which step it was given up; -1 if it is loaded for the first time.
    step = {tiles, loaded: [], why: [], evicted: [], stored: [], hits: 0, bytes: 0};
    while (access < stepEnd[s]) {
      const at = moment[access];
      let end = access;
      while (end < used.length && moment[end] === at) pinned[used[end++]] = at;
      for (; access < end; access++) {
        const block = used[access];
        if (fetched[access]) total.asked += sizes[block];
        if (younger[block] !== NOWHERE) {
          step.hits++;
          if (p.policy === 'lru') {
            unlink(block);
            append(block);
          }
        } else {
          const size = sizes[block];
          while (size > room) evict(at);
          room -= size;
          append(block);
          if (fetched[access]) load(block);
        }
        if (written[access]) dirty[block] = 1;
        if (optimal) {
          when[block] = next[access];
          farthest.push(block, next[access]);
        }
      }
    }
    if (!p.cached) {
      tiles.forEach((tile, i) => {
        const block = b.result(tile);
        if (adds[s * p.atOnce + i]) {
          total.asked += sizes[block];
          load(block);
        }
        store(block);
      });
    }
    total.hits += step.hits;
    step.total = {...total, moved: total.loaded + total.stored};
    if (keep === 'all') step.contents = list();
    if (keep === s) contents = list();
    steps.push(step);
  }
  step = null;
  for (let block = younger[head]; block !== head; block = younger[block]) {
    if (dirty[block]) {
      store(block);
      total.flushed++;
    }
  }
  return {...total, moved: total.loaded + total.stored, perMatrix, steps, contents};
}
