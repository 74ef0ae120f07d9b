// Snaps among many boxes, some of which are behind walls, where planes clip: against examining every feature of every box, and
// every surface that may hide it. FRONT_BOXES=4000 for ten times as many.
import { type CollisionService, createCollisionService, type PickOptions, type SnapKind } from 'collision-worker';
import { Matrix4, OrthographicCamera, PerspectiveCamera, Ray, Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, SEED } from '../../oracle/random.js';

const BOXES = Number(process.env.FRONT_BOXES ?? 400);
const ROUNDS = Number(process.env.SNAP_ROUNDS ?? 2);
const PICKS = 3;
const VIEWPORT = { x: 0, y: 0, width: 400, height: 300 };
/** Pixels by which rounding may differ, and the order of features within a 64th of a pixel. */
const DOUBT = 0.03;
/** In the world: a point nearer to a clip plane than this, but not on it, may be on either side. */
const CLIP_DOUBT = 1e-8;

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

type Camera = PerspectiveCamera | OrthographicCamera;
/** Four numbers: points of negative value are clipped. */
type Clip = readonly [number, number, number, number];
/** A transformed box about the origin, or a mesh: its triangles, and its points and edges for snapping. */
interface Thing {
  id: number;
  triangles: Vector3[][];
  corners: Vector3[];
  edges: [Vector3, Vector3][];
  ball?: { center: Vector3; radius: number };
}

const QUADS = [
  [0, 4, 6, 2],
  [1, 3, 7, 5],
  [0, 1, 5, 4],
  [2, 6, 7, 3],
  [0, 2, 3, 1],
  [4, 5, 7, 6],
];

function boxOf(half: Vector3, matrix: Matrix4): Thing {
  const corners = Array.from({ length: 8 }, (_, i) =>
    new Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).multiply(half).applyMatrix4(matrix),
  );
  const id = service.addObject({
    shape: { type: 'box', halfExtents: half.toArray() },
    matrix: matrix.elements,
    side: 'double',
  });
  const edges: [Vector3, Vector3][] = [];
  for (let i = 0; i < 8; i++) for (const k of [1, 2, 4]) if (!(i & k)) edges.push([corners[i], corners[i | k]]);
  const triangles = QUADS.flatMap(([a, b, c, d]) => [
    [corners[a], corners[b], corners[c]],
    [corners[a], corners[c], corners[d]],
  ]);
  return { id, triangles, corners, edges };
}

/** A flat grid of triangles across the scene, whose corners are far from every cursor: it offers nothing for snapping. */
async function gridOf(cells: number, size: number, matrix: Matrix4): Promise<Thing> {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let j = 0; j <= cells; j++) {
    for (let i = 0; i <= cells; i++) positions.push(((2 * i) / cells - 1) * size, ((2 * j) / cells - 1) * size, 0);
  }
  for (let j = 0; j < cells; j++) {
    for (let i = 0; i < cells; i++) {
      const a = j * (cells + 1) + i;
      indices.push(a, a + 1, a + cells + 2, a, a + cells + 2, a + cells + 1);
    }
  }
  const vertexAt = (i: number) => new Vector3().fromArray(Float32Array.from(positions), 3 * i).applyMatrix4(matrix);
  const triangles = Array.from({ length: indices.length / 3 }, (_, t) =>
    [0, 1, 2].map((k) => vertexAt(indices[3 * t + k])),
  );
  const mesh = await service.addMesh({
    positions: Float32Array.from(positions),
    indices: Uint32Array.from(indices),
  });
  const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements, side: 'double' });
  return { id, triangles, corners: [], edges: [] };
}

/** A ball whose front is at the origin. */
function ballOf(radius: number, place: Vector3): Thing {
  const center = new Vector3(0, 0, -radius).add(place);
  const id = service.addObject({
    shape: { type: 'sphere', radius },
    matrix: new Matrix4().setPosition(center).elements,
    side: 'double',
  });
  return { id, triangles: [], corners: [], edges: [], ball: { center, radius } };
}

const valueAt = ([a, b, c, d]: Clip, { x, y, z }: Vector3) => a * x + b * y + c * z + d;

function oracle(camera: Camera, cursor: [number, number], radius: number, clips: readonly Clip[], things: Thing[]) {
  const pixelOf = (p: Vector3): [number, number] => {
    const q = p.clone().project(camera);
    return [((q.x + 1) / 2) * 400 - cursor[0], ((1 - q.y) / 2) * 300 - cursor[1]];
  };
  const pixelsOf = (p: Vector3) => Math.hypot(...pixelOf(p));
  const isDrawn = (p: Vector3) => {
    const q = p.clone().project(camera);
    const isBefore = p.clone().applyMatrix4(camera.matrixWorldInverse).z < 0;
    return isBefore && Math.max(Math.abs(q.x), Math.abs(q.y), Math.abs(q.z)) <= 1;
  };
  /** 1 if kept, 0 if clipped, 0.5 if uncertain. */
  const keptOf = (p: Vector3): number =>
    Math.min(1, ...clips.map((clip) => (Math.abs(valueAt(clip, p)) < CLIP_DOUBT ? 0.5 : Number(valueAt(clip, p) > 0))));
  const near = (p: Vector3) => {
    const q = p.clone().project(camera);
    return new Vector3(q.x, q.y, -1).unproject(camera);
  };
  // Only triangles drawn near the cursor can hide anything there.
  const hiding = things.flatMap(({ triangles }) =>
    triangles.filter((triangle) => {
      const drawn = triangle.map((p) => p.clone().project(camera));
      if (!triangle.every((p) => p.clone().applyMatrix4(camera.matrixWorldInverse).z < -0.01)) return true;
      const xs = drawn.map(({ x }) => ((x + 1) / 2) * 400 - cursor[0]);
      const ys = drawn.map(({ y }) => ((1 - y) / 2) * 300 - cursor[1]);
      const reach = radius + 1;
      return Math.min(...xs) < reach && Math.max(...xs) > -reach && Math.min(...ys) < reach && Math.max(...ys) > -reach;
    }),
  );
  const hit = new Vector3();
  /** 'visible', 'hidden' or 'doubtful', by how many pixels the nearest surface is in front of the point. */
  const visibilityOf = (p: Vector3) => {
    const start = near(p);
    const way = p.clone().sub(start);
    const length = way.length();
    const ray = new Ray(start, way.normalize());
    const beside = p.clone().add(new Vector3(1, 0, 0).transformDirection(camera.matrixWorld).multiplyScalar(1e-3));
    const pixel = 1e-3 / Math.hypot(...pixelOf(beside).map((value, k) => value - pixelOf(p)[k]));
    let most = -Infinity;
    let isDoubtful = false;
    const note = (): void => {
      const kept = keptOf(hit);
      const pixels = (length - hit.distanceTo(start)) / pixel;
      if (kept === 0.5) isDoubtful ||= pixels > 0.2;
      else if (kept === 1) most = Math.max(most, pixels);
    };
    const noteAt = (t: number): void => {
      ray.at(t, hit);
      note();
    };
    for (const { ball } of things) {
      if (!ball) continue;
      const middle = ball.center.clone().sub(start).dot(way);
      const half = Math.sqrt(ball.radius ** 2 - ray.distanceSqToPoint(ball.center));
      for (const t of [middle - half, middle + half]) if (t > 0) noteAt(t);
    }
    for (const [a, b, c] of hiding) {
      if (most > 0.3) return 'hidden';
      if (ray.intersectTriangle(a, b, c, false, hit)) note();
    }
    if (most > 0.3) return 'hidden';
    return isDoubtful || most > 0.2 ? 'doubtful' : 'visible';
  };
  return { pixelsOf, isDrawn, keptOf, visibilityOf, pixelOf };
}

type Wall = 'nothing' | 'a ball' | 'a box' | 'a box that ends near the cursor' | 'two triangles' | 'a grid';
type Cut = 'nowhere' | 'beside all' | 'through the wall' | 'before the wall' | 'at faces of boxes';

async function sceneOf(random: Random, wall: Wall, cut: Cut, isParallel: boolean, place: Vector3, boxes: number) {
  const camera = isParallel
    ? new OrthographicCamera(-8, 8, 6, -6, 0.1, 100)
    : new PerspectiveCamera(45, 4 / 3, 0.1, 100);
  camera.position.set(random.range(-2, 2), random.range(-2, 2), 14).add(place);
  camera.lookAt(place);
  // Everything is near the centre of the view, or near its left border.
  const isAtBorder = random.chance(0.3);
  if (isAtBorder && isParallel) camera.translateX(8);
  else if (isAtBorder) camera.rotateY(-Math.atan((4 / 3) * Math.tan(Math.PI / 8)));
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: VIEWPORT,
  });
  const things: Thing[] = [];
  const tilt = new Matrix4().makeRotationAxis(random.direction(), random.range(0, 0.4)).setPosition(place);
  if (wall === 'a ball') things.push(ballOf(random.pick([1.5, 6]), place));
  if (wall === 'a box') things.push(boxOf(new Vector3(9, 9, 0.2), tilt));
  if (wall === 'a box that ends near the cursor') {
    things.push(
      boxOf(new Vector3(9, 9, 0.2), new Matrix4().setPosition(place.x + random.range(-9.1, -8.9), place.y, place.z)),
    );
  }
  if (wall === 'two triangles') things.push(await gridOf(1, 12, tilt));
  if (wall === 'a grid') things.push(await gridOf(random.integer(30) + 10, 12, tilt));
  // On a grid, so that faces are coplanar and coincide; some many times at one place.
  for (let i = 0; i < boxes; i++) {
    const at = random.chance(0.3)
      ? new Vector3(random.integer(4) - 2, random.integer(4) - 2, random.integer(12) - 9).multiplyScalar(0.375)
      : random
          .point(1)
          .multiply(new Vector3(0.7, 0.7, 3))
          .add(new Vector3(0, 0, -2.5));
    // Few in front of the walls, so that these are seen.
    if (at.z > 0.15 && random.chance(0.97)) at.z -= 2;
    const half = random.chance(0.5) ? new Vector3(0.125, 0.125, 0.125) : new Vector3(0.02, 0.05, 0.1);
    things.push(boxOf(half, new Matrix4().setPosition(at.add(place))));
  }
  const clips: Record<Cut, Clip[]> = {
    nowhere: [],
    'beside all': [[0, 0, 1, 100]],
    'through the wall': [[...random.direction().toArray(), random.range(-0.3, 0.3)]],
    'before the wall': [[0, 0, -1, random.range(-0.06, 0)]],
    'at faces of boxes': [
      [0, 0, -1, -0.25],
      [1, 0, 0, 0.875],
    ],
  };
  await service.update();
  // Relative to the place.
  const placed = clips[cut].map((clip): Clip => [clip[0], clip[1], clip[2], 2 * clip[3] - valueAt(clip, place)]);
  return { camera, things, clips: placed, middle: isAtBorder ? 0 : 200 };
}

const WALLS: Wall[] = ['nothing', 'a ball', 'a box', 'a box that ends near the cursor', 'two triangles', 'a grid'];
const CUTS: Cut[] = ['nowhere', 'beside all', 'through the wall', 'before the wall', 'at faces of boxes'];

test.each(WALLS.flatMap((wall) => CUTS.map((cut) => [wall, cut] as const)))(
  `behind %s, cut %s, seed ${SEED}`,
  async (wall, cut) => {
    const random = new Random(SEED + 100 * WALLS.indexOf(wall) + CUTS.indexOf(cut));
    for (let round = 0; round < ROUNDS; round++) {
      // Among more of them, more is hidden before something is found.
      const isLast = round === ROUNDS - 1;
      const { camera, things, clips, middle } = await sceneOf(
        random,
        wall,
        cut,
        round % 2 === 1,
        new Vector3(...(round % 3 === 1 ? [1e5, -2e5, 1e4] : [0, 0, 0])),
        isLast ? 8 * BOXES : BOXES,
      );
      for (let pick = 0; pick < (isLast ? 2 : PICKS); pick++) {
        const cursor: [number, number] = [Math.max(middle + random.range(-16, 16), 0), 150 + random.range(-16, 16)];
        const radius = random.pick([6, 12]);
        const kinds: SnapKind[] = random.chance(0.7) ? ['vertex', 'midpoint'] : ['edge'];
        const options: PickOptions = {
          snap: kinds as ['vertex'],
          radius,
          ...(clips.length > 0 && { clip: clips.flat() }),
        };
        const snap = (await service.pick(...cursor, options))?.snap;
        const what = `round ${round}, pick ${pick} of ${kinds.join()} at ${cursor.join()}, ${snap?.kind} ${snap?.pixels}`;
        const { pixelsOf, isDrawn, keptOf, visibilityOf, pixelOf } = oracle(camera, cursor, radius, clips, things);
        if (snap) {
          const point = new Vector3(...snap.point);
          expect(keptOf(point), `${what}: cut away`).toBeGreaterThan(0);
          expect(visibilityOf(point), `${what}: hidden`).not.toBe('hidden');
          expect(Math.abs(pixelsOf(point) - snap.pixels), what).toBeLessThan(1e-3);
        }
        const most = Math.min(radius, snap?.pixels ?? radius) - DOUBT;
        const check = (p: Vector3): void => {
          if (!isDrawn(p) || pixelsOf(p) > most || keptOf(p) === 0) return;
          // Points on a plane are kept.
          const isOn = keptOf(p) === 0.5 && clips.some((clip) => valueAt(clip, p) !== 0 && keptOf(p) < 1);
          if (isOn || visibilityOf(p) !== 'visible') return;
          expect.fail(`${what}: but one at ${p.toArray().join()}, ${pixelsOf(p)} pixels away`);
        };
        const isNear = ([a, b]: [Vector3, Vector3]) => {
          const [[ax, ay], [bx, by]] = [pixelOf(a), pixelOf(b)];
          return !(
            Math.min(ax, bx) > most ||
            Math.max(ax, bx) < -most ||
            Math.min(ay, by) > most ||
            Math.max(ay, by) < -most
          );
        };
        for (const { corners, edges } of things) {
          for (const p of kinds[0] === 'vertex' ? corners : []) check(p);
          for (const edge of edges) {
            if (!isNear(edge)) continue;
            const [a, b] = edge;
            if (kinds[0] === 'vertex') check(a.clone().lerp(b, 0.5));
            else check(nearestKept(edge, (p) => isDrawn(p) && keptOf(p) === 1, pixelsOf) ?? new Vector3(Infinity));
          }
        }
      }
      service.removeObjects(Uint32Array.from(things, ({ id }) => id));
    }
  },
  120_000,
);

/** Where the kept part of an edge is the fewest pixels away: samples, then bisection around the best one. */
function nearestKept(
  [a, b]: [Vector3, Vector3],
  isKept: (p: Vector3) => boolean,
  pixelsOf: (p: Vector3) => number,
): Vector3 | null {
  const at = (share: number) => a.clone().lerp(b, share);
  const pixelsAt = (share: number) => (share >= 0 && share <= 1 && isKept(at(share)) ? pixelsOf(at(share)) : Infinity);
  let [best, least] = [-1, Infinity];
  for (let i = 0; i <= 32; i++) if (pixelsAt(i / 32) < least) [best, least] = [i / 32, pixelsAt(i / 32)];
  if (best < 0) return null;
  for (let step = 1 / 32; step > 1e-9; step /= 2) {
    for (const next of [best - step, best + step]) {
      if (pixelsAt(next) < least) [best, least] = [next, pixelsAt(next)];
    }
  }
  return at(best);
}
