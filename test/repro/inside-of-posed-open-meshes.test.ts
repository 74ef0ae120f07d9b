import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';

const SEED = 1;
const POINTS = 400;
/** How far points are from the surface, and so from where the winding number of the open ball is near a half. */
const MARGIN = 0.25;

let service: CollisionService;

beforeEach(async () => {
  service = await createCollisionService({ builders: 0 });
});

afterEach(() => service.dispose());

/** Adds a ball of radius 1 from which a triangle is missing, with one bone. */
async function addOpenBall(): Promise<number> {
  const { positions, indices } = icosphere(1, 8);
  const count = positions.length / 3;
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const skin = { bones: new Uint8Array(4 * count), weights, boneCount: 1 };
  const mesh = await service.addMesh({ positions, indices: indices.slice(3), skin });
  expect(service.meshInfo(mesh).closed).toBe(false);
  return mesh;
}

test(`containing() finds a posed mesh that is open and not solid around the points inside it, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const object = service.addObject({ shape: { type: 'mesh', mesh: await addOpenBall() } });
  for (const x of [0, 1.5, -1]) {
    service.setPose(object, { bones: new Float32Array(new Matrix4().makeTranslation(x, 0, 0).elements) });
    await service.update();
    const wrong: string[] = [];
    for (let i = 0; i < POINTS; i++) {
      const point = random.point(1.5).setX(x + random.range(-1.5, 1.5));
      const radius = point.distanceTo(new Vector3(x, 0, 0));
      if (Math.abs(radius - 1) < MARGIN) continue;
      const ids = await service.containing(point.toArray());
      if (ids.includes(object) !== radius < 1) wrong.push(`${point.toArray()} at radius ${radius}`);
    }
    expect(wrong).toEqual([]);
  }
});
