// How much is occluded. Other tests check that nothing visible is occluded; these numbers are those of the images when this
// was written, so that a change that hides less, or draws a coarser occlusion buffer, is noticed. More is better.
import { Euler, Matrix4, PerspectiveCamera, PlaneGeometry, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { hills } from '../../../fixtures/hills.js';
import { Twin, type TwinShape } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, ODD_CAMERA_KINDS, viewOf } from '../../../oracle/cameras.js';
import { boxMesh, icosphere, merged, soup, type Triangles, transformed, trianglesOf } from '../../../oracle/meshes.js';
import { Random } from '../../../oracle/random.js';

const VIEWPORT = { width: 320, height: 180 };
const MARGINS = [undefined, 0, 0.03, 0.2];
const EYES = 24;
/** After this many frames all meshes are prepared. */
const FRAMES = 6;

/** Sums what is occluded from some eyes, once for each margin; disposes the scene. */
async function occludedFrom(twin: Twin, eye: (i: number) => AnyCamera): Promise<number[]> {
  const { service } = twin;
  const sums = MARGINS.map(() => 0);
  for (let i = 0; i < EYES; i++) {
    const view = { ...viewOf(eye(i), DEPTHS[i % DEPTHS.length]![1]), viewport: VIEWPORT, occlusion: true };
    service.setView(view);
    for (let frame = i === 0 ? 0 : FRAMES; frame < FRAMES; frame++) await service.update();
    for (const [k, occlusionMargin] of MARGINS.entries()) {
      const asked = occlusionMargin === undefined ? view : { ...view, occlusionMargin };
      sums[k]! += (await service.frustum(asked)).occluded.length;
    }
  }
  twin.dispose();
  return sums;
}

/** A camera that may be rolled, and whose near plane may be far. */
function lookingFrom(random: Random, place: Vector3): PerspectiveCamera {
  const camera = new PerspectiveCamera(random.range(30, 90), 16 / 9, random.pick([0.05, 0.3, 1]), 500);
  camera.position.copy(place);
  camera.rotation.set(random.range(-0.4, 0.4), random.range(0, 6.3), random.pick([0, 0, 0.3, 1.2]), 'YXZ');
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

function addHouses(twin: Twin, shapes: readonly TwinShape[], random: Random): void {
  const thing = twin.box(new Vector3(1, 1, 1));
  for (let x = -5; x <= 5; x++) {
    for (let z = -5; z <= 5; z++) {
      const size = new Vector3(random.range(2, 4.4), random.range(3, 12), random.range(2, 4.4));
      const turned = new Quaternion().setFromEuler(new Euler(random.range(-0.1, 0.1), random.range(-0.4, 0.4), 0));
      twin.add(random.pick(shapes), new Matrix4().compose(new Vector3(10 * x, size.y, 10 * z), turned, size));
      for (let i = 0; i < 8; i++) {
        const at = new Vector3(10 * x + random.range(-5, 5), random.range(0.2, 20), 10 * z + random.range(-5, 5));
        const small = new Vector3(random.range(0.1, 1), random.range(0.1, 1), random.range(0.1, 1));
        twin.add(thing, new Matrix4().compose(at, random.rotation(), small), { occluder: false });
      }
    }
  }
}

const plane = (width: number, height: number, columns: number, rows: number): Triangles =>
  trianglesOf(new PlaneGeometry(width, height, columns, rows));

/** Nearly a box, of many triangles. */
const pillow = (): Triangles =>
  transformed(icosphere(1, 6), (v) => v.set(Math.sign(v.x) * Math.abs(v.x) ** 0.4, v.y, v.z));

const HOUSES: [string, (twin: Twin, random: Random) => Promise<TwinShape[]>, number[]][] = [
  ['boxes', async (twin) => [twin.box(new Vector3(1, 1, 1))], [3423, 2905, 2832, 2748]],
  [
    'boxes off their middles, turned',
    async (twin, random) => [twin.box(new Vector3(0.8, 1, 0.7), new Vector3(0.3, 0.1, -0.2), random.rotation())],
    [3657, 3309, 3112, 2948],
  ],
  [
    'meshes of few triangles',
    async (twin) => [await twin.mesh(boxMesh(2, 2, 2)), await twin.mesh(icosphere(1, 1))],
    [3193, 2739, 2309, 2187],
  ],
  [
    'meshes of many triangles',
    async (twin) => [await twin.mesh(icosphere(1.2, 4)), await twin.mesh(pillow())],
    [2627, 2062, 1890, 1681],
  ],
  [
    'open meshes',
    async (twin, random) => [
      await twin.mesh(plane(2, 2, 1, 1)),
      await twin.mesh(merged([soup(random, 12, 1.5, 1), plane(1.7, 2, 2, 3)])),
    ],
    [2190, 1956, 861, 745],
  ],
];

describe('among houses', () => {
  test.each(HOUSES)('%s', async (_, make, expected) => {
    const random = new Random(1);
    const twin = await Twin.create();
    addHouses(twin, await make(twin, random), random);
    const sums = await occludedFrom(twin, (i) => {
      if (i % 3 === 2)
        return aimCamera(random.pick([...CAMERA_KINDS, ...ODD_CAMERA_KINDS])[1](random), random, new Vector3());
      const [x, z] = [random.integer(8), random.integer(8)];
      return lookingFrom(random, new Vector3(10 * x - 35, random.range(1, 8), 10 * z - 35));
    });
    expect(sums).toEqual(expected);
  });
});

/** The pose of a terrain in the world, with the heights of its mesh along each axis. */
const TERRAINS: [string, Matrix4, number[]][] = [
  ['y', new Matrix4(), [977, 957, 752, 482]],
  ['z', new Matrix4().makeRotationX(Math.PI / 2), [977, 957, 752, 482]],
  [
    'x, stretched',
    new Matrix4().makeRotationZ(1.57).multiply(new Matrix4().makeScale(3, 0.5, 2)),
    [841, 822, 580, 295],
  ],
  ['none in particular', new Matrix4().makeRotationX(0.2), [835, 815, 699, 635]],
];

describe('behind the hills of a terrain with heights along', () => {
  test.each(TERRAINS)('%s', async (_, pose, expected) => {
    const random = new Random(3);
    const twin = await Twin.create();
    const heightAt = hills(random, 40, { width: [3, 12], height: [-4, 12] });
    const own = pose.clone().invert();
    const ground = transformed(plane(100, 100, 60, 60), (v) => v.set(v.x, heightAt(v.x, -v.y), -v.y).applyMatrix4(own));
    twin.add(await twin.mesh(ground), pose, { side: 'front' });
    const thing = twin.box(new Vector3(0.2, 0.2, 0.2));
    for (let k = 0; k < 600; k++) {
      const [x, z] = [random.range(-49, 49), random.range(-49, 49)];
      twin.add(thing, new Matrix4().setPosition(x, heightAt(x, z) + 0.3, z), { occluder: false });
    }
    const sums = await occludedFrom(twin, () => {
      const [x, z] = [random.range(-60, 60), random.range(-60, 60)];
      return lookingFrom(random, new Vector3(x, heightAt(x, z) + random.pick([1.7, 1.7, 6, 15]), z));
    });
    expect(sums).toEqual(expected);
  });
});
