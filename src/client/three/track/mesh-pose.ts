// How bones and morph targets move the vertices of the scene's Meshes, in the form that the service takes.
import type { Mesh, Skeleton, SkinnedMesh } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { ObjectId } from '../../../shared/types.js';
import { isAffine } from '../../check/affine.js';
import { invalidArgumentError } from '../../check/validate.js';
import type { CollisionService } from '../../service.js';
import { BIND_INVERSE_INDEX, type CheckedPose, UNBOUND } from '../../skin/pose-table.js';
import { isSameMatrix } from '../../transforms/affine.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';

/** The bones of a skeleton as read last. Another version means that they have changed. */
interface BoneSnapshot {
  readonly version: number;
  readonly numbers: Float32Array;
  readonly isFinite: boolean;
}

const NO_MORPHS = new Float32Array(0);

/**
 * Reads the skeletons of a scene, each once a frame however many Meshes share it. It reads the `boneMatrices` that the renderer
 * has left. If the renderer has not updated a skeleton since the last time, as happens for Meshes that the camera does not see,
 * they are computed here.
 */
export class SkeletonTable {
  /** Whether the caller has all matrices updated in every frame: those of the last rendering are old then. */
  readonly #updatesMatrices: boolean;
  readonly #snapshots = new WeakMap<Skeleton, SkeletonSnapshot>();
  #frame = 0;

  constructor(updatesMatrices: boolean) {
    this.#updatesMatrices = updatesMatrices;
  }

  /** Makes every skeleton be read again. */
  beginFrame(): void {
    this.#frame++;
  }

  read(skeleton: Skeleton): BoneSnapshot {
    let snapshot = this.#snapshots.get(skeleton);
    if (snapshot === undefined) {
      snapshot = new SkeletonSnapshot();
      this.#snapshots.set(skeleton, snapshot);
    }
    if (snapshot.frame === this.#frame) return snapshot;
    snapshot.frame = this.#frame;
    const isUpdatedByRenderer = snapshot.textureVersion >= 0 && versionOf(skeleton) !== snapshot.textureVersion;
    if (this.#updatesMatrices || !isUpdatedByRenderer) skeleton.update();
    snapshot.textureVersion = versionOf(skeleton);
    snapshot.copy(skeleton);
    return snapshot;
  }
}

class SkeletonSnapshot implements BoneSnapshot {
  version = 0;
  numbers = new Float32Array(0);
  isFinite = true;
  /** The frame of the tracker in which it was read. */
  frame = -1;
  /** The version of its bone texture; -1 before there is one. */
  textureVersion = -1;

  copy(skeleton: Skeleton): void {
    const { bones } = skeleton;
    const boneMatrices = skeleton.boneMatrices as Float32Array; // three makes them with the bones
    const length = 16 * bones.length;
    if (this.numbers.length !== length) this.numbers = new Float32Array(length);
    else if (startsWith(boneMatrices, this.numbers)) return;
    const { numbers } = this;
    if (boneMatrices.length === length) numbers.set(boneMatrices);
    else for (let i = 0; i < length; i++) numbers[i] = boneMatrices[i]; // NaN for missing ones
    this.isFinite = areFinite(numbers);
    this.version++;
  }
}

/** Returns whether an array begins with the numbers of another one; stops at the first difference. */
function startsWith(matrices: Float32Array, numbers: Float32Array): boolean {
  for (let i = 0; i < numbers.length; i++) {
    if (matrices[i] !== numbers[i] && !Object.is(matrices[i], numbers[i])) return false;
  }
  return true;
}

/**
 * Returns whether all numbers are finite: they are summed in float64, where no sum of finite float32 overflows, in four
 * separate sums, because each addition waits for the previous one of its sum.
 */
function areFinite(matrices: Float32Array): boolean {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < matrices.length; i += 4) {
    a += matrices[i];
    b += matrices[i + 1];
    c += matrices[i + 2];
    d += matrices[i + 3];
  }
  return Number.isFinite(a + b + c + d);
}

/** Returns a number that changes with each `skeleton.update()`, once the skeleton was rendered; -1 before. */
function versionOf({ boneTexture }: Skeleton): number {
  return boneTexture === null ? -1 : boneTexture.version;
}

/** The pose of a Mesh as sent last. */
export class MeshPose {
  /** Why the service does not accept the pose: a number that is not finite moves vertices to nowhere. Null if it does. */
  fault: CollisionError | null = null;
  /** The mesh that the pose was sent for; null if it is to be sent again. */
  standing: BuiltMesh | null = null;

  readonly #service: CollisionService;
  readonly #skeletons: SkeletonTable;
  readonly #pose: CheckedPose = { bones: undefined, binds: UNBOUND, morphs: NO_MORPHS };
  /** Both matrices of the binding, contiguous, and views of each. */
  readonly #binds = UNBOUND.slice();
  readonly #bind = this.#binds.subarray(0, BIND_INVERSE_INDEX);
  readonly #bindInverse = this.#binds.subarray(BIND_INVERSE_INDEX);
  #morphs = NO_MORPHS;
  #id: ObjectId = 0;
  #bones: BoneSnapshot | null = null;
  #version = -1;

  constructor(service: CollisionService, skeletons: SkeletonTable) {
    this.#service = service;
    this.#skeletons = skeletons;
  }

  /** Sends the pose of a Mesh whose mesh in the service is `builtMesh`, if the pose has changed. */
  send(mesh: Mesh, builtMesh: BuiltMesh, id: ObjectId): void {
    let isChanged = builtMesh !== this.standing || id !== this.#id;
    let areBonesFinite = true;
    if (builtMesh.bones > 0) {
      const { skeleton, bindMatrix, bindMatrixInverse } = mesh as SkinnedMesh;
      const bones = this.#skeletons.read(skeleton);
      if (bones.numbers.length !== 16 * builtMesh.bones) return; // a mesh for this many bones is being built
      if (bones !== this.#bones || bones.version !== this.#version) isChanged = true;
      this.#bones = bones;
      this.#version = bones.version;
      areBonesFinite = bones.isFinite;
      if (copyMatrix(this.#bind, bindMatrix.elements)) isChanged = true;
      if (copyMatrix(this.#bindInverse, bindMatrixInverse.elements)) isChanged = true;
    }
    if (builtMesh.morphs !== this.#morphs.length) {
      this.#morphs = builtMesh.morphs === 0 ? NO_MORPHS : new Float32Array(builtMesh.morphs);
      isChanged = true;
    }
    const influences = mesh.morphTargetInfluences;
    for (let i = 0; i < this.#morphs.length; i++) {
      const influence = Math.fround(influences?.[i] ?? 0);
      if (Object.is(influence, this.#morphs[i])) continue;
      this.#morphs[i] = influence;
      isChanged = true;
    }
    if (!isChanged) return;
    this.standing = builtMesh;
    this.#id = id;
    const matrixError = this.#findMatrixError();
    this.fault = matrixError ?? (areBonesFinite ? null : boneError((mesh as SkinnedMesh).skeleton));
    // The frame lists bones that are not finite as rejected.
    if (matrixError === null) this.#service.poseObject(id, this.#assemble(builtMesh));
  }

  /** Returns the error that the service would throw, if any. */
  #findMatrixError(): CollisionError | null {
    const morphs = this.#morphs;
    for (let i = 0; i < morphs.length; i++) {
      if (Number.isFinite(morphs[i])) continue;
      return poseError(`morphTargetInfluences[${i}] is ${morphs[i]}, expected a finite number of float32`);
    }
    if (isFiniteAffine(this.#bind) && isFiniteAffine(this.#bindInverse)) return null;
    const name = isFiniteAffine(this.#bind) ? 'bindMatrixInverse' : 'bindMatrix';
    return poseError(`the ${name} is not affine, expected finite numbers over a row of 0, 0, 0, 1`);
  }

  #assemble({ bones }: BuiltMesh): CheckedPose {
    const pose = this.#pose;
    pose.bones = bones > 0 ? this.#bones!.numbers : undefined;
    pose.binds = bones > 0 ? this.#binds : UNBOUND;
    pose.morphs = this.#morphs;
    return pose;
  }
}

function boneError({ bones, boneMatrices }: Skeleton): CollisionError {
  const bone = (boneMatrices as Float32Array).findIndex((number) => !Number.isFinite(number)) >> 4;
  return poseError(`the matrix of bone ${bone} ("${bones[bone]?.name}") is not finite, expected 16 finite numbers`);
}

function poseError(message: string): CollisionError {
  return invalidArgumentError(`its pose: ${message}`);
}

/** Copies a matrix; returns whether it has changed. */
function copyMatrix(target: Float64Array, source: ArrayLike<number>): boolean {
  if (isSameMatrix(target, source)) return false;
  target.set(source);
  return true;
}

/** Returns whether the service accepts a matrix: finite, with the bottom row 0, 0, 0, 1. */
function isFiniteAffine(matrix: Float64Array): boolean {
  let zero = 0; // or NaN
  for (let i = 0; i < 16; i++) zero += matrix[i] * 0;
  return zero === 0 && isAffine(matrix, 0);
}
