import { Vector3 } from 'three';
import { boundsOf, type Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene, timeAwaited } from '../ours.js';
import { havokCasts } from '../peers/havok.js';
import { joltCasts } from '../peers/jolt.js';
import { castShape, RAPIERS } from '../peers/rapier.js';
import { type BoxFrame, turningBoxes } from '../work/boxes.js';
import { randomSweeps, type Sweeps, sweepChecksum } from '../work/ways.js';

/** Capsules swept along paths around a mesh, whose faces block them from both sides. */
export function meshSweepsRow(mesh: () => Triangles, count: number): Row {
  return {
    name: 'sweep-48k',
    work: `${count.toLocaleString('en')} capsules swept along random ways around the dragon`,
    rounds: 7,
    async prepare() {
      const triangles = mesh();
      const box = boundsOf(triangles.positions);
      const size = box.getSize(new Vector3());
      const diagonal = size.length();
      const sweeps = randomSweeps(new Random(1), count, {
        ...{ center: box.getCenter(new Vector3()), size: size.clone().multiplyScalar(2) },
        ...{ shortest: 0.1 * diagonal, longest: 2 * diagonal, radius: 0.02 * diagonal },
      });
      const [[name, rapier]] = RAPIERS;
      return {
        contenders: [
          inThisProcess(async () => manySweeps(await Scene.ofMeshes(1, triangles, { contacts: 'none' }), sweeps)),
          inOwnProcess(async () => ({ ...(await castShape(name, rapier, triangles, sweeps, 0.05)), target: 2 })),
          inOwnProcess(async () => ({ ...(await joltCasts(triangles, sweeps)), target: 2 })),
          inOwnProcess(async () => ({ ...(await havokCasts(triangles, sweeps)), target: 2 })),
        ],
      };
    },
  };
}

/** The same among boxes. */
export function boxSweepsRow(boxes: number, count: number): Row {
  return {
    name: 'sweep-boxes',
    work: `${count.toLocaleString('en')} capsules swept 2 to 200 units far among ${boxes.toLocaleString('en')} boxes`,
    rounds: 11,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), boxes, 1);
      const box = boundsOf(frame.positions);
      const sweeps = randomSweeps(new Random(2), count, {
        ...{ center: box.getCenter(new Vector3()), size: box.getSize(new Vector3()) },
        ...{ shortest: 2, longest: 200, radius: 0.25 },
      });
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return inOwnProcess(async () => ({ ...(await castShape(name, rapier, frame, sweeps)), target: 1.5 }));
      });
      return {
        contenders: [
          inThisProcess(() => sweepsAmongBoxes(frame, sweeps)),
          ...rapiers,
          inOwnProcess(async () => ({ ...(await joltCasts(frame, sweeps)), target: 1.5 })),
          inOwnProcess(async () => ({ ...(await havokCasts(frame, sweeps)), target: 1.5 })),
        ],
      };
    },
  };
}

async function sweepsAmongBoxes({ positions, matrices }: BoxFrame, sweeps: Sweeps): Promise<SelfTimedContender> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  return manySweeps(scene, sweeps);
}

async function manySweeps(scene: Scene, { radius, half, numbers }: Sweeps): Promise<SelfTimedContender> {
  await scene.update();
  const capsule = { type: 'capsule', radius, from: [0, -half, 0], to: [0, half, 0] } as const;
  let times = new Float64Array();
  return timeAwaited({
    name: OURS,
    async run() {
      ({ times } = (await scene.service.sweepMany(capsule, numbers)) as { times: Float64Array<ArrayBuffer> });
    },
    checksum: (part) => sweepChecksum(times, part),
    close: () => scene.close(),
  });
}
