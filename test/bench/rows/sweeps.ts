import { Vector3 } from 'three';
import { boundsOf, type Triangles } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { apart, type ContenderElsewhere, here, type Row } from '../harness.js';
import { awaited, OURS, Scene } from '../ours.js';
import { havokCasts } from '../peers/havok.js';
import { joltCasts } from '../peers/jolt.js';
import { castShape, RAPIERS } from '../peers/rapier.js';
import { type BoxFrame, turningBoxes } from '../work/boxes.js';
import { randomWays, type Ways, wayChecksum } from '../work/ways.js';

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
      const long = size.length();
      const ways = randomWays(new Random(1), count, {
        ...{ center: box.getCenter(new Vector3()), size: size.clone().multiplyScalar(2) },
        ...{ shortest: 0.1 * long, longest: 2 * long, radius: 0.02 * long },
      });
      const [[name, rapier]] = RAPIERS;
      return {
        contenders: [
          here(async () => manySweeps(await Scene.ofMeshes(1, triangles, { contacts: 'none' }), ways)),
          apart(async () => ({ ...(await castShape(name, rapier, triangles, ways, 0.05)), target: 2 })),
          apart(async () => ({ ...(await joltCasts(triangles, ways)), target: 2 })),
          apart(async () => ({ ...(await havokCasts(triangles, ways)), target: 2 })),
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
      const ways = randomWays(new Random(2), count, {
        ...{ center: box.getCenter(new Vector3()), size: box.getSize(new Vector3()) },
        ...{ shortest: 2, longest: 200, radius: 0.25 },
      });
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return apart(async () => ({ ...(await castShape(name, rapier, frame, ways)), target: 1.5 }));
      });
      return {
        contenders: [
          here(() => sweepsAmongBoxes(frame, ways)),
          ...rapiers,
          apart(async () => ({ ...(await joltCasts(frame, ways)), target: 1.5 })),
          apart(async () => ({ ...(await havokCasts(frame, ways)), target: 1.5 })),
        ],
      };
    },
  };
}

async function sweepsAmongBoxes({ positions, matrices }: BoxFrame, ways: Ways): Promise<ContenderElsewhere> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  return manySweeps(scene, ways);
}

async function manySweeps(scene: Scene, { radius, half, numbers }: Ways): Promise<ContenderElsewhere> {
  await scene.update();
  const capsule = { type: 'capsule', radius, from: [0, -half, 0], to: [0, half, 0] } as const;
  let times = new Float64Array();
  return awaited({
    name: OURS,
    async run() {
      ({ times } = (await scene.service.sweepMany(capsule, numbers)) as { times: Float64Array<ArrayBuffer> });
    },
    checksum: (part) => wayChecksum(times, part),
    close: () => scene.close(),
  });
}
