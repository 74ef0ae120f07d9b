// Havok by its raw exports: a query and a result in its memory, one call a ray. By its wrappers, which make arrays of arrays
// of both, rays take up to four times as long.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import initHavok, { type HavokPhysicsWithBindings, type HP_ShapeId, type HP_WorldId } from '@babylonjs/havok';
import type { Triangles } from '../../oracle/meshes.js';
import type { Contender } from '../harness.js';
import { type BoxFrame, HALF_SIZE } from '../work/boxes.js';
import { rayChecksum } from '../work/rays.js';

/** Of a query in its memory: two points, two masks, whether triggers are hit, a body to ignore. */
const QUERY_BYTES = 48;
const MASKS = 6;
/** Of a result, which begins with the part of the way at which the ray hit. */
const RESULT_BYTES = 128;

const TOLERANCE = {
  of: { hits: 0.1, distances: 0.1 },
  because: 'its surfaces are thick, and are hit where a ray passes them by',
};

async function startHavok(): Promise<HavokPhysicsWithBindings> {
  const path = createRequire(import.meta.url).resolve('@babylonjs/havok');
  return initHavok({ wasmBinary: readFileSync(join(dirname(path), 'HavokPhysics.wasm')).buffer as ArrayBuffer });
}

/** First hits of one mesh; its rays end after so long a way. */
export async function havokRays(
  { positions, indices }: Triangles,
  rays: Float32Array,
  way: number,
): Promise<Contender> {
  const havok = await startHavok();
  const vertices = havok._malloc(positions.byteLength);
  const triangles = havok._malloc(indices.byteLength);
  havok.HEAPF32.set(positions, vertices / 4);
  havok.HEAPU32.set(indices, triangles / 4);
  const [, shape] = havok.HP_Shape_CreateMesh(vertices, positions.length / 3, triangles, indices.length / 3);
  havok._free(vertices);
  havok._free(triangles);
  const [, world] = havok.HP_World_Create();
  addBody(havok, world, shape, [0, 0, 0], [0, 0, 0, 1]);
  return castingRays(havok, world, rays, way);
}

/** First hits among boxes; its boxes are rounded. */
export async function havokBoxRays(
  { positions, rotations }: BoxFrame,
  rays: Float32Array,
  way: number,
): Promise<Contender> {
  const havok = await startHavok();
  const size = 2 * HALF_SIZE;
  const [, shape] = havok.HP_Shape_CreateBox([0, 0, 0], [0, 0, 0, 1], [size, size, size]);
  const [, world] = havok.HP_World_Create();
  for (let i = 0; i < positions.length / 3; i++) {
    const [x, y, z] = positions.subarray(3 * i, 3 * i + 3);
    const [a, b, c, w] = rotations.subarray(4 * i, 4 * i + 4);
    addBody(havok, world, shape, [x, y, z], [a, b, c, w]);
  }
  return castingRays(havok, world, rays, way);
}

function addBody(
  havok: HavokPhysicsWithBindings,
  world: HP_WorldId,
  shape: HP_ShapeId,
  place: [number, number, number],
  rotation: [number, number, number, number],
): void {
  const [, body] = havok.HP_Body_Create();
  havok.HP_Body_SetShape(body, shape);
  havok.HP_Body_SetMotionType(body, havok.MotionType.STATIC);
  havok.HP_Body_SetQTransform(body, [place, rotation]);
  havok.HP_World_AddBody(world, body, false);
}

function castingRays(havok: HavokPhysicsWithBindings, [id]: HP_WorldId, rays: Float32Array, way: number): Contender {
  havok.HP_World_Step([id], 1 / 60);
  const world = Number(id);
  const query = havok._malloc(QUERY_BYTES);
  const result = havok._malloc(RESULT_BYTES);
  havok.HEAPU8.fill(0, query, query + QUERY_BYTES);
  havok.HEAPU32.fill(0xffffffff, query / 4 + MASKS, query / 4 + MASKS + 2);
  const distances = new Float64Array(rays.length / 8);
  return {
    name: 'Havok, raw exports',
    run() {
      const from = query / 4;
      for (let i = 0, at = 0; i < distances.length; i++, at += 8) {
        const { HEAPF32 } = havok;
        for (let k = 0; k < 3; k++) {
          HEAPF32[from + k] = rays[at + k];
          HEAPF32[from + 3 + k] = rays[at + k] + way * rays[at + 4 + k];
        }
        const hits = havok.HP_World_CastRay(world, query, result, 1);
        distances[i] = hits > 0 ? way * havok.HEAPF32[result / 4] : Infinity;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: TOLERANCE,
  };
}
