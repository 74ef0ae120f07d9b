// What a shape hits of a mesh is what it hits first of the mesh's triangles, each of which is an object of its own in another
// core: there no triangle is skipped, or examined later, because of what is known of others.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { SHAPE_KINDS, type ShapeKind, SweepWorld } from '../../../fixtures/sweep-world.js';
import { icosphere, merged, rods, soup, type Triangles, transformed } from '../../../oracle/meshes.js';
import { type Random, SEED } from '../../../oracle/random.js';
import type { AnyShape } from '../../../oracle/shapes.js';

const MESHES = 16;
const SWEEPS = 16;
/** Paths that are moved aside until they graze. */
const HALVINGS = 20;
const NEEDLES = 6;
const SWEEPS_AT_NEEDLES = 200;
const SIZES = [1, 1e-3, 1e3];

function triangleOf({ positions, indices }: Triangles, i: number): Triangles {
  const corners = [...indices.subarray(3 * i, 3 * i + 3)];
  return {
    positions: Float32Array.from(corners.flatMap((corner) => [...positions.subarray(3 * corner, 3 * corner + 3)])),
    indices: Uint32Array.of(0, 1, 2),
  };
}

/** Triangles or needles on each other to within what float32 resolves, some much larger than the paths: any may be hit first. */
function sheets(random: Random, large = random.pick([1, 100]), thin = random.pick([1, 0.5 / large])): Triangles {
  const normal = random.direction();
  const across = new Vector3(normal.y, normal.z, normal.x).cross(normal).normalize();
  const along = new Vector3().crossVectors(normal, across);
  const least = random.pick([1e-7, 1e-5]);
  const corners = Array.from({ length: 120 }, (_, i) => {
    const angle = (i % 3) * 2.1 + random.range(-0.3, 0.3);
    const reach = large * random.range(1, 3);
    return normal
      .clone()
      .multiplyScalar(random.pick([-1, 1]) * random.logRange(least, 100 * least))
      .addScaledVector(across, thin * reach * Math.cos(angle))
      .addScaledVector(along, reach * Math.sin(angle));
  });
  return {
    positions: Float32Array.from(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.from(corners.keys()),
  };
}

/** Triangles near each other, of one size or of very different ones. */
function anyMesh(random: Random): Triangles {
  return random.pick([
    () => sheets(random),
    () => soup(random, 40, random.range(0.2, 2), 1),
    () => merged([soup(random, 20, 0.05, 1), soup(random, 20, 2, 1)]),
    () => rods(random, 6, 1),
    () => transformed(icosphere(1, 2), (vertex) => vertex.multiply(new Vector3(1, 0.02, 0.3))),
  ])();
}

/** Of any size relative to the mesh: most of what is near a small one is one triangle. */
function anyShape(random: Random, kind: ShapeKind, size: number): AnyShape {
  const radius = () => size * random.logRange(1e-4, 1);
  if (kind === 'sphere') return { shape: { type: 'sphere', radius: radius() } };
  if (kind === 'capsule') {
    const to = random.direction().multiplyScalar(radius());
    return { shape: { type: 'capsule', radius: radius(), from: [0, 0, 0], to: to.toArray() } };
  }
  return { shape: { type: 'box', halfExtents: [radius(), radius(), radius()] } };
}

describe.each(SIZES)(`of size %d, seed ${SEED}`, (size) => {
  test.each(SHAPE_KINDS.filter((kind) => kind !== 'mesh'))('a %s', async (kind) => {
    const whole = await SweepWorld.at(new Vector3(), size, SEED);
    const single = await SweepWorld.at(new Vector3(), size, SEED);
    const { random } = whole;
    let met = 0;
    let within = 0;
    for (let i = 0; i < MESHES; i++) {
      const mesh = transformed(anyMesh(random), (vertex) => vertex.multiplyScalar(size));
      const matrix = random.placement(random.point(size), { low: 0.5, high: 2, mirrored: 0.3, sheared: 0.3 });
      const thing = whole.scene.add(whole.scene.mesh(mesh), matrix);
      const parts = Array.from({ length: mesh.indices.length / 3 }, (_, k) =>
        single.scene.add(single.scene.mesh(triangleOf(mesh, k)), matrix),
      );
      const compare = (shape: AnyShape, from: Vector3, to: Vector3, turn: Matrix4, message: string) => {
        const way = { from: turn.clone().setPosition(from), to: turn.clone().setPosition(to) };
        const hit = whole.sweep(shape, way);
        const first = single.sweep(shape, way);
        expect(hit === null, message).toBe(first === null);
        if (hit === null || first === null) return null;
        expect(hit.object, message).toBe(thing.id);
        // The hit of a ball or a capsule is found by steps towards it, until they are this short.
        const digits = 1e-8 * size;
        const towards = Math.abs(
          to
            .clone()
            .sub(from)
            .dot(new Vector3(...hit.normal)),
        );
        expect(Math.abs(hit.time - first.time) * towards, message).toBeLessThan(digits);
        expect(Math.abs(hit.depth - first.depth), message).toBeLessThan(digits);
        // A path that ends slightly behind the hit hits it as well.
        const end = from.clone().lerp(to, hit.time + (2 * digits) / Math.max(towards, digits));
        const shorter = whole.sweep(shape, { from: way.from, to: turn.clone().setPosition(end) });
        expect(shorter?.object, `${message}, shorter`).toBe(thing.id);
        return hit;
      };
      for (let k = 0; k < SWEEPS; k++) {
        const shape = anyShape(random, kind, size);
        const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
        const from = random.point(random.pick([1, 4]) * size);
        const to = random.point(2 * size).lerp(from, random.pick([0, 0, -10]));
        const message = `mesh ${i}, sweep ${k}`;
        const hit = compare(shape, from, to, turn, message);
        if (hit === null) continue;
        met++;
        if (hit.time === 0) {
          within++;
          continue;
        }
        // Aside, until it barely hits any more.
        const aside = random.direction().cross(to.clone().sub(from)).setLength(size);
        let [low, high] = [0, 1];
        for (let step = random.integer(HALVINGS); step < HALVINGS; step++) {
          const middle = 0.5 * (low + high);
          const by = aside.clone().multiplyScalar(middle);
          const isMet = compare(shape, by.clone().add(from), by.add(to), turn, `${message}, ${middle} aside`) !== null;
          if (isMet) low = middle;
          else high = middle;
        }
      }
      whole.scene.remove(thing);
      for (const part of parts) single.scene.remove(part);
    }
    expect(met - within).toBeGreaterThan((MESHES * SWEEPS) / 16);
    expect(within).toBeGreaterThan(0);
  });
});

// There the float32 bounds by which triangles are skipped are the widest, relative to the distance of one from the next.
test.each(['sphere', 'capsule'] as const)(
  `a %s at needles that are much longer than its way, seed ${SEED}`,
  async (kind) => {
    const whole = await SweepWorld.at(new Vector3(), 1, SEED);
    const single = await SweepWorld.at(new Vector3(), 1, SEED);
    const { random } = whole;
    let met = 0;
    for (let i = 0; i < NEEDLES; i++) {
      const mesh = sheets(random, 100, 0.005);
      const thing = whole.scene.add(whole.scene.mesh(mesh), new Matrix4());
      const parts = Array.from({ length: mesh.indices.length / 3 }, (_, k) =>
        single.scene.add(single.scene.mesh(triangleOf(mesh, k)), new Matrix4()),
      );
      for (let k = 0; k < SWEEPS_AT_NEEDLES; k++) {
        const shape = anyShape(random, kind, 0.3);
        const [from, to] = [random.point(1), random.point(1)];
        const way = { from: new Matrix4().setPosition(from), to: new Matrix4().setPosition(to) };
        const [hit, first] = [whole.sweep(shape, way), single.sweep(shape, way)];
        const message = `mesh ${i}, sweep ${k}`;
        expect(hit === null, message).toBe(first === null);
        if (!hit || !first) continue;
        met++;
        const towards = Math.abs(
          to
            .clone()
            .sub(from)
            .dot(new Vector3(...hit.normal)),
        );
        expect(Math.abs(hit.time - first.time) * towards, message).toBeLessThan(1e-7);
      }
      whole.scene.remove(thing);
      for (const part of parts) single.scene.remove(part);
    }
    expect(met).toBeGreaterThan((NEEDLES * SWEEPS_AT_NEEDLES) / 16);
  },
);
