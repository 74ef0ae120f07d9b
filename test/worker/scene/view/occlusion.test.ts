import { Euler, Matrix4, PerspectiveCamera, Quaternion, Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLACES, Twin, type TwinShape } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, ODD_CAMERA_KINDS, viewOf } from '../../../oracle/cameras.js';
import { type DrawnSide, IdBuffer } from '../../../oracle/id-buffer.js';
import { boxMesh, icosphere, rods, soup, transformed } from '../../../oracle/meshes.js';
import { PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';

const [STANDARD] = DEPTHS;
const VIEWPORT = { width: 320, height: 180 };
/** Of each kind, in random order; more by `OCCLUSION_CAMERAS`. */
const CAMERAS = Number(process.env.OCCLUSION_CAMERAS ?? 1);
/** The reference image has this many pixels per viewport pixel, along each axis. */
const FINER = 4;

/** What was hidden, and how much of it was culled, in some images. */
interface Shares {
  hidden: number;
  occluded: number;
}

function seenBy(twin: Twin, camera: AnyCamera, side: (id: number) => DrawnSide = () => 'double'): Set<number> {
  const buffer = new IdBuffer(camera, FINER * VIEWPORT.width, FINER * VIEWPORT.height);
  for (const item of twin.items.values()) buffer.draw(item, side(item.id));
  return buffer.visible;
}

/** Compares with what each pixel shows; adds to the shares. */
async function compare(
  twin: Twin,
  camera: AnyCamera,
  shares: Shares,
  {
    side,
    depth = STANDARD[1],
    ...options
  }: { side?: (id: number) => DrawnSide; depth?: (typeof STANDARD)[1]; occlusionMargin?: number } = {},
): Promise<void> {
  const view = { ...viewOf(camera, depth), viewport: VIEWPORT };
  twin.service.setView(view);
  const { visible: whole } = await twin.service.update();
  const all = new Set(whole.ids);
  twin.service.setView({ ...view, ...options, occlusion: true });
  const { visible } = await twin.service.update();
  expect(new Set([...visible.ids, ...visible.occluded])).toEqual(all);
  expect(visible.ids.length + visible.occluded.length).toBe(all.size);
  const seen = seenBy(twin, camera, side);
  expect([...visible.occluded].filter((id) => seen.has(id))).toEqual([]);
  const asked = await twin.service.frustum({ ...view, ...options, occlusion: true });
  expect([...asked.occluded]).toEqual([...visible.occluded]);
  expect([...asked.ids]).toEqual([...visible.ids]);
  shares.occluded += visible.occluded.length;
  shares.hidden += [...all].filter((id) => !seen.has(id)).length;
}

function lookingFrom(place: Vector3, yaw: number, pitch = 0, far = 500): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 16 / 9, 0.1, far);
  camera.position.copy(place);
  camera.rotation.set(pitch, yaw, 0, 'YXZ');
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

const scaled = (position: Vector3, x: number, y: number, z: number) =>
  new Matrix4().compose(position, new Quaternion(), new Vector3(x, y, z));

/** Blocks of houses, with small objects in the streets and behind the walls. */
function buildCity(twin: Twin, random: Random, houses: readonly TwinShape[], thing: TwinShape, origin: Vector3): void {
  for (let x = -6; x <= 6; x++) {
    for (let z = -6; z <= 6; z++) {
      const [w, h, d] = [random.range(3, 4.4), random.range(4, 25), random.range(3, 4.4)];
      const place = new Vector3(10 * x, h, 10 * z).add(origin);
      const turned = new Quaternion().setFromEuler(new Euler(0, random.chance(0.3) ? random.range(-0.2, 0.2) : 0, 0));
      twin.add(random.pick(houses), new Matrix4().compose(place, turned, new Vector3(w, h, d)));
      for (let i = 0; i < 6; i++) {
        const at = new Vector3(10 * x + random.range(-5, 5), random.range(0.2, 2), 10 * z + random.range(-5, 5));
        const size = random.range(0.1, 0.5);
        twin.add(thing, new Matrix4().compose(at.add(origin), random.rotation(), new Vector3(size, size, size)));
      }
    }
  }
  twin.add(houses[0], scaled(new Vector3(0, -1, 0).add(origin), 80, 1, 80)); // the ground
}

describe.each(PLACES)(`a city of boxes, %s, seed ${SEED}`, (_, origin) => {
  const unit = (twin: Twin) => twin.box(new Vector3(1, 1, 1));

  test('what is occluded with a margin stays so, wherever the eye and the objects move within it', async () => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    const mesh = await twin.mesh(boxMesh(2, 2, 2));
    buildCity(twin, random, [unit(twin), mesh, await twin.mesh(icosphere(1, 4))], mesh, origin);
    let count = 0;
    for (let i = 0; i < 4 * CAMERAS; i++) {
      const place = new Vector3(10 * random.integer(8) - 35, 1.7, 10 * random.integer(8) - 35).add(origin);
      const camera = lookingFrom(place, random.range(0, 6.3));
      const occlusionMargin = random.pick([0, 0.05, 0.3, 1]);
      twin.service.setView({ ...viewOf(camera, STANDARD[1]), viewport: VIEWPORT, occlusion: true, occlusionMargin });
      // In the first frame everything is new.
      if (i === 0) expect((await twin.service.update()).visible.occluded).toHaveLength(0);
      const { occluded } = (await twin.service.update()).copy().visible;
      count += occluded.length;
      for (let k = 0; k < 3; k++) {
        const share = random.range(0.5, 1) * occlusionMargin;
        const eye = random.direction().multiplyScalar(share).add(place);
        const moved = lookingFrom(eye, camera.rotation.y + random.range(-1, 1) * 0.7, random.range(-0.3, 0.3));
        const buffer = new IdBuffer(moved, FINER * VIEWPORT.width, FINER * VIEWPORT.height);
        for (const { id, shape, matrix } of twin.items.values()) {
          const by = random.direction().multiplyScalar(random.next() * (occlusionMargin - share));
          buffer.draw(new PlacedShape(id, shape, matrix.clone().premultiply(new Matrix4().setPosition(by))));
        }
        const seen = buffer.visible;
        expect([...occluded].filter((id) => seen.has(id))).toEqual([]);
      }
    }
    twin.dispose();
    expect(count).toBeGreaterThan(100 * CAMERAS);
  });

  test.each([
    ['boxes', async (twin: Twin) => [unit(twin)]],
    ['meshes of boxes', async (twin: Twin) => [await twin.mesh(boxMesh(2, 2, 2))]],
  ] as const)('made of %s: nothing that is seen is occluded, and four fifths of what is hidden', async (_, make) => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    const shapes = await make(twin);
    buildCity(twin, random, shapes, shapes[0], origin);
    const shares = { hidden: 0, occluded: 0 };
    for (let i = 0; i < 4 * CAMERAS; i++) {
      const place = new Vector3(10 * random.integer(8) - 35, 1.7, 10 * random.integer(8) - 35).add(origin);
      await compare(twin, lookingFrom(place, random.range(0, 6.3)), shares);
    }
    twin.dispose();
    console.log(`city: ${shares.occluded} of ${shares.hidden} hidden`);
    expect(shares.occluded).toBeGreaterThan(0.8 * shares.hidden);
  });
});

test.each([0, 1, 2])('what is seen beside solids that taper along axis %d is not occluded', async (axis) => {
  const twin = await Twin.create();
  const small = twin.box(new Vector3(0.04, 0.04, 0.04));
  const across = [0, 1, 2].filter((other) => other !== axis);
  const shares = { hidden: 0, occluded: 0 };
  for (const sense of [-1, 1]) {
    // Where the eye may move, a box inside represents it.
    const tapered = transformed(icosphere(1.2, 4), (vertex) => {
      const width = 0.6 - 0.4 * sense * vertex.getComponent(axis);
      for (const other of across) vertex.setComponent(other, width * vertex.getComponent(other));
      return vertex;
    });
    const shape = await twin.mesh(tapered);
    for (const other of across) {
      // The eye looks along one of the other axes, at the slope of both sides.
      const [way, upwards] = [new Vector3().setComponent(other, 1), new Vector3().setComponent(axis, 1)];
      const ids = [twin.add(shape, new Matrix4())];
      for (let i = -12; i <= 12; i++) {
        for (let k = -12; k <= 12; k++) {
          const sideways = new Vector3().crossVectors(way, upwards).multiplyScalar(0.12 * i);
          ids.push(
            twin.add(
              small,
              new Matrix4().setPosition(sideways.addScaledVector(upwards, 0.12 * k).addScaledVector(way, 3)),
            ),
          );
        }
      }
      const camera = new PerspectiveCamera(40, 16 / 9, 0.1, 100);
      camera.up.copy(upwards);
      camera.position.copy(way).multiplyScalar(-8);
      camera.lookAt(0, 0, 0);
      camera.updateMatrixWorld();
      camera.updateProjectionMatrix();
      await compare(twin, camera, shares, { occlusionMargin: 1e-3 });
      for (const id of ids) twin.remove(id);
    }
  }
  twin.dispose();
  expect(shares.occluded).toBeGreaterThan(100);
});

test.each([
  ['a ball of many triangles', 0, 6, (twin: Twin) => twin.mesh(icosphere(2, 4))],
  ['a ball of many triangles', 0.1, 6, (twin: Twin) => twin.mesh(icosphere(2, 4))],
  // Where it is open, the box itself is not seen.
  ['a box', 0.3, 12, (twin: Twin) => twin.box(new Vector3(2, 2, 2))],
] as const)(
  '%s that the near plane opens, with a margin of %d, hides nothing that is seen through it, along no axis',
  async (_, occlusionMargin, hidden, make) => {
    const twin = await Twin.create();
    twin.add(await make(twin), new Matrix4(), { side: 'front' });
    const thing = twin.box(new Vector3(0.1, 0.1, 0.1));
    const shares = { hidden: 0, occluded: 0 };
    for (const axis of [0, 1, 2]) {
      for (const sense of [-1, 1]) {
        const way = new Vector3().setComponent(axis, sense);
        const id = twin.add(thing, new Matrix4().setPosition(way.clone().multiplyScalar(8)));
        // From farther away it is closed.
        for (const distance of [2.8, 8]) {
          const camera = new PerspectiveCamera(60, 16 / 9, 1, 100);
          camera.up.set(0, 0, 0).setComponent((axis + 1) % 3, 1);
          camera.position.copy(way).multiplyScalar(-distance);
          camera.lookAt(0, 0, 0);
          camera.updateMatrixWorld();
          await compare(twin, camera, shares, { occlusionMargin, side: () => 'front' });
        }
        twin.remove(id);
      }
    }
    twin.dispose();
    expect(shares).toEqual({ hidden, occluded: 6 });
  },
);

test.each([0.01, 0.03, 0.1, 0.4])(
  'what is seen by a part of a pixel beside edges at %d to the rows is not occluded',
  async (slope) => {
    const twin = await Twin.create();
    const wall = twin.box(new Vector3(3, 3, 0.2));
    const speck = twin.box(new Vector3(0.012, 0.012, 0.012));
    const shares = { hidden: 0, occluded: 0 };
    const camera = lookingFrom(new Vector3(0, 0, 8), 0);
    for (const turn of [slope, -slope]) {
      const frame = new Matrix4().makeRotationZ(turn);
      const ids = [twin.add(wall, frame)];
      for (let side = 0; side < 4; side++) {
        for (let i = -30; i <= 30; i++) {
          // A pixel is 0.05 wide; objects farther away appear nearer to the centre.
          for (let k = -5; k <= 5; k++) {
            const at = new Vector3(0.1 * i, 3 + 0.01 * k, 0).multiplyScalar(8.4 / 7.8).setZ(-0.4);
            const quarter = new Matrix4().makeRotationZ((side * Math.PI) / 2);
            ids.push(twin.add(speck, new Matrix4().setPosition(at.applyMatrix4(quarter).applyMatrix4(frame))));
          }
        }
      }
      await compare(twin, camera, shares);
      for (const id of ids) twin.remove(id);
    }
    twin.dispose();
    expect(shares.occluded).toBeGreaterThan(100);
  },
);

test(`a view that is grown by how fast its camera turns hides as much as one that is not, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const twin = await Twin.create();
  const box = twin.box(new Vector3(1, 1, 1));
  buildCity(twin, random, [box], box, new Vector3());
  await twin.service.update();
  const hidden = [0, 0];
  for (let i = 0; i < 6; i++) {
    const place = new Vector3(10 * random.integer(8) - 35, 1.7, 10 * random.integer(8) - 35);
    const view = { ...viewOf(lookingFrom(place, random.range(0, 6.3)), STANDARD[1]), viewport: VIEWPORT };
    for (const [k, margin] of [0, 100].entries()) {
      twin.service.setView({ ...view, margin, occlusion: true, occlusionMargin: 0.1 });
      hidden[k] += (await twin.service.update()).visible.occluded.length;
    }
  }
  twin.dispose();
  expect(hidden[0]).toBeGreaterThan(100);
  expect(hidden[1]).toBeGreaterThan(0.9 * hidden[0]);
});

test.each([
  ['a box', (twin: Twin) => twin.box(new Vector3(3, 3, 1))],
  ['a mesh of a box', (twin: Twin) => twin.mesh(boxMesh(6, 6, 2))],
  ['a ball', (twin: Twin) => twin.mesh(icosphere(3, 4))],
] as const)(
  'what is behind the border of %s is not occluded with a margin, as a step aside shows it',
  async (_, make) => {
    const twin = await Twin.create();
    twin.add(await make(twin), new Matrix4().setPosition(0, 0, -8));
    const thing = twin.box(new Vector3(0.05, 0.05, 0.05));
    for (let x = -40; x <= 40; x++) {
      for (let y = -40; y <= 40; y += 4) twin.add(thing, new Matrix4().setPosition(0.2 * x, 0.2 * y, -14));
    }
    const occlusionMargin = 0.4;
    const view = { ...viewOf(lookingFrom(new Vector3(), 0), STANDARD[1]), viewport: VIEWPORT, occlusion: true };
    twin.service.setView({ ...view, occlusionMargin });
    await twin.service.update();
    const { occluded } = (await twin.service.update()).copy().visible;
    expect(occluded.length).toBeGreaterThan(50);
    for (let k = 0; k < 8; k++) {
      const aside = new Vector3(Math.cos((k * Math.PI) / 4), Math.sin((k * Math.PI) / 4), 0).multiplyScalar(
        occlusionMargin,
      );
      const seen = seenBy(twin, lookingFrom(aside, 0));
      expect([...occluded].filter((id) => seen.has(id))).toEqual([]);
    }
    twin.dispose();
  },
);

test('a mesh in the place of one that is gone, and one whose vertices have moved, hide by their own triangles', async () => {
  const twin = await Twin.create();
  const { service } = twin;
  service.setView({ ...viewOf(lookingFrom(new Vector3(), 0), STANDARD[1]), viewport: VIEWPORT, occlusion: true });
  for (let i = 0; i < 6; i++)
    twin.add(twin.box(new Vector3(0.3, 0.3, 0.3)), new Matrix4().setPosition(i - 2.5, 0, -20));
  const place = new Matrix4().setPosition(0, 0, -10);
  /** In the first frame everything is new. */
  const occluded = async () => {
    for (let i = 0; i < 2; i++) await service.update();
    return (await service.update()).visible.occluded.length;
  };
  // One occludes by its own triangles; the other has too many of them, and is closed.
  for (const form of [boxMesh(12, 12, 0.5), icosphere(6, 24)]) {
    // A form too small to occlude a whole box.
    const small = { ...form, positions: form.positions.map((x) => 0.02 * x) };
    const wall = await service.addMesh(form);
    const standing = service.addObject({ shape: { type: 'mesh', mesh: wall }, matrix: place.elements, occluder: true });
    expect(await occluded()).toBeGreaterThan(0);
    await service.updateMesh(wall, small.positions);
    expect(await occluded()).toBe(0);
    await service.updateMesh(wall, form.positions);
    expect(await occluded()).toBeGreaterThan(0);
    service.removeObject(standing);
    service.removeMesh(wall);
    const pane = await service.addMesh(small);
    const other = service.addObject({ shape: { type: 'mesh', mesh: pane }, matrix: place.elements, occluder: true });
    expect(await occluded()).toBe(0);
    service.removeObject(other);
  }
  twin.dispose();
});

describe(`rooms and corridors, seed ${SEED}`, () => {
  test('nothing that is seen is occluded, and seven tenths of what is hidden', async () => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    const box = await twin.mesh(boxMesh(2, 2, 2));
    const wall = (x: number, y: number, z: number, a: number, b: number, c: number) =>
      twin.add(box, scaled(new Vector3(x, y, z), a, b, c));
    for (let x = 0; x < 6; x++) {
      for (let z = 0; z < 6; z++) {
        // Two walls of each room, with a door in the middle and a lintel above it.
        for (const [dx, dz] of [
          [1, 0],
          [0, 1],
        ]) {
          const [cx, cz] = [8 * x + 4 * dx, 8 * z + 4 * dz];
          const along = (t: number, half: number, y: number, h: number) =>
            wall(cx + dz * t, y, cz + dx * t, dz * half + dx * 0.1, h, dx * half + dz * 0.1);
          along(-2.3, 1.7, 1.5, 1.5);
          along(2.3, 1.7, 1.5, 1.5);
          along(0, 0.6, 2.6, 0.4);
        }
        for (let i = 0; i < 8; i++) {
          const at = new Vector3(8 * x + random.range(-3, 3), random.range(0.2, 1), 8 * z + random.range(-3, 3));
          const size = new Vector3(random.range(0.1, 0.5), random.range(0.1, 0.5), random.range(0.1, 0.5));
          twin.add(box, new Matrix4().compose(at, random.rotation(), size));
        }
      }
    }
    wall(20, -0.1, 20, 30, 0.1, 30);
    wall(20, 3.1, 20, 30, 0.1, 30);
    const shares = { hidden: 0, occluded: 0 };
    for (let i = 0; i < 8 * CAMERAS; i++) {
      const place = new Vector3(8 * random.integer(6), 1.6, 8 * random.integer(6));
      await compare(twin, lookingFrom(place, random.range(0, 6.3), random.range(-0.2, 0.2)), shares);
    }
    twin.dispose();
    console.log(`rooms: ${shares.occluded} of ${shares.hidden} hidden`);
    expect(shares.occluded).toBeGreaterThan(0.7 * shares.hidden);
  });
});

describe.each(PLACES)(`boxes and meshes in disorder, %s, seed ${SEED}`, (_, origin) => {
  describe.each([1e-3, 1, 1e3])('of size %d', (size) => {
    let twin: Twin;
    const sides = new Map<number, DrawnSide>();

    beforeAll(async () => {
      const random = new Random(SEED + size);
      twin = await Twin.create();
      const shapes = [
        twin.box(new Vector3(1, 1, 1)),
        twin.box(new Vector3(2, 0.05, 2)),
        await twin.mesh(boxMesh(2, 2, 2)),
        await twin.mesh(icosphere(1, 1)),
        await twin.mesh(icosphere(1, 4)), // too many triangles to be drawn
        await twin.mesh(soup(random, 30, 1, 1)),
        await twin.mesh(rods(random, 5, 1)),
        twin.box(new Vector3(3, 3, 3), new Vector3(1, 2, 0), random.rotation()),
      ];
      for (let i = 0; i < 150; i++) {
        const matrix = random.placement(random.point(25), { low: 0.4, high: 5, mirrored: 0.3, sheared: 0.3 });
        matrix.premultiply(new Matrix4().makeScale(size, size, size)).premultiply(new Matrix4().setPosition(origin));
        const side = random.pick(['front', 'back', 'double'] as const);
        sides.set(twin.add(random.pick(shapes), matrix, { side }), side);
      }
    });
    afterAll(() => twin.dispose());

    test.each([...CAMERA_KINDS, ...ODD_CAMERA_KINDS])('%s', async (_, make) => {
      const random = new Random(SEED);
      const shares = { hidden: 0, occluded: 0 };
      for (const [, depth] of DEPTHS) {
        for (let i = 0; i < CAMERAS; i++) {
          const camera = make(random);
          camera.near *= size;
          camera.far *= size;
          if ('left' in camera) for (const key of ['left', 'right', 'top', 'bottom'] as const) camera[key] *= size;
          const small = aimCamera(camera, random, new Vector3());
          small.position.multiplyScalar(size).add(origin);
          small.updateMatrixWorld();
          await compare(twin, small, shares, { depth, side: (id) => sides.get(id)! });
        }
      }
      expect(shares.hidden).toBeGreaterThan(0);
    });
  });
});
