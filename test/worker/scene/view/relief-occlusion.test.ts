// What open meshes occlude by their reliefs, against an id buffer in float64, wherever eyes and objects are within the margin.
import { Matrix4, PerspectiveCamera, PlaneGeometry, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { hills } from '../../../fixtures/hills.js';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { DEPTHS, viewOf } from '../../../oracle/cameras.js';
import { type DrawnSide, IdBuffer } from '../../../oracle/id-buffer.js';
import { merged, soup, type Triangles, transformed, trianglesOf } from '../../../oracle/meshes.js';
import { PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';

const [STANDARD] = DEPTHS;
const VIEWPORT = { width: 320, height: 180 };
/** The reference image has this many pixels per viewport pixel, along each axis. */
const FINER = 2;
/** Quads along a side of a terrain, more by `RELIEF_QUADS`: 500 make 500,000 triangles. */
const QUADS = Number(process.env.RELIEF_QUADS ?? 50);
/** Answers per seed, more by `OCCLUSION_CAMERAS`. */
const CAMERAS = Number(process.env.OCCLUSION_CAMERAS ?? 1);
/** After this many frames the largest mesh is prepared. */
const FRAMES = 4 + Math.ceil(QUADS ** 2 / 2000);

/** Heights over the square from -50 to 50, up along y. */
function terrain(
  random: Random,
  quads: number,
  height: number,
): { mesh: Triangles; heightAt(x: number, z: number): number } {
  const heightAt = hills(random, 14, { width: [5, 14], height: [-0.3 * height, height] });
  const plane = trianglesOf(new PlaneGeometry(100, 100, quads, quads).rotateX(-Math.PI / 2));
  return { mesh: transformed(plane, (vertex) => vertex.setY(heightAt(vertex.x, vertex.z))), heightAt };
}

function lookingFrom(place: Vector3, yaw: number, pitch = 0): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 16 / 9, 0.1, 500);
  camera.position.copy(place);
  camera.rotation.set(pitch, yaw, 0, 'YXZ');
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

/** The mesh without some of its triangles. */
const thinned = ({ positions, indices }: Triangles, isLeftOut: (triangle: number) => boolean): Triangles => ({
  positions,
  indices: indices.filter((_, i) => !isLeftOut(Math.floor(i / 3))),
});

/** The mesh with reversed winding. */
const flipped = ({ positions, indices }: Triangles): Triangles => ({ positions, indices: indices.slice().reverse() });

interface Answered {
  occluded: number;
  hidden: number;
}

/**
 * Asks with a margin, and draws what eyes and objects within it see. Adds to the sums what the first eye sees and does not see.
 */
async function compare(
  twin: Twin,
  random: Random,
  { eye, yaw, pitch = 0, margin }: { eye: Vector3; yaw: number; pitch?: number; margin: number },
  sum: Answered,
  sides: ReadonlyMap<number, DrawnSide> = new Map(),
): Promise<void> {
  const camera = lookingFrom(eye, yaw, pitch);
  const view = { ...viewOf(camera, STANDARD[1]), viewport: VIEWPORT };
  twin.service.setView(
    margin < 0 ? { ...view, occlusion: true } : { ...view, occlusion: true, occlusionMargin: margin },
  );
  await twin.service.update();
  const { ids, occluded } = (await twin.service.update()).copy().visible;
  sum.occluded += occluded.length;
  for (let k = 0; k < 3; k++) {
    // The unmoved image first.
    const share = k === 0 || margin < 0 ? 0 : random.range(0.5, 1) * margin;
    const moved = random.direction().multiplyScalar(share).add(eye);
    const turned = k > 0 && margin >= 0 ? random.range(-1, 1) : 0;
    const buffer = new IdBuffer(
      lookingFrom(moved, yaw + 0.7 * turned, pitch + 0.2 * turned),
      FINER * VIEWPORT.width,
      FINER * VIEWPORT.height,
    );
    const named = new Set(occluded);
    for (const { id, shape, matrix } of twin.items.values()) {
      // The occluders, and the hidden objects; the others occlude nothing.
      if (k > 0 && shape.mesh === null && !named.has(id)) continue;
      const by = random.direction().multiplyScalar(k === 0 ? 0 : random.next() * Math.max(0, margin - share));
      buffer.draw(
        new PlacedShape(id, shape, matrix.clone().premultiply(new Matrix4().setPosition(by))),
        sides.get(id) ?? 'front',
      );
    }
    const seen = buffer.visible;
    expect([...occluded].filter((id) => seen.has(id))).toEqual([]);
    if (k === 0) sum.hidden += [...ids, ...occluded].filter((id) => !seen.has(id)).length;
  }
}

/** The axis of the mesh along which heights are measured, and its pose in the world. */
const POSES = [
  ['y', new Matrix4()],
  ['z', new Matrix4().makeRotationX(Math.PI / 2)],
  ['x, mirrored and stretched', new Matrix4().makeRotationZ(1.1).multiply(new Matrix4().makeScale(-3, 0.5, 2))],
  ['none in particular', new Matrix4().makeRotationX(0.4)],
] as const;

describe.each(PLACES)(`a terrain, %s, seed ${SEED}`, (_, origin) => {
  test.each(POSES)('with heights along %s hides what is behind its hills', async (name, pose) => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    const sum = { occluded: 0, hidden: 0 };
    for (let i = 0; i < CAMERAS; i++) {
      const { mesh, heightAt } = terrain(random, QUADS, random.pick([10, 25]));
      const own = pose.clone().invert();
      const isMirrored = own.determinant() < 0;
      const land = await twin.mesh(
        transformed(isMirrored ? flipped(mesh) : mesh, (vertex) => vertex.applyMatrix4(own)),
      );
      twin.add(land, pose.clone().premultiply(new Matrix4().setPosition(origin)), { side: 'front' });
      const thing = twin.box(new Vector3(0.3, 0.3, 0.3));
      for (let k = 0; k < 200; k++) {
        const [x, z] = [random.range(-60, 60), random.range(-60, 60)];
        const place = new Vector3(x, heightAt(x, z) + random.range(-3, 2), z).add(origin);
        twin.add(thing, new Matrix4().setPosition(place), { occluder: false });
      }
      for (let frame = 0; frame < FRAMES; frame++) {
        twin.service.setView({ ...viewOf(lookingFrom(origin, 0), STANDARD[1]), viewport: VIEWPORT, occlusion: true });
        await twin.service.update();
      }
      for (const margin of [-1, 0, 0.05, 0.4]) {
        // On it, at its border, and outside.
        const reach = random.pick([40, 40, 50.2, 75]);
        const [x, z] = [random.range(-1, 1) * reach, random.pick([-1, 1]) * reach * random.next()];
        const eye = new Vector3(x, heightAt(x, z) + random.pick([1.7, 1.7, 5, 30, -5]), z).add(origin);
        await compare(twin, random, { eye, yaw: Math.atan2(x, z) + random.range(-1, 1), margin }, sum);
      }
      for (const id of [...twin.items.keys()]) twin.remove(id);
    }
    twin.dispose();
    console.log(`${name}: ${sum.occluded} of ${sum.hidden} hidden`);
    expect(sum.occluded).toBeGreaterThan(0);
  });
});

test('a terrain hides more than four tenths of what stands behind its hills, and is drawn by parts', async () => {
  const random = new Random(3);
  const twin = await Twin.create();
  const heightAt = hills(random, 60, { width: [3, 12], height: [-4, 12] });
  const plane = trianglesOf(new PlaneGeometry(100, 100, 150, 150).rotateX(-Math.PI / 2));
  twin.add(await twin.mesh(transformed(plane, (vertex) => vertex.setY(heightAt(vertex.x, vertex.z)))), new Matrix4(), {
    side: 'front',
  });
  const thing = twin.box(new Vector3(0.2, 0.2, 0.2));
  for (let k = 0; k < 500; k++) {
    const [x, z] = [random.range(-49, 49), random.range(-49, 49)];
    twin.add(thing, new Matrix4().setPosition(x, heightAt(x, z) + 0.3, z), { occluder: false });
  }
  const view = { ...viewOf(lookingFrom(new Vector3(), 0), STANDARD[1]), viewport: VIEWPORT };
  twin.service.setView({ ...view, occlusion: true });
  for (let frame = 0; frame < 12; frame++) await twin.service.update();
  const sum = { occluded: 0, hidden: 0 };
  for (let i = 0; i < 4; i++) {
    const [x, z] = [random.range(-45, 45), random.range(-45, 45)];
    const eye = new Vector3(x, heightAt(x, z) + 1.7, z);
    await compare(twin, random, { eye, yaw: Math.atan2(x, z), margin: 0.05 }, sum);
  }
  twin.dispose();
  console.log(`a terrain of hills: ${sum.occluded} of ${sum.hidden} hidden`);
  expect(sum.occluded).toBeGreaterThan(0.4 * sum.hidden);
});

/** Lets a view that asks for occlusion prepare the meshes. */
async function getReady(twin: Twin): Promise<void> {
  twin.service.setView({ ...viewOf(lookingFrom(new Vector3(), 0), STANDARD[1]), viewport: VIEWPORT, occlusion: true });
  for (let frame = 0; frame < FRAMES; frame++) await twin.service.update();
}

test(`an eye that the projection moves from where the camera is sees what one sees that the camera moves, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const twin = await Twin.create();
  const { mesh, heightAt } = terrain(random, QUADS, 15);
  twin.add(await twin.mesh(mesh), new Matrix4(), { side: 'front' });
  const house = twin.box(new Vector3(2, 3, 2));
  const thing = twin.box(new Vector3(0.3, 0.3, 0.3));
  for (let k = 0; k < 400; k++) {
    const [x, z] = [random.range(-50, 50), random.range(-50, 50)];
    const place = new Matrix4().setPosition(x, heightAt(x, z) + 0.3, z);
    twin.add(k % 20 === 0 ? house : thing, place, { occluder: k % 20 === 0 });
  }
  await getReady(twin);
  let hidden = 0;
  for (const occlusionMargin of [undefined, 0.05, 0.5]) {
    for (let i = 0; i < 4; i++) {
      const [x, z] = [random.range(-40, 40), random.range(-40, 40)];
      const camera = lookingFrom(new Vector3(x, heightAt(x, z) + 2, z), random.range(0, 6.3));
      const offset = random.direction().multiplyScalar(random.logRange(0.1, 30));
      const view = {
        ...{ projection: camera.projectionMatrix, view: camera.matrixWorldInverse },
        ...{ viewport: VIEWPORT, occlusion: true, ...(occlusionMargin !== undefined && { occlusionMargin }) },
      };
      const told = [new Vector3(), offset].map(async (by) => {
        const [there, back] = [by, by.clone().negate()].map((each) => new Matrix4().setPosition(each));
        const projection = view.projection.clone().multiply(back).elements;
        return twin.service.frustum({ ...view, projection, view: there.multiply(view.view).elements });
      });
      const [plain, moved] = await Promise.all(told);
      expect([...moved.occluded]).toEqual([...plain.occluded]);
      hidden += plain.occluded.length;
    }
  }
  twin.dispose();
  expect(hidden).toBeGreaterThan(100);
});

test('a ridge before the eye hides what is behind it, however large its quads are beside the picture', async () => {
  const twin = await Twin.create();
  // The minimum number of quads for a relief, and many.
  for (const quads of [50, 100]) {
    const ridge = transformed(trianglesOf(new PlaneGeometry(100, 100, quads, quads).rotateX(-Math.PI / 2)), (vertex) =>
      vertex.setY(Math.max(0, 20 - Math.abs(vertex.z))),
    );
    const ids = [twin.add(await twin.mesh(ridge), new Matrix4(), { side: 'front' })];
    const thing = twin.box(new Vector3(0.3, 0.3, 0.3));
    for (let x = -30; x <= 30; x += 3) {
      for (let z = -45; z <= -20; z += 5)
        ids.push(twin.add(thing, new Matrix4().setPosition(x, 1, z), { occluder: false }));
    }
    await getReady(twin);
    const camera = lookingFrom(new Vector3(0, 2, 24), 0);
    const view = { ...viewOf(camera, STANDARD[1]), viewport: VIEWPORT };
    const all = (await twin.service.frustum(view)).ids.length;
    const { occluded } = await twin.service.frustum({ ...view, occlusion: true });
    expect(all).toBeGreaterThan(50);
    expect(occluded.length, `${quads} quads`).toBeGreaterThan(0.9 * (all - 1));
    for (const id of ids) twin.remove(id);
  }
  twin.dispose();
});

test('the tiles of a terrain hide what is behind the hills of each, from another one and from the sky', async () => {
  const random = new Random(SEED);
  const twin = await Twin.create();
  const { mesh, heightAt } = terrain(random, 64, 22);
  const sides = new Map<number, DrawnSide>();
  // Of 4 × 4 tiles, each with vertices of its own.
  for (let tile = 0; tile < 16; tile++) {
    const own = thinned(mesh, (t) => {
      const [row, column] = [Math.floor(t / 128 / 16), Math.floor((t % 128) / 32)];
      return 4 * row + column !== tile;
    });
    const numbers = [...new Set(own.indices)];
    const renumbered = new Map(numbers.map((each, i) => [each, i]));
    const shape = await twin.mesh({
      positions: Float32Array.from(numbers.flatMap((i) => [...mesh.positions.subarray(3 * i, 3 * i + 3)])),
      indices: own.indices.map((i) => renumbered.get(i)!),
    });
    twin.add(shape, new Matrix4(), { side: 'front' });
  }
  const thing = twin.box(new Vector3(0.3, 0.3, 0.3));
  for (let k = 0; k < 500; k++) {
    const [x, z] = [random.range(-48, 48), random.range(-48, 48)];
    twin.add(thing, new Matrix4().setPosition(x, heightAt(x, z) + random.range(-1, 2), z), { occluder: false });
  }
  const sum = { occluded: 0, hidden: 0 };
  for (let i = 0; i < 3 * CAMERAS; i++) {
    const [x, z] = [random.range(-40, 40), random.range(-40, 40)];
    const eye = new Vector3(x, heightAt(x, z) + random.pick([1.7, 3, 12]), z);
    await compare(twin, random, { eye, yaw: Math.atan2(x, z), margin: random.pick([0, 0.1]) }, sum, sides);
  }
  twin.dispose();
  console.log(`tiles: ${sum.occluded} of ${sum.hidden} hidden`);
  expect(sum.occluded).toBeGreaterThan(0.1 * sum.hidden);
});

describe(`nothing that is seen is occluded, seed ${SEED}`, () => {
  /** Meshes that are open in other ways: with an inner border, with layers, with overhangs, or jumbled. */
  const FORMS: Record<string, (random: Random) => Triangles> = {
    'a terrain with holes': (random) => {
      const { mesh } = terrain(random, 50, 15);
      const holes = new Set(Array.from({ length: 20 }, () => random.integer(5000)));
      return thinned(mesh, (t) => holes.has(t) || holes.has(t + 1) || holes.has(t - 2));
    },
    'an island': (random) => {
      const { mesh } = terrain(random, 50, 15);
      return thinned(mesh, (t) => {
        const [row, column] = [Math.floor(t / 100), Math.floor((t % 100) / 2)];
        return Math.hypot(row - 25, column - 25) > 24;
      });
    },
    'a terrain that overhangs': (random) =>
      transformed(terrain(random, 50, 25).mesh, (v) => v.setX(v.x + 12 * Math.sin(v.y / 4) * (1 - (v.x / 50) ** 4))),
    'two layers': (random) =>
      merged([terrain(random, 30, 10).mesh, transformed(terrain(random, 40, 10).mesh, (v) => v.setY(v.y + 8))]),
    'two layers, turned to each other': (random) =>
      merged([
        terrain(random, 30, 10).mesh,
        flipped(transformed(terrain(random, 40, 10).mesh, (v) => v.setY(v.y + 8))),
      ]),
    steps: (random) => {
      const { mesh } = terrain(random, 50, 20);
      return transformed(mesh, (v) => v.setY(4 * Math.round(v.y / 4)));
    },
    'a sheet that waves as a whole': (random) => {
      const { mesh } = terrain(random, 50, 5);
      return transformed(mesh, (v) => v.setY(v.y + 10 * Math.sin(v.x / 15)).setX(v.x + 3 * Math.sin(v.z / 7)));
    },
    'a wall': () => trianglesOf(new PlaneGeometry(60, 12)),
    'a rough wall': (random) =>
      transformed(trianglesOf(new PlaneGeometry(60, 12, 60, 30)), (v) => v.setZ(random.range(-0.5, 0.5))),
    'a jumble': (random) => soup(random, 3000, 6, 50),
    'one triangle': () => ({
      positions: new Float32Array([-30, -10, 0, 30, -10, 2, 0, 25, -1]),
      indices: new Uint32Array([0, 1, 2]),
    }),
  };

  test.each(Object.entries(FORMS))('%s', async (name, make) => {
    const random = new Random(SEED);
    const sum = { occluded: 0, hidden: 0 };
    for (const side of ['front', 'back', 'double'] as const) {
      for (let i = 0; i < CAMERAS; i++) {
        const twin = await Twin.create();
        const sides = new Map<number, DrawnSide>();
        const pose = random.chance(0.5)
          ? new Matrix4()
          : random.placement(random.point(5), { low: 0.7, high: 1.5, mirrored: 0.5, sheared: 0.3 });
        sides.set(twin.add(await twin.mesh(make(random)), pose, { side }), side);
        const thing = twin.box(new Vector3(0.4, 0.4, 0.4));
        for (let k = 0; k < 200; k++) {
          twin.add(thing, new Matrix4().setPosition(random.point(40).multiply(new Vector3(1, 0.5, 1))), {
            occluder: false,
          });
        }
        for (let frame = 0; frame < 4; frame++) await twin.service.update();
        for (const margin of [-1, 0, 0.1, random.range(0.2, 0.8)]) {
          const eye = random.point(45).multiply(new Vector3(1, 0.8, 1));
          const yaw = Math.atan2(eye.x, eye.z) + random.range(-0.6, 0.6);
          const pitch = -Math.atan2(eye.y, Math.hypot(eye.x, eye.z)) + random.range(-0.3, 0.3);
          await compare(twin, random, { eye, yaw, pitch, margin }, sum, sides);
        }
        twin.dispose();
      }
    }
    console.log(`${name}: ${sum.occluded} of ${sum.hidden} hidden`);
    expect(sum.hidden).toBeGreaterThan(0);
  });
});
