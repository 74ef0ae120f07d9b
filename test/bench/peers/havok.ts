import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initHavok, {
  type HavokPhysicsWithBindings,
  type HP_ShapeId,
  type Quaternion,
  type Vector3,
} from '@babylonjs/havok';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { type BoxFrame, HALF_SIZE } from '../work/boxes.js';
import { type Ways, wayChecksum } from '../work/ways.js';

const STILL: Quaternion = [0, 0, 0, 1];
const ORIGIN: Vector3 = [0, 0, 0];

/** What its functions for arrays call: ids are numbers of 64 bits, and what is more is in its memory. */
interface RawExports {
  _HP_World_ShapeCastWithCollector(world: bigint, collector: bigint, input: number): number;
  _HP_QueryCollector_GetNumHits(collector: bigint, count: number): number;
  _HP_QueryCollector_GetShapeCastResult(collector: bigint, index: number, result: number): number;
}
/** The shape's id, then rotation, start and end in float32, whether triggers count, and whom to pass by. */
const INPUT_ROTATION = 8;
const INPUT_BYTES = 64;
/** The fraction comes first. */
const OUTPUT_BYTES = 256;

/**
 * Capsules that are cast at a mesh or at boxes, by the exports of its wasm: through its functions for arrays a cast takes
 * some microseconds more.
 */
export async function havokCasts(scene: Triangles | BoxFrame, { radius, half, numbers }: Ways): Promise<Contender> {
  const wasmBinary = readFileSync(createRequire(import.meta.url).resolve('@babylonjs/havok/lib/esm/HavokPhysics.wasm'));
  const havok = await (initHavok as (options: object) => Promise<HavokPhysicsWithBindings>)({ wasmBinary });
  const [, world] = havok.HP_World_Create();
  const isMesh = 'indices' in scene;
  const shape = isMesh
    ? meshShapeOf(havok, scene)
    : havok.HP_Shape_CreateBox(ORIGIN, STILL, [1, 1, 1].map((each) => 2 * HALF_SIZE * each) as Vector3)[1];
  const count = isMesh ? 1 : scene.positions.length / 3;
  for (let i = 0; i < count; i++) {
    const [, body] = havok.HP_Body_Create();
    havok.HP_Body_SetShape(body, shape);
    havok.HP_Body_SetMotionType(body, havok.MotionType.STATIC);
    if (!isMesh) {
      const { positions: p, rotations: q } = scene;
      havok.HP_Body_SetQTransform(body, [
        [p[3 * i], p[3 * i + 1], p[3 * i + 2]],
        [q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]],
      ]);
    }
    havok.HP_World_AddBody(world, body, true);
  }
  // Once, so that the broad phase is as it is in a game.
  havok.HP_World_Step(world, 1 / 60);
  const [, [capsule]] = havok.HP_Shape_CreateCapsule([0, -half, 0], [0, half, 0], radius);
  const [, [collector]] = havok.HP_QueryCollector_Create(1);
  const raw = havok as unknown as RawExports;
  const input = havok._malloc(INPUT_BYTES);
  const output = havok._malloc(OUTPUT_BYTES);
  const memory = new DataView(havok.HEAPU8.buffer);
  new Uint8Array(memory.buffer, input, INPUT_BYTES).fill(0);
  memory.setBigUint64(input, capsule, true);
  const numbersOf = new Float32Array(memory.buffer, input + INPUT_ROTATION, 10);
  const times = new Float64Array(numbers.length / 14);
  return {
    name: 'Havok shape cast',
    ...(!isMesh && { note: 'it reports nothing for casts that begin in overlap and move out' }),
    run() {
      for (let i = 0, k = 0; i < times.length; i++, k += 14) {
        // Rotation, start, end.
        for (let n = 0; n < 4; n++) numbersOf[n] = numbers[k + 3 + n];
        for (let n = 0; n < 3; n++) numbersOf[4 + n] = numbers[k + n];
        for (let n = 0; n < 3; n++) numbersOf[7 + n] = numbers[k + 7 + n];
        raw._HP_World_ShapeCastWithCollector(world[0], collector, input);
        raw._HP_QueryCollector_GetNumHits(collector, output);
        const isHit = memory.getUint32(output, true) > 0;
        if (isHit) raw._HP_QueryCollector_GetShapeCastResult(collector, 0, output);
        times[i] = isHit ? Math.max(memory.getFloat32(output, true), 0) : Number.POSITIVE_INFINITY;
      }
    },
    checksum: (part) => wayChecksum(times, part),
    tolerance: isMesh
      ? { of: { hits: 0.03, times: 0.03 }, because: 'it is in float32, with a tolerance of its own' }
      : { of: { hits: 0.1, times: 0.5 }, because: 'it finds something later where a cast begins in overlap' },
    close: () => {
      havok.HP_World_Release(world);
    },
  };
}

function meshShapeOf(havok: HavokPhysicsWithBindings, { positions, indices }: Triangles): HP_ShapeId {
  const [vertices, triangles] = [positions, indices].map((each) => {
    const at = havok._malloc(each.byteLength);
    new Uint8Array(havok.HEAPU8.buffer, at, each.byteLength).set(
      new Uint8Array(each.buffer, each.byteOffset, each.byteLength),
    );
    return at;
  });
  const [, shape] = havok.HP_Shape_CreateMesh(vertices, positions.length / 3, triangles, indices.length / 3);
  havok._free(vertices);
  havok._free(triangles);
  return shape;
}
