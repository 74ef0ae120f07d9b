import { CollisionError } from '../../shared/errors.js';
import type { CoreExports } from './exports.js';
import { orAbort } from './steps.js';

/** The topologies without a surface, and the number of vertices per element. */
export const ELEMENT_SIZES = { points: 1, lines: 2 } as const;

export type PointLineTopology = keyof typeof ELEMENT_SIZES;

const BAD_INDEX = 1; // core/point-line/build.ts

/**
 * A mesh of points or lines that is being built: like MeshBuild, except that `take` returns the mesh's address at the
 * end.
 */
export interface PointLineBuild {
  step(budget: number): number;
  take(): number;
  abort(): void;
}

export function beginPointLineBuild(
  wasm: CoreExports,
  topology: PointLineTopology,
  positions: Float32Array,
  indices: Uint32Array | Uint16Array | undefined,
): PointLineBuild {
  const vertices = positions.length / 3;
  const elements = (indices?.length ?? vertices) / ELEMENT_SIZES[topology];
  const build = wasm.beginPointLine(vertices, elements, ELEMENT_SIZES[topology]) >>> 0;
  let isFreed = false;
  const free = () => {
    if (!isFreed) wasm.freePointLine(build);
    isFreed = true;
  };
  orAbort(free, () => {
    wasm.reservePointLine(build, indices !== undefined);
    const { buffer } = wasm.memory;
    new Float32Array(buffer, wasm.pointLinePositions(build) >>> 0, positions.length).set(positions);
    if (indices) new Uint32Array(buffer, wasm.pointLineIndices(build) >>> 0, indices.length).set(indices);
  });
  const buildError = (): CollisionError => {
    if (wasm.pointLineError(build) === BAD_INDEX) {
      const i = wasm.pointLineCulprit(build) >>> 0;
      const range = `0 to ${vertices - 1} for ${vertices} vertices`;
      return new CollisionError('BAD_DATA', `indices[${i}] is ${indices?.[i]}, expected ${range}`);
    }
    return new CollisionError(
      'BAD_DATA',
      `none of the ${elements} ${topology} has finite vertices, expected one at least`,
    );
  };
  return {
    step: (budget) =>
      orAbort(free, () => {
        const fraction = wasm.stepPointLine(build, performance.now() + budget);
        if (fraction >= 0) return fraction;
        throw buildError();
      }),
    take: () => {
      const mesh = wasm.takePointLine(build) >>> 0;
      free();
      return mesh;
    },
    abort: free,
  };
}
