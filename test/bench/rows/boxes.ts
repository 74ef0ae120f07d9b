import { BoxGeometry, DoubleSide, Mesh, MeshBasicMaterial, Vector3 } from 'three';
import { boundsOf } from '../../oracle/meshes.js';
import { Random } from '../../oracle/random.js';
import { type Contender, inOwnProcess, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, Scene } from '../ours.js';
import { BoxGrid } from '../peers/box-grid.js';
import { BoxRayGrid } from '../peers/box-ray-grid.js';
import { havokRays } from '../peers/havok.js';
import { joltManifolds } from '../peers/jolt.js';
import { castRay, RAPIERS, sensorPairs, solidManifolds } from '../peers/rapier.js';
import { raycaster } from '../peers/raycaster.js';
import { type BoxFrame, frameOfRound, HALF_SIZE, manifoldChecksum, pairChecksum, turningBoxes } from '../work/boxes.js';
import { rayChecksum, raysAround } from '../work/rays.js';
import { manyRays } from './rays.js';

const FRAMES = 30;

/** A frame in which every box moves: from the new transforms to all overlapping pairs. */
export function boxPairsRow(count: number): Row {
  return {
    name: 'boxes-10k',
    work: `a frame of ${count.toLocaleString('en')} boxes that all turn and drift, to all pairs that overlap`,
    rounds: 41,
    async prepare() {
      const frames = turningBoxes(new Random(1), count, FRAMES);
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return inOwnProcess(async () => ({ ...(await sensorPairs(name, rapier, frames)), target: 6 }));
      });
      return {
        contenders: [
          inThisProcess(() => ourPairs(frames)),
          ...rapiers,
          inOwnProcess(() => ({ ...gridPairs(frames), target: 5 })),
        ],
      };
    },
  };
}

/** The same with contact points, normals and depths. */
export function boxManifoldsRow(count: number): Row {
  return {
    name: 'manifolds-10k',
    work: `a frame of ${count.toLocaleString('en')} boxes that all turn and drift, to the manifolds of all that overlap`,
    rounds: 41,
    async prepare() {
      const frames = turningBoxes(new Random(1), count, FRAMES);
      const rapiers = RAPIERS.map(([name, rapier]) => {
        const tolerance = {
          of: { pairs: 1e-3, products: 2e-3, depths: 1e-3 },
          because: 'its manifolds follow small movements without being made anew, and miss by as much',
        };
        return inOwnProcess(async () => ({ ...(await solidManifolds(name, rapier, frames)), target: 12, tolerance }));
      });
      const tolerance = { of: { depths: 1e-4 }, because: 'its depths are float32, and found by iteration' };
      return {
        contenders: [
          inThisProcess(() => ourManifolds(frames)),
          ...rapiers,
          inOwnProcess(async () => ({ ...(await joltManifolds(frames)), target: 10, tolerance })),
        ],
      };
    },
  };
}

/** Rays among the boxes of the same scene's first frame. */
export function boxRaysRow(count: number, rayCount: number): Row {
  return {
    name: 'rays-boxes',
    work: `${rayCount.toLocaleString('en')} first hits among ${count.toLocaleString('en')} boxes`,
    rounds: 21,
    async prepare() {
      const [frame] = turningBoxes(new Random(1), count, 1);
      const rays = raysAround(new Random(2), frame.positions, rayCount);
      const rapiers = RAPIERS.map(([name, rapier]) => {
        return inOwnProcess(async () => ({ ...(await castRay(name, rapier, frame, rays)), target: 20 }));
      });
      const rayLength = 3 * boundsOf(frame.positions).getSize(new Vector3()).length();
      return {
        contenders: [
          inThisProcess(() => ourRays(frame, rays)),
          ...rapiers,
          inOwnProcess(async () => ({ ...(await havokRays(frame, rays, rayLength)), target: 2.5 })),
          inOwnProcess(() => gridRays(frame, rays)),
          inOwnProcess(() => raycaster(boxObjects(frame), rays, 20)),
        ],
      };
    },
  };
}

async function ourPairs(frames: readonly BoxFrame[]): Promise<SelfTimedContender> {
  const scene = await Scene.ofBoxes(frames[0].positions.length / 3);
  scene.setTransforms(scene.ids, frames[0].matrices);
  let { contacts } = await scene.update();
  return {
    name: OURS,
    async measure(round) {
      scene.setTransforms(scene.ids, frameOfRound(frames, round).matrices);
      const frame = await scene.update();
      ({ contacts } = frame);
      return frame.ms.total;
    },
    close: () => scene.close(),
    checksum() {
      const { count, a, b } = contacts;
      return pairChecksum(count, (i) => [scene.indexOf(a[i]), scene.indexOf(b[i])]);
    },
  };
}

/** Reads every point, normal and depth, as an app would; that is timed as well. */
async function ourManifolds(frames: readonly BoxFrame[]): Promise<SelfTimedContender> {
  const scene = await Scene.ofBoxes(frames[0].positions.length / 3, { contacts: 'manifold' });
  scene.setTransforms(scene.ids, frames[0].matrices);
  let { contacts } = await scene.update();
  let sum = 0;
  return {
    name: OURS,
    async measure(round) {
      scene.setTransforms(scene.ids, frameOfRound(frames, round).matrices);
      const frame = await scene.update();
      const start = performance.now();
      ({ contacts } = frame);
      const { points, normals, depths } = contacts;
      sum = 0;
      for (let i = 0; i < points.length; i++) sum += points[i] * normals[i];
      for (let i = 0; i < depths.length; i++) sum += depths[i];
      return frame.ms.total + performance.now() - start;
    },
    close: () => scene.close(),
    checksum() {
      if (!Number.isFinite(sum)) throw new Error(`the points sum up to ${sum}`);
      const { count, a, b, start, depths } = contacts;
      return manifoldChecksum(
        count,
        (i) => [scene.indexOf(a[i]), scene.indexOf(b[i])],
        (i) => depths[start[i]],
      );
    },
  };
}

function gridPairs(frames: readonly BoxFrame[]): Contender {
  const grid = new BoxGrid(frames[0].positions.length / 3);
  return {
    name: 'JavaScript grid and SAT',
    run: (round) => grid.findPairs(frameOfRound(frames, round).matrices, HALF_SIZE),
    checksum: () => pairChecksum(grid.count, (i) => [grid.pairs[2 * i], grid.pairs[2 * i + 1]]),
  };
}

async function ourRays({ positions, matrices }: BoxFrame, rays: Float32Array): Promise<SelfTimedContender> {
  const scene = await Scene.ofBoxes(positions.length / 3, { contacts: 'none' });
  scene.setTransforms(scene.ids, matrices);
  return manyRays(scene, rays);
}

function gridRays({ matrices }: BoxFrame, rays: Float32Array): Contender {
  const grid = new BoxRayGrid(matrices, HALF_SIZE);
  const distances = new Float64Array(rays.length / 8);
  const boxes = new Int32Array(rays.length / 8);
  return {
    name: 'JavaScript grid walk',
    run() {
      for (let i = 0; i < distances.length; i++) {
        distances[i] = grid.cast(rays, 8 * i);
        boxes[i] = grid.box;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-6 }, because: 'it takes the float32 directions for unit vectors' },
  };
}

function boxObjects({ matrices }: BoxFrame): Mesh[] {
  const geometry = new BoxGeometry(2 * HALF_SIZE, 2 * HALF_SIZE, 2 * HALF_SIZE);
  const material = new MeshBasicMaterial({ side: DoubleSide });
  return Array.from({ length: matrices.length / 16 }, (_, i) => {
    const mesh = new Mesh(geometry, material);
    mesh.matrixWorld.fromArray(matrices, 16 * i);
    return mesh;
  });
}
