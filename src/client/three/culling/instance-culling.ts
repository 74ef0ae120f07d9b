import { type Camera, type InstancedMesh, Material, type ShaderMaterial, Sphere } from 'three';
import { grown } from '../../../shared/typed-arrays.js';
import { drawnCountOf } from '../track/instance-count.js';
import { isDrawnUnmodified, isOccludable } from '../track/opacity.js';
import type { CullableObject } from '../track/stand-in.js';
import type { InstanceOrder } from '../track-options.js';
import type { DetailLevels } from './detail-levels.js';
import { DrawnInstances } from './drawn-instances.js';
import type { Forms, VisibleInstances } from './filter-question.js';
import { type Bounds, boundsOf, drawnTriangleCount } from './geometry-bounds.js';
import { InstanceTest } from './instance-test.js';
import { morphGrowth } from './morph-bounds.js';
import type { OcclusionAnswer } from './occlusion-answer.js';
import type { SeenObjects } from './seen-objects.js';
import { ROUNDING, type ViewVolume } from './view-volume.js';

/** A camera that draws, and what its view sees by the newest answer. */
export interface DrawnView {
  readonly camera: Camera;
  readonly volume: ViewVolume;
  readonly seen: SeenObjects;
  /** Whether the camera draws nothing that was not asked about. */
  readonly isContained: boolean;
  /** What is hidden in the view; null if that is not true of what is drawn now. */
  readonly occlusion: OcclusionAnswer | null;
  /** What was hidden when the view was asked about. */
  readonly asked: OcclusionAnswer | null;
  /** Pixels of a unit where clip w is 1. */
  readonly pixels: number;
  readonly minPixels: number;
  /** Whether the render, and not only the mesh's own shaders, reads the numbers of instances. */
  readonly readsNumbers: boolean;
}

/** The part of a mesh that is drawn. */
export interface DrawnPart {
  /** Meshes that are drawn in its place, one after the other; empty if nothing is. */
  readonly stands: readonly InstancedMesh[];
  readonly hidden: number;
  readonly occluded: number;
  /** How many triangles are not drawn. */
  readonly triangles: number;
}

const NO_RANGES = new Int32Array(2);

/** Decides which instances of an InstancedMesh a view draws, in which order, and in which levels of detail. */
export class InstanceCulling {
  readonly #mesh: InstancedMesh;
  readonly #entry: CullableObject;
  readonly #order: InstanceOrder | null;
  readonly #levels: DetailLevels | null;
  readonly #test = new InstanceTest();
  /** The drawn instances of each level of detail. */
  readonly #drawnByLevel: DrawnInstances[];
  /** The level in which each instance was drawn last. */
  #lastLevels = new Uint8Array(0);
  #numbersByLevel: Uint32Array[] = [];
  readonly #levelSphere = new Sphere();

  constructor(mesh: InstancedMesh, entry: CullableObject, order: InstanceOrder | null, levels: DetailLevels | null) {
    this.#mesh = mesh;
    this.#entry = entry;
    this.#order = order;
    this.#levels = levels;
    this.#drawnByLevel = (levels?.geometries ?? [null]).map((geometry) => new DrawnInstances(mesh, geometry));
  }

  /**
   * Finds what a view draws of the mesh. Null if that is the whole mesh, as it is, or if its instances cannot be drawn
   * separately.
   */
  draw(view: DrawnView): DrawnPart | null {
    const mesh = this.#mesh;
    const total = drawnCountOf(mesh);
    if (total === 0 || hasOwnAttributes(mesh)) return null;
    const isDeclared = this.#entry.cullable === true;
    if (!isDeclared && (view.readsNumbers || readsInstanceIds(mesh.material))) return null;
    const ownBounds = boundsOf(mesh.geometry);
    if (ownBounds === null) return null;
    const isInOwnBounds = this.#updateLevelSphere(ownBounds, isDeclared || isDrawnUnmodified(mesh));
    const bounds = this.#levelSphere;
    const test = this.#test;
    test.begin(view.volume, view.camera, mesh.matrixWorld, view.pixels, view.minPixels);
    const isMorphed = mesh.morphTexture != null;
    const hasServiceBounds = isInOwnBounds && !ownBounds.isLarger && !isMorphed;
    const { update, view: askedView } = view.seen;
    const { array } = mesh.instanceMatrix;
    const forms = { spheres: [bounds], ranges: NO_RANGES };
    const eye = this.#order === null ? null : test.eye;
    const isAnswered = hasServiceBounds && this.#entry.wasSeenAsItIs(update, askedView.layers) && view.isContained;
    let visible: VisibleInstances;
    if (isMorphed || isAnswered) {
      visible = test.begun(total);
      visible.forms.fill(0, 0, total);
      if (isMorphed) this.#findMorphed(visible, total, bounds);
      else this.#findSeen(visible, view, total, bounds);
      if (eye !== null) test.findDepths(array, forms, eye);
    } else visible = test.find(array, total, forms, null, eye, this.#levels === null);
    const usesOcclusion = isAnswered && this.#canBeHidden(view);
    const occluded = usesOcclusion ? (view.occlusion?.instancesOf(this.#entry)?.count ?? 0) : 0;
    const { count } = visible;
    if (count === total && this.#order === null && this.#levels === null) return null;
    return { ...this.#show(visible, forms, ownBounds.sphere, total), hidden: total - count, occluded };
  }

  /** Frees the memory on the graphics card. */
  dispose(): void {
    for (const each of this.#drawnByLevel) each.dispose();
  }

  /**
   * Computes a sphere around the geometries of all levels, an infinite one if a callback may turn the mesh; returns whether it is
   * no larger than that of the mesh's own geometry.
   */
  #updateLevelSphere({ sphere }: Bounds, isInPlace: boolean): boolean {
    const levelSphere = this.#levelSphere.copy(sphere);
    if (!isInPlace) levelSphere.radius = Infinity;
    for (const geometry of this.#levels?.geometries ?? []) {
      if (geometry === null) continue;
      const bounds = boundsOf(geometry);
      // A geometry without bounds may reach anywhere.
      const radius = bounds === null ? Infinity : bounds.sphere.center.distanceTo(sphere.center) + bounds.sphere.radius;
      levelSphere.radius = Math.max(levelSphere.radius, radius);
    }
    return levelSphere.radius <= sphere.radius * (1 + ROUNDING);
  }

  /** Returns whether the instances that the answer names as hidden are hidden. */
  #canBeHidden({ occlusion }: DrawnView): boolean {
    return occlusion !== null && isOccludable(this.#mesh, this.#entry.cullable === true);
  }

  /** Tests only the instances that the answer names. */
  #findSeen(visible: VisibleInstances, view: DrawnView, total: number, bounds: Sphere): void {
    const { seen, asked } = view;
    const { array } = this.#mesh.instanceMatrix;
    const { numbers, count } = seen.instancesOf(this.#entry);
    // Instances that are seen within the margin need not be in the picture.
    this.#test.findAmong(array, numbers, lengthBelow(numbers, count, total), bounds);
    const hidden = asked?.instancesOf(this.#entry) ?? null;
    if (hidden === null || this.#canBeHidden(view)) return;
    const drawnCount = visible.count;
    this.#test.findAmong(array, hidden.numbers, lengthBelow(hidden.numbers, hidden.count, total), bounds);
    if (visible.count > drawnCount) visible.numbers.subarray(0, visible.count).sort();
  }

  #findMorphed(visible: VisibleInstances, total: number, { center, radius }: Sphere): void {
    const grown = new Sphere(center);
    const growthOf = morphGrowth(this.#mesh);
    const { array } = this.#mesh.instanceMatrix;
    for (let i = 0; i < total; i++) {
      if (growthOf !== null) grown.radius = radius + growthOf(i);
      if (growthOf === null || this.#test.maySee(array, i, grown)) visible.numbers[visible.count++] = i;
    }
  }

  /** Makes the found instances be drawn, sorted and in their levels. */
  #show(
    visible: VisibleInstances,
    forms: Forms,
    sphere: Sphere,
    total: number,
  ): Pick<DrawnPart, 'stands' | 'triangles'> {
    const { count } = visible;
    const order = this.#order;
    const { numbers, matrices } = order === null ? visible : this.#test.list(forms, order === 'back-to-front' ? -1 : 1);
    const trianglesPerInstance = drawnTriangleCount(this.#mesh.geometry);
    const levels = this.#levels;
    if (levels === null) {
      const stands = count === 0 ? [] : [this.#drawnByLevel[0].show({ numbers, count, matrices })];
      return { stands, triangles: (total - count) * trianglesPerInstance };
    }
    const counts = this.#splitByLevel(levels, numbers, count, total, sphere);
    const stands: InstancedMesh[] = [];
    let triangles = total * trianglesPerInstance;
    counts.forEach((levelCount, level) => {
      if (levelCount === 0) return;
      stands.push(
        this.#drawnByLevel[level].show({ numbers: this.#numbersByLevel[level], count: levelCount, matrices: null }),
      );
      triangles -= levelCount * drawnTriangleCount(levels.geometries[level] ?? this.#mesh.geometry);
    });
    // The finer levels are nearer, by and large.
    if (order === 'back-to-front') stands.reverse();
    return { stands, triangles: Math.max(0, triangles) };
  }

  /** Distributes numbers over their levels of detail; returns how many there are in each. */
  #splitByLevel(levels: DetailLevels, numbers: Uint32Array, count: number, total: number, sphere: Sphere): number[] {
    if (this.#lastLevels.length < total) this.#lastLevels = grown(this.#lastLevels, total);
    const { array } = this.#mesh.instanceMatrix;
    const counts = levels.geometries.map(() => 0);
    for (let n = 0; n < count; n++) {
      const i = numbers[n];
      const level = levels.next(this.#lastLevels[i], this.#test.sizeOf(array, i, sphere));
      this.#lastLevels[i] = level;
      const levelNumbers = this.#numbersByLevel[level];
      if (levelNumbers === undefined || levelNumbers.length < numbers.length)
        this.#numbersByLevel[level] = new Uint32Array(numbers.length);
      this.#numbersByLevel[level][counts[level]++] = i;
    }
    return counts;
  }
}

/** Returns how many of the ascending numbers are below a bound. */
function lengthBelow(numbers: Uint32Array, count: number, bound: number): number {
  let length = count;
  while (length > 0 && numbers[length - 1] >= bound) length--;
  return length;
}

/** Whether materials identify instances by their numbers, by the version in which their shaders were searched. */
const shaderChecks = new WeakMap<Material, { readonly version: number; readonly readsNumber: boolean }>();

/**
 * Returns whether the shaders read the number of an instance, as far as their source shows, or the app's `onBeforeRender` of a
 * material is given the mesh that is drawn.
 */
export function readsInstanceIds(material: Material | Material[] | null): boolean {
  if (!material) return false; // three draws nothing for a missing material
  if (Array.isArray(material)) return material.some(readsInstanceIds);
  const { version, onBeforeCompile, onBeforeRender } = material;
  if (onBeforeRender !== Material.prototype.onBeforeRender) return true;
  let cached = shaderChecks.get(material);
  if (cached?.version !== version) {
    const shaders = `${(material as ShaderMaterial).vertexShader}${onBeforeCompile}`;
    cached = { version, readsNumber: shaders.includes('gl_InstanceID') };
    shaderChecks.set(material, cached);
  }
  return cached.readsNumber;
}

/** Returns whether the geometry has attributes per instance, which go by its number, or the arrays have more than can be copied. */
function hasOwnAttributes({ geometry, instanceMatrix, instanceColor }: InstancedMesh): boolean {
  if ('isInstancedBufferGeometry' in geometry) return true;
  for (const each of [instanceMatrix, instanceColor]) {
    // The graphics card may have written to the attribute, or several instances share a value.
    if (each !== null && ('isStorageInstancedBufferAttribute' in each || each.meshPerAttribute > 1)) return true;
  }
  for (const name in geometry.attributes) {
    const attribute = geometry.attributes[name];
    const { data = attribute } = attribute as { data?: object }; // InterleavedBufferAttributes have `data`
    if ('isInstancedBufferAttribute' in attribute || 'isInstancedInterleavedBuffer' in data) return true;
  }
  return false;
}
