import { describe, expect, test } from 'vitest';
import {
  areSameDescriptions,
  describeObject as described,
  describeQuery,
  type FaceRun,
  type MixedObjectOptions,
  readObject,
} from '../../src/client/scene/object-description.js';
import * as layout from '../../src/shared/layout.js';
import type { MeshInfo, Shape } from '../../src/shared/types.js';

const CAPSULE = { type: 'capsule', radius: 1, from: [1, 2, 3], to: [4, 5, 6] } as const;
const BOX = { type: 'box', halfExtents: [1, 2, 3], center: [4, 5, 6], rotation: [0, 0.6, 0, 0.8] } as const;
const OPTIONS = { shape: CAPSULE, motion: 'static', layers: 6, collidesWith: 5, group: 4, contacts: 'any' } as const;

const of = (options: MixedObjectOptions) => described('addObject', readObject('addObject', options), () => undefined);

test('objects that are described alike share their description', () => {
  for (const shape of [CAPSULE, BOX]) {
    const options = { ...OPTIONS, shape };
    expect(areSameDescriptions(of(options), of(structuredClone(options) as typeof options))).toBe(true);
  }
});

test.each<[string, Partial<MixedObjectOptions>]>([
  ['shape', { shape: { type: 'sphere', radius: 1, center: [1, 2, 3] } }],
  ['radius', { shape: { ...CAPSULE, radius: 2 } }],
  ['one end', { shape: { ...CAPSULE, from: [1, 2, 4] } }],
  ['other end', { shape: { ...CAPSULE, to: [5, 5, 6] } }],
  ['motion', { motion: 'moving' }],
  ['layers', { layers: 7 }],
  ['collidesWith', { collidesWith: 1 }],
  ['group', { group: 1 }],
  ['contacts', { contacts: 'none' }],
  ['pickable', { pickable: false }],
  ['cullable', { cullable: false }],
  ['side', { side: 'front' }],
])('objects that differ in their %s do not', (_, change) => {
  expect(areSameDescriptions(of(OPTIONS), of({ ...OPTIONS, ...change }))).toBe(false);
});

test('boxes that differ in their rotation alone do not either', () => {
  const turned = { ...OPTIONS, shape: { ...BOX, rotation: [0, 0.8, 0, 0.6] } } as const;
  expect(areSameDescriptions(of({ ...OPTIONS, shape: BOX }), of(turned))).toBe(false);
});

test('by default it is picked and culled, has two sides and meets all', () => {
  const { flags, layers, collidesWith, group, contacts } = of({ shape: BOX });
  expect(flags).toBe(layout.FLAG_PICKABLE + layout.FLAG_CULLABLE + layout.FLAG_SIDE * layout.SIDE_DOUBLE);
  expect({ layers, collidesWith, group, contacts }).toEqual({
    ...{ layers: 1, collidesWith: 0xffffffff, group: 0, contacts: layout.CONTACTS_MANIFOLD },
  });
});

const MESHES: Record<number, Partial<MeshInfo>> = {
  7: { triangles: 10, topology: 'triangles', closed: true },
  8: { triangles: 4, topology: 'triangles', closed: false },
  9: { triangles: 0, topology: 'lines', closed: false },
};
const meshOf = (id: number) => MESHES[id] as MeshInfo | undefined;
const ofMesh = (options: Partial<MixedObjectOptions>, base?: ReturnType<typeof of>) =>
  described('setObject', readObject('setObject', options), meshOf, base);
const MESH = { type: 'mesh', mesh: 7 } as const;

describe('a shape', () => {
  test.each<[string, Shape, object]>([
    ['a mesh', MESH, { shape: layout.SHAPE_MESH, mesh: 7 }],
    ['a sphere', { type: 'sphere', radius: 2 }, { shape: layout.SHAPE_SPHERE, radius: 2 }],
    ['one aside', { type: 'sphere', radius: 1e30, center: [1, 2, -1e30] }, { radius: 1e30, center: [1, 2, -1e30] }],
    ['a box', { type: 'box', halfExtents: [1, 0, 3] }, { shape: layout.SHAPE_BOX, extent: [1, 0, 3] }],
    ['a turned one', BOX, { extent: [1, 2, 3], center: [4, 5, 6], rotation: [0, 0.6, 0, 0.8] }],
    ['a capsule', CAPSULE, { shape: layout.SHAPE_CAPSULE, radius: 1, center: [1, 2, 3], extent: [4, 5, 6] }],
  ])('%s is described by its numbers, all others being none', (_, shape, expected) => {
    const none = { mesh: 0, center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0, clipSet: 0 };
    expect(ofMesh({ shape })).toMatchObject({ ...none, clearance: 0, ...expected });
    expect(describeQuery('overlap', shape, meshOf)).toMatchObject({ ...none, ...expected, layers: 1 });
  });

  test('that is solid says so, to queries as well', () => {
    for (const solid of [true, false]) {
      expect((ofMesh({ shape: { ...MESH, solid } }).flags & layout.FLAG_SOLID) !== 0).toBe(solid);
      expect((describeQuery('overlap', { ...MESH, solid }, meshOf).flags & layout.FLAG_SOLID) !== 0).toBe(solid);
    }
    const solid = ofMesh({ shape: { ...MESH, solid: true } });
    expect(ofMesh({ shape: MESH }, solid).flags & layout.FLAG_SOLID).toBe(0);
    expect(ofMesh({ layers: 3 }, solid).flags & layout.FLAG_SOLID).not.toBe(0);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'shape is undefined, expected a shape'],
    ['null', null, 'shape is null, expected an object with a type'],
    ['a word', 'box', 'shape is "box", expected an object with a type'],
    ['of no type', {}, 'shape.type is undefined, expected one of "mesh", "sphere", "box", "capsule"'],
    ['of another key', { ...MESH, radius: 1 }, 'unknown key "radius", expected some of type, mesh, solid'],
    ['a mesh that is not there', { type: 'mesh', mesh: 5 }, 'shape.mesh is 5, expected the id of an added mesh'],
    ['a word for solid', { ...MESH, solid: 1 }, 'shape.solid is 1, expected a boolean'],
    ['an open one', { ...MESH, mesh: 8, solid: true }, 'shape.solid is true, expected false, as mesh 8 is not closed'],
    ['lines', { ...MESH, mesh: 9, solid: true }, 'false, as mesh 9 has lines, which have no inside'],
    ['no radius', { type: 'sphere' }, 'shape.radius is undefined, expected a finite number > 0'],
    ['a flat sphere', { type: 'sphere', radius: 0 }, 'shape.radius is 0, expected a finite number > 0'],
    ['a huge one', { type: 'sphere', radius: 1.1e30 }, 'shape.radius is 1.1e+30, expected no number beyond 1e30'],
    [
      'one too far',
      { type: 'sphere', radius: 1, center: [0, -1.1e30, 0] },
      'shape.center is [0, -1.1e+30, 0], expected no',
    ],
    [
      'a centre of two',
      { type: 'box', halfExtents: [1, 1, 1], center: [0, 0] },
      'shape.center is [0, 0], expected 3 numbers',
    ],
    [
      'a box inside out',
      { type: 'box', halfExtents: [1, 1, -1] },
      'shape.halfExtents is [1, 1, -1], expected three numbers >= 0',
    ],
    [
      'a huge box',
      { type: 'box', halfExtents: [1, 1.1e30, 1] },
      'shape.halfExtents is [1, 1.1e+30, 1], expected no number',
    ],
    ['a bad turn', { type: 'box', halfExtents: [1, 1, 1], rotation: [0, 0, 0, 2] }, 'shape.rotation'],
    [
      'a capsule too far',
      { ...CAPSULE, to: [0, 0, 1.1e30] },
      'shape.to is [0, 0, 1.1e+30], expected no number beyond 1e30',
    ],
    ['a capsule of one end', { ...CAPSULE, from: undefined }, 'shape.from is undefined, expected 3 numbers'],
  ])('%s is refused', (_, shape, message) => {
    expect(() => ofMesh({ shape: shape as Shape })).toThrow(message);
    if (shape !== undefined) expect(() => describeQuery('setObject', shape as Shape, meshOf)).toThrow(message);
  });
});

describe('an option', () => {
  const FLAGS: [Partial<MixedObjectOptions>, Partial<MixedObjectOptions>, number][] = [
    [{ motion: 'static' }, { motion: 'moving' }, layout.FLAG_STATIC],
    [{ pickable: true }, { pickable: false }, layout.FLAG_PICKABLE],
    [{ cullable: true }, { cullable: false }, layout.FLAG_CULLABLE],
    [{ continuous: true }, { continuous: false }, layout.FLAG_CONTINUOUS],
    [{ clearance: 0.5 }, { clearance: 0 }, layout.FLAG_CLEARANCE],
  ];
  test('that is a flag is set and unset, and stays when others are set', () => {
    for (const [on, off, flag] of FLAGS) {
      const base = ofMesh({ shape: MESH, ...on });
      expect(base.flags & flag).toBe(flag);
      const unset = ofMesh(off, base);
      expect(unset.flags).toBe(base.flags & ~flag);
      expect(ofMesh({ layers: 5 }, base).flags).toBe(base.flags);
      expect(ofMesh({ layers: 5 }, unset).flags).toBe(unset.flags);
      expect(ofMesh(on, unset).flags).toBe(base.flags);
    }
    const base = ofMesh({ shape: MESH });
    const both = layout.FLAG_OCCLUDER | layout.FLAG_NO_OCCLUDER;
    expect(base.flags & both).toBe(0);
    const hiding = ofMesh({ occluder: true }, base);
    expect(hiding.flags & both).toBe(layout.FLAG_OCCLUDER);
    expect(ofMesh({ occluder: false }, hiding).flags & both).toBe(layout.FLAG_NO_OCCLUDER);
  });

  test('that is a number or a word is that, else what it was', () => {
    const given = { layers: -1, collidesWith: 3, group: 4, contacts: 'full', clipSet: 6, clearance: 7 } as const;
    const base = ofMesh({ shape: CAPSULE, ...given });
    const details = ['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'] as const;
    expect(base).toMatchObject({ ...given, layers: 0xffffffff, contacts: details.indexOf('full') });
    expect(ofMesh({}, base)).toEqual(base);
    for (const [i, contacts] of details.entries()) expect(ofMesh({ contacts }, base).contacts).toBe(i);
    for (const [i, side] of (['front', 'back', 'double'] as const).entries()) {
      const { flags } = ofMesh({ side }, base);
      expect(flags & (layout.FLAG_SIDE * 3)).toBe(layout.FLAG_SIDE * (i + 1));
      expect(ofMesh({ group: 1 }, ofMesh({ side }, base)).flags).toBe(flags);
    }
  });

  test.each<[object, string]>([
    [{ motion: 'still' }, 'motion is "still", expected one of "static", "moving"'],
    [{ pickable: 1 }, 'pickable is 1, expected a boolean'],
    [{ cullable: null }, 'cullable is null, expected a boolean'],
    [{ continuous: 'a' }, 'continuous is "a", expected a boolean'],
    [{ occluder: 0 }, 'occluder is 0, expected a boolean'],
    [{ side: 'top' }, 'side is "top", expected one of "front", "back", "double"'],
    [{ clearance: -1 }, 'clearance is -1, expected a finite number >= 0'],
    [{ layers: 2 ** 32 }, 'layers is 4294967296, expected an integer'],
    [{ collidesWith: 0.5 }, 'collidesWith is 0.5, expected an integer'],
    [{ group: -1 }, 'group is -1, expected an integer in 0 … 4294967295'],
    [{ contacts: 'all' }, 'contacts is "all", expected one of'],
    [{ boxes: 3 }, 'boxes is 3'],
    [{ size: 3 }, 'options has the unknown key "size", expected some of shape, matrix, motion, layers'],
  ])('%s is refused', (options, message) => {
    expect(() => ofMesh({ shape: MESH, ...options })).toThrow(`setObject: ${message}`);
  });

  test('is to be there', () => {
    expect(() => readObject('setObject', undefined as never)).toThrow(
      'setObject: options is undefined, expected an object',
    );
  });
});

describe('sides of faces', () => {
  const runs = (...all: [number, number, FaceRun['side']][]) =>
    all.map(([start, count, side]) => ({ start, count, side }));
  /** Where each run of sides begins, and its side: SIDE_*, 0 for the object's own. */
  const packed = (faceSides: FaceRun[] | null) => {
    const entries = ofMesh({ shape: MESH, faceSides }).faceSides;
    return (
      entries && Array.from(entries, (entry) => [entry >>> layout.FACE_SHIFT, entry & ((1 << layout.FACE_SHIFT) - 1)])
    );
  };

  test('are packed as where they change', () => {
    expect(packed(null)).toBeUndefined();
    expect(packed([])).toBeUndefined();
    expect(packed(runs([0, 10, 'front']))).toEqual([[0, 1]]);
    expect(packed(runs([0, 4, 'back'], [4, 6, 'double']))).toEqual([
      [0, 2],
      [4, 3],
    ]);
    expect(packed(runs([0, 4, 'back'], [4, 2, 'back']))).toEqual([
      [0, 2],
      [6, 0],
    ]);
    expect(packed(runs([2, 1, 'front'], [9, 1, 'front']))).toEqual([
      [2, 1],
      [3, 0],
      [9, 1],
    ]);
  });

  test('go with a shape, and stay without one', () => {
    const base = ofMesh({ shape: MESH, faceSides: runs([0, 5, 'front']) });
    expect(base.flags & layout.FLAG_FACE_SIDES).not.toBe(0);
    const same = ofMesh({ layers: 3 }, base);
    expect(same.faceSides).toBe(base.faceSides);
    expect(same.flags).toBe(base.flags);
    expect(areSameDescriptions(base, ofMesh({ faceSides: runs([0, 6, 'front']) }, base))).toBe(false);
    for (const change of [{ shape: MESH }, { faceSides: null }, { faceSides: [] }]) {
      const other = ofMesh(change, base);
      expect(other.faceSides).toBeUndefined();
      expect(other.flags & layout.FLAG_FACE_SIDES).toBe(0);
    }
  });

  test.each<[unknown, string]>([
    [3, 'faceSides is 3, expected an array of runs'],
    [Array(11).fill({}), 'the length of faceSides is 11, expected an integer in 0 … 10'],
    [[3], 'faceSides[0] is 3, expected an object'],
    [[{ start: 0, count: 1, side: 'front', end: 1 }], 'faceSides[0] has the unknown key "end"'],
    [runs([10, 1, 'front']), 'faceSides[0].start is 10, expected an integer in 0 … 9'],
    [runs([0, 0, 'front']), 'faceSides[0].count is 0, expected an integer in 1 … 10'],
    [runs([2, 9, 'front']), 'faceSides[0].count is 9, expected an integer in 1 … 8'],
    [runs([2, 2, 'front'], [3, 1, 'back']), 'faceSides[1].start is 3, expected an integer in 4 … 9'],
    [runs([0, 1, 'none' as never]), 'faceSides[0].side is "none", expected one of'],
  ])('%s are refused', (faceSides, message) => {
    expect(() => ofMesh({ shape: MESH, faceSides: faceSides as FaceRun[] })).toThrow(message);
  });

  test('are of meshes alone', () => {
    expect(() => ofMesh({ shape: BOX, faceSides: [] })).toThrow('none, as the shape is no mesh');
    expect(ofMesh({ shape: BOX, faceSides: null }).faceSides).toBeUndefined();
  });
});
