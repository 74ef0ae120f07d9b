// Skins and morph targets of meshes, as callers give them.
import type { MeshDeform } from '../../shared/protocol.js';
import type { MeshMorphs, MeshSkin } from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { argumentError, checkBoolean, checkInteger, guardRead, readOptions, throwInvalid } from '../check/validate.js';

const SKIN_KEYS = ['bones', 'weights', 'boneCount'];
const MORPH_KEYS = ['targets', 'relative'];
const MAX_BONES = 65_536;
const MAX_TARGETS = 65_536;

/** Checks that an array may be transferred; `given` is what the caller passed. */
export type CheckUnshared = (argument: string, checked: { buffer: ArrayBufferLike }, given: unknown) => void;

/** Reads the skin and the morph targets of a mesh with this many vertices. */
export function checkDeform(
  operation: string,
  { skin, morphs }: MeshDeform,
  vertices: number,
  checkUnshared: CheckUnshared | undefined,
): MeshDeform {
  const deform: MeshDeform = {};
  if (skin !== undefined) deform.skin = checkSkin(operation, skin, vertices, checkUnshared);
  if (morphs !== undefined) deform.morphs = checkMorphs(operation, morphs, vertices, checkUnshared);
  return deform;
}

function checkSkin(
  operation: string,
  skin: MeshSkin,
  vertices: number,
  checkUnshared: CheckUnshared | undefined,
): MeshSkin {
  const given = readOptions(operation, 'skin', skin, SKIN_KEYS);
  const kinds = ['Uint8Array', 'Uint16Array'] as const;
  const bones = checkTypedArray<Uint8Array | Uint16Array>(operation, 'skin.bones', given.bones, kinds);
  const weights = checkTypedArray<Float32Array>(operation, 'skin.weights', given.weights, ['Float32Array']);
  checkUnshared?.('skin.bones', bones, given.bones);
  checkUnshared?.('skin.weights', weights, given.weights);
  checkLength(operation, 'skin.bones', bones, 4 * vertices, `4 for each of ${vertices} vertices`);
  checkLength(operation, 'skin.weights', weights, 4 * vertices, `4 for each of ${vertices} vertices`);
  return { bones, weights, boneCount: checkInteger(operation, 'skin.boneCount', given.boneCount, 1, MAX_BONES) };
}

function checkMorphs(
  operation: string,
  morphs: MeshMorphs,
  vertices: number,
  checkUnshared: CheckUnshared | undefined,
): MeshMorphs {
  const given = readOptions(operation, 'morphs', morphs, MORPH_KEYS);
  const relative = checkBoolean(operation, 'morphs.relative', given.relative);
  const targets = guardRead(operation, 'morphs.targets', () => {
    if (!Array.isArray(given.targets)) throwInvalid(operation, 'morphs.targets', given.targets, 'an array');
    const count = checkInteger(operation, 'the length of morphs.targets', given.targets.length, 1, MAX_TARGETS);
    return Array.from({ length: count }, (_, i) => {
      const argument = `morphs.targets[${i}]`;
      const each = given.targets[i];
      const target = checkTypedArray<Float32Array>(operation, argument, each, ['Float32Array']);
      checkUnshared?.(argument, target, each);
      checkLength(operation, argument, target, 3 * vertices, `3 for each of ${vertices} vertices`);
      return target;
    });
  });
  return { targets, relative };
}

function checkLength(
  operation: string,
  argument: string,
  { length }: ArrayLike<number>,
  expectedLength: number,
  expected: string,
) {
  if (length !== expectedLength)
    throw argumentError('BAD_DATA', operation, `the length of ${argument}`, length, expected);
}

/** Copies all arrays. */
export function copyDeform({ skin, morphs }: MeshDeform): MeshDeform {
  const copy: MeshDeform = {};
  if (skin) copy.skin = { ...skin, bones: skin.bones.slice(), weights: skin.weights.slice() };
  if (morphs) copy.morphs = { ...morphs, targets: morphs.targets.map((target) => target.slice()) };
  return copy;
}

/** Lists the arrays' buffers, which may contain duplicates. */
export function buffersOf({ skin, morphs }: MeshDeform): ArrayBufferLike[] {
  const buffers = morphs ? morphs.targets.map(({ buffer }) => buffer) : [];
  return skin ? [...buffers, skin.bones.buffer, skin.weights.buffer] : buffers;
}
