import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Fact, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { skinnedMeshBvh } from '../peers/skinned-mesh-bvh.js';
import { median } from '../statistics.js';
import { figure, gridTransforms, raysAtFigures, sway } from '../work/crowd.js';
import { rayChecksum } from '../work/rays.js';

/** Number of frames over which the main thread's share is measured. */
const FRAMES = 100;

/** A worker that returns each message. */
const ECHO = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', (buffer) => parentPort.postMessage(buffer, [buffer]));`;

export interface SkinSizes {
  figures: number;
  /** Rings of a figure, with 100 triangles each. */
  rings: number;
  bones: number;
  /** Number of figures in the row of contacts. */
  crowd: number;
}

export function skinRows({ figures, rings, bones, crowd }: SkinSizes): Row[] {
  const triangles = (100 * rings).toLocaleString('en');
  const what = `skinned figures of ${triangles} triangles and ${bones} bones, all of which move`;
  return [
    {
      name: 'skin-pick',
      work: `a frame of ${figures} ${what}, and rays at three of them, in the worker`,
      rounds: 7,
      async prepare() {
        const data = figure(rings, bones);
        const transforms = gridTransforms(figures, 3);
        const { contender, facts } = await ourSkins(data, transforms, 'none');
        return {
          contenders: [
            inThisProcess(() => ({ ...contender, atMost: 4 })),
            inOwnProcess(() => skinnedMeshBvh(data, transforms)),
          ],
          facts,
        };
      },
    },
    {
      name: 'skin-contacts',
      work: `a frame that says which bones of ${crowd} ${what} touch in a crowd`,
      rounds: 11,
      async prepare() {
        const data = figure(rings, bones);
        const transforms = gridTransforms(crowd, 0.62);
        const { contender, facts } = await ourSkins(data, transforms, 'bones');
        const refitOnly = () => {
          const { checksum: _checksum, target: _target, ...rest } = skinnedMeshBvh(data, transforms);
          return { ...rest, note: 'refits and three rays: it has no contacts of skinned meshes' };
        };
        return { contenders: [inThisProcess(() => ({ ...contender, atMost: 16 })), inOwnProcess(refitOnly)], facts };
      },
    },
  ];
}

async function ourSkins(data: ReturnType<typeof figure>, transforms: Float32Array, contacts: 'none' | 'bones') {
  const count = transforms.length / 16;
  const scene = await Scene.ofMeshes(count, data, { contacts });
  scene.setTransforms(scene.ids, transforms);
  await scene.update();
  const arrays = Array.from({ length: count }, () => new Float32Array(16 * data.skin!.boneCount));
  let distances: Float64Array = new Float64Array(0);
  let pairs = 0;
  let bones = 0;
  let lastRound = 0;
  const pose = () => {
    for (let i = 0; i < count; i++) scene.service.setPose(scene.ids[i], { bones: arrays[i] });
    return scene.update();
  };
  const contender: SelfTimedContender = {
    name: OURS,
    async measure(round) {
      lastRound = round;
      for (const [i, each] of arrays.entries()) sway(each, i, round);
      const { ms, contacts: frameContacts } = await pose();
      pairs = frameContacts.count;
      bones = frameContacts.bones.length / 2;
      const { total } = ms;
      if (contacts !== 'none') return total;
      const hits = await scene.service.raycastMany(raysAtFigures(transforms, round));
      ({ distances } = hits);
      return total + hits.ms;
    },
    ...(contacts === 'none' && { checksum: (part: number) => ({ ...rayChecksum(distances, part), round: lastRound }) }),
    close: () => scene.close(),
  };
  /** Measures the main thread's share, once its code has been compiled. */
  const facts = async (): Promise<Fact[]> => {
    const [copyTimes, poseTimes]: number[][] = [[], []];
    const echo = new Worker(ECHO, { eval: true });
    let buffer = new ArrayBuffer(4 * count * arrays[0].length);
    for (let frame = 0; frame < FRAMES; frame++) {
      const start = performance.now();
      const copy = new Float32Array(buffer);
      for (const [i, each] of arrays.entries()) copy.set(each, i * each.length);
      echo.postMessage(buffer, [buffer]);
      copyTimes.push(performance.now() - start);
      [buffer] = await once(echo, 'message');
      const poseStart = performance.now();
      const answer = pose();
      poseTimes.push(performance.now() - poseStart);
      await answer;
    }
    await echo.terminate();
    return [
      {
        name: 'setPose and update() on the main thread, as many times as one set of all bones and a message',
        value: median(poseTimes) / median(copyTimes),
        unit: '×',
        atMost: 2,
      },
      { name: 'setPose and update() on the main thread', value: median(poseTimes), unit: 'ms' },
      ...(contacts === 'none'
        ? []
        : [
            { name: 'pairs in contact', value: pairs, unit: '', isDetail: true },
            { name: 'pairs of bones that meet', value: bones, unit: '', isDetail: true },
          ]),
    ];
  };
  return { contender, facts };
}
