// What moves the vertices of a Mesh, its bones and morph targets, in the form that the service takes.
import type {
  BufferAttribute,
  BufferGeometry,
  InstancedMesh,
  InterleavedBufferAttribute,
  Mesh,
  SkinnedMesh,
} from 'three';
import type { MeshDeform } from '../../../shared/protocol.js';
import type { MeshSkin } from '../../../shared/types.js';
import { argumentError } from '../../check/validate.js';
import { copyFloats, geometryNameOf, type TriangleRun, vertexRange } from './geometry.js';
import { versionOf } from './geometry-version.js';

/** What a Mesh has beside its geometry that moves vertices. Objects with the same geometry and deformers share a mesh. */
export interface Deformers {
  /** The number of bones in its skeleton: 0 if it is not skinned, -1 if it should be but has none. */
  readonly bones: number;
  /** Whether it has morph targets for the positions, and influences for them. */
  readonly isMorphed: boolean;
}

export const RIGID: Deformers = { bones: 0, isMorphed: false };

/** A longer list of morph targets is invalid: such an array is there by mistake, and may be endless. */
const MAX_TARGETS = 65_536;

/** Vertices that are copied in one step. */
const COPY_STEP = 16_384;

type Attribute = BufferAttribute | InterleavedBufferAttribute;
type Deformable = Mesh &
  Partial<Pick<SkinnedMesh, 'isSkinnedMesh' | 'skeleton'>> &
  Partial<Pick<InstancedMesh, 'isInstancedMesh' | 'morphTexture'>>;

export function deformersOf(object: Mesh): Deformers {
  const [bones, isMorphed] = [bonesOf(object), hasMorphs(object)];
  return bones === 0 && !isMorphed ? RIGID : { bones, isMorphed };
}

/** Returns whether an object still has the deformers that `deformersOf` returned. */
export function isDeformedBy(object: Mesh, { bones, isMorphed }: Deformers): boolean {
  return bonesOf(object) === bones && hasMorphs(object) === isMorphed;
}

export function areSameDeformers(a: Deformers, b: Deformers): boolean {
  return a.bones === b.bones && a.isMorphed === b.isMorphed;
}

function bonesOf({ isSkinnedMesh, skeleton }: Deformable): number {
  if (isSkinnedMesh !== true) return 0;
  try {
    return (skeleton as Partial<SkinnedMesh['skeleton']> | undefined)?.bones?.length || -1;
  } catch {
    return -1; // the skeleton may be anything: the build reports what is wrong
  }
}

function hasMorphs(object: Deformable): boolean {
  const { isMesh, isInstancedMesh, geometry, morphTargetInfluences, morphTexture } = object;
  // Each instance has influences of its own, or none has any.
  const influences = isInstancedMesh === true ? (morphTexture ?? undefined) : morphTargetInfluences;
  return isMesh === true && influences !== undefined && countTargets(geometry) !== 0;
}

/** Counts the morph targets of a geometry, which may be anything; -1 if the list is invalid, which the build then reports. */
function countTargets(geometry: Partial<BufferGeometry> | null): number {
  try {
    const targets = geometry?.morphAttributes?.position ?? [];
    return Array.isArray(targets) && targets.length <= MAX_TARGETS ? targets.length : -1;
  } catch {
    return -1;
  }
}

/**
 * Copies the skin and the morph targets of the vertices of `meshDataOfRuns`, in steps of some tenths of a millisecond each.
 * Throws BAD_DATA if they do not fit the vertices or the bones.
 */
export function* copyDeform(
  geometry: BufferGeometry,
  runs: readonly TriangleRun[],
  { bones, isMorphed }: Deformers,
): Generator<void, MeshDeform> {
  const deform: MeshDeform = {};
  const { first, end } = vertexRange(geometry, runs);
  if (bones !== 0) deform.skin = yield* copySkin(geometry, first, end, bones);
  // The targets may be gone since they were checked. If so, their object is planned anew, too.
  const attributes = isMorphed ? (geometry.morphAttributes.position ?? []) : [];
  if (attributes.length > 0) {
    const targets: Float32Array[] = [];
    for (const [i, attribute] of attributes.entries()) {
      checkAttribute(geometry, `morphAttributes.position[${i}]`, attribute, 3, end);
      const target = new Float32Array(3 * (end - first));
      for (let from = first; from < end; from += COPY_STEP) {
        copyFloats(target, 3 * (from - first), attribute, from, Math.min(end, from + COPY_STEP));
        yield;
      }
      targets.push(target);
    }
    deform.morphs = { targets, relative: geometry.morphTargetsRelative };
  }
  return deform;
}

function* copySkin(geometry: BufferGeometry, first: number, end: number, boneCount: number): Generator<void, MeshSkin> {
  const { skinIndex, skinWeight } = geometry.attributes as Partial<Record<string, Attribute>>;
  if (boneCount < 0)
    throw argumentError('BAD_DATA', 'trackScene', 'the skeleton', undefined, 'one with bones (see bind)');
  checkAttribute(geometry, 'skinIndex', skinIndex, 4, end);
  checkAttribute(geometry, 'skinWeight', skinWeight, 4, end);
  const bones = new Uint16Array(4 * (end - first));
  const weights = new Float32Array(4 * (end - first));
  for (let i = first, at = 0; i < end; i++) {
    // The getters undo interleaving, normalisation and half floats.
    for (const get of ['getX', 'getY', 'getZ', 'getW'] as const) {
      const weight = skinWeight[get](i);
      weights[at] = weight;
      if (weight !== 0) {
        const bone = skinIndex[get](i);
        if (!(bone >= 0 && bone < boneCount && Number.isInteger(bone))) {
          const argument = `skinIndex of vertex ${i} in ${geometryNameOf(geometry)}`;
          throw argumentError('BAD_DATA', 'trackScene', argument, bone, `one of the skeleton's ${boneCount} bones`);
        }
        bones[at] = bone;
      }
      at++;
    }
    if (i % COPY_STEP === COPY_STEP - 1) yield;
  }
  return { bones, weights, boneCount };
}

function checkAttribute(
  geometry: BufferGeometry,
  name: string,
  attribute: Attribute | undefined,
  itemSize: number,
  count: number,
): asserts attribute is Attribute {
  const isEnough = attribute !== undefined && attribute.itemSize >= itemSize && attribute.count >= count;
  if (isEnough && attribute.array !== undefined) return;
  const actual = attribute === undefined ? 'none' : `${attribute.count} of item size ${attribute.itemSize}`;
  const argument = `${name} of ${geometryNameOf(geometry)}`;
  throw argumentError('BAD_DATA', 'trackScene', argument, actual, `${count} of item size ${itemSize}`);
}

/** Detects that skin attributes or morph targets have changed, by the versions that three keeps. */
export class DeformVersion {
  readonly #attributes: unknown[] = [];
  readonly #versions: number[] = [];
  #isRelative = false;

  equals(geometry: BufferGeometry, deformers: Deformers): boolean {
    if (deformers === RIGID) return true;
    const count = countAttributes(geometry, deformers);
    if (count !== this.#attributes.length || geometry.morphTargetsRelative !== this.#isRelative) return false;
    for (let i = 0; i < count; i++) {
      const attribute = attributeAt(geometry, deformers, i);
      if (attribute !== this.#attributes[i] || versionOf(attribute) !== this.#versions[i]) return false;
    }
    return true;
  }

  copy(geometry: BufferGeometry, deformers: Deformers): void {
    const count = countAttributes(geometry, deformers);
    this.#attributes.length = this.#versions.length = count;
    for (let i = 0; i < count; i++) {
      const attribute = attributeAt(geometry, deformers, i);
      this.#attributes[i] = attribute;
      this.#versions[i] = versionOf(attribute);
    }
    this.#isRelative = geometry.morphTargetsRelative;
  }
}

function countAttributes(geometry: BufferGeometry, { bones, isMorphed }: Deformers): number {
  return (bones === 0 ? 0 : 2) + (isMorphed ? Math.max(0, countTargets(geometry)) : 0);
}

function attributeAt(geometry: BufferGeometry, { bones }: Deformers, i: number): Attribute | undefined {
  if (bones === 0) return geometry.morphAttributes.position![i];
  const { skinIndex, skinWeight } = geometry.attributes as Partial<Record<string, Attribute>>;
  return i === 0 ? skinIndex : i === 1 ? skinWeight : geometry.morphAttributes.position![i - 2];
}
