// The centre of a ball or capsule, nearest to a corner of a closed mesh or of a box: whether it is behind the surface there.
import { BoxGeometry, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import { boxMesh, merged, type Triangles, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import type { SolidShape } from '../../oracle/shapes.js';

const COUNT = 300;

test(`${COUNT} spikes and as many dents that are spikes of nothing, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  for (let i = 0; i < COUNT; i++) {
    const spike = someSpike(random);
    // One block is elsewhere, so that no mesh is convex; the other one has the spike as a cavity.
    const solids = [merged([spike, moved(boxMesh(1, 1, 1), 20)]), merged([turned(spike), boxMesh(20, 20, 20)])];
    const form = random.placement(new Vector3(), { mirrored: 0.5 });
    // Nothing of the spike is higher than its tip.
    const up = new Vector3(0, 0, 1).applyMatrix4(form);
    const along = new Vector3(1, 0, 0).applyMatrix4(form).multiplyScalar(random.range(0, 0.2));
    const radius = random.range(0.05, 0.2);
    const height = radius * random.range(0.05, 0.95);
    const shape: SolidShape = random.chance(0.5)
      ? { type: 'sphere', radius }
      : { type: 'capsule', radius, from: along.toArray(), to: along.clone().multiplyScalar(-2).toArray() };
    const solid = scene.add({ shape }, new Matrix4().setPosition(up.clone().multiplyScalar(height)));
    for (const [k, triangles] of solids.entries()) {
      const mesh = scene.add(scene.mesh(triangles), form);
      const { depths, normals } = scene.core.pairs.contact(solid.id, mesh.id, layout.CONTACTS_MANIFOLD)!;
      const message = `${['spike', 'dent'][k]} ${i}`;
      if (k === 0) {
        expect(depths[0], message).toBeCloseTo(radius - height, 5);
        expect(new Vector3().fromArray(normals).dot(up), message).toBeCloseTo(-1, 5);
        // A capsule may have a shorter way, sideways.
      } else if (shape.type === 'sphere') expect(depths[0], message).toBeGreaterThan(radius + height - 1e-6);
      scene.remove(mesh);
    }
    scene.remove(solid);
  }
});

test(`boxes whose middle is in a block, and of which a corner alone comes out, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  // Its top is at 0, of small triangles; of two blocks, so that it is not convex.
  const block = welded(new BoxGeometry(20, 20, 20, 80, 80).translate(0, 0, -10));
  const mesh = scene.add(scene.mesh(merged([block, moved(boxMesh(1, 1, 1), 50)])), new Matrix4());
  let compared = 0;
  while (compared < 50) {
    const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
    const size = random.logRange(0.5, 2);
    const [, , x, , , , y, , , , z] = turn.elements;
    // How far the corner is above the centre.
    const reach = size * (Math.abs(x) + Math.abs(y) + Math.abs(z));
    const sunk = reach - random.range(0.01, 0.1) * size;
    if (sunk < 1.1 * size) continue;
    compared++;
    const shape: SolidShape = { type: 'box', halfExtents: [size, size, size] };
    const box = scene.add({ shape }, turn.setPosition(random.range(-2, 2), random.range(-2, 2), -sunk));
    const { depths, normals } = scene.core.pairs.contact(box.id, mesh.id, layout.CONTACTS_MANIFOLD)!;
    // The surface leaves the box below, where the corner is above it; the short way is that of a box that is outside.
    expect(depths[0]).toBeGreaterThan(sunk);
    expect(depths[0]).toBeLessThan(1.01 * (sunk + reach));
    expect(normals[2]).toBeLessThan(-0.99);
    scene.remove(box);
  }
});

/**
 * A closed mesh with its tip at the origin, pointing upwards but at any slant: a fan of a few uneven triangles about an axis,
 * and another one that closes it.
 */
function someSpike(random: Random): Triangles {
  const sides = 3 + random.integer(4);
  const widest = random.range(0.1, 0.7);
  const tilt = widest + random.logRange(1e-3, 0.5);
  const axis = new Vector3(Math.cos(tilt), 0, -Math.sin(tilt)).applyAxisAngle(new Vector3(0, 0, 1), random.range(0, 7));
  const aside = random.direction().cross(axis).normalize();
  const points = [new Vector3(), axis.clone().multiplyScalar(5)];
  // No two neighbours are half a turn apart.
  const first = random.range(0, 7);
  const steps = Array.from({ length: sides }, () => random.range(1, 3));
  const sum = steps.reduce((a, b) => a + b, 0);
  let angle = first;
  for (const step of steps) {
    angle += (2 * Math.PI * step) / sum;
    const way = axis
      .clone()
      .applyAxisAngle(aside, widest * random.range(0.3, 1))
      .applyAxisAngle(axis, angle);
    points.push(way.multiplyScalar(random.range(1, 3)));
  }
  const indices = steps.flatMap((_, i) => {
    const [a, b] = [2 + i, 2 + ((i + 1) % sides)];
    return [0, b, a, 1, a, b];
  });
  return { positions: Float32Array.from(points.flatMap((p) => p.toArray())), indices: Uint32Array.from(indices) };
}

function turned({ positions, indices }: Triangles): Triangles {
  return { positions, indices: indices.slice().reverse() };
}

function moved({ positions, indices }: Triangles, x: number): Triangles {
  return { positions: positions.map((value, i) => (i % 3 === 0 ? value + x : value)), indices };
}
