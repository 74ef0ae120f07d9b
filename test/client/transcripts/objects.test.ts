// What is sent of objects, poses and characters, and the results: a transcript, as in frames.test.ts.
import type { Character, CharacterOptions, CollisionService, MeshId, ObjectOptions } from 'collision-worker';
import { test } from 'vitest';
import { Transcript } from '../../fixtures/transcript.js';
import { boxMesh } from '../../oracle/meshes.js';

const at = (x: number, y = 0, z = 0, s = 1) => [s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0, x, y, z, 1];
const BALL = { type: 'sphere', radius: 0.5 } as const;
const { positions, indices } = boxMesh(1, 1, 1);
const corners = positions.length / 3;

async function told(): Promise<{ transcript: Transcript; service: CollisionService }> {
  const transcript = new Transcript();
  return { transcript, service: await transcript.service() };
}

test('described', async () => {
  const { transcript, service } = await told();
  const mesh = await service.addMesh({ positions, indices }, { boxes: [{ name: 'all', halfExtents: [1, 1, 1] }] });
  const box = { name: 'half', center: [0.25, 0, 0], halfExtents: [0.25, 1, 1], rotation: [0, 0, 0.6, 0.8] } as const;
  const all: ObjectOptions[] = [
    { shape: BALL },
    { shape: { ...BALL, center: [1, 2, 3] }, matrix: at(1) },
    { shape: { type: 'box', halfExtents: [1, 0, 3] } },
    { shape: { type: 'box', halfExtents: [1, 2, 3], center: [4, 5, 6], rotation: [0, 0, 0.6, 0.8] } },
    { shape: { type: 'capsule', radius: 1, from: [0, 1, 2], to: [3, 4, 5] } },
    { shape: { type: 'capsule', radius: 1, from: [0, 1, 2], to: [0, 1, 2] } },
    { shape: { type: 'mesh', mesh } },
    { shape: { type: 'mesh', mesh, solid: true } },
    { shape: { type: 'mesh', mesh }, boxes: [box] },
    { shape: { type: 'mesh', mesh }, boxes: [] },
    { shape: BALL, motion: 'static' },
    { shape: BALL, motion: 'moving', layers: 0xffffffff, collidesWith: 0, group: 7 },
    { shape: BALL, layers: -1, collidesWith: 6 },
    ...(['none', 'bounds', 'bones', 'any', 'manifold', 'triangles', 'full'] as const).map((contacts) => ({
      shape: BALL,
      contacts,
    })),
    { shape: BALL, pickable: false, cullable: false },
    { shape: BALL, pickable: true, cullable: true },
    ...(['front', 'back', 'double'] as const).map((side) => ({ shape: BALL, side })),
    { shape: BALL, occluder: true },
    { shape: BALL, occluder: false },
    { shape: BALL, clearance: 0.25, continuous: true },
    { shape: BALL, clearance: 0, continuous: false },
  ];
  const ids = all.map((options) => service.addObject(options));
  await transcript.tell('one by one', () => service.update().then(({ rejected }) => ({ ids, rejected })));
  const alike = [1, 2, 3].map((x) => service.addObject({ shape: BALL, matrix: at(x) }));
  const others = [service.addObject({ shape: BALL }), ...service.addInstances({ shape: BALL, matrix: at(9) }, 2)];
  await transcript.tell('alike, together', () => service.update().then(() => [alike, others]));
  await transcript.tell('none', () => service.addInstances({ shape: BALL }, 0));
  const changes: Partial<ObjectOptions>[] = [
    {},
    { matrix: at(5) },
    { layers: 4 },
    { motion: 'static' },
    { motion: 'moving', pickable: false },
    { pickable: true, cullable: false, side: 'back', occluder: false },
    { occluder: true, contacts: 'none', group: 1, collidesWith: 2 },
    { clearance: 0.5 },
    { clearance: 0, continuous: true },
    { shape: { type: 'mesh', mesh, solid: true } },
    { boxes: [box] },
    { shape: { type: 'mesh', mesh } },
    { boxes: [] },
    { shape: { type: 'box', halfExtents: [1, 1, 1] } },
  ];
  for (const change of changes) {
    await transcript.tell(`set ${Object.keys(change).join(', ')}`, () => {
      service.setObject(ids[0], change);
    });
  }
  await transcript.tell('set twice', () => {
    service.setObject(ids[1], { layers: 2 });
    service.setObject(ids[1], { layers: 3, matrix: at(2) });
  });
  await transcript.tell('its mesh', () => [service.meshOf(ids[0]), service.meshOf(ids[6])]);
  for (const id of ids) service.removeObject(id);
  await transcript.tell('removed, and others in their places', () => {
    const again = [1, 2].map(() => service.addObject({ shape: BALL }));
    return service.update().then(() => again);
  });
  await transcript.tell('what has gone', () => service.setObject(ids[0], { layers: 2 }));
  await transcript.tell('removed twice', () => service.removeObject(ids[0]));
  await transcript.tell('the mesh of none', () => service.meshOf(ids[6]));
  await transcript.tell('room', () => service.reserveObjects(1000) >= 1000);
  await transcript.check('objects-described');
});

test('refused', async () => {
  const { transcript, service } = await told();
  const open = await service.addMesh({ positions, indices: indices!.slice(3) });
  const lines = await service.addMesh({ positions, topology: 'lines' });
  const box = { type: 'box', halfExtents: [1, 2, 3] } as const;
  const capsule = { type: 'capsule', radius: 1, from: [0, 1, 2], to: [3, 4, 5] } as const;
  const [most, more] = [1e30, 1.1e30];
  const shapes: object[] = [
    { ...BALL, radius: most },
    { ...BALL, radius: more },
    { ...BALL, radius: 0 },
  ];
  for (let k = 0; k < 3; k++) {
    for (const value of [most, more, -more]) {
      const place = [0, 0, 0].with(k, value);
      shapes.push({ ...BALL, center: place }, { ...box, halfExtents: place }, { ...box, center: place });
      shapes.push({ ...capsule, from: place }, { ...capsule, to: place });
    }
  }
  shapes.push({ ...capsule, radius: more }, { ...capsule, radius: -1 }, { ...box, halfExtents: [1, -1, 1] });
  shapes.push({ ...box, rotation: [0, 0, 0, 0] }, { ...box, rotation: [0, 0, 1] }, { ...box, rotation: [0, 0, 0, 2] });
  shapes.push({ type: 'mesh', mesh: open, solid: true }, { type: 'mesh', mesh: lines, solid: true });
  shapes.push({ type: 'mesh', mesh: 77 }, { type: 'mesh', mesh: open, solid: 1 }, { type: 'cone' }, {});
  const tried = (heading: string, options: object) =>
    transcript.tell(`${heading} ${JSON.stringify(options)}`, () => {
      const id = service.addObject(options as never);
      service.removeObject(id);
      return 'taken';
    });
  for (const shape of shapes) await tried('shape', { shape });
  for (const options of [
    { shape: { type: 'mesh', mesh: lines }, boxes: [] },
    { shape: BALL, boxes: [{ name: 'a', halfExtents: [1, 1, 1] }] },
    { shape: { type: 'mesh', mesh: open }, boxes: [{ name: 'a', halfExtents: [1, 1, -1] }] },
    { shape: { type: 'mesh', mesh: open }, boxes: [{ name: 'a', halfExtents: [1, 1, 1], center: [more, 0, 0] }] },
    { shape: { type: 'mesh', mesh: open }, boxes: 7 },
    { shape: BALL, matrix: at(Number.POSITIVE_INFINITY) },
    { shape: BALL, matrix: at(0, 0, 0, 0) },
    { shape: BALL, matrix: at(0).slice(1) },
    { shape: BALL, layers: 0.5 },
    { shape: BALL, layers: 2 ** 32 },
    { shape: BALL, group: -2 },
    { shape: BALL, collidesWith: Number.NaN },
    { shape: BALL, contacts: 'all' },
    { shape: BALL, motion: 'still' },
    { shape: BALL, side: 'both' },
    { shape: BALL, clearance: -1 },
    { shape: BALL, clearance: Number.POSITIVE_INFINITY },
    { shape: BALL, pickable: 1 },
    { shape: BALL, cullable: 'no' },
    { shape: BALL, occluder: null },
    { shape: BALL, continuous: 0 },
    { shape: BALL, other: 1 },
    {},
  ]) {
    await tried('options', options);
  }
  await transcript.check('objects-refused');
});

test('posed', async () => {
  const { transcript, service } = await told();
  const skin = {
    bones: Uint16Array.from({ length: 4 * corners }, (_, i) => (i % 4 === 0 ? (i / 4) % 2 : 0)),
    weights: Float32Array.from({ length: 4 * corners }, (_, i) => (i % 4 === 0 ? 1 : 0)),
    boneCount: 2,
  };
  const morphs = { targets: [positions.map((each) => 2 * each), positions.map(() => 1)], relative: true };
  const meshes: MeshId[] = [];
  for (const more of [{ skin }, { morphs }, { skin, morphs }, {}])
    meshes.push(await service.addMesh({ positions, indices, ...more }));
  const [skinned, morphed, both, plain] = meshes.map((mesh, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(10 * i), contacts: 'bones' }),
  );
  const other = service.addObject({ shape: { type: 'mesh', mesh: meshes[0] }, matrix: at(2), contacts: 'bones' });
  const update = (heading: string) =>
    transcript.tell(heading, async () => {
      const { rejected, contacts } = await service.update();
      return { rejected, pairs: [...contacts].map(({ a, b, bones }) => ({ a, b, bones })) };
    });
  const hit = (heading: string, x: number) =>
    transcript.tell(heading, () => service.raycastAll({ origin: [x, 0.25, 9], direction: [0, 0, -1] }));
  const bones = Float32Array.from([...at(0, 0, 1), ...at(0, 0, -1)]);
  await update('as they were added');
  service.setPose(skinned, { bones });
  service.setPose(morphed, { morphs: [0.5, 0.25] });
  service.setPose(both, { bones, bind: at(0, 1), bindInverse: at(0, -1), morphs: Float32Array.of(1, 0) });
  await hit('before the update', 0.25);
  await update('all');
  for (const x of [0.25, 10.25, 20.25]) await hit(`at ${x}`, x);
  await transcript.tell('by its bones', () =>
    service.raycast({ origin: [0.25, 0.25, 9], direction: [0, 0, -1] }, { precision: 'obb' }),
  );
  service.setPose(skinned, { bones });
  await update('the same again');
  bones[12] = 0.5;
  service.setPose(skinned, { bones });
  service.setPose(other, { bones });
  await update('two with the same bones');
  service.setPose(skinned, { bones: bones.slice() });
  service.setPose(skinned, { bones: bones.map((each) => each / 2) });
  await update('twice');
  service.setPose(skinned, { bones: bones.with(3, 7) });
  service.setPose(other, { bones: bones.with(12, Number.NaN) });
  await update('two that are refused');
  service.setPose(skinned, {});
  service.setPose(morphed, {});
  await update('none');
  service.setPose(both, { morphs: [0, 0] });
  await update('without bones');
  service.setObject(skinned, { shape: { type: 'mesh', mesh: meshes[0], solid: true } });
  await update('with its shape set anew');
  service.setPose(skinned, { bones });
  service.removeObject(skinned);
  await update('removed since');
  for (const [name, id, pose] of [
    ['of a mesh without', plain, { morphs: [1] }],
    ['too few bones', other, { bones: bones.slice(16) }],
    ['too many morphs', morphed, { morphs: [1, 2, 3] }],
    ['no numbers', morphed, { morphs: [Number.NaN, 0] }],
    ['bones of a mesh without', morphed, { bones }],
    ['a binding that is none', other, { bones, bind: at(Number.NaN) }],
    ['of none', skinned, { bones }],
  ] as const) {
    await transcript.tell(name, () => service.setPose(id, pose));
  }
  await transcript.check('objects-posed');
});

test('characters', async () => {
  const { transcript, service } = await told();
  const floor = service.addObject({
    shape: { type: 'box', halfExtents: [9, 1, 9] },
    matrix: at(0, -1),
    motion: 'static',
  });
  const wall = service.addObject({ shape: { type: 'box', halfExtents: [1, 9, 9] }, matrix: at(4) });
  const body = service.addObject({ shape: BALL, matrix: at(0, 0, 0, 2) });
  const capsule = { type: 'capsule', radius: 0.5, from: [0, 0.5, 0], to: [0, 1.5, 0] } as const;
  const characters: Character[] = [];
  const add = (heading: string, options: CharacterOptions) =>
    transcript.tell(heading, () => {
      characters.push(service.createCharacter(options));
      return characters.at(-1)!.state;
    });
  const update = (heading: string) =>
    transcript.tell(heading, async () => {
      await service.update();
      return characters.map(({ state }) => state);
    });
  await add('plain', { shape: capsule, position: [0, 1, 0] });
  await add('with all options', {
    ...{ shape: capsule, position: [0, 1, 3], up: [0, 2, 0], skin: 0.125, slope: 0.5, stepHeight: 0.25, snap: 0.125 },
    ...{ gravity: 4, step: 0.125, layers: 3, ignore: [wall, wall], object: body },
  });
  await update('where they are');
  characters[0].move([1, 0, 0]);
  characters[0].move([0, -2, 0]);
  characters[1].move([6, 0, 0]);
  await update('moved');
  characters[0].advance([8, 0, 0], 0.25);
  characters[0].jump(3);
  characters[1].jump(2);
  characters[1].advance([0, 0, 0], 0.3);
  await update('in steps');
  characters[1].set({ gravity: 0, object: 0 });
  characters[1].advance([1, 0, 0], 0.5);
  characters[0].set({ shape: { ...capsule, radius: 0.25 }, position: [0, 4, 0] });
  await update('set');
  characters[0].set({ stepHeight: 0 });
  characters[0].set({ layers: 1, slope: 1, up: [0, 0, 3], ignore: [] });
  await update('set twice');
  service.removeObject(floor);
  service.removeObject(body);
  await update('without the floor');
  for (const [name, options] of [
    ['no capsule', { shape: BALL }],
    ['no shape', {}],
    ['no way up', { shape: capsule, up: [0, 0, 0] }],
    ['too steep', { shape: capsule, slope: 2 }],
    ['no gap', { shape: capsule, skin: 0 }],
    ['an object that has gone', { shape: capsule, object: body }],
    ['no step', { shape: capsule, step: 0 }],
    ['less than no gravity', { shape: capsule, gravity: -1 }],
  ] as const) {
    await transcript.tell(name, () => service.createCharacter(options as never));
  }
  await transcript.tell('no number', () => characters[0].move([Number.NaN, 0, 0]));
  await transcript.tell('no time', () => characters[0].advance([0, 0, 0], -1));
  await transcript.tell('no speed', () => characters[0].jump(Number.NaN));
  characters[0].move([1, 1, 1]);
  await transcript.tell('removed', () => characters[0].remove());
  await update('and the other');
  for (const [name, call] of [
    ['moved', (each: Character) => each.move([1, 0, 0])],
    ['advanced', (each: Character) => each.advance([1, 0, 0], 1)],
    ['jumps', (each: Character) => each.jump(1)],
    ['set', (each: Character) => each.set({})],
    ['removed again', (each: Character) => each.remove()],
    ['its state', (each: Character) => each.state],
  ] as const) {
    await transcript.tell(`what has gone: ${name}`, () => call(characters[0]));
  }
  await transcript.check('objects-characters');
});
