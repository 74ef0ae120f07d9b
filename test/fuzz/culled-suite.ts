import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
} from 'three';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { BAD_OBJECTS, SPOILED_OBJECTS } from './bad-objects.js';

// The same tests run in Node and in a browser.

export interface Painter {
  /**
   * True if it paints: both pictures must be identical. Otherwise it lists what is drawn, of which everything that is visible
   * must be drawn.
   */
  readonly isPainting: boolean;
  render(scene: Scene, camera: PerspectiveCamera): string[];
}

/** What three draws without and with culling, or the error that it threw. */
interface Pictures {
  readonly whole: string[] | { error: unknown };
  readonly culled: string[] | { error: unknown };
}

const SIZE = { width: 64, height: 64 };

/** States in which three draws an object, or does not. */
const STATES: Record<string, (object: Object3D) => void> = {
  'in view': () => {},
  invisible: (object) => Object.assign(object, { visible: false }),
  'not culled by three': (object) => object.traverse((each) => Object.assign(each, { frustumCulled: false })),
  'on another layer': (object) => object.traverse((each) => each.layers.set(3)),
};

/** A scene most of which is out of view or behind a wall. */
class CulledWorld {
  readonly scene = new Scene();
  readonly camera = createCamera();
  readonly twin = createCamera();
  service!: CollisionService;
  tracker!: SceneTracker;
  readonly #painter: Painter;

  constructor(painter: Painter) {
    this.#painter = painter;
    const material = new MeshBasicMaterial();
    const geometry = new BoxGeometry();
    const wall = new Mesh(new BoxGeometry(8, 8, 1), material);
    wall.position.set(-5, 0, 0);
    const instances = new InstancedMesh(geometry, material, 120);
    const batch = new BatchedMesh(120, 100, 100, material);
    const geometryId = batch.addGeometry(geometry);
    for (let i = 0; i < 120; i++) {
      // In front of the wall, behind it, and out of view.
      const matrix = new Matrix4().setPosition((i % 10) * 2 - 6, Math.floor(i / 40) * 2 - 2, [3, -9, 40][i % 3]);
      instances.setMatrixAt(i, matrix);
      batch.setMatrixAt(
        batch.addInstance(geometryId),
        matrix.setPosition((i % 10) * 2 - 6, 1 - (i % 4), [4, -12, 50][i % 3]),
      );
    }
    const lod = new LOD().addLevel(new Mesh(new SphereGeometry(), material)).addLevel(new Mesh(geometry, material), 5);
    lod.position.set(5, 4, 0);
    const behind = [0, 1, 2].map((i) => new Mesh(geometry, material).translateX(-5 + i).translateZ(-4));
    this.scene.add(wall, instances, batch, lod, ...behind);
  }

  get isPainting(): boolean {
    return this.#painter.isPainting;
  }

  async open(): Promise<void> {
    this.service = await createCollisionService();
    this.tracker = await trackScene(this.service, this.scene, {
      objectOptions: () => ({ cullable: true }),
      culling: {
        ...{ occlusion: true, order: 'front-to-back' as const },
        levels: (object) =>
          object instanceof LOD ? object.levels.slice(1).map((_, i) => ({ pixels: 30 / (i + 1) })) : undefined,
      },
    });
    for (let i = 0; i < 3; i++) await this.frame();
  }

  /** Draws the scene without and with culling, and updates the tracker; returns both results, or the errors that three threw. */
  async frame(): Promise<Pictures> {
    const { tracker, camera } = this;
    const whole = attempt(() => this.#painter.render(this.scene, this.twin));
    const culled = attempt(() => this.#painter.render(this.scene, camera));
    await tracker.update(camera, SIZE);
    return { whole, culled };
  }
}

function createCamera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 1, 0.1, 30);
  camera.position.z = 10;
  return camera;
}

function attempt(draw: () => string[]): string[] | { error: unknown } {
  try {
    return draw();
  } catch (error) {
    return { error };
  }
}

const hasThrown = (picture: string[] | { error: unknown }): picture is { error: unknown } => 'error' in picture;

export function fuzzCulling({ share, painter }: { share: number; painter: () => Painter }): void {
  let world: CulledWorld;
  let firstPictures: { culled: string[] };
  beforeAll(async () => {
    world = new CulledWorld(painter());
    await world.open();
    firstPictures = (await world.frame()) as { culled: string[] };
  });
  afterAll(() => world.service.dispose());

  test('much of the scene is left out', () => {
    const { objects, instances, occluded } = world.tracker.culled;
    expect(objects + instances).toBeGreaterThan(100);
    expect(occluded).toBeGreaterThan(20);
  });

  test(`objects that are or become no good are drawn as three draws them, and all others as before, seed ${SEED}`, async () => {
    const warnSpy = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const errorSpy = vi.spyOn(console, 'error').mockImplementation(() => {}); // errors of three itself
    onTestFinished(() => {
      warnSpy.mockRestore();
      errorSpy.mockRestore();
    });
    const random = new Random(SEED);
    const problems: string[] = [];
    for (const { what, make, change } of [...BAD_OBJECTS, ...SPOILED_OBJECTS]) {
      // three itself iterates over endless values.
      if (/endless|spin|longest|huge|2\^/.test(what)) continue;
      for (const [state, setState] of Object.entries(STATES)) {
        if (!random.chance(share)) continue;
        const problem = await drawWith(make(), setState, change);
        if (problem !== '') problems.push(`${what}, ${state}: ${problem}`);
      }
    }
    expect(problems).toEqual([]);
  });

  /** Adds an object to the scene, changes it there, and removes it again; returns how the result differs from that without it. */
  async function drawWith(object: Object3D, setState: (object: Object3D) => void, change?: (object: Object3D) => void) {
    const { scene, tracker, service } = world;
    const badIds = new Set<string>();
    object.position.set(8, -3, -25);
    try {
      object.traverse((each) => badIds.add(each.uuid));
      setState(object);
    } catch {
      return ''; // it is not an object at all
    }
    let problem = '';
    const addProblem = (what: string) => {
      if (problem === '') problem = what;
    };
    const draw = async (isSettled: boolean) => {
      try {
        const { whole, culled } = await world.frame();
        if (hasThrown(whole)) return;
        if (hasThrown(culled)) addProblem(`threw ${(culled as { error: Error }).error?.stack}`);
        else if (world.isPainting) {
          if (whole.join() !== culled.join()) addProblem('paints another picture');
        } else if (isSettled) {
          const otherLines = culled.filter((line: string) => !badIds.has(line.split(' ')[0]));
          if (otherLines.join() !== firstPictures.culled.join())
            addProblem(`drew ${otherLines.length} others and not ${firstPictures.culled.length}`);
        }
      } catch (error) {
        addProblem(`update rejects with ${(error as Error)?.stack}`);
      }
    };
    scene.children.push(object);
    object.parent = scene;
    tracker.changed(scene);
    for (let i = 0; i < 2; i++) await draw(false);
    if (change !== undefined) {
      await expect.poll(() => service.stats.pending, { timeout: 20_000, interval: 1 }).toBe(0);
      await draw(false);
      change(object);
      tracker.changed(scene);
      for (let i = 0; i < 3; i++) await draw(false);
    }
    await draw(true);
    scene.children.splice(scene.children.indexOf(object), 1);
    tracker.changed(scene);
    badIds.clear();
    for (let i = 0; i < 3; i++) await draw(false);
    await draw(true);
    await expect.poll(() => service.stats.pending, { timeout: 20_000, interval: 1 }).toBe(0);
    return problem;
  }
}
