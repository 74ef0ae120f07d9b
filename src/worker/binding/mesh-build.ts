import { CollisionError } from '../../shared/errors.js';
import * as layout from '../../shared/layout.js';
import type { MeshDeform } from '../../shared/protocol.js';
import type { MeshData } from '../../shared/types.js';
import { deformError, writeDeform } from './deform.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { noArea } from './mesh-refit.js';
import { beginPointLineBuild } from './point-line-build.js';

/** A baked mesh in the making: call `step` until it answers 1, then `finish`. */
export interface MeshBuild {
  /** Works for about `budget` milliseconds. Answers the fraction done. */
  step(budget: number): number;
  /** Answers the baked mesh, in a buffer of its own. Frees the build. */
  finish(): ArrayBuffer;
  abort(): void;
}

/** What a mesh is built of. Vertices of triangles that are nearer to each other than `weld` become one. */
interface MeshSource {
  positions: Float32Array;
  indices: Uint32Array | Uint16Array | undefined;
  weld: number;
  topology: NonNullable<MeshData['topology']>;
  deform: MeshDeform;
}

const BUILD_BAD_INDEX = 1; // core/mesh/build

/** Begins to build a mesh. Throws OUT_OF_MEMORY. */
export function beginBuild(wasm: CoreExports, memory: CoreMemory, source: MeshSource): MeshBuild {
  const { positions, weld, topology, deform } = source;
  if (topology !== 'triangles') {
    const { step, take, abort } = beginPointLineBuild(wasm, topology, positions, source.indices);
    return { step, finish: () => bakeAndFree(wasm, memory, take()), abort };
  }
  const vertices = positions.length / 3;
  // Which vertices are one, the indices say.
  const indices = source.indices ?? (weld > 0 ? Uint32Array.from({ length: vertices }, (_, i) => i) : undefined);
  const triangles = (indices?.length ?? vertices) / 3;
  const build = wasm.beginBuild(vertices, triangles, weld) >>> 0;
  try {
    wasm.reserveBuild(build, indices !== undefined);
    const { buffer } = memory;
    new Float32Array(buffer, wasm.buildPositions(build) >>> 0, positions.length).set(positions);
    if (indices) new Uint32Array(buffer, wasm.buildIndices(build) >>> 0, indices.length).set(indices);
    writeDeform(wasm, build, deform);
  } catch (error) {
    wasm.freeBuild(build);
    throw error;
  }
  let freed = false;
  const free = () => {
    if (!freed) wasm.freeBuild(build);
    freed = true;
  };
  const errorOf = (): CollisionError => {
    if (wasm.buildError(build) === BUILD_BAD_INDEX) {
      const i = wasm.buildCulprit(build) >>> 0;
      const range = `0 to ${vertices - 1} for ${vertices} vertices`;
      return new CollisionError('BAD_DATA', `indices[${i}] is ${indices?.[i]}, expected ${range}`);
    }
    return noArea(triangles, weld > 0 ? `, when vertices nearer than ${weld} are one,` : '');
  };
  return {
    step: (budget) => {
      try {
        const fraction = wasm.stepBuild(build, performance.now() + budget);
        if (fraction >= 0) return fraction;
        throw deformError(wasm, build, deform) ?? errorOf();
      } catch (error) {
        free();
        throw error;
      }
    },
    finish: () => {
      const mesh = wasm.takeMesh(build) >>> 0;
      free();
      return bakeAndFree(wasm, memory, mesh);
    },
    abort: free,
  };
}

/** Begins to bake a mesh as it is now, whatever becomes of it meanwhile. Throws OUT_OF_MEMORY. */
export function beginBake(wasm: CoreExports, memory: CoreMemory, mesh: MeshAddress): MeshBuild {
  const tree = wasm.copyTree(mesh) >>> 0;
  let derivation = 0;
  let freed = false;
  const free = () => {
    if (freed) return;
    freed = true;
    if (derivation !== 0) wasm.freeDerivation(derivation);
    wasm.release(tree);
  };
  const orFree = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      free();
      throw error;
    }
  };
  orFree(() => {
    derivation = wasm.beginDerivation(tree) >>> 0;
  });
  return {
    step: (budget) => orFree(() => wasm.stepDerivation(derivation, performance.now() + budget)),
    finish: () => {
      const baked = orFree(() => wasm.packDerivation(derivation) >>> 0);
      free();
      return bakeAndFree(wasm, memory, baked);
    },
    abort: free,
  };
}

/** Bakes a mesh in one piece, and derives what is not of its vertices as they are. */
export function bakeMesh(wasm: CoreExports, memory: CoreMemory, mesh: MeshAddress): ArrayBuffer {
  const baked = wasm.bakeMesh(mesh) >>> 0;
  const length = memory.view.getUint32(baked + layout.MESH_BYTES, true);
  try {
    return memory.bytes(baked, length).slice().buffer;
  } finally {
    if (baked !== mesh) wasm.release(baked);
  }
}

/** Bakes a mesh that is not one of the core's. */
function bakeAndFree(wasm: CoreExports, memory: CoreMemory, mesh: MeshAddress): ArrayBuffer {
  try {
    return bakeMesh(wasm, memory, mesh);
  } finally {
    wasm.release(mesh);
  }
}
