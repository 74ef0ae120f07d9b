// Sorts the functions of the core's two modules so that they compress well. gzip's window is 32 KB, and the code that both
// modules share is 300 KB apart: with similar functions next to each other, the packed core is a tenth smaller.
// src/worker/binding/core-order.ts restores the original order.

import { deflateRawSync } from 'node:zlib';

/** Functions are similar if they share runs of this many bytes. */
const RUN_BYTES = 6;
/**
 * The ways that are tried. A run that occurs in more than `mostHolders` functions says little about any of them, and `windowBytes`
 * is gzip's window, or a little more. Which way is best changes with every change of the core: with any one of them, the packed
 * core had up to 800 bytes more, by chance. With 50 holders or an exponent of 0.7 below, it always had more.
 */
const WAYS = [8, 9, 10, 11, 12, 13, 16, 20].flatMap((mostHolders) =>
  [32_400, 36_000].map((windowBytes) => ({ mostHolders, windowBytes })),
);

const CODE = 10;
const CUSTOM = 0;

/**
 * Returns the bytes of core.wasm in packed order: the lengths of the three stretches that are not function bodies, the number of
 * bodies in the core and in both modules, the permutation of the bodies, the stretches, and the bodies.
 *
 * @param {Uint8Array} wasm the core, with the narrow phase in its last section
 */
export function packedOrder(wasm) {
  const inner = sectionsOf(wasm, 8).at(-1);
  if (inner?.id !== CUSTOM) throw new Error('the narrow phase is not in the last section of the core');
  const [nameBytes, name] = readLeb(wasm, inner.start);
  const core = bodiesOf(wasm, 8);
  const narrow = bodiesOf(wasm, name + nameBytes + 8);
  const bodies = [...core.bodies, ...narrow.bodies];
  const order = likeByLike(bodies);
  const stretches = [wasm.subarray(0, core.start), wasm.subarray(core.end, narrow.start), wasm.subarray(narrow.end)];
  const head = new Uint16Array(8 + order.length);
  new Uint32Array(head.buffer, 0, 3).set(stretches.map(({ length }) => length));
  head.set([core.bodies.length, bodies.length, ...order], 6);
  return Buffer.concat([new Uint8Array(head.buffer), ...stretches, ...order.map((i) => bodies[i])]);
}

/** Returns a module without its last section. */
export function withoutLastSection(wasm) {
  return wasm.subarray(0, sectionsOf(wasm, 8).at(-1).from);
}

/** Returns the order that packs best. */
function likeByLike(bodies) {
  const runs = bodies.map(runsOf);
  const holders = new Map();
  runs.forEach((of, i) => {
    for (const run of of) {
      const who = holders.get(run);
      if (who) who.push(i);
      else holders.set(run, [i]);
    }
  });
  let best = { bytes: Infinity, order: [] };
  for (const way of WAYS) {
    const order = greedyOrder(bodies, runs, holders, way);
    const { length: bytes } = deflateRawSync(Buffer.concat(order.map((i) => bodies[i])), { level: 9 });
    if (bytes < best.bytes) best = { bytes, order };
  }
  return best.order;
}

/** Orders greedily: the next body is always the one that is most similar to those in the window. */
function greedyOrder(bodies, runs, holders, { mostHolders, windowBytes }) {
  const seen = new Map();
  const shared = new Float64Array(bodies.length);
  const change = (body, by) => {
    for (const run of runs[body]) {
      const before = seen.get(run) ?? 0;
      seen.set(run, before + by);
      const isNews = before === 0 || before + by === 0;
      const who = holders.get(run);
      if (isNews && who.length <= mostHolders) for (const i of who) shared[i] += by;
    }
  };
  const order = [];
  const left = new Set(bodies.keys());
  let held = 0;
  for (let bytes = 0; left.size > 0; ) {
    let next = -1;
    let best = -1;
    for (const i of left) {
      const likeness = shared[i] / (runs[i].size + 20) ** 0.8;
      if (likeness > best) [next, best] = [i, likeness];
    }
    order.push(next);
    left.delete(next);
    change(next, 1);
    for (bytes += bodies[next].length; bytes > windowBytes && held < order.length - 1; held++) {
      bytes -= bodies[order[held]].length;
      change(order[held], -1);
    }
  }
  return order;
}

function runsOf(body) {
  const runs = new Set();
  for (let i = 0; i + RUN_BYTES <= body.length; i++) {
    let hash = 0;
    for (let k = 0; k < RUN_BYTES; k++) hash = (Math.imul(hash, 31) + body[i + k]) | 0;
    runs.add(hash);
  }
  return runs;
}

/** Returns the bodies of a module's functions, each with its length prefix, and where they begin and end. */
function bodiesOf(wasm, from) {
  const code = sectionsOf(wasm, from).find(({ id }) => id === CODE);
  const [count, start] = readLeb(wasm, code.start);
  const bodies = [];
  let end = start;
  for (let i = 0; i < count; i++) {
    const [length, at] = readLeb(wasm, end);
    bodies.push(wasm.subarray(end, at + length));
    end = at + length;
  }
  return { bodies, start, end };
}

function sectionsOf(wasm, from) {
  const sections = [];
  for (let at = from; at < wasm.length; ) {
    const [length, start] = readLeb(wasm, at + 1);
    sections.push({ id: wasm[at], from: at, start });
    at = start + length;
  }
  return sections;
}

/** Reads an unsigned LEB128 number; returns it and the position of the next byte. */
function readLeb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}
