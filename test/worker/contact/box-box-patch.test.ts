// Boxes that lie flat on each other, in frames, which process four pairs at a time: where their common patch has more than
// four corners, four are kept, and span no less than half of it.
import { Matrix4, Vector2, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { CONTACTS_MANIFOLD } from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 300;
const DEPTH = 0.1;
/** In radians: exactly flat boxes take another path. The corners of the patch hardly move by it. */
const TILT = 0.005;

/** The corners of a rectangle about a place, counterclockwise. */
function rectangle(x: number, y: number, angle: number, place: Vector2): Vector2[] {
  return [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ].map(([i, k]) => new Vector2(i * x, k * y).rotateAround(new Vector2(), angle).add(place));
}

/** The intersection of two convex polygons: one is clipped by each edge of the other (Sutherland and Hodgman 1974). */
function shared(polygon: Vector2[], other: Vector2[]): Vector2[] {
  let rest = polygon;
  other.forEach((from, i) => {
    const edge = other[(i + 1) % other.length].clone().sub(from);
    const height = (point: Vector2) => edge.cross(point.clone().sub(from));
    rest = rest.flatMap((point, k) => {
      const next = rest[(k + 1) % rest.length];
      const [a, b] = [height(point), height(next)];
      const cut = a > 0 !== b > 0 ? [point.clone().lerp(next, a / (a - b))] : [];
      return a > 0 ? [point, ...cut] : cut;
    });
  });
  return rest;
}

function areaOf(polygon: Vector2[]): number {
  return polygon.reduce((sum, point, i) => sum + 0.5 * point.cross(polygon[(i + 1) % polygon.length]), 0);
}

test(`${COUNT} pairs of boxes, one turned on the other, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const patches: { patch: Vector2[]; about: Matrix4 }[] = [];
  for (let i = 0; i < COUNT; i++) {
    const [half, other] = [0, 1].map(() => new Vector3(random.range(1, 2), random.range(1, 2), random.range(0.5, 2)));
    const place = new Vector2(random.range(-0.6, 0.6), random.range(-0.6, 0.6));
    const angle = random.range(0, 6.3);
    patches.push({
      patch: shared(rectangle(half.x, half.y, 0, new Vector2()), rectangle(other.x, other.y, angle, place)),
      about: new Matrix4().makeRotationFromQuaternion(random.rotation()).setPosition(20 * i, 0, 0),
    });
    const { about } = patches[i];
    const above = new Matrix4().makeRotationZ(angle).setPosition(place.x, place.y, half.z + other.z - DEPTH);
    for (const axis of [new Vector3(1, 0, 0), new Vector3(0, 1, 0)]) {
      above.multiply(new Matrix4().makeRotationAxis(axis, random.range(0.2, 1) * random.pick([-TILT, TILT])));
    }
    const options = { contacts: CONTACTS_MANIFOLD };
    scene.add({ shape: { type: 'box', halfExtents: half.toArray() } }, about, options);
    scene.add({ shape: { type: 'box', halfExtents: other.toArray() } }, about.clone().multiply(above), options);
  }
  const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  expect(contacts.count).toBe(COUNT);
  let many = 0;
  [...contacts].forEach(({ points, depths }, i) => {
    const { patch, about } = patches[i];
    const back = about.clone().invert();
    const found = Array.from(depths, (_, k) => new Vector3().fromArray(points, 3 * k).applyMatrix4(back));
    expect(found.length, `pair ${i}`).toBe(Math.min(4, patch.length));
    const flat = found.map(({ x, y }) => new Vector2(x, y));
    for (const point of flat) {
      const off = Math.min(...patch.map((corner) => corner.distanceTo(point)));
      expect(off, `pair ${i}`).toBeLessThan(0.1);
    }
    const middle = flat.reduce((sum, point) => sum.addScaledVector(point, 1 / flat.length), new Vector2());
    flat.sort((a, b) => a.clone().sub(middle).angle() - b.clone().sub(middle).angle());
    expect(areaOf(flat), `pair ${i}`).toBeGreaterThan(0.48 * areaOf(patch));
    if (patch.length > 4) many++;
  });
  expect(many).toBeGreaterThan(COUNT / 4);
});
