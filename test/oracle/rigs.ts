import type { MeshData, Pose } from 'collision-worker';
import {
  Bone,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Skeleton,
  SkinnedMesh,
  Sphere,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { bumpyBall } from './lumps.js';
import type { Triangles } from './meshes.js';
import type { Random } from './random.js';

export interface RigOptions {
  /** 0 for a mesh without skinning. */
  bones: number;
  targets?: number;
  relative?: boolean;
  /** Whether the sum of weights may be arbitrary. */
  anyWeights?: boolean;
  /** Whether some vertices have no weights at all: they are at the position of the binding's inverse. */
  zeroWeights?: boolean;
  attached?: boolean;
  triangles?: Triangles;
}

/** A mesh that three draws, deformed by bones or morph targets, below groups that mirror, shear and scale it. */
export interface Rig {
  mesh: Mesh;
  data: MeshData;
  root: Group;
}

const INFINITE_SPHERE = new Sphere(new Vector3(), 1e30);

export function randomRig(random: Random, options: RigOptions, position = new Vector3()): Rig {
  const { bones: boneCount, targets = 0, relative = true, attached = random.chance(0.5) } = options;
  const triangles = options.triangles ?? bumpyBall(random, 3 + random.integer(5), 0.15);
  const vertices = triangles.positions.length / 3;
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(triangles.positions, 3));
  geometry.setIndex(new BufferAttribute(triangles.indices, 1));
  geometry.boundingSphere = INFINITE_SPHERE.clone();
  const data: MeshData = { positions: triangles.positions, indices: triangles.indices };
  const material = new MeshBasicMaterial({ side: DoubleSide });

  if (targets > 0) {
    const arrays = Array.from({ length: targets }, () => randomTarget(random, triangles.positions, relative));
    geometry.morphAttributes.position = arrays.map((array) => new Float32BufferAttribute(array, 3));
    geometry.morphTargetsRelative = relative;
    data.morphs = { targets: arrays, relative };
  }
  const root = new Group();
  const positionGroup = new Group();
  positionGroup.position.copy(position);
  const nested = new Group();
  nested.applyMatrix4(random.chance(0.5) ? skewedMatrix(random) : new Matrix4());
  root.add(positionGroup.add(nested));
  if (boneCount === 0) {
    const mesh = new Mesh(geometry, material);
    mesh.updateMorphTargets();
    nested.add(mesh);
    root.updateMatrixWorld(true);
    return { mesh, data, root };
  }
  const skin = randomSkin(random, triangles.positions, boneCount, options);
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(skin.bones, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(skin.weights, 4));
  data.skin = { ...skin, boneCount };
  if (boneCount <= 256 && random.chance(0.5)) data.skin.bones = new Uint8Array(skin.bones);

  const mesh = new SkinnedMesh(geometry, material);
  mesh.bindMode = attached ? 'attached' : 'detached';
  mesh.updateMorphTargets();
  const bones = Array.from({ length: boneCount }, () => new Bone());
  bones.forEach((bone, i) => {
    bone.position.copy(random.point(0.6));
    if (i > 0) bones[random.integer(i)].add(bone);
  });
  if (random.chance(0.5)) mesh.add(bones[0]);
  else nested.add(bones[0]);
  nested.add(mesh);
  mesh.boundingSphere = INFINITE_SPHERE.clone();
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones), random.chance(0.5) ? undefined : mesh.matrixWorld);
  expectVertices(vertices, skin.weights.length);
  return { mesh, data, root };
}

function expectVertices(vertices: number, weights: number): void {
  if (weights !== 4 * vertices) throw new Error(`${weights} weights for ${vertices} vertices`);
}

/** Sometimes mirrored, and scaled differently along different axes. */
function skewedMatrix(random: Random): Matrix4 {
  const scale = () => random.range(0.6, 1.6) * (random.chance(0.2) ? -1 : 1);
  return new Matrix4()
    .compose(random.point(1), random.rotation(), new Vector3(scale(), scale(), scale()))
    .multiply(new Matrix4().makeRotationFromQuaternion(random.rotation()));
}

function randomTarget(random: Random, positions: Float32Array, relative: boolean): Float32Array {
  const direction = random.direction();
  const frequency = random.range(1, 4);
  const target = new Float32Array(positions.length);
  for (let i = 0; i < positions.length; i += 3) {
    const share = Math.max(0, Math.sin(frequency * (positions[i] + 2 * positions[i + 1])));
    for (let k = 0; k < 3; k++) {
      target[i + k] = share * direction.getComponent(k) + (relative ? 0 : positions[i + k]);
    }
  }
  return target;
}

function randomSkin(random: Random, positions: Float32Array, count: number, options: RigOptions) {
  const vertices = positions.length / 3;
  const bones = new Uint16Array(4 * vertices);
  const weights = new Float32Array(4 * vertices);
  const boneCenters = Array.from({ length: count }, () => random.direction());
  const vertex = new Vector3();
  for (let i = 0; i < vertices; i++) {
    vertex.fromArray(positions, 3 * i);
    const byInfluence = boneCenters.map((center, bone) => ({ bone, share: Math.exp(-4 * center.distanceTo(vertex)) }));
    byInfluence.sort((a, b) => b.share - a.share);
    const strongest = byInfluence.slice(0, random.chance(0.1) ? 1 : 4);
    const sum = strongest.reduce((total, { share }) => total + share, 0);
    const factor = options.anyWeights ? random.pick([1, 1, random.range(0.7, 1.2), 0.5]) : 1;
    strongest.forEach(({ bone, share }, k) => {
      bones[4 * i + k] = bone;
      weights[4 * i + k] = (factor * share) / sum;
    });
    if (options.zeroWeights && random.chance(0.01)) weights.fill(0, 4 * i, 4 * i + 4);
    if (options.anyWeights && random.chance(0.02)) weights[4 * i + 3] = -0.05;
  }
  return { bones, weights };
}

/** Moves all bones and targets, and updates everything that depends on them. */
export function poseRandomly(random: Random, { mesh, root }: Rig, amount = 1): void {
  if (mesh instanceof SkinnedMesh) {
    for (const bone of mesh.skeleton.bones) {
      bone.quaternion.identity().slerp(random.rotation(), 0.3 * amount);
      bone.position.add(random.point(0.05 * amount));
      bone.scale.setScalar(random.range(0.9, 1.15)).multiply(new Vector3(1, random.range(0.9, 1.1), 1));
    }
  }
  const weights = mesh.morphTargetInfluences;
  if (weights) for (let i = 0; i < weights.length; i++) weights[i] = random.pick([0, 1, random.range(-0.5, 1.2)]);
  root.updateMatrixWorld(true);
  if (mesh instanceof SkinnedMesh) mesh.skeleton.update();
}

/**
 * Rounds three's bones to float32, in which they leave the main thread: remaining differences from three's answers come from the
 * worker's own rounding.
 */
export function roundBones({ mesh }: Rig): void {
  if (!(mesh instanceof SkinnedMesh)) return;
  const { boneMatrices } = mesh.skeleton;
  const bones = mesh.skeleton.bones.map((_, i) => {
    const bone = new Bone();
    bone.matrixWorld.fromArray(boneMatrices as Float32Array, 16 * i);
    return bone;
  });
  const roundedSkeleton = new Skeleton(
    bones,
    bones.map(() => new Matrix4()),
  );
  roundedSkeleton.boneMatrices = Float32Array.from(boneMatrices as Float32Array);
  mesh.skeleton = roundedSkeleton;
}

/** The argument of `setPose`. */
export function poseOf({ mesh }: Rig): Pose {
  const pose: Pose = {};
  if (mesh instanceof SkinnedMesh) {
    pose.bones = mesh.skeleton.boneMatrices as Float32Array;
    pose.bind = mesh.bindMatrix.elements;
    pose.bindInverse = mesh.bindMatrixInverse.elements;
  }
  if (mesh.morphTargetInfluences && mesh.morphTargetInfluences.length > 0) pose.morphs = mesh.morphTargetInfluences;
  return pose;
}

/** Vertices as three deforms them, in the mesh's own space. */
export function deformedPositions({ mesh }: Rig): Float64Array {
  const { count } = mesh.geometry.getAttribute('position');
  const positions = new Float64Array(3 * count);
  const vertex = new Vector3();
  for (let i = 0; i < count; i++) mesh.getVertexPosition(i, vertex).toArray(positions, 3 * i);
  return positions;
}

/** Sets a new pose; some bones are mirrored, and some are collapsed to a point. */
export function poseOddly(random: Random, rig: Rig): void {
  poseRandomly(random, rig);
  roundBones(rig);
  if (!rig.data.skin) return;
  const { boneMatrices } = (rig.mesh as SkinnedMesh).skeleton as { boneMatrices: Float32Array };
  for (let at = 0; at < boneMatrices.length; at += 16) {
    if (random.chance(0.1)) for (let k = 0; k < 3; k++) boneMatrices[at + k] *= -1;
    if (random.chance(0.05)) boneMatrices.fill(0, at, at + 11);
  }
}

/**
 * Four vertices around each of two bones, 10 apart along x, and two triangles of them. Bone 2 moves nothing, bone 3 has no
 * vertices.
 */
export function plates() {
  const positions: number[] = [];
  const bones: number[] = [];
  const weights: number[] = [];
  for (const [bone, x] of [
    [0, 0],
    [1, 10],
  ]) {
    for (const [dx, y, z] of [
      [-1, -2, 0],
      [1, -2, 0],
      [1, 2, 0],
      [-1, 2, 0.5],
    ]) {
      positions.push(x + dx, y, z);
      bones.push(bone, 2, 0, 0);
      weights.push(1, 0, 0, 0);
    }
  }
  return { positions, bones, weights, indices: [0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7] };
}

/** The matrices of bones in the layout of poses. */
export function boneArray(...list: Matrix4[]): Float32Array {
  return Float32Array.from(list.flatMap((array) => array.elements));
}

/** Makes a mesh from the result of `plates`, with everything that was added to it. */
export function plateMesh({ positions, bones, weights, indices }: ReturnType<typeof plates>) {
  return {
    positions: Float32Array.from(positions),
    indices: Uint32Array.from(indices),
    skin: { bones: Uint8Array.from(bones), weights: Float32Array.from(weights), boneCount: 4 },
  };
}
