import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type OrthographicCamera,
  PerspectiveCamera,
  type Plane,
  Quaternion,
  Raycaster,
  Vector3,
} from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { FormTwin } from '../../../fixtures/forms.js';
import { PLACES } from '../../../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, viewOf } from '../../../oracle/cameras.js';
import { frustumPlanes } from '../../../oracle/frustum.js';
import { boxMesh, icosphere, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type Form, orientedBounds } from '../../../oracle/stand-ins.js';

const OBJECTS = 40;
const CAMERAS = 9;
const SAMPLES = [new Vector3()].concat(
  [-0.5, 0.5].flatMap((x) => [-0.5, 0.5].flatMap((y) => [-0.5, 0.5].map((z) => new Vector3(x, y, z)))),
);

describe.each(PLACES)(`sees, %s, seed ${SEED}`, (_, place) => {
  let twin: FormTwin;
  /** What three's Raycaster sees of an object. */
  const meshes = new Map<number, Mesh>();

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await FormTwin.create();
    const forms: Form[] = [
      ...[icosphere(1, 1), boxMesh(2, 1, 3), soup(random, 10, 0.6, 1)].map(
        (triangles): Form => ({ type: 'mesh', triangles }),
      ),
      { type: 'box', halfExtents: new Vector3(1, 0.4, 2), center: new Vector3(), rotation: new Quaternion() },
    ];
    for (let i = 0; i < OBJECTS; i++) {
      const matrix = random.placement(random.point(8).add(place), { low: 0.3, high: 2, mirrored: 0.3 });
      const form = random.pick(forms);
      const id = await twin.add(form, matrix, { pickable: i % 8 !== 7, layers: 1 + (i % 3) });
      const mesh = new Mesh(geometryOf(form), new MeshBasicMaterial({ side: DoubleSide }));
      mesh.matrixWorld.copy(matrix);
      meshes.set(id, mesh);
    }
    return () => twin.dispose();
  });

  test.each(CAMERA_KINDS)("equals three's rays: %s", async (_, make) => {
    const random = new Random(SEED + place.x);
    const ids = [...twin.items.keys()];
    const count = { seen: 0, unseen: 0, unsure: 0 };
    for (let i = 0; i < CAMERAS; i++) {
      const camera = aimCamera(make(random), random, place);
      camera.position.sub(place).multiplyScalar(0.5).add(place);
      camera.updateMatrixWorld();
      const layers = random.pick([-1, 2]);
      const ignore = random.chance(0.5) ? [random.pick(ids)] : [];
      const others = ids.filter((id, n) => n % 8 !== 7 && (1 + (n % 3)) & layers && !ignore.includes(id));
      const targets = random.chance(0.5) ? ids : [random.pick(ids), random.pick(ids), random.pick(ids)];
      const view = viewOf(camera, DEPTHS[i % DEPTHS.length][1]);
      const planes = frustumPlanes(view.projection, view.view, view.depth);
      const sight = await twin.service.sees(view, targets, { layers, ignore });
      expect([...sight.ids]).toEqual(targets.filter((_, n) => sight.points[n] > 0));
      targets.forEach((id, n) => {
        const blockers = others.filter((other) => other !== id).map((other) => meshes.get(other)!);
        const [least, most] = pointsInSight(id, camera, planes, blockers);
        if (sight.points[n] < least || sight.points[n] > most) {
          expect.fail(`object ${id}: ${sight.points[n]} points, expected ${least} to ${most} (camera ${i})`);
        }
        count[least < most ? 'unsure' : most > 0 ? 'seen' : 'unseen']++;
      });
    }
    expect(count.seen).toBeGreaterThan(2);
    expect(count.unseen).toBeGreaterThan(2);
    expect(count.unsure).toBeLessThan(0.05 * count.seen + 2);
  });

  /** A lower and an upper bound: some may be where rounding decides. */
  function pointsInSight(id: number, camera: AnyCamera, planes: Plane[], blockers: Mesh[]): [number, number] {
    const { form, matrix } = twin.items.get(id)!;
    const bounds = orientedBounds(form, matrix);
    let [least, most] = [0, 0];
    for (const sample of SAMPLES) {
      const point = sample.clone().applyMatrix4(bounds);
      const beyond = -Math.min(...planes.map((plane) => plane.distanceToPoint(point)));
      if (beyond > 1e-6) continue;
      const isParallel = (camera as OrthographicCamera).isOrthographicCamera;
      const back = camera.getWorldDirection(new Vector3()).negate();
      const depth = -point.clone().applyMatrix4(camera.matrixWorldInverse).z;
      const way = isParallel ? back.clone() : camera.position.clone().sub(point).normalize();
      const start = point.clone().addScaledVector(way, (depth - camera.near) / way.dot(back));
      const raycaster = new Raycaster(start, way.clone().negate(), 0, start.distanceTo(point) + 1e-5);
      const hits = raycaster.intersectObjects(blockers, false).map(({ distance }) => distance);
      if (hits.some((distance) => distance > 1e-5 && distance < raycaster.far - 2e-5)) continue;
      most++;
      if (hits.length === 0 && beyond < -1e-6) least++;
    }
    return [least, most];
  }
});

describe('sees', () => {
  const view = {
    projection: new PerspectiveCamera(90, 1, 1, 100).projectionMatrix.elements,
    view: new Matrix4().elements,
    viewport: { width: 100, height: 100 },
  };
  const cube: Form = {
    ...{ type: 'box', halfExtents: new Vector3(1, 1, 1), center: new Vector3(), rotation: new Quaternion() },
  };
  const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z);

  test('behind a wall, beside it, around its edge; what is ignored is no wall', async () => {
    const twin = await FormTwin.create();
    const wall = await twin.add(cube, at(0, 0, -10).scale(new Vector3(4, 4, 0.1)));
    const hidden = await twin.add(cube, at(0, 0, -20));
    const beside = await twin.add(cube, at(15, 0, -20));
    const half = await twin.add(cube, at(8, 0, -20));
    const behind = await twin.add(cube, at(0, 0, 20));
    const targets = [behind, half, hidden, beside, wall];
    const sight = await twin.service.sees(view, targets);
    expect([...sight.points]).toEqual([0, 4, 0, 9, 9]);
    expect([...sight.ids]).toEqual([half, beside, wall]);
    expect([...(await twin.service.sees(view, targets, { ignore: [wall] })).points]).toEqual([0, 9, 9, 9, 9]);
    twin.service.setView({ ...view, margin: 1000 }, 'guard');
    expect([...(await twin.service.sees('guard', targets)).points]).toEqual([0, 4, 0, 9, 9]);
    // Layers and viewport of the view apply to targets only.
    twin.service.setObject(beside, { layers: 2 });
    expect([...(await twin.service.sees({ ...view, layers: 2 }, targets)).points]).toEqual([0, 0, 0, 9, 0]);
    expect([...(await twin.service.sees({ ...view, minPixels: 50 }, targets)).points]).toEqual([0, 0, 0, 0, 9]);
    // An object that is not pickable blocks nothing, but can be seen.
    twin.service.setObject(wall, { pickable: false });
    expect([...(await twin.service.sees(view, targets)).points]).toEqual([0, 9, 9, 9, 9]);
    twin.dispose();
  });

  test.each<[string, Form]>([
    ['a ball', { type: 'sphere', radius: 1, center: new Vector3(0, 0, -10) }],
    ['a capsule', { type: 'capsule', radius: 1, from: new Vector3(0, -5, -10), to: new Vector3(0, 5, -10) }],
  ])('%s hides what is behind it, and not what only its bounds would hide', async (_, form) => {
    const twin = await FormTwin.create();
    await twin.add(form, new Matrix4());
    // From the eye to (x, 0, -20), a line passes the centre at a distance of 10 sin(atan(x / 20)).
    const tiny = new Matrix4().makeScale(1e-3, 1e-3, 1e-3);
    const targets: number[] = [];
    for (const x of [0, 1.9, 2.1, -1.9, -2.1]) targets.push(await twin.add(cube, at(x, 0, -20).multiply(tiny)));
    expect([...(await twin.service.sees(view, targets)).points]).toEqual([0, 0, 9, 0, 9]);
    expect([...(await twin.service.sees(view, targets, { precision: 'obb' })).points]).toEqual([0, 0, 0, 0, 0]);
    twin.dispose();
  });

  test('one that is removed while the question is under way has no points', async () => {
    const twin = await FormTwin.create();
    const [a, b] = [await twin.add(cube, at(0, 0, -20)), await twin.add(cube, at(5, 0, -20))];
    twin.service.setView(view);
    const [first, second] = [twin.service.update(), twin.service.update()];
    const sight = twin.service.sees(view, [a, b]); // behind a waiting frame
    twin.service.removeObject(a);
    const joined = twin.service.update(); // and so the removal is sent ahead
    await Promise.all([first, second, joined]);
    expect([...(await sight).points]).toEqual([0, 9]);
    twin.dispose();
  });
});

function geometryOf(form: Form): BufferGeometry {
  if (form.type === 'mesh') {
    const { positions, indices } = form.triangles;
    return new BufferGeometry()
      .setAttribute('position', new BufferAttribute(positions, 3))
      .setIndex(new BufferAttribute(indices, 1));
  }
  if (form.type !== 'box') throw new Error(`no geometry of a ${form.type} here`);
  const { x, y, z } = form.halfExtents;
  return new BoxGeometry(2 * x, 2 * y, 2 * z);
}
