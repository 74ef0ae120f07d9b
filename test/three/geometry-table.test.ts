// The state of geometries when they were last examined: the
// ones that have changed since are visited, and no others.
import { BufferAttribute, BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import { expect, test } from 'vitest';
import { GeometryTable } from '../../src/client/three/geometry/geometry-table.js';
import { Random, SEED } from '../oracle/random.js';

class Owner {
  line = -1;
  readonly geometry = new BufferGeometry();

  constructor() {
    this.geometry.setAttribute('position', attribute());
    this.geometry.setIndex([0, 1, 2]);
  }

  /** All that the table compares; null for what never counts as equal. */
  get state(): unknown[] | null {
    const { attributes, index, drawRange, groups } = this.geometry;
    const { position } = attributes;
    if (!(position instanceof BufferAttribute) || groups.length > 0) return null;
    const { start, count } = drawRange;
    return [position, position.version, position.count, index, index?.version, start, count];
  }
}

const attribute = () => new BufferAttribute(new Float32Array(9), 3);

const CHANGES: ((geometry: BufferGeometry) => void)[] = [
  ({ attributes: { position } }) =>
    position instanceof BufferAttribute && Object.assign(position, { needsUpdate: true }),
  ({ attributes: { position } }) =>
    position instanceof BufferAttribute && Object.assign(position, { count: position.count + 1 }),
  ({ index }) => index && Object.assign(index, { needsUpdate: true }),
  (geometry) => geometry.setDrawRange(geometry.drawRange.start + 1, geometry.drawRange.count),
  (geometry) => geometry.setDrawRange(geometry.drawRange.start, 30 - Math.min(geometry.drawRange.count, 29)),
  (geometry) => geometry.setIndex(geometry.index ? null : [0, 1, 2]),
  (geometry) => geometry.setIndex([2, 1, 0]),
  (geometry) => geometry.setAttribute('position', attribute()),
  (geometry) =>
    geometry.setAttribute(
      'position',
      new InterleavedBufferAttribute(new InterleavedBuffer(new Float32Array(9), 3), 3, 0),
    ),
  (geometry) => geometry.deleteAttribute('position'),
  (geometry) => geometry.addGroup(0, 3),
  (geometry) => geometry.clearGroups(),
];

test(`those of which nothing is known or that are others are visited, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const table = new GeometryTable<Owner>();
  const owners = Array.from({ length: 200 }, () => new Owner());
  const listed = new Set<Owner>();
  const noted = new Map<Owner, unknown[] | null>();
  const counts = { same: 0, other: 0 };
  for (let round = 0; round < 300; round++) {
    for (let i = 0; i < 20; i++) {
      const owner = random.pick(owners);
      const what = random.next();
      if (what < 0.1) {
        table.remove(owner);
        listed.delete(owner);
        noted.delete(owner);
      } else if (what < 0.35) {
        table.add(owner);
        listed.add(owner);
      } else if (what < 0.45) {
        table.forget(owner);
        noted.delete(owner);
      } else if (what < 0.8) {
        table.note(owner);
        // What it cannot record keeps its previous record.
        if (listed.has(owner) && owner.state) noted.set(owner, owner.state);
      } else random.pick(CHANGES)(owner.geometry);
    }
    const expected = [...listed].filter((owner) => {
      const [before, now] = [noted.get(owner), owner.state];
      const isSame = before != null && now !== null && before.every((value, k) => Object.is(value, now[k]));
      counts[isSame ? 'same' : 'other']++;
      return !isSame;
    });
    const visited: Owner[] = [];
    table.forEachOther((owner) => visited.push(owner));
    expect(visited.length).toBe(expected.length);
    expect(new Set(visited)).toEqual(new Set(expected));
  }
  expect(Math.min(counts.same, counts.other)).toBeGreaterThan(2000);
});
