// Clipping planes of materials and of the renderer: picks and regions
// against three's own Raycaster, which ignores them, without what they clip.
import { type SceneTracker, type TrackOptions, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type Group,
  InstancedMesh,
  type Intersection,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  Plane,
  PlaneGeometry,
  Scene,
  ShaderMaterial,
  Vector3,
} from 'three';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { KillableService } from '../fixtures/mortal.js';
import {
  comparePickAlls,
  comparePicks,
  frontCamera,
  pickCenter,
  randomCamera,
  SIZE,
  settle,
  UNRENDERED,
} from '../fixtures/three-picks.js';
import { cube, place, randomScene } from '../fixtures/three-scenes.js';
import { DEPTHS, viewOf } from '../oracle/cameras.js';
import { type Clipping, isKept, keptParts } from '../oracle/clipping.js';
import { Random, SEED } from '../oracle/random.js';
import { ScreenRegion, worldTriangles } from '../oracle/screen-region.js';

withService();

const RADIUS = 5;
const SCENES = 8;
const PICKS = 40;
const UNCUT: Clipping = { planes: [], isIntersection: false };

/** The relevant part of three's WebGLRenderer, which itself needs a canvas. */
interface Renderer {
  clippingPlanes: Plane[];
  localClippingEnabled: boolean;
}

const isDrawnThrough = (material: Material) => (material as ShaderMaterial).isShaderMaterial === true;

/** How three's shaders clip what a material draws: first the renderer's planes, then the material's. */
function cutsOf(material: Material, renderer: Renderer | undefined): Clipping[] {
  if (isDrawnThrough(material) && !(material as ShaderMaterial).clipping) return [];
  const isLocal = renderer === undefined || renderer.localClippingEnabled;
  const own = { planes: material.clippingPlanes ?? [], isIntersection: material.clipIntersection };
  return [{ planes: renderer?.clippingPlanes ?? [], isIntersection: false }, isLocal ? own : UNCUT];
}

function isShown(hit: Intersection, renderer: Renderer | undefined): boolean {
  const { material } = hit.object as Mesh;
  const own = Array.isArray(material) ? material[hit.face!.materialIndex] : material;
  return cutsOf(own, renderer).every((cut) => isKept(hit.point, cut, 0) !== false);
}

const randomPlane = (random: Random, at = new Vector3()) =>
  new Plane().setFromNormalAndCoplanarPoint(random.direction(), random.point(2).add(at));

function cutMaterial(random: Random, material: Material, shared: readonly Plane[], at: Vector3): Material {
  const own = random.chance(0.15) ? new ShaderMaterial({ side: material.side }) : material.clone();
  if (own instanceof ShaderMaterial) own.clipping = random.chance(0.5);
  const count = random.pick([0, 1, 1, 2, 3]);
  if (count > 0) {
    own.clippingPlanes = random.chance(0.4)
      ? [...shared]
      : Array.from({ length: count }, () => randomPlane(random, at));
    own.clipIntersection = random.chance(0.4);
  }
  return own;
}

const meshesIn = (root: Object3D) => {
  const found: Mesh[] = [];
  root.traverse((node) => {
    if (node instanceof Mesh) found.push(node);
  });
  return found;
};

/** A random scene in which some materials, and some of an array, have planes. */
function cutScene(random: Random, shared: readonly Plane[], at: Vector3): Group {
  const root = randomScene(random, { objects: 25, radius: RADIUS });
  root.position.copy(at);
  for (const mesh of meshesIn(root)) {
    const { material } = mesh;
    const isMixed = random.chance(0.5);
    const one = (own: Material) => cutMaterial(random, own, shared, at);
    if (!Array.isArray(material)) mesh.material = one(material);
    else if (isMixed) mesh.material = material.map(one);
  }
  return root;
}

describe.each([
  ['at the origin', new Vector3()],
  ['10⁶ units away', new Vector3(1e6, -1e6, 1e6)],
])(`picks in scenes that are cut, %s, seed ${SEED}`, (_, at) => {
  test.each(['with a renderer', 'without one'])('%s', async (kind) => {
    const random = new Random(SEED);
    let hits = 0;
    let differing = 0;
    for (let i = 0; i < SCENES; i++) {
      const shared = [randomPlane(random, at), randomPlane(random, at)];
      const root = cutScene(random, shared, at);
      const renderer: Renderer | undefined =
        kind === 'without one'
          ? undefined
          : {
              clippingPlanes: random.chance(0.5) ? [randomPlane(random, at)] : [],
              localClippingEnabled: random.chance(0.7),
            };
      const camera = randomCamera(random, RADIUS);
      camera.position.add(at);
      camera.updateMatrixWorld();
      const tracker = await trackScene(service, root, { ...UNRENDERED, ...(renderer && { renderer }) });
      await settle(tracker, camera);
      const keeps = (hit: Intersection) => isShown(hit, renderer);
      for (let frame = 0; frame < 2; frame++) {
        const one = await comparePicks(tracker, root, camera, random, PICKS, keeps);
        const all = await comparePickAlls(tracker, root, camera, random, PICKS / 2, keeps);
        expect([...one.faults, ...all.faults], `scene ${i}, frame ${frame}`).toEqual([]);
        hits += one.hits + all.hits;
        // The renderer's and the materials' planes move: the next pick uses them, without an update.
        for (const plane of [...shared, ...(renderer?.clippingPlanes ?? [])]) {
          plane.copy(randomPlane(random, at));
        }
      }
      const whole = await comparePickAlls(tracker, root, camera, random, 10);
      if (whole.faults.length > 0) differing++;
      tracker.dispose();
    }
    expect(hits).toBeGreaterThan((SCENES * PICKS) / 2);
    expect(differing).toBeGreaterThan(SCENES / 4);
  });
});

test(`pickRegion in scenes that are cut, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const count = { found: 0, cutAway: 0, unsure: 0 };
  for (let i = 0; i < SCENES; i++) {
    const scene = new Scene();
    for (let k = 0; k < 15; k++) {
      const mesh = cube();
      mesh.material = cutMaterial(random, mesh.material, [randomPlane(random)], new Vector3()) as MeshBasicMaterial;
      place(mesh, random, 3);
      scene.add(mesh);
    }
    const renderer = { clippingPlanes: random.chance(0.5) ? [randomPlane(random)] : [], localClippingEnabled: true };
    const camera = randomCamera(random, RADIUS);
    const tracker = await trackScene(service, scene, { ...UNRENDERED, renderer });
    await settle(tracker, camera);
    const view = { ...viewOf(camera, DEPTHS[0][1]), viewport: { x: 0, y: 0, ...SIZE } };
    for (let k = 0; k < 20; k++) {
      const [x, y] = [random.range(0, SIZE.width), random.range(0, SIZE.height)];
      const [width, height] = [random.logRange(20, 800), random.logRange(20, 800)];
      const mode = random.pick(['touch', 'enclose'] as const);
      const found = await tracker.pickRegion({ x, y, width, height }, { mode, side: 'double' });
      for (const mesh of meshesIn(scene)) {
        const [ofRenderer, own] = [...cutsOf(mesh.material as Material, renderer), UNCUT, UNCUT];
        const parts = keptParts(own).map((part) => [...part, ...keptParts(ofRenderer)[0]]);
        const points = [
          [x, y],
          [x + width, y],
          [x + width, y + height],
          [x, y + height],
        ] as const;
        const truth = new ScreenRegion(view, points, { pixels: 1e-3, depth: 1e-6 }, parts);
        const { index, attributes } = mesh.geometry;
        const body = {
          corners: worldTriangles(
            { positions: attributes.position.array as Float32Array, indices: Uint32Array.from(index!.array) },
            mesh.matrixWorld,
          ),
        };
        const expected = mode === 'touch' ? truth.touches(body) : truth.encloses(body);
        if (expected === null) count.unsure++;
        else expect(found.includes(mesh), `scene ${i}, region ${k}, ${mode}`).toBe(expected);
        if (expected) count.found++;
        const whole = new ScreenRegion(view, points, { pixels: 1e-3, depth: 1e-6 });
        if (expected !== (mode === 'touch' ? whole.touches(body) : whole.encloses(body))) count.cutAway++;
      }
    }
    tracker.dispose();
  }
  expect(count.found).toBeGreaterThan(50);
  expect(count.cutAway).toBeGreaterThan(25);
  expect(count.unsure).toBeLessThan(50);
});

describe('a wall before a wall', () => {
  const back = new Mesh(new PlaneGeometry(20, 20), new MeshBasicMaterial());
  back.position.z = -5;
  let scene: Scene;
  let front: Mesh<PlaneGeometry, MeshBasicMaterial>;
  beforeEach(() => {
    scene = new Scene();
    front = new Mesh(new PlaneGeometry(4, 4), new MeshBasicMaterial());
    scene.add(front, back);
  });
  const behindFront = () => new Plane(new Vector3(0, 0, -1), -1);
  const tracked = async (options: TrackOptions = {}): Promise<SceneTracker> => {
    const tracker = await trackScene(service, scene, { ...UNRENDERED, ...options });
    await settle(tracker, frontCamera());
    return tracker;
  };
  const picked = async (tracker: SceneTracker) => (await pickCenter(tracker))?.object ?? null;

  test('is seen through where its material cuts it, from the next update on', async () => {
    const tracker = await tracked();
    expect(await picked(tracker)).toBe(front);
    front.material.clippingPlanes = [behindFront()];
    await tracker.update(frontCamera(), SIZE);
    expect(await picked(tracker)).toBe(back);
    front.material.clippingPlanes[0].constant = 1; // moved: no update needed
    expect(await picked(tracker)).toBe(front);
    front.material.clippingPlanes.push(behindFront());
    await tracker.update(frontCamera(), SIZE);
    expect(await picked(tracker)).toBe(back);
    front.material.clipIntersection = true;
    await tracker.update(frontCamera(), SIZE);
    expect(await picked(tracker)).toBe(front);
    front.material.clipIntersection = false;
    front.material.clippingPlanes = null;
    await tracker.update(frontCamera(), SIZE);
    expect(await picked(tracker)).toBe(front);
  });

  test('is cut as the renderer says, at each pick', async () => {
    const renderer: Renderer = { clippingPlanes: [], localClippingEnabled: false };
    front.material.clippingPlanes = [behindFront()];
    const tracker = await tracked({ renderer });
    expect(await picked(tracker)).toBe(front);
    renderer.localClippingEnabled = true;
    expect(await picked(tracker)).toBe(back);
    renderer.localClippingEnabled = false;
    renderer.clippingPlanes = [behindFront()];
    expect(await picked(tracker)).toBe(back);
    renderer.clippingPlanes = [new Plane(new Vector3(0, 0, -1), -6)];
    expect(await picked(tracker)).toBe(null);
    expect(await tracker.pickRegion({ x: 0, y: 0, ...SIZE })).toEqual([]);
    renderer.clippingPlanes.length = 0;
    expect(await picked(tracker)).toBe(front);
    expect(await tracker.pickRegion({ x: 0, y: 0, ...SIZE })).toEqual([front, back]);
  });

  test('moving planes sends nothing but the picks', async () => {
    const renderer: Renderer = { clippingPlanes: [behindFront()], localClippingEnabled: true };
    front.material.clippingPlanes = [behindFront()];
    const tracker = await tracked({ renderer });
    const setObject = vi.spyOn(service, 'setObject');
    for (let i = 0; i < 5; i++) {
      renderer.clippingPlanes[0].constant = i - 3;
      front.material.clippingPlanes[0].constant = 3 - i;
      await tracker.update(frontCamera(), SIZE);
      await picked(tracker);
    }
    expect(setObject).not.toHaveBeenCalled();
  });

  test('by screen distance it is not found when its middle is cut away', async () => {
    front.material.clippingPlanes = [behindFront()];
    const tracker = await tracked();
    const hits = await tracker.pickAll(SIZE.width / 2, SIZE.height / 2, { method: 'screen' });
    expect(hits.map(({ object }) => object)).toEqual([back]);
  });

  test('rays in space go by their own planes only, as planes of three or as numbers', async () => {
    front.material.clippingPlanes = [behindFront()];
    const tracker = await tracked();
    const ray = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;
    expect((await tracker.raycast(ray))?.object).toBe(front);
    expect((await tracker.raycast(ray, { clip: [behindFront()] }))?.object).toBe(back);
    expect((await tracker.raycast(ray, { clip: [0, 0, -1, -1] }))?.object).toBe(back);
    expect(await tracker.raycastAll(ray, { clip: [0, 0, -1, -1, 0, 0, -1, -6], clipIntersection: true })).toHaveLength(
      2,
    );
    expect(await tracker.lineOfSight([0, 0, 10], [0, 0, -4], { clip: [behindFront()] })).toBe(true);
    expect(await tracker.lineOfSight([0, 0, 10], [0, 0, -4])).toBe(false);
    expect((await tracker.pick(SIZE.width / 2, SIZE.height / 2, { clip: [0, 0, -1, -6] }))?.object).toBe(undefined);
    await expect(tracker.closestPoint([0, 0, 0], { clip: [behindFront()] })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
  });

  test.each<[string, Plane, boolean]>([
    ['not a number', new Plane(new Vector3(0, 0, Number.NaN), -1), true],
    ['nowhere', new Plane(new Vector3(0, 0, 0), 1), true],
    ['nowhere, and cuts everything', new Plane(new Vector3(0, 0, 0), -1), false],
    ['without an end', new Plane(new Vector3(0, 0, 1), Number.POSITIVE_INFINITY), true],
  ])('a plane that is %s does what it does in a shader', async (_, plane, isThere) => {
    front.material.clippingPlanes = [plane];
    const tracker = await tracked();
    expect(await picked(tracker)).toBe(isThere ? front : back);
  });

  test('a group of triangles goes by its own material', async () => {
    const box = new Mesh(
      new BoxGeometry(2, 2, 2),
      Array.from({ length: 6 }, () => new MeshBasicMaterial()),
    );
    box.position.z = 2;
    scene.add(box);
    const tracker = await tracked();
    expect(await picked(tracker)).toBe(box);
    const [, , , , near] = box.material as Material[];
    near.clippingPlanes = [new Plane(new Vector3(0, 0, -1), 2)]; // the side at z = 3, in front of it
    await tracker.update(frontCamera(), SIZE);
    expect(await picked(tracker)).toBe(front); // the far side of the box shows its front face in the opposite direction
    near.clippingPlanes[0].constant = 3.5;
    expect(await picked(tracker)).toBe(box);
  });

  test('instances are cut where they are', async () => {
    const crates = new InstancedMesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial(), 2);
    crates.setMatrixAt(0, new Matrix4().setPosition(0, 0, 4));
    crates.setMatrixAt(1, new Matrix4().setPosition(0, 0, 2));
    scene.add(crates);
    crates.material.clippingPlanes = [new Plane(new Vector3(0, 0, -1), 3)];
    const tracker = await tracked();
    const hit = await pickCenter(tracker);
    expect([hit?.object, hit?.instanceId]).toEqual([crates, 1]);
  });

  test('33 planes are refused by name, and a renderer that is none', async () => {
    front.material.clippingPlanes = Array.from({ length: 33 }, behindFront);
    const tracker = await tracked();
    await expect(tracker.pick(1, 1)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'pick: 33 clipping planes cut an object, expected at most 32',
    });
    const renderer = 'webgl' as unknown as Renderer;
    await expect(trackScene(service, scene, { renderer })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: `trackScene: renderer is "webgl", expected one of three's renderers`,
    });
  });

  test('a worker that is lost takes no planes with it', async () => {
    const mortal = await KillableService.create();
    front.material.clippingPlanes = [behindFront()];
    const tracker = await trackScene(mortal.service, scene, UNRENDERED);
    await settle(tracker, frontCamera());
    expect(await picked(tracker)).toBe(back);
    await mortal.kill();
    expect(await picked(tracker)).toBe(back);
    front.material.clippingPlanes[0].constant = 1;
    expect(await picked(tracker)).toBe(front);
    tracker.dispose();
  });

  test('sets are few, and are let go of', async () => {
    const tracker = await tracked();
    const camera = new OrthographicCamera(-1, 1, 1, -1, 0.1, 20);
    camera.position.z = 10;
    camera.updateMatrixWorld();
    for (let i = 0; i < 50; i++) {
      front.material.clippingPlanes = [new Plane(new Vector3(0, 0, -1), i - 25)];
      await tracker.update(camera, SIZE);
      expect(await picked(tracker)).toBe(i - 25 >= 0 ? front : back);
    }
    const pick = vi.spyOn(service, 'pick');
    await picked(tracker);
    const [, , options] = pick.mock.lastCall!;
    const { clipSets } = options as unknown as { clipSets: { sets: Uint32Array } };
    expect(clipSets.sets.length).toBeLessThanOrEqual(16); // four words for each
  });
});
