// How bones and morph targets move the vertices of the scene's Meshes, as it is sent to the service.
import type { Mesh, Skeleton, SkinnedMesh } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ObjectId, Pose } from '../../../shared/types.js';
import { isAffine } from '../../check/affine.js';
import type { CollisionService } from '../../service.js';
import type { BuiltMesh } from '../geometry/mesh-pool.js';

/** The bones of a skeleton as they were read last. Another number says that they are others than before. */
interface BonesRead {
  readonly version: number;
  readonly numbers: Float32Array;
  readonly isFinite: boolean;
}

/** A Pose of the service. */
type SentPose = Record<'bones' | 'morphs', Float32Array | undefined> &
  Record<'bind' | 'bindInverse', Float64Array | undefined>;

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const NO_MORPHS = new Float32Array(0);

/**
 * Reads the skeletons of a scene, each once a frame however many Meshes share it. What is read are the `boneMatrices`
 * that the renderer has left. Where it has not touched a skeleton since the last time, as it does not for what the camera
 * does not see, they are computed here.
 */
export class SkeletonTable {
  /** The caller has all matrices updated in every frame: those of the last rendering are old. */
  readonly #updatesMatrices: boolean;
  readonly #read = new WeakMap<Skeleton, ReadSkeleton>();
  #frame = 0;

  constructor(updatesMatrices: boolean) {
    this.#updatesMatrices = updatesMatrices;
  }

  /** Lets every skeleton be read anew. */
  beginFrame(): void {
    this.#frame++;
  }

  read(skeleton: Skeleton): BonesRead {
    let read = this.#read.get(skeleton);
    if (read === undefined) {
      read = new ReadSkeleton();
      this.#read.set(skeleton, read);
    }
    if (read.frame === this.#frame) return read;
    read.frame = this.#frame;
    const isLeft = read.textureVersion >= 0 && versionOf(skeleton) !== read.textureVersion;
    if (this.#updatesMatrices || !isLeft) skeleton.update();
    read.textureVersion = versionOf(skeleton);
    read.copy(skeleton);
    return read;
  }
}

class ReadSkeleton implements BonesRead {
  version = 0;
  numbers = new Float32Array(0);
  isFinite = true;
  /** It was read in that frame of the tracker's. */
  frame = -1;
  /** The version of the texture of its bones; -1 before there is one. */
  textureVersion = -1;

  copy(skeleton: Skeleton): void {
    const { bones } = skeleton;
    const boneMatrices = skeleton.boneMatrices as Float32Array; // three makes them with the bones
    const length = 16 * bones.length;
    let isOther = this.numbers.length !== length;
    if (isOther) this.numbers = new Float32Array(length);
    const { numbers } = this;
    let zero = 0; // or NaN, where one of them is not finite
    for (let i = 0; i < length; i++) {
      const number = boneMatrices[i];
      zero += number * 0;
      if (Object.is(number, numbers[i])) continue;
      numbers[i] = number;
      isOther = true;
    }
    this.isFinite = zero === 0;
    if (isOther) this.version++;
  }
}

/** Answers a number that becomes another with each `skeleton.update()`, once the skeleton was rendered; -1 before. */
function versionOf({ boneTexture }: Skeleton): number {
  return boneTexture === null ? -1 : boneTexture.version;
}

/** The pose of a Mesh as it was sent last. */
export class MeshPose {
  /** Says why the service does not take it: what is not finite moves vertices to nowhere. Null where it does. */
  fault: CollisionError | null = null;

  readonly #service: CollisionService;
  readonly #skeletons: SkeletonTable;
  readonly #pose: SentPose = { bones: undefined, bind: undefined, bindInverse: undefined, morphs: undefined };
  readonly #bind = new Float64Array(IDENTITY);
  readonly #bindInverse = new Float64Array(IDENTITY);
  #morphs = NO_MORPHS;
  #standing: BuiltMesh | null = null;
  #id: ObjectId = 0;
  #bones: BonesRead | null = null;
  #version = -1;

  constructor(service: CollisionService, skeletons: SkeletonTable) {
    this.#service = service;
    this.#skeletons = skeletons;
  }

  /** Sends the pose of a Mesh that stands in the service as `standing`, if it is another than before. */
  send(mesh: Mesh, standing: BuiltMesh, id: ObjectId): void {
    let isOther = standing !== this.#standing || id !== this.#id;
    let areBonesFinite = true;
    if (standing.bones > 0) {
      const { skeleton, bindMatrix, bindMatrixInverse } = mesh as SkinnedMesh;
      const bones = this.#skeletons.read(skeleton);
      if (bones.numbers.length !== 16 * standing.bones) return; // a mesh for so many bones is being built
      if (bones !== this.#bones || bones.version !== this.#version) isOther = true;
      this.#bones = bones;
      this.#version = bones.version;
      areBonesFinite = bones.isFinite;
      if (copyMatrix(this.#bind, bindMatrix.elements)) isOther = true;
      if (copyMatrix(this.#bindInverse, bindMatrixInverse.elements)) isOther = true;
    }
    if (standing.morphs !== this.#morphs.length) {
      this.#morphs = standing.morphs === 0 ? NO_MORPHS : new Float32Array(standing.morphs);
      isOther = true;
    }
    const influences = mesh.morphTargetInfluences;
    for (let i = 0; i < this.#morphs.length; i++) {
      const influence = Math.fround(influences?.[i] ?? 0);
      if (Object.is(influence, this.#morphs[i])) continue;
      this.#morphs[i] = influence;
      isOther = true;
    }
    if (!isOther) return;
    this.#standing = standing;
    this.#id = id;
    const wrong = this.#wrongMatrix();
    this.fault = wrong ?? (areBonesFinite ? null : wrongBone((mesh as SkinnedMesh).skeleton));
    // The frame lists bones that are not finite as rejected.
    if (wrong === null) this.#service.setPose(id, this.#assemble(standing) as Pose);
  }

  /** Says what the service would throw for. */
  #wrongMatrix(): CollisionError | null {
    const morph = this.#morphs.findIndex((influence) => !Number.isFinite(influence));
    if (morph >= 0) {
      return badPose(`morphTargetInfluences[${morph}] is ${this.#morphs[morph]}, expected a finite number of float32`);
    }
    const names = { bindMatrix: this.#bind, bindMatrixInverse: this.#bindInverse };
    for (const [name, matrix] of Object.entries(names)) {
      if (!isPlace(matrix))
        return badPose(`the ${name} is not affine, expected finite numbers over a row of 0, 0, 0, 1`);
    }
    return null;
  }

  #assemble({ bones, morphs }: BuiltMesh): SentPose {
    const pose = this.#pose;
    pose.bones = bones > 0 ? this.#bones!.numbers : undefined;
    pose.bind = bones > 0 ? this.#bind : undefined;
    pose.bindInverse = bones > 0 ? this.#bindInverse : undefined;
    pose.morphs = morphs > 0 ? this.#morphs : undefined;
    return pose;
  }
}

function wrongBone({ bones, boneMatrices }: Skeleton): CollisionError {
  const bone = (boneMatrices as Float32Array).findIndex((number) => !Number.isFinite(number)) >> 4;
  return badPose(`the matrix of bone ${bone} ("${bones[bone]?.name}") is not finite, expected 16 finite numbers`);
}

function badPose(message: string): CollisionError {
  return new CollisionError('INVALID_ARGUMENT', `its pose: ${message}`);
}

/** Copies a matrix; tells whether it is another. */
function copyMatrix(target: Float64Array, source: ArrayLike<number>): boolean {
  let isOther = false;
  for (let i = 0; i < 16; i++) {
    const number = source[i];
    if (Object.is(number, target[i])) continue;
    target[i] = number;
    isOther = true;
  }
  return isOther;
}

/** Tells whether the service takes a matrix: finite, with the bottom row 0, 0, 0, 1. */
function isPlace(matrix: Float64Array): boolean {
  return matrix.every(Number.isFinite) && isAffine(matrix, 0);
}
