import type { BakedSource } from '../../shared/baked-source.js';
import { CollisionError } from '../../shared/errors.js';
import { MESH_BYTES } from '../../shared/layout.js';
import type { MeshDeform } from '../../shared/protocol.js';
import type { MeshData } from '../../shared/types.js';
import { deformError, writeDeform } from './deform.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { beginBake, type MeshBake } from './mesh-bake.js';
import { noAreaError } from './mesh-refit.js';
import { beginPointLineBuild } from './point-line-build.js';
import { orAbort } from './steps.js';

/** A mesh that is being built and baked: call `step` until it returns 1, then `finish`. */
export interface MeshBuild {
  /** Works for about `budget` milliseconds. Returns the fraction done. */
  step(budget: number): number;
  /** Returns the baked mesh, in a buffer of its own. Frees the build. */
  finish(): ArrayBuffer;
  abort(): void;
}

/** The build of a whole mesh. */
export interface BakedBuild extends MeshBuild {
  /** Returns the baked mesh in chunks, if the build was begun with spare ones, and frees the build. */
  finishChunks(): BakedSource;
}

/** The input of a mesh. Vertices of triangles that are closer together than `weld` are merged. */
interface MeshSource {
  positions: Float32Array;
  indices: Uint32Array | Uint16Array | undefined;
  weld: number;
  topology: NonNullable<MeshData['topology']>;
  deform: MeshDeform;
  /** Whether the tree is to be built quickly, at the cost of somewhat slower rays. */
  isFast: boolean;
}

/** The input of a part of a tree: only trees of triangles that nothing deforms are split. */
export type PartSource = Pick<MeshSource, 'positions' | 'indices' | 'weld' | 'isFast'>;

// core/mesh/build
const BUILD_BAD_INDEX = 1;
const WHOLE_TREE = 0;
const FIRST_PART = 1;
const SECOND_PART = 2;

/**
 * Begins to build a mesh. With `second`, another builder may make the second part of its tree, which is joined if it arrives in
 * time to be of use. With `spare`, the mesh is baked into shared chunks, which are taken from there. Throws OUT_OF_MEMORY.
 */
export function beginBuild(
  wasm: CoreExports,
  memory: CoreMemory,
  source: MeshSource,
  second?: () => ArrayBuffer | undefined,
  spare?: ArrayBufferLike[],
): BakedBuild {
  const { topology, positions, indices } = source;
  return thenBake(
    wasm,
    memory,
    topology === 'triangles'
      ? beginTree(wasm, memory, source, second ? FIRST_PART : WHOLE_TREE, second)
      : beginPointLineBuild(wasm, topology, positions, indices),
    spare,
  );
}

/**
 * Begins to make the second part of a mesh's tree. `finish` returns it, or an empty buffer if the tree cannot be split; else the
 * build continues, and its next `finish` returns the data derived from the part. Throws OUT_OF_MEMORY.
 */
export function beginSecond(wasm: CoreExports, memory: CoreMemory, source: MeshSource): MeshBuild {
  const { build, step, abort } = beginTree(wasm, memory, source, SECOND_PART);
  let part = 0;
  const free = () => {
    abort();
    if (part !== 0) wasm.release(part);
    part = 0;
  };
  return {
    step,
    finish() {
      const address = wasm.takeMesh(build) >>> 0;
      if (address === 0) return new ArrayBuffer(0);
      const [bytes] = new Uint32Array(memory.buffer, address + MESH_BYTES, 1);
      const { buffer } = memory.bytes(address, bytes).slice();
      if (part === 0) {
        part = address;
        wasm.deriveSecond(build, part);
      } else {
        wasm.release(address);
        free();
      }
      return buffer;
    },
    abort: free,
  };
}

function beginTree(
  wasm: CoreExports,
  memory: CoreMemory,
  { positions, indices, weld, deform, isFast }: MeshSource,
  part: number,
  second?: () => ArrayBuffer | undefined,
): TreeBuild & { build: number } {
  const vertices = positions.length / 3;
  const corners = indices?.length ?? vertices;
  const triangles = corners / 3;
  // The indices tell which vertices are merged.
  const isIndexed = indices !== undefined || weld > 0;
  const build = wasm.beginBuild(vertices, triangles, weld, isFast, part) >>> 0;
  let isFreed = false;
  const free = () => {
    if (!isFreed) wasm.freeBuild(build);
    isFreed = true;
  };
  orAbort(free, () => {
    wasm.reserveBuild(build, isIndexed);
    const { buffer } = memory;
    new Float32Array(buffer, wasm.buildPositions(build) >>> 0, positions.length).set(positions);
    const target = new Uint32Array(buffer, wasm.buildIndices(build) >>> 0, isIndexed ? corners : 0);
    if (indices) target.set(indices);
    else for (let i = 0; i < target.length; i++) target[i] = i;
    writeDeform(wasm, build, deform);
  });
  const buildError = (): CollisionError => {
    if (wasm.buildError(build) === BUILD_BAD_INDEX) {
      const i = wasm.buildCulprit(build) >>> 0;
      // The given arrays may have been transferred to another builder by now.
      const [index] = new Uint32Array(memory.buffer, (wasm.buildIndices(build) >>> 0) + 4 * i, 1);
      const range = `0 to ${vertices - 1} for ${vertices} vertices`;
      return new CollisionError('BAD_DATA', `indices[${i}] is ${index}, expected ${range}`);
    }
    return noAreaError(triangles, weld > 0 ? `, when vertices nearer than ${weld} are one,` : '');
  };
  /** Joins the second part; the build continues alone if there is no memory for it. */
  const joinPart = (secondPart: ArrayBuffer): void => {
    let address = 0;
    try {
      address = memory.allocate(secondPart.byteLength);
      memory.bytes(address, secondPart.byteLength).set(new Uint8Array(secondPart));
      wasm.joinSecond(build, address);
    } catch {
      if (address !== 0) wasm.release(address);
    }
  };
  return {
    build,
    step: (budget) => {
      const deadline = performance.now() + budget;
      return orAbort(free, () => {
        const secondPart = second && wasm.mayJoin(build) ? second() : undefined;
        if (secondPart) joinPart(secondPart);
        const fraction = wasm.stepBuild(build, deadline);
        if (fraction >= 0) return fraction;
        throw deformError(wasm, build, deform) ?? buildError();
      });
    },
    take: () => {
      const mesh = wasm.takeMesh(build) >>> 0;
      free();
      return mesh;
    },
    abort: free,
  };
}

/** A tree that is being built, before it is baked. `take` returns the mesh's address. */
interface TreeBuild {
  step(budget: number): number;
  take(): MeshAddress;
  abort(): void;
}

/** The tree's share of a build's progress; the rest is baking the mesh. */
const TREE_SHARE = 0.99;

/** Returns a build that bakes the mesh at its end, and frees it. */
function thenBake(wasm: CoreExports, memory: CoreMemory, tree: TreeBuild, spare?: ArrayBufferLike[]): BakedBuild {
  let mesh: MeshAddress = 0;
  let bake: MeshBake | undefined;
  const free = () => {
    bake?.abort();
    if (mesh !== 0) wasm.release(mesh);
    mesh = 0;
  };
  const stepBake = (budget: number): number =>
    orAbort(free, () => {
      bake ??= beginBake(wasm, memory, mesh, spare);
      return bake.step(budget);
    });
  const finishChunks = (): BakedSource => {
    const baked = bake!.finishChunks();
    free();
    return baked;
  };
  return {
    step: (budget) => {
      const deadline = performance.now() + budget;
      if (mesh === 0) {
        const fraction = tree.step(budget);
        if (fraction < 1) return TREE_SHARE * fraction;
        mesh = tree.take();
      }
      const fraction = stepBake(deadline - performance.now());
      return fraction === 1 ? 1 : TREE_SHARE + (1 - TREE_SHARE) * fraction;
    },
    finish: () => finishChunks().buffers[0] as ArrayBuffer,
    finishChunks,
    abort: () => {
      tree.abort();
      free();
    },
  };
}
