// What is sent of meshes, to the service's worker and to builders, and the results: a transcript, as in frames.test.ts.
import type { AddMeshOptions, CollisionService, MeshData, MeshId } from 'collision-worker';
import { test } from 'vitest';
import { Transcript } from '../../fixtures/transcript.js';
import { boxMesh } from '../../oracle/meshes.js';

const { positions, indices } = boxMesh(1, 2, 3);
const corners = positions.length / 3;
const BOX = { name: 'all', center: [0, 0, 0], halfExtents: [0.5, 1, 1.5] } as const;
const HALF = { name: 'half', center: [0.25, 0, 0], halfExtents: [0.25, 1, 1.5], rotation: [0, 0, 0, 1] } as const;
const skin = () => ({
  bones: Uint8Array.from({ length: 4 * corners }, (_, i) => (i % 4 === 0 ? (i / 4) % 2 : 0)),
  weights: Float32Array.from({ length: 4 * corners }, (_, i) => (i % 4 === 0 ? 1 : 0)),
  boneCount: 2,
});
const morphs = () => ({ targets: [positions.map((each) => 2 * each), positions.slice()], relative: true });
/** A square of two triangles: unindexed and open, four vertices once welded. */
const SQUARE = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0);

async function told(builders: number): Promise<{ transcript: Transcript; service: CollisionService; add: Add }> {
  const transcript = new Transcript();
  const service = await transcript.service({ builders });
  const add: Add = async (heading, data, options) => {
    let mesh = 0;
    await transcript.tell(heading, async () => {
      mesh = await service.addMesh(data, options);
      return { mesh, info: service.meshInfo(mesh) };
    });
    return mesh;
  };
  return { transcript, service, add };
}

type Add = (heading: string, data: MeshData | ArrayBuffer, options?: AddMeshOptions) => Promise<MeshId>;

function stats({ stats: { meshes, triangles, objects, pending } }: CollisionService) {
  return { meshes, triangles, objects, pending };
}

test.each([0, 1])('added, with %d builders', async (builders) => {
  const { transcript, service, add } = await told(builders);
  await add('with indices', { positions, indices });
  await add('with indices of 16 bits', { positions, indices: Uint16Array.from(indices!) });
  await add('without indices', { positions: SQUARE });
  await add('welded', { positions: SQUARE }, { weld: 0.125 });
  await add('quickly', { positions, indices }, { quality: 'fast' });
  await add('well', { positions, indices, topology: 'triangles' }, { quality: 'good' });
  await add('with features', { positions, indices }, { features: true });
  await add('with features of an angle', { positions, indices }, { features: { angle: 100 } });
  await add('without features', { positions, indices }, { features: false });
  await add('with boxes', { positions, indices }, { boxes: [BOX, HALF] });
  await add('with a skin', { positions, indices, skin: skin() });
  await add('with morphs', { positions, indices, morphs: morphs() });
  await add('with both, and features', { positions, indices, skin: skin(), morphs: morphs() }, { features: true });
  await add('of lines', { positions, topology: 'lines' });
  await add(
    'of lines with indices',
    { positions, indices: Uint32Array.of(0, 1, 1, 2), topology: 'lines' },
    { features: true },
  );
  await add('of points', { positions, topology: 'points' });
  await add('with a triangle that has no area', { positions: Float32Array.of(...SQUARE, 1, 1, 1, 1, 1, 1, 2, 2, 2) });
  await add('with a vertex that is nowhere', { positions: positions.with(4, Number.NaN), indices });
  await add('with nothing that has an area', { positions: new Float32Array(9) });
  await add('with an index out of range', { positions, indices: indices!.with(2, 99) });
  await transcript.tell('handed over', async () => {
    const own = { positions: positions.slice(), indices: indices!.slice(), skin: skin(), morphs: morphs() };
    const adding = service.addMesh(own, { transfer: true });
    const left = [own.positions.length, own.indices.length, own.skin.bones.length, own.morphs.targets[1].length];
    return { left, info: service.meshInfo(await adding) };
  });
  const shared = <T extends Float32Array | Uint32Array | Uint16Array | Uint8Array>(array: T): T => {
    const copy = new (array.constructor as new (buffer: SharedArrayBuffer) => T)(
      new SharedArrayBuffer(array.byteLength),
    );
    copy.set(array);
    return copy;
  };
  const own = () => ({ positions: positions.slice(), indices: indices!.slice() });
  const cases: [string, MeshData][] = [
    ['positions', { ...own(), positions: shared(positions) }],
    ['indices', { ...own(), indices: shared(indices!) }],
    ['bones', { ...own(), skin: { ...skin(), bones: shared(skin().bones) } }],
    ['weights', { ...own(), skin: { ...skin(), weights: shared(skin().weights) } }],
    ['targets', { ...own(), morphs: { ...morphs(), targets: morphs().targets.map(shared) } }],
  ];
  for (const [name, data] of cases) {
    await add(`handed over, with ${name} that are shared`, data, { transfer: true });
    await add(`not handed over, with ${name} that are shared`, data);
  }
  await transcript.tell('what is written into it since does not matter', async () => {
    const own = { positions: positions.slice(), indices: indices!.slice() };
    const adding = service.addMesh(own);
    own.positions.fill(0);
    own.indices.fill(0);
    return service.meshInfo(await adding);
  });
  await transcript.tell('three at once, of which one fails', async () => {
    const all = [{ positions, indices }, { positions: new Float32Array(9) }, { positions: SQUARE }];
    const answers = await Promise.allSettled(all.map((data) => service.addMesh(data)));
    return answers.map((each) => (each.status === 'fulfilled' ? each.value : each.reason));
  });
  await transcript.tell('in the end', () => stats(service));
  await transcript.check(`meshes-added-${builders}`);
});

test('baked', async () => {
  const { transcript, service, add } = await told(0);
  const plain = await add('plain', { positions, indices });
  const boxed = await add('with boxes', { positions, indices }, { boxes: [BOX], features: true });
  const lines = await add('lines', { positions, topology: 'lines' });
  const all: [string, MeshId, (ArrayBuffer | undefined)?][] = [
    ['plain', plain],
    ['boxed', boxed],
    ['lines', lines],
  ];
  for (const each of all) {
    await transcript.tell(`bake ${each[0]}`, async () => {
      each[2] = await service.bakeMesh(each[1]);
      return each[2];
    });
  }
  await transcript.tell('bake with other boxes', () => service.bakeMesh(plain, { boxes: [HALF] }));
  await transcript.tell('bake without any', () => service.bakeMesh(boxed, { boxes: [] }));
  await transcript.tell('bake lines with boxes', () => service.bakeMesh(lines, { boxes: [HALF] }));
  for (const [name, , baked] of all) await add(`load ${name}`, baked!);
  await add('load, with a weld', all[0][2]!, { weld: 1 });
  await add('load, with boxes', all[0][2]!, { boxes: [HALF] });
  await add('load, with features', all[0][2]!, { features: true });
  await add('load quickly', all[0][2]!, { quality: 'fast' });
  await add('load, handed over', all[0][2]!.slice(0), { transfer: true });
  const damaged = (at: number) => {
    const copy = all[0][2]!.slice(0);
    new Uint8Array(copy)[at] ^= 255;
    return copy;
  };
  for (const at of [0, 4, 8, 12, 300]) await add(`load, damaged at ${at}`, damaged(at));
  await add('load a part', all[0][2]!.slice(0, 400));
  await add('load nothing', new ArrayBuffer(0));
  for (const level of [undefined, 0, 1, 2, 9]) {
    await transcript.tell(`boxes of level ${level}`, () =>
      service.meshBoxes(plain, level === undefined ? {} : { level }),
    );
  }
  await transcript.tell('boxes of lines', () => service.meshBoxes(lines));
  await transcript.tell('check its own', () => service.checkBoxes(boxed));
  await transcript.tell('check others', () => service.checkBoxes(boxed, [HALF]));
  await transcript.tell('check none', () => service.checkBoxes(plain));
  await transcript.tell('check of lines', () => service.checkBoxes(lines, [HALF]));
  await transcript.check('meshes-baked');
});

test.each([0, 1])('updated and removed, with %d builders', async (builders) => {
  const { transcript, service, add } = await told(builders);
  const mesh = await add('plain', { positions, indices });
  const posed = await add('with a skin and morphs', { positions, indices, skin: skin(), morphs: morphs() });
  const points = await add('points', { positions, topology: 'points' });
  const flat = await add('with a triangle that has no area', {
    positions: Float32Array.of(...SQUARE, 1, 1, 1, 1, 1, 1, 2, 2, 2),
  });
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  const move = (heading: string, of: MeshId, to: Float32Array, options?: { transfer: boolean }) =>
    transcript.tell(heading, async () => {
      await service.updateMesh(of, to, options);
      return { info: service.meshInfo(of), left: to.length };
    });
  await move(
    'moved',
    mesh,
    positions.map((each) => each + 1),
  );
  await transcript.tell('hit where it is', () => service.raycast({ origin: [9, 1, 1], direction: [-1, 0, 0] }));
  await move(
    'moved, handed over',
    mesh,
    positions.map((each) => each / 2),
    { transfer: true },
  );
  await move(
    'moved so far that it is built anew',
    mesh,
    positions.map((_, i) => (i * 7919) % 13),
  );
  await transcript.tell('and hit there', () => service.raycastAll({ origin: [99, 4, 4], direction: [-1, 0, 0] }));
  await move(
    'with a skin',
    posed,
    positions.map((each) => each * 3),
  );
  await move(
    'points',
    points,
    positions.map((each) => each * 3),
  );
  await move('an area for the triangle without', flat, Float32Array.of(...SQUARE, 5, 0, 0, 6, 0, 0, 5, 1, 0));
  await move('of another length', mesh, SQUARE);
  await move('to nowhere', mesh, positions.with(4, Number.POSITIVE_INFINITY));
  await move('to one place', mesh, new Float32Array(positions.length));
  await move('of no mesh', 999, positions);
  await transcript.tell('two updates at once', async () => {
    await Promise.all([
      service.updateMesh(mesh, positions),
      service.updateMesh(
        mesh,
        positions.map((each) => -each),
      ),
    ]);
    return service.meshInfo(mesh);
  });
  await transcript.tell('removed while an object has it', () => service.removeMesh(mesh));
  service.removeObject(object);
  await transcript.tell('removed', async () => {
    service.removeMesh(mesh);
    await service.update();
  });
  await transcript.tell('removed twice', () => service.removeMesh(mesh));
  await transcript.tell('what was removed', () => service.meshInfo(mesh));
  await transcript.tell('baked when it is removed', () => service.bakeMesh(mesh));
  await transcript.tell('updated, and removed at once', () => {
    const moving = service.updateMesh(posed, positions);
    service.removeMesh(posed);
    return moving;
  });
  await add('another takes no id of before', { positions: SQUARE });
  await transcript.tell('in the end', () => stats(service));
  await transcript.check(`meshes-updated-${builders}`);
});

test('aborted', async () => {
  const { transcript, service, add } = await told(1);
  const mesh = await add('one to ask about', { positions, indices });
  const over = AbortSignal.abort('before');
  await transcript.tell('added, aborted before', () => service.addMesh({ positions, indices }, { signal: over }));
  await transcript.tell('added, aborted at once', () => {
    const controller = new AbortController();
    const adding = service.addMesh({ positions, indices }, { signal: controller.signal });
    controller.abort('at once');
    return adding;
  });
  await transcript.tell('boxes, aborted before', () => service.meshBoxes(mesh, { signal: over }));
  await transcript.tell('checked, aborted before', () => service.checkBoxes(mesh, [BOX], { signal: over }));
  await transcript.tell('a signal that never ends', async () => {
    const { signal } = new AbortController();
    return [await service.addMesh({ positions, indices }, { signal }), await service.meshBoxes(mesh, { signal })];
  });
  await transcript.tell('progress ends with all', async () => {
    const parts: number[] = [];
    await service.addMesh({ positions, indices }, { onProgress: (part) => parts.push(part), features: true });
    return { last: parts.at(-1), isRising: parts.every((part, i) => i === 0 || part >= parts[i - 1]) };
  });
  await transcript.tell('in the end', () => stats(service));
  await transcript.check('meshes-aborted');
});
