// With `precision: 'obb'`, rays and picks hit the boxes that represent an object: against the slab test in float64.
import { type CollisionService, createCollisionService, type NamedBox, type ObjectId } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Ray, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { viewFromCamera } from '../../../src/client/three/view/view.js';
import { boxMatrix, randomBoxes } from '../../fixtures/given-boxes.js';
import { PLACES } from '../../fixtures/twin.js';
import { crossBox } from '../../oracle/bone-boxes.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const OBB = { precision: 'obb' } as const;
/** World units within which rounding decides; the largest coordinates are some 10⁶. */
const HAIR = 1e-6;

interface Thing {
  id: ObjectId;
  boxes: NamedBox[];
  /** Relative to the place. */
  matrix: Matrix4;
}

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** Where a ray relative to the place enters and leaves each box: the object, the name and the distances. */
function crossingsOf(things: Thing[], ray: Ray, grown: number) {
  return things.flatMap(({ id, boxes, matrix }) =>
    boxes.flatMap((box) => {
      const crossed = crossBox(ray, boxMatrix(box, matrix), grown);
      return crossed && crossed[0] >= 0 ? [{ key: `${id} ${box.name}`, crossed }] : [];
    }),
  );
}

describe.each(PLACES)('%s', (_, place) => {
  test(`hits are those of slabs, of mirrored, sheared and scaled objects too, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const mesh = await service.addMesh(icosphere(0.5, 1));
    const inherited = randomBoxes(random, 3);
    const withBoxes = await service.addMesh(icosphere(0.5, 1), { boxes: inherited });
    let hitCount = 0;
    let sure = 0;
    for (let round = 0; round < 6; round++) {
      const things = Array.from({ length: 5 }, (_, i): Thing => {
        const matrix = random.placement(random.point(2), { low: 0.4, high: 2, mirrored: 0.4, sheared: 0.3 });
        const isInherited = i === 0;
        const boxes = isInherited ? inherited : randomBoxes(random, 1 + random.integer(6));
        const moved = matrix.clone().setPosition(new Vector3().setFromMatrixPosition(matrix).add(place));
        const shape = { type: 'mesh', mesh: isInherited ? withBoxes : mesh } as const;
        const id = service.addObject({ shape, matrix: moved.elements, ...(!isInherited && { boxes }) });
        // float64 has no more digits at that place.
        const exact = matrix.setPosition(new Vector3().setFromMatrixPosition(moved).sub(place));
        return { id, boxes, matrix: exact };
      });
      await service.update();
      for (let i = 0; i < 60; i++) {
        const aim = random.point(2.5);
        const origin = random.direction().multiplyScalar(12).add(aim);
        const at = origin.clone().add(place);
        const exact = at.clone().sub(place);
        const ray = new Ray(exact, aim.sub(exact).normalize());
        const asked = { origin: at.toArray(), direction: ray.direction.toArray() };
        const hits = await service.raycastAll(asked, OBB);
        const [outer, inner] = [crossingsOf(things, ray, HAIR), crossingsOf(things, ray, -HAIR)];
        const found = new Map<string, number[]>();
        for (const { object, box, bone, distance, triangle } of hits) {
          const thing = things.find(({ id }) => id === object)!;
          expect(box).toBe(thing.boxes[bone].name);
          expect(triangle).toBe(-1);
          const key = `${object} ${box}`;
          found.set(key, [...(found.get(key) ?? []), distance]);
        }
        for (const { key, crossed } of inner) {
          const own = found.get(key);
          expect(own, `${key} is not hit`).toHaveLength(2);
          expect(Math.abs(own![0] - crossed[0])).toBeLessThan(1e-4 * 12);
          sure++;
        }
        for (const [key, [enter, leave]] of found) {
          const { crossed } = outer.find((each) => each.key === key) ?? { crossed: [Infinity, -Infinity] };
          expect(enter, `${key} is hit where no box is`).toBeGreaterThanOrEqual(crossed[0] - HAIR);
          expect(leave).toBeLessThanOrEqual(crossed[1] + HAIR);
        }
        const first = hits[0] ?? null;
        expect(await service.raycast(asked, OBB)).toEqual(first);
        const rays = Float32Array.of(...asked.origin, 0, ...asked.direction, Number.POSITIVE_INFINITY);
        if (place.lengthSq() === 0) {
          const { objects, bones } = await service.raycastMany(rays, OBB);
          // With the ray in float32: of the same box unless that is grazed.
          if (first && inner.length === outer.length && objects[0] === first.object) {
            expect(first.bone).toBeGreaterThanOrEqual(0);
            expect(bones[0]).toBeGreaterThanOrEqual(0);
          }
        }
        const end = ray.at(30, new Vector3()).add(place).toArray();
        expect(await service.lineOfSight(asked.origin, end, OBB)).toBe(first === null);
        hitCount += hits.length;
      }
      for (const { id } of things) service.removeObject(id);
    }
    expect(hitCount).toBeGreaterThan(300);
    expect(sure).toBeGreaterThan(150);
  });

  test('a pick names the box, and other precisions know nothing of it', async () => {
    const mesh = await service.addMesh(icosphere(0.5, 2));
    const boxes: NamedBox[] = [
      { name: 'left', center: [-2, 0, 0], halfExtents: [0.5, 0.5, 0.5] },
      { name: 'right', center: [2, 0, 0], halfExtents: [0.5, 0.5, 0.5], rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2] },
    ];
    const matrix = new Matrix4().makeTranslation(place);
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements, boxes });
    const camera = new PerspectiveCamera(50, 1, 0.1, 100);
    camera.position.copy(place).add(new Vector3(0, 0, 10));
    camera.updateMatrixWorld();
    service.setView(viewFromCamera(camera, { width: 200, height: 200 }));
    const { visible } = await service.update();
    expect([...visible.ids]).toEqual([id]);
    const pixelOf = (x: number) => {
      const drawn = new Vector3(x, 0, 0.5).add(place).project(camera);
      return 100 + 100 * drawn.x;
    };
    expect(await service.pick(pixelOf(-2), 100, OBB)).toMatchObject({ object: id, box: 'left', bone: 0 });
    expect(await service.pick(pixelOf(2), 100, OBB)).toMatchObject({ object: id, box: 'right', bone: 1 });
    expect(await service.pick(pixelOf(0), 100, OBB)).toBeNull(); // the mesh is there, but no box
    expect(await service.pick(pixelOf(2), 100)).toBeNull();
    const exact = await service.pick(pixelOf(0), 100);
    expect(exact).toMatchObject({ object: id, bone: -1 });
    expect(exact).not.toHaveProperty('box');
    const around = await service.pick(pixelOf(2), 100, { precision: 'aabb' });
    expect(around).toMatchObject({ object: id, bone: -1 });
    expect(around).not.toHaveProperty('box');
    service.setObject(id, { boxes: [] });
    expect(await service.pick(pixelOf(2), 100, OBB)).toBeNull();
    expect(await service.pick(pixelOf(0), 100, OBB)).toMatchObject({ object: id, bone: -1 });
  });
});
