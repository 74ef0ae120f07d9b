import type { MeshInfo, ObjectId, Pose } from '../../shared/types.js';
import { isFloat32Array, lengthOf } from '../check/binary.js';
import { guardRead, MatrixReader, readOptions, throwInvalid } from '../check/validate.js';
import { IDENTITY } from '../transforms/affine.js';
import { BIND_INVERSE_INDEX, type CheckedPose, UNBOUND } from './pose-table.js';

const KEYS = ['bones', 'bind', 'bindInverse', 'morphs'];
const NO_MORPHS: ArrayLike<number> = [];

/** Reads the poses of objects, of which there are many in every frame. */
export class PoseReader {
  readonly #matrix = new MatrixReader();
  readonly #binds = new Float64Array(2 * BIND_INVERSE_INDEX);
  readonly #pose: CheckedPose = { bones: undefined, binds: UNBOUND, morphs: NO_MORPHS };

  /** Reads the pose of an object; `mesh` is its mesh, if any. The result is valid until the next call. */
  read(operation: string, id: ObjectId, given: Pose, mesh: Readonly<MeshInfo> | undefined): CheckedPose {
    if (!mesh || mesh.bones + mesh.morphs === 0) {
      throwInvalid(operation, 'id', id, 'an object whose mesh has a skin or morph targets');
    }
    if (given === undefined) throwInvalid(operation, 'pose', given, 'an object');
    const pose = this.#pose;
    const soleBones = readSoleBones(given);
    if (soleBones !== undefined) {
      pose.bones = checkBones(operation, soleBones, mesh.bones);
      pose.binds = UNBOUND;
      pose.morphs = NO_MORPHS;
      return pose;
    }
    const { bones, bind, bindInverse, morphs } = readOptions<Pose>(operation, 'pose', given, KEYS);
    if (bones === undefined && (bind !== undefined || bindInverse !== undefined)) {
      const option = bind === undefined ? 'bindInverse' : 'bind';
      throwInvalid(operation, `pose.${option}`, bind ?? bindInverse, 'none, as there are no bones');
    }
    pose.binds = bind === undefined && bindInverse === undefined ? UNBOUND : this.#binds;
    if (pose.binds !== UNBOUND) {
      this.#readBind(operation, 'pose.bind', bind, 0);
      this.#readBind(operation, 'pose.bindInverse', bindInverse, BIND_INVERSE_INDEX);
    }
    pose.morphs = morphs === undefined ? NO_MORPHS : checkMorphs(operation, morphs, mesh.morphs);
    // Last of all: a getter of the caller, above, may have transferred them.
    pose.bones = bones === undefined ? undefined : checkBones(operation, bones, mesh.bones);
    return pose;
  }

  #readBind(operation: string, argument: string, value: ArrayLike<number> | undefined, at: number): void {
    const binds = this.#binds;
    if (value === undefined) {
      binds.set(IDENTITY, at);
      return;
    }
    const matrix = this.#matrix.readAffine(operation, argument, value);
    for (let i = 0; i < matrix.length; i++) {
      if (!Number.isFinite(matrix[i])) throwInvalid(operation, `${argument}[${i}]`, matrix[i], 'a finite number');
    }
    binds.set(matrix, at);
  }
}

/**
 * Returns the bones of a plain pose with no other key; undefined if there is more to read.
 * A hundred of these are set in every frame, and a checked copy of the object takes a third of the whole time.
 */
function readSoleBones(pose: Pose): Float32Array | undefined {
  try {
    if (Object.getPrototypeOf(pose) !== Object.prototype) return undefined;
    for (const key in pose) if (key !== 'bones') return undefined; // a list of the keys takes three times as long
    const { bones } = pose;
    return isFloat32Array(bones) ? bones : undefined;
  } catch {
    return undefined; // it is read again, and the error is reported then
  }
}

/** Returns the caller's own array: copying it calls none of its methods, which may be overridden. */
function checkBones(operation: string, bones: Float32Array, count: number): Float32Array {
  if (count === 0) throwInvalid(operation, 'pose.bones', bones, 'none, as the mesh has no skin');
  if (!isFloat32Array(bones)) throwInvalid(operation, 'pose.bones', bones, 'a Float32Array');
  const length = lengthOf(bones);
  if (length !== 16 * count)
    throwInvalid(operation, 'the length of pose.bones', length, `16 for each of ${count} bones`);
  return bones;
}

function checkMorphs(operation: string, value: ArrayLike<number>, count: number): ArrayLike<number> {
  if (count === 0) throwInvalid(operation, 'pose.morphs', value, 'none, as the mesh has no morph targets');
  return guardRead(operation, 'pose.morphs', () => {
    if (typeof value !== 'object' || value === null) throwInvalid(operation, 'pose.morphs', value, `${count} numbers`);
    if (value.length !== count) {
      throwInvalid(operation, 'the length of pose.morphs', value.length, `one for each of ${count} morph targets`);
    }
    const weights = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const weight = value[i];
      if (typeof weight !== 'number' || !Number.isFinite(Math.fround(weight))) {
        throwInvalid(operation, `pose.morphs[${i}]`, weight, 'a finite number');
      }
      weights[i] = weight;
    }
    return weights;
  });
}
