// Converts skins and morph targets between meshes and the core.
import { CollisionError } from '../../shared/errors.js';
import * as layout from '../../shared/layout.js';
import type { MeshDeform, TreeInfo } from '../../shared/protocol.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { copyBytes, type Steps } from './steps.js';

// mesh/build/bake-deform.ts
const DEFORM_BAD_BONE = 3;
const DEFORM_BAD_WEIGHT = 4;
const DEFORM_BAD_TARGET = 5;

// mesh/tree/deform-layout.ts
const DEFORM_BONE_COUNT = 4;
const DEFORM_TARGET_COUNT = 8;
const DIPOLE_BYTES = 64;

/** Writes the skin and the morph targets to a build, if any. Throws OUT_OF_MEMORY. */
export function writeDeform(wasm: CoreExports, build: number, { skin, morphs }: MeshDeform): void {
  const targets = morphs?.targets ?? [];
  if (!skin && targets.length === 0) return;
  wasm.reserveBuildDeform(build, skin?.boneCount ?? 0, targets.length, morphs?.relative ?? false);
  const { buffer } = wasm.memory;
  if (skin) {
    new Float32Array(buffer, wasm.buildWeights(build) >>> 0, skin.weights.length).set(skin.weights);
    new Uint16Array(buffer, wasm.buildBones(build) >>> 0, skin.bones.length).set(skin.bones);
  }
  let at = targets.length > 0 ? wasm.buildTargets(build) >>> 0 : 0;
  for (const target of targets) {
    new Float32Array(buffer, at, target.length).set(target);
    at += target.byteLength;
  }
}

/** Returns the error in the skin or the targets of a failed build; undefined if they are fine. */
export function deformError(
  wasm: CoreExports,
  build: number,
  { skin, morphs }: MeshDeform,
): CollisionError | undefined {
  const i = wasm.buildCulprit(build) >>> 0;
  const badData = (name: string, value: number, expected: string) =>
    new CollisionError('BAD_DATA', `${name} is ${value}, expected ${expected}`);
  switch (wasm.buildError(build)) {
    case DEFORM_BAD_BONE:
      return badData(`skin.bones[${i}]`, skin!.bones[i], `a bone below ${skin!.boneCount}, as it has a weight`);
    case DEFORM_BAD_WEIGHT:
      return badData(`skin.weights[${i}]`, skin!.weights[i], 'a finite number');
    case DEFORM_BAD_TARGET: {
      const { length } = morphs!.targets[0];
      const target = Math.floor(i / length);
      const name = `morphs.targets[${target}][${i % length}]`;
      return badData(name, morphs!.targets[target][i % length], 'a finite number of about the size of the mesh');
    }
    default:
      return undefined;
  }
}

/** Returns the number of bones and morph targets of a mesh. */
export function deformCounts(view: DataView, mesh: number): { bones: number; morphs: number } {
  if (view.getUint32(mesh + layout.MESH_DEFORM_BYTES, true) === 0) return { bones: 0, morphs: 0 };
  const nodes = view.getUint32(mesh + layout.MESH_NODE_COUNT, true);
  const at = mesh + view.getUint32(mesh + layout.MESH_DIPOLES, true) + nodes * DIPOLE_BYTES;
  const count = (field: number) => view.getUint32(at + field, true);
  return { bones: count(DEFORM_BONE_COUNT), morphs: count(DEFORM_TARGET_COUNT) };
}

/**
 * Copies the skin and morph targets of a mesh in the form that a build takes: in steps, one per morph target. Throws
 * OUT_OF_MEMORY.
 */
export function* readDeform(
  wasm: CoreExports,
  memory: CoreMemory,
  mesh: number,
  { bones: boneCount, morphs: targetCount, vertices }: TreeInfo,
): Steps<MeshDeform> {
  const deform: MeshDeform = {};
  const copyOf = (address: number, bytes: number) =>
    copyBytes(bytes, (from, count) => memory.bytes((address >>> 0) + from, count));
  if (boneCount > 0) {
    const bones = new Uint16Array(yield* copyOf(wasm.meshBones(mesh), 8 * vertices));
    const weights = new Float32Array(yield* copyOf(wasm.meshWeights(mesh), 16 * vertices));
    deform.skin = { bones, weights, boneCount };
  }
  if (targetCount > 0) {
    const targets: Float32Array[] = [];
    while (targets.length < targetCount) {
      const target = memory.with(12 * vertices, (address) => {
        wasm.copyMeshTarget(mesh, targets.length, address);
        return new Float32Array(memory.bytes(address, 12 * vertices).slice().buffer);
      });
      targets.push(target);
      yield;
    }
    deform.morphs = { targets, relative: wasm.hasRelativeTargets(mesh) !== 0 };
  }
  return deform;
}
