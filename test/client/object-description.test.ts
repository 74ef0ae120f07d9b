import { expect, test } from 'vitest';
import {
  describe as described,
  isSame,
  type MixedObjectOptions,
  readObject,
} from '../../src/client/scene/object-description.js';
import * as layout from '../../src/shared/layout.js';

const CAPSULE = { type: 'capsule', radius: 1, from: [1, 2, 3], to: [4, 5, 6] } as const;
const BOX = { type: 'box', halfExtents: [1, 2, 3], center: [4, 5, 6], rotation: [0, 0.6, 0, 0.8] } as const;
const OPTIONS = { shape: CAPSULE, motion: 'static', layers: 6, collidesWith: 5, group: 4, contacts: 'any' } as const;

const of = (options: MixedObjectOptions) => described('addObject', readObject('addObject', options), () => undefined);

test('objects that are described alike share their description', () => {
  for (const shape of [CAPSULE, BOX]) {
    const options = { ...OPTIONS, shape };
    expect(isSame(of(options), of(structuredClone(options) as typeof options))).toBe(true);
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
  expect(isSame(of(OPTIONS), of({ ...OPTIONS, ...change }))).toBe(false);
});

test('boxes that differ in their rotation alone do not either', () => {
  const turned = { ...OPTIONS, shape: { ...BOX, rotation: [0, 0.8, 0, 0.6] } } as const;
  expect(isSame(of({ ...OPTIONS, shape: BOX }), of(turned))).toBe(false);
});

test('by default it is picked and culled, has two sides and meets all', () => {
  const { flags, layers, collidesWith, group, contacts } = of({ shape: BOX });
  expect(flags).toBe(layout.FLAG_PICKABLE + layout.FLAG_CULLABLE + layout.FLAG_SIDE * layout.SIDE_DOUBLE);
  expect({ layers, collidesWith, group, contacts }).toEqual({
    ...{ layers: 1, collidesWith: 0xffffffff, group: 0, contacts: layout.CONTACTS_MANIFOLD },
  });
});
