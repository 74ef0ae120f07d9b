// Calls Havok by its raw exports, with queries and results in its memory. By its wrappers, which convert both to arrays of
// arrays, rays take up to four times as long, and casts some microseconds more.
import initHavok, {
  type HavokPhysicsWithBindings,
  type HP_ShapeId,
  type HP_WorldId,
  type Quaternion,
  type Vector3,
} from '@babylonjs/havok';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { type BoxFrame, HALF_SIZE } from '../work/boxes.js';
import { rayChecksum } from '../work/rays.js';
import { type Sweeps, sweepChecksum } from '../work/ways.js';
import { havokWasm } from './havok-wasm.js';

const NO_ROTATION: Quaternion = [0, 0, 0, 1];
const ORIGIN: Vector3 = [0, 0, 0];

// --- a world ---

interface World {
  havok: HavokPhysicsWithBindings;
  world: HP_WorldId;
}

async function startHavok(): Promise<World> {
  const havok = await initHavok({ wasmBinary: await havokWasm() });
  return { havok, world: havok.HP_World_Create()[1] };
}

/** Makes a world of one mesh or of boxes, and steps it once, so that its broad phase is in the same state as in a game. */
async function worldOf(scene: Triangles | BoxFrame): Promise<World> {
  const { havok, world } = await startHavok();
  if ('indices' in scene) {
    addBody(havok, world, meshShapeOf(havok, scene), ORIGIN, NO_ROTATION);
  } else {
    const size = 2 * HALF_SIZE;
    const [, shape] = havok.HP_Shape_CreateBox(ORIGIN, NO_ROTATION, [size, size, size]);
    for (let i = 0; i < scene.positions.length / 3; i++) {
      const [x, y, z] = scene.positions.subarray(3 * i, 3 * i + 3);
      const [a, b, c, w] = scene.rotations.subarray(4 * i, 4 * i + 4);
      addBody(havok, world, shape, [x, y, z], [a, b, c, w]);
    }
  }
  havok.HP_World_Step(world, 1 / 60);
  return { havok, world };
}

function meshShapeOf(havok: HavokPhysicsWithBindings, { positions, indices }: Triangles): HP_ShapeId {
  const vertices = havok._malloc(positions.byteLength);
  const triangles = havok._malloc(indices.byteLength);
  havok.HEAPF32.set(positions, vertices / 4);
  havok.HEAPU32.set(indices, triangles / 4);
  const [, shape] = havok.HP_Shape_CreateMesh(vertices, positions.length / 3, triangles, indices.length / 3);
  havok._free(vertices);
  havok._free(triangles);
  return shape;
}

function addBody(
  havok: HavokPhysicsWithBindings,
  world: HP_WorldId,
  shape: HP_ShapeId,
  position: Vector3,
  rotation: Quaternion,
): void {
  const [, body] = havok.HP_Body_Create();
  havok.HP_Body_SetShape(body, shape);
  havok.HP_Body_SetMotionType(body, havok.MotionType.STATIC);
  havok.HP_Body_SetQTransform(body, [position, rotation]);
  havok.HP_World_AddBody(world, body, false);
}

// --- rays ---

/** Bytes of a query: two points, two masks, whether triggers are hit, and a body to ignore. */
const QUERY_BYTES = 48;
const MASKS_AT = 6;
/** Bytes of a result, which begins with the fraction of the path at which the ray hits. */
const RESULT_BYTES = 128;

const RAY_TOLERANCE = {
  of: { hits: 0.1, distances: 0.1 },
  because: 'its surfaces are thick, and are hit where a ray passes them by',
};

/** First hits of one mesh, or among boxes, which Havok rounds; its rays have the length `rayLength`. */
export async function havokRays(
  scene: Triangles | BoxFrame,
  rays: Float32Array,
  rayLength: number,
): Promise<Contender> {
  const {
    havok,
    world: [id],
  } = await worldOf(scene);
  const world = Number(id);
  const query = havok._malloc(QUERY_BYTES);
  const result = havok._malloc(RESULT_BYTES);
  havok.HEAPU8.fill(0, query, query + QUERY_BYTES);
  havok.HEAPU32.fill(0xffffffff, query / 4 + MASKS_AT, query / 4 + MASKS_AT + 2);
  const distances = new Float64Array(rays.length / 8);
  return {
    name: 'Havok, raw exports',
    run() {
      const queryAt = query / 4;
      for (let i = 0, at = 0; i < distances.length; i++, at += 8) {
        const { HEAPF32 } = havok;
        for (let k = 0; k < 3; k++) {
          HEAPF32[queryAt + k] = rays[at + k];
          HEAPF32[queryAt + 3 + k] = rays[at + k] + rayLength * rays[at + 4 + k];
        }
        const hits = havok.HP_World_CastRay(world, query, result, 1);
        distances[i] = hits > 0 ? rayLength * havok.HEAPF32[result / 4] : Infinity;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: RAY_TOLERANCE,
  };
}

// --- casts ---

/** The raw exports behind its functions for arrays: ids are 64-bit numbers, and larger values are in its memory. */
interface RawExports {
  _HP_World_ShapeCastWithCollector(world: bigint, collector: bigint, input: number): number;
  _HP_QueryCollector_GetNumHits(collector: bigint, count: number): number;
  _HP_QueryCollector_GetShapeCastResult(collector: bigint, index: number, result: number): number;
}
/** Layout of a cast: the shape's id, then rotation, start and end in float32, whether triggers count, and a body to ignore. */
const INPUT_ROTATION = 8;
const INPUT_BYTES = 64;
/** The result begins with the fraction. */
const OUTPUT_BYTES = 256;

/** Casts capsules at a mesh or at boxes. */
export async function havokCasts(scene: Triangles | BoxFrame, { radius, half, numbers }: Sweeps): Promise<Contender> {
  const { havok, world } = await worldOf(scene);
  const isMesh = 'indices' in scene;
  const [, [capsule]] = havok.HP_Shape_CreateCapsule([0, -half, 0], [0, half, 0], radius);
  const [, [collector]] = havok.HP_QueryCollector_Create(1);
  const raw = havok as unknown as RawExports;
  const input = havok._malloc(INPUT_BYTES);
  const output = havok._malloc(OUTPUT_BYTES);
  const memory = new DataView(havok.HEAPU8.buffer);
  new Uint8Array(memory.buffer, input, INPUT_BYTES).fill(0);
  memory.setBigUint64(input, capsule, true);
  const poseNumbers = new Float32Array(memory.buffer, input + INPUT_ROTATION, 10);
  const times = new Float64Array(numbers.length / 14);
  return {
    name: 'Havok shape cast',
    ...(!isMesh && { note: 'it reports nothing for casts that begin in overlap and move out' }),
    run() {
      for (let i = 0, k = 0; i < times.length; i++, k += 14) {
        // Rotation, start and end.
        for (let n = 0; n < 4; n++) poseNumbers[n] = numbers[k + 3 + n];
        for (let n = 0; n < 3; n++) poseNumbers[4 + n] = numbers[k + n];
        for (let n = 0; n < 3; n++) poseNumbers[7 + n] = numbers[k + 7 + n];
        raw._HP_World_ShapeCastWithCollector(world[0], collector, input);
        raw._HP_QueryCollector_GetNumHits(collector, output);
        const isHit = memory.getUint32(output, true) > 0;
        if (isHit) raw._HP_QueryCollector_GetShapeCastResult(collector, 0, output);
        times[i] = isHit ? Math.max(memory.getFloat32(output, true), 0) : Number.POSITIVE_INFINITY;
      }
    },
    checksum: (part) => sweepChecksum(times, part),
    tolerance: isMesh
      ? { of: { hits: 0.03, times: 0.03 }, because: 'it is in float32, with a tolerance of its own' }
      : {
          of: { hits: 0.15, times: 0.5 },
          because: 'it finds something later, or nothing, where a cast begins in overlap',
        },
    close: () => {
      havok.HP_World_Release(world);
    },
  };
}
