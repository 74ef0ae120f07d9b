import type { MeshInfo, ObjectId, Pose } from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { invalid, MatrixReader, reading, readOptions } from '../check/validate.js';
import { IDENTITY } from '../transforms/affine.js';
import { BIND_INVERSE_NUMBER, type CheckedPose } from './pose-table.js';

const KEYS = ['bones', 'bind', 'bindInverse', 'morphs'];
const NO_MORPHS: ArrayLike<number> = [];

/** Both matrices of a binding that was not given. */
const UNBOUND = Float64Array.of(...IDENTITY, ...IDENTITY);

/** Reads the poses that objects are given, of which there are many in every frame. */
export class PoseReader {
  readonly #matrix = new MatrixReader();
  readonly #binds = new Float64Array(2 * BIND_INVERSE_NUMBER);
  readonly #pose: CheckedPose = { bones: undefined, binds: UNBOUND, morphs: NO_MORPHS };

  /** Reads the pose of an object, of which `mesh` is the mesh, if it has one. It is valid until the next call. */
  read(operation: string, id: ObjectId, given: Pose, mesh: Readonly<MeshInfo> | undefined): CheckedPose {
    if (!mesh || mesh.bones + mesh.morphs === 0) {
      invalid(operation, 'id', id, 'an object whose mesh has a skin or morph targets');
    }
    if (given === undefined) invalid(operation, 'pose', given, 'an object');
    const { bones, bind, bindInverse, morphs } = readOptions<Pose>(operation, 'pose', given, KEYS);
    const pose = this.#pose;
    pose.bones = bones === undefined ? undefined : checkBones(operation, bones, mesh.bones);
    if (pose.bones === undefined && (bind !== undefined || bindInverse !== undefined)) {
      const what = bind === undefined ? 'bindInverse' : 'bind';
      invalid(operation, `pose.${what}`, bind ?? bindInverse, 'none, as there are no bones');
    }
    pose.binds = bind === undefined && bindInverse === undefined ? UNBOUND : this.#binds;
    if (pose.binds !== UNBOUND) {
      this.#readBind(operation, 'pose.bind', bind, 0);
      this.#readBind(operation, 'pose.bindInverse', bindInverse, BIND_INVERSE_NUMBER);
    }
    pose.morphs = morphs === undefined ? NO_MORPHS : checkMorphs(operation, morphs, mesh.morphs);
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

function checkBones(operation: string, given: Float32Array, count: number): Float32Array {
  if (count === 0) invalid(operation, 'pose.bones', given, 'none, as the mesh has no skin');
  const bones = checkTypedArray<Float32Array>(operation, 'pose.bones', given, ['Float32Array']);
  if (bones.length !== 16 * count) {
    invalid(operation, 'the length of pose.bones', bones.length, `16 for each of ${count} bones`);
  }
  return bones;
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
