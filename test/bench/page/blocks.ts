import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BufferAttribute,
  BufferGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
} from 'three';
import type { PageFact, PageRow } from './page-row.js';
import { SIZE } from './streamed.js';

/** How many of each there are for every Mesh that is hidden. */
const GEOMETRIES = 0.4;
const INSTANCES = 20;
/** A large geometry is copied in slices, whatever its size: a million triangles do. */
const TRIANGLES = 20;

/** Of one task. */
const MOST_MS = 8;

const material = new MeshBasicMaterial();

/** A tracked scene, in which something large comes, changes and goes. */
class Stage {
  readonly facts: PageFact[] = [];
  readonly scene: Scene;
  readonly tracker: SceneTracker;
  readonly service: Awaited<ReturnType<typeof createCollisionService>>;
  readonly #camera = new PerspectiveCamera();

  static async open(): Promise<Stage> {
    const service = await createCollisionService();
    const scene = new Scene();
    scene.updateMatrixWorld();
    return new Stage(service, scene, await trackScene(service, scene));
  }

  private constructor(service: Stage['service'], scene: Scene, tracker: SceneTracker) {
    this.service = service;
    this.scene = scene;
    this.tracker = tracker;
  }

  /** A frame; answers how many milliseconds `update` took. */
  async frame(): Promise<number> {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    this.tracker.update(this.#camera, SIZE);
    return performance.now() - start;
  }

  /** Notes the longest block from what `act` does until all is done, in wall time and in time on the processor. */
  async during(what: string, act: () => void, isDone: () => boolean): Promise<void> {
    await this.frame();
    await window.heapBytes(); // the garbage of the scene is not ours
    await window.startTrace();
    for (let i = 0; i < 2; i++) await this.frame(); // no turns are due from the time that these two took
    act();
    for (let frames = 0; frames === 0 || !isDone(); frames++) await this.frame();
    await new Promise(requestAnimationFrame);
    const { wall, cpu } = await window.longestTask();
    this.facts.push({ name: `longest block while ${what}`, value: wall, unit: 'ms', atMost: MOST_MS });
    this.facts.push({ name: `on the processor while ${what}`, value: cpu, unit: 'ms' });
  }

  get isQuiet(): boolean {
    return this.tracker.pending.length === 0;
  }

  close(): void {
    this.tracker.dispose();
    this.service.dispose();
  }
}

/** How long the main thread is busy at once while large scenes come, change and go. */
export async function blocksRow(count: number): Promise<PageRow> {
  const stage = await Stage.open();
  const { scene, service } = stage;
  const crowd = crowdOf(count, () => BALL);
  scene.add(crowd);
  while (service.stats.objects < count || !stage.isQuiet) await stage.frame();
  return {
    contenders: {
      async ours(round) {
        crowd.visible = round % 2 === 0;
        return stage.frame();
      },
    },
    async facts() {
      crowd.visible = true;
      await stage.frame();
      const many = (n: number) => n.toLocaleString('en');
      await stage.during(`${many(count)} Meshes turn invisible`, () => hide(crowd, true), soon());
      await stage.during('they turn visible', () => hide(crowd, false), soon());
      await stage.during(
        'the Meshes go',
        () => scene.remove(crowd),
        () => service.stats.objects === 0,
      );
      const geometries = crowdOf(Math.ceil(GEOMETRIES * count), () => new SphereGeometry(0.4, 8, 4));
      const { length } = geometries.children;
      const isThere = (n: number) => () => service.stats.objects === n && stage.isQuiet;
      await stage.during(`${many(length)} geometries come`, () => scene.add(geometries), isThere(length));
      await stage.during(
        'the geometries go',
        () => scene.remove(geometries),
        () => service.stats.meshes === 0,
      );
      const forest = new InstancedMesh(BALL, material, INSTANCES * count);
      for (let i = 0; i < forest.count; i++) forest.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
      await stage.during(`${many(forest.count)} instances come`, () => scene.add(forest), isThere(forest.count));
      await stage.during('half of them go', () => halve(forest), isThere(forest.count / 2));
      await stage.during(
        'the others go',
        () => scene.remove(forest),
        () => service.stats.objects === 0,
      );
      const side = Math.ceil(Math.sqrt((TRIANGLES * count) / 2));
      const sheet = new Mesh(sheetOf(side), material);
      await stage.during(`a mesh of ${many(2 * side * side)} triangles comes`, () => scene.add(sheet), isThere(1));
      return stage.facts;
    },
    close: () => stage.close(),
  };
}

const BALL = new SphereGeometry(0.4, 8, 4);

function crowdOf(count: number, geometry: () => BufferGeometry): Group {
  const group = new Group();
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(geometry(), material);
    mesh.position.set(2 * i, 0, 0);
    group.add(mesh);
  }
  group.updateMatrixWorld();
  return group;
}

function hide(group: Group, isHidden: boolean): void {
  group.visible = !isHidden;
}

function halve(forest: InstancedMesh): void {
  forest.count /= 2;
}

/** Is true after a few frames. */
function soon(): () => boolean {
  let frames = 0;
  return () => ++frames > 4;
}

/** A square of so many squares, of two triangles each. */
function sheetOf(side: number): BufferGeometry {
  const n = side + 1;
  const positions = new Float32Array(3 * n * n);
  const indices = new Uint32Array(6 * side * side);
  for (let i = 0; i < n * n; i++) {
    positions[3 * i] = (i % n) / side;
    positions[3 * i + 1] = Math.floor(i / n) / side;
  }
  for (let i = 0; i < side * side; i++) {
    const corner = Math.floor(i / side) * n + (i % side);
    indices.set([corner, corner + 1, corner + n, corner + 1, corner + n + 1, corner + n], 6 * i);
  }
  return new BufferGeometry()
    .setAttribute('position', new BufferAttribute(positions, 3))
    .setIndex(new BufferAttribute(indices, 1));
}
