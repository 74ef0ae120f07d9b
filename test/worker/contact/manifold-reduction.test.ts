// The points of a contact of two meshes are few, but as far apart as the curve in which the surfaces intersect.
import { TorusGeometry, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { ANY_TRANSFORM, NearScene } from '../../fixtures/near-scene.js';
import { icosphere, soup, type Triangles, transformed, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { regionsOf } from '../../oracle/surfaces.js';

const COUNT = 200;
/** Points are the extremes in 16 directions, one of which is this close to that of the greatest extent. */
const SPAN = Math.cos(Math.PI / 16);

test(`${COUNT} contacts of one region, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const bumpy = (): Triangles => transformed(icosphere(1, 2), (vertex) => vertex.multiplyScalar(random.range(0.7, 1)));
  const meshes = [bumpy(), bumpy(), welded(new TorusGeometry(0.7, 0.3, 7, 11)), soup(random, 4, 1.5, 0.2)];
  const shapes = meshes.map((mesh) => scene.mesh(mesh));
  let regions = 0;
  for (let i = 0; i < COUNT; i++) {
    const put = (place: Vector3) => scene.add(random.pick(shapes), random.placement(place, ANY_TRANSFORM));
    const [a, b] = [put(new Vector3()), put(random.direction().multiplyScalar(random.range(0.5, 2)))];
    const contact = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_FULL);
    for (const thing of [a, b]) scene.remove(thing);
    if (!contact || contact.contained) continue;
    const [region, ...others] = regionsOf(contact, new Vector3());
    if (others.length > 0) continue;
    regions++;
    const across = (point: Vector3) => point.clone().projectOnPlane(region.normal);
    const ends = Array.from({ length: contact.segments.length / 3 }, (_, k) =>
      across(new Vector3().fromArray(contact.segments, 3 * k)),
    );
    const whole = extentOf(ends);
    expect(extentOf(region.points.map(across)), `case ${i}`).toBeGreaterThan(SPAN * whole - 1e-6);
  }
  expect(regions).toBeGreaterThan(COUNT / 4);
});

/** The largest distance of any two. */
function extentOf(points: Vector3[]): number {
  return Math.max(...points.flatMap((p, i) => points.slice(0, i).map((q) => p.distanceTo(q))), 0);
}
