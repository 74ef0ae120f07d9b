import { BoxGeometry, Mesh, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { MeshTable, type TableOwner } from '../../src/client/three/track/mesh-table.js';
import { Random, SEED } from '../oracle/random.js';

test(`all that are in the table are looked at and sent, whoever has left, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const table = new MeshTable();
  const geometries = Array.from({ length: 5 }, () => new BoxGeometry());
  const material = new MeshBasicMaterial();
  const alive = new Map<number, TableOwner>();
  const kind = { material, surface: material.side, isDrawn: true, isVisible: true, layers: 1 };
  const set = (id: number, owner: TableOwner) => table.set(owner, id, owner.drawn.geometry, kind);
  let longest = 0;
  let mostRows = 0;
  let unordered = 0;
  for (let frame = 0; frame < 600; frame++) {
    const way = random.pick(['come', 'one goes', 'a row goes', 'some go', 'nothing', 'nothing']);
    if (way === 'come') {
      for (let n = random.integer(80); n > 0; n--) {
        const id = 1 + random.integer(2000);
        if (alive.has(id)) continue;
        const drawn = new Mesh(random.pick(geometries), material);
        alive.set(id, { object: drawn, drawn, place: -1 });
        set(id, alive.get(id)!);
      }
    }
    const ids = [...alive.keys()].sort((a, b) => a - b);
    const from = random.integer(ids.length + 1);
    const gone =
      way === 'one goes'
        ? ids.slice(from, from + 1)
        : way === 'a row goes'
          ? ids.slice(from, from + random.integer(100))
          : way === 'some go'
            ? ids.filter(() => random.chance(0.1))
            : [];
    for (const id of gone) {
      table.remove(alive.get(id)!);
      alive.delete(id);
    }
    const others = [...alive].filter(() => random.chance(0.05));
    for (const [, { drawn }] of others) {
      const { geometry } = drawn;
      random.pick([
        () => drawn.layers.set(3),
        () => (drawn.visible = false),
        () => (drawn.geometry = random.pick(geometries.filter((each) => each !== geometry))),
      ])();
    }
    const changed: TableOwner[] = [];
    const end = table.size;
    longest = Math.max(longest, end - alive.size);
    table.findChanged(0, end, changed);
    expect(new Set(changed), `frame ${frame}`).toEqual(new Set(others.map(([, owner]) => owner)));
    for (const [id, { drawn, ...owner }] of others) {
      drawn.layers.set(0);
      drawn.visible = true;
      set(id, alive.get(id)!);
      expect(owner.place).toBeGreaterThanOrEqual(0);
    }
    const sent: [number, unknown][] = [];
    let rows = 0;
    const service = {
      moveObjects(given: Uint32Array, matrices: readonly unknown[], first: number, last: number) {
        rows++;
        for (let i = first; i < last; i++) sent.push([given[i], matrices[i]]);
      },
    };
    table.send(service as never, 0, table.size);
    const expected = [...alive].map(([id, { drawn }]): [number, unknown] => [id, drawn.matrixWorld.elements]);
    mostRows = Math.max(mostRows, rows);
    const sorted = [...alive.keys()].sort((a, b) => a - b);
    const sentIds = sent.map(([id]) => id);
    if (sentIds.some((id, i) => id !== sorted[i])) unordered++;
    expect(sentIds.sort((a, b) => a - b)).toEqual(sorted);
    for (const [id, elements] of expected) expect(sent.find(([each]) => each === id)![1]).toBe(elements);
  }
  expect(longest).toBeGreaterThan(10);
  // More deleted rows than this are compacted, and fewer are left
  // for a while. Some begin where a chunk of the table does.
  expect(mostRows).toBeGreaterThan(4);
  expect(mostRows).toBeLessThanOrEqual(17 + 4);
  // The newest are out of order for a while.
  expect(unordered).toBeGreaterThan(10);
  for (let n = 0; n < 20; n++) table.size;
  expect(table.size).toBe(alive.size);
  const places = [...alive].sort(([a], [b]) => a - b).map(([, { place }]) => place);
  expect(places).toEqual(places.map((_, i) => i));
});

test('those that rest are not looked at for a frame, where all of their part of the table do', () => {
  const table = new MeshTable();
  const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];
  const kind = { material, surface: material.side, isDrawn: true, isVisible: true, layers: 1 };
  const owners = Array.from({ length: 10 * 512 }, (_, i): TableOwner => {
    const drawn = new Mesh(geometry, material);
    const owner = { object: drawn, drawn, place: -1 };
    table.set(owner, 1 + i, geometry, kind);
    return owner;
  });
  const found = () => {
    const changed: TableOwner[] = [];
    table.findChanged(0, table.size, changed);
    return changed;
  };
  expect(found()).toEqual([]);
  for (const { drawn } of owners) drawn.visible = false;
  expect(found()).toEqual(owners);
  // The last ones first, whose chunk is beyond the initial capacity.
  for (const { place } of owners.slice(3000).reverse()) table.rest(place);
  // A chunk has 512; some of the one that contains 3000 do not rest.
  expect(found()).toEqual(owners.slice(0, 6 * 512));
  table.wake();
  expect(found()).toEqual(owners);
});
