import type { BufferAttribute, BufferGeometry, DataTexture, InstancedMesh } from 'three';
import { versionOf } from '../geometry/geometry-version.js';

/** How far each target moves the vertices of a geometry at an influence of 1, and how far they are from the origin at most. */
interface MorphDistances {
  readonly versions: readonly unknown[];
  readonly targets: Float64Array;
  readonly rest: number;
}

const distancesByGeometry = new WeakMap<BufferGeometry, MorphDistances>();

/** Larger numbers of coordinates take too long to scan while a picture is drawn. */
const MAX_NUMBERS = 1 << 20;

/**
 * Returns how far the sphere around the vertices at rest has to grow to enclose vertices that morph targets have moved: three
 * draws b · rest + Σ w · target or, if the targets are `morphTargetsRelative`, adds them to the rest position. Null if that takes
 * too long to find out.
 */
export function morphGrowth({ geometry, morphTexture }: InstancedMesh): ((instance: number) => number) | null {
  const distances = morphDistancesOf(geometry);
  if (distances === null || morphTexture == null) return null;
  const { data, width } = (morphTexture as DataTexture).image as { data: ArrayLike<number>; width: number };
  const { targets, rest } = distances;
  const count = Math.min(targets.length, width - 1);
  const isRelative = geometry.morphTargetsRelative;
  return (instance) => {
    const row = instance * width;
    let scale = data[row] - 1;
    let moved = 0;
    for (let k = 0; k < count; k++) {
      const influence = data[row + 1 + k];
      if (!isRelative) scale += influence;
      moved += Math.abs(influence) * targets[k];
    }
    return moved + Math.abs(scale) * rest;
  };
}

function morphDistancesOf(geometry: BufferGeometry): MorphDistances | null {
  const { position } = geometry.attributes;
  const morphs = geometry.morphAttributes.position ?? [];
  const versions = [
    position,
    versionOf(position),
    geometry.morphTargetsRelative,
    ...morphs.flatMap((each) => [each, versionOf(each)]),
  ];
  const cached = distancesByGeometry.get(geometry);
  if (cached !== undefined && isEqual(cached.versions, versions)) return cached;
  if (position === undefined || position.count * (1 + morphs.length) > MAX_NUMBERS / 3) return null;
  const targets = new Float64Array(morphs.length);
  let rest = 0;
  for (let i = 0; i < position.count; i++) {
    const [x, y, z] = [position.getX(i), position.getY(i), position.getZ(i)];
    rest = Math.max(rest, Math.hypot(x, y, z));
    morphs.forEach((morph, k) => {
      const target = morph as BufferAttribute;
      const [u, v, w] = [target.getX(i), target.getY(i), target.getZ(i)];
      const distance = geometry.morphTargetsRelative ? Math.hypot(u, v, w) : Math.hypot(u - x, v - y, w - z);
      targets[k] = Math.max(targets[k], distance);
    });
  }
  const distances = { versions, targets, rest };
  distancesByGeometry.set(geometry, distances);
  return distances;
}

function isEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i]);
}
