import type { MeshInfo, ObjectId, Pose } from '../../shared/types.js';
import { isFloat32Array, lengthOf } from '../check/binary.js';
import { invalid, MatrixReader, reading, readOptions } from '../check/validate.js';
import { IDENTITY } from '../transforms/affine.js';
import { BIND_INVERSE_NUMBER, type CheckedPose, UNBOUND } from './pose-table.js';

const KEYS = ['bones', 'bind', 'bindInverse', 'morphs'];
const NO_MORPHS: ArrayLike<number> = [];

/** Reads the poses of objects, of which there are many in every frame. */
export class PoseReader {
  readonly #matrix = new MatrixReader();
  readonly #binds = new Float64Array(2 * BIND_INVERSE_NUMBER);
  readonly #pose: CheckedPose = { bones: undefined, binds: UNBOUND, morphs: NO_MORPHS };

  /** Reads the pose of an object; `mesh` is its mesh, if any. The result is valid until the next call. */
  read(operation: string, id: ObjectId, given: Pose, mesh: Readonly<MeshInfo> | undefined): CheckedPose {
    if (!mesh || mesh.bones + mesh.morphs === 0) {
      invalid(operation, 'id', id, 'an object whose mesh has a skin or morph targets');
    }
    if (given === undefined) invalid(operation, 'pose', given, 'an object');
    const pose = this.#pose;
    const alone = bonesAlone(given);
    if (alone !== undefined) {
      pose.bones = checkBones(operation, alone, mesh.bones);
      pose.binds = UNBOUND;
      pose.morphs = NO_MORPHS;
      return pose;
    }
    const { bones, bind, bindInverse, morphs } = readOptions<Pose>(operation, 'pose', given, KEYS);
    if (bones === undefined && (bind !== undefined || bindInverse !== undefined)) {
      const what = bind === undefined ? 'bindInverse' : 'bind';
      invalid(operation, `pose.${what}`, bind ?? bindInverse, 'none, as there are no bones');
    }
    pose.binds = bind === undefined && bindInverse === undefined ? UNBOUND : this.#binds;
    if (pose.binds !== UNBOUND) {
      this.#readBind(operation, 'pose.bind', bind, 0);
      this.#readBind(operation, 'pose.bindInverse', bindInverse, BIND_INVERSE_NUMBER);
    }
    pose.morphs = morphs === undefined ? NO_MORPHS : checkMorphs(operation, morphs, mesh.morphs);
    // Last of all: a getter of the caller, above, may have transferred them.
    pose.bones = bones === undefined ? undefined : checkBones(operation, bones, mesh.bones);
    return pose;
  }

  #readBind(operation: string, argument: string, given: ArrayLike<number> | undefined, at: number): void {
    const binds = this.#binds;
    if (given === undefined) {
      binds.set(IDENTITY, at);
      return;
    }
    const matrix = this.#matrix.readAffine(operation, argument, given);
    for (let i = 0; i < matrix.length; i++) {
      if (!Number.isFinite(matrix[i])) invalid(operation, `${argument}[${i}]`, matrix[i], 'a finite number');
    }
    binds.set(matrix, at);
  }
}

/**
 * Returns the bones of a plain pose with no other key; undefined if there is more to read.
 * A hundred of these are set in every frame, and a checked copy of the object takes a third of the whole time.
 */
function bonesAlone(given: Pose): Float32Array | undefined {
  try {
    if (Object.getPrototypeOf(given) !== Object.prototype) return undefined;
    for (const key in given) if (key !== 'bones') return undefined; // a list of the keys takes three times as long
    const { bones } = given;
    return isFloat32Array(bones) ? bones : undefined;
  } catch {
    return undefined; // it is read again, and the error is reported then
  }
}

/** Returns the caller's own array: copying it calls none of its methods, which may be overridden. */
function checkBones(operation: string, given: Float32Array, count: number): Float32Array {
  if (count === 0) invalid(operation, 'pose.bones', given, 'none, as the mesh has no skin');
  if (!isFloat32Array(given)) invalid(operation, 'pose.bones', given, 'a Float32Array');
  const length = lengthOf(given);
  if (length !== 16 * count) invalid(operation, 'the length of pose.bones', length, `16 for each of ${count} bones`);
  return given;
}

function checkMorphs(operation: string, given: ArrayLike<number>, count: number): ArrayLike<number> {
  if (count === 0) invalid(operation, 'pose.morphs', given, 'none, as the mesh has no morph targets');
  return reading(operation, 'pose.morphs', () => {
    if (typeof given !== 'object' || given === null) invalid(operation, 'pose.morphs', given, `${count} numbers`);
    if (given.length !== count) {
      invalid(operation, 'the length of pose.morphs', given.length, `one for each of ${count} morph targets`);
    }
    const weights = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const weight = given[i];
      if (typeof weight !== 'number' || !Number.isFinite(Math.fround(weight))) {
        invalid(operation, `pose.morphs[${i}]`, weight, 'a finite number');
      }
      weights[i] = weight;
    }
    return weights;
  });
}
