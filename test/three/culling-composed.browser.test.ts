// Everything that may happen to a scene between two renders, in any order: no value of an image differs from what three draws on
// its own, and between two renders nothing in the scene differs from what the app has set. FLIGHT=1000 npx vitest run --project
// browser test/three/culling-composed.browser.test.ts: this many images each, instead of a few.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  Color,
  ConeGeometry,
  DirectionalLight,
  Frustum,
  Group,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, litScene, PICTURE } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const WISHED = Number(import.meta.env.FLIGHT || 0);
const PICTURES = WISHED || 30;

const somewhere = (random: Random) =>
  new Matrix4().compose(random.point(14), random.rotation(), random.point(0.5).addScalar(0.8));

/** The state that a render must not change. */
function observed(scene: Scene): unknown[] {
  const all: unknown[] = [Frustum.prototype.intersectsObject, Frustum.prototype.intersectsSprite];
  scene.traverse((object) => {
    const { visible, frustumCulled, layers, parent, castShadow, children } = object;
    all.push(
      object,
      parent instanceof LOD || visible, // three sets which level it draws
      frustumCulled,
      layers.mask,
      parent,
      castShadow,
      children.slice(),
      Object.keys(object).join(),
    );
    if (object instanceof InstancedMesh)
      all.push(object.count, object.instanceMatrix, object.instanceColor, object.geometry);
    if (object instanceof BatchedMesh) all.push(object.onBeforeRender, object.customSort);
  });
  return all;
}

interface Batch {
  readonly mesh: BatchedMesh;
  readonly geometries: number[];
  instances: number[];
}

class Composed {
  readonly root = new Group();
  scene = litScene(this.root);
  renderer = painter();
  tracker: SceneTracker | null = null;
  readonly target = new WebGLRenderTarget(40, 30);
  readonly cameras = [0, 1, 2].map(() => new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 60));
  readonly #random: Random;
  readonly #occlusion: boolean;
  readonly #groups = [new Group(), new Group(), new Group()];
  readonly #crowds: InstancedMesh[] = [];
  readonly #batches: Batch[] = [];
  readonly #walls: Mesh[] = [];
  readonly #forms = [new BoxGeometry(), new ConeGeometry(0.6, 2, 7), new SphereGeometry(0.7, 7, 5)];

  constructor(random: Random, occlusion: boolean) {
    this.#random = random;
    this.#occlusion = occlusion;
    const paint = (more = {}) => new MeshLambertMaterial({ color: random.integer(0xffffff), ...more });
    this.root.add(...this.#groups);
    for (let i = 0; i < 3; i++) {
      const crowd = new InstancedMesh(this.#forms[i], paint(i === 2 ? { transparent: true, opacity: 0.5 } : {}), 80);
      for (let k = 0; k < 80; k++)
        crowd.setMatrixAt(k, somewhere(random)).setColorAt(k, new Color(random.integer(0xffffff)));
      crowd.castShadow = i === 1;
      crowd.frustumCulled = i !== 0;
      this.#crowds.push(crowd);
      const mesh = new BatchedMesh(70, 400, 800, paint());
      const batch = { mesh, geometries: this.#forms.map((form) => mesh.addGeometry(form)), instances: [] as number[] };
      mesh.sortObjects = i !== 1;
      mesh.perObjectFrustumCulled = i !== 2;
      this.#batches.push(batch);
      for (let k = 0; k < 50; k++) this.#addTo(batch);
      const wall = new Mesh(new BoxGeometry(9, 6, 0.5), paint());
      wall.position.copy(random.point(6));
      wall.castShadow = wall.receiveShadow = true;
      this.#walls.push(wall);
      const lod = new LOD()
        .addLevel(new Mesh(this.#forms[2], paint()))
        .addLevel(new Mesh(this.#forms[0], paint()), 8, 0.2);
      lod.position.copy(random.point(9));
      this.#groups[i].add(crowd, mesh, wall, lod);
      for (let k = 0; k < 12; k++) {
        const thing = new Mesh(random.pick(this.#forms), paint());
        thing.position.copy(random.point(12));
        this.#groups[i].add(thing);
      }
    }
    this.root.traverse((each) => {
      if (each instanceof Mesh) each.receiveShadow = true;
    });
  }

  async track(): Promise<void> {
    this.tracker?.dispose();
    this.tracker = await trackScene(service, this.root, {
      objectOptions: (object) =>
        object === this.#crowds[0] || object === this.#batches[2].mesh ? { cullable: true } : undefined,
      culling: { occlusion: this.#occlusion },
    });
  }

  #addTo({ mesh, geometries, instances }: Batch): void {
    if (instances.length >= mesh.maxInstanceCount) return;
    const one = mesh.addInstance(this.#random.pick(geometries));
    mesh.setMatrixAt(one, somewhere(this.#random)).setColorAt(one, new Color(this.#random.integer(0xffffff)));
    instances.push(one);
  }

  change(): string {
    const random = this.#random;
    const crowd = random.pick(this.#crowds);
    const batch = random.pick(this.#batches);
    const { mesh, instances, geometries } = batch;
    const group = random.pick(this.#groups);
    const child = random.pick(group.children);
    const changes: Record<string, () => unknown> = {
      'a count': () => {
        crowd.count = random.pick([0, 1, 0.5, 2.7, Number.NaN, 70, 80, 80]);
      },
      'instances that move': () => {
        for (let i = 0; i < 30; i++) crowd.setMatrixAt(random.integer(80), somewhere(random));
        crowd.instanceMatrix.needsUpdate = true;
        if (random.chance(0.7)) crowd.boundingSphere = null;
      },
      colours: () => {
        crowd.setColorAt(random.integer(80), new Color(random.integer(0xffffff)));
        crowd.instanceColor!.needsUpdate = true;
      },
      'a deleted instance': () => {
        for (let i = 0; i < 20 && instances.length > 0; i++)
          mesh.deleteInstance(instances.splice(random.integer(instances.length), 1)[0]);
      },
      'added instances': () => {
        for (let i = 0; i < 20; i++) this.#addTo(batch);
      },
      'an instance of another geometry': () => {
        if (instances.length > 0) mesh.setGeometryIdAt(random.pick(instances), random.pick(geometries));
      },
      'a hidden instance': () => {
        if (instances.length > 0) mesh.setVisibleAt(random.pick(instances), random.chance(0.5));
      },
      'a geometry that is deleted and added': () => {
        const at = random.integer(geometries.length);
        mesh.deleteGeometry(geometries[at]);
        batch.instances = instances.filter(
          (one) => (mesh as never as { _instanceInfo: { active: boolean }[] })._instanceInfo[one].active,
        );
        mesh.optimize();
        geometries[at] = mesh.addGeometry(random.pick(this.#forms));
      },
      'room for more instances': () => mesh.setInstanceCount(mesh.maxInstanceCount + random.integer(9)),
      'room for more vertices': () => mesh.setGeometrySize(500 + random.integer(200), 1000 + random.integer(300)),
      'instances of a batch that move': () => {
        for (const one of instances.slice(0, 20)) mesh.setMatrixAt(one, somewhere(random));
        if (random.chance(0.7)) mesh.boundingSphere = null;
      },
      'another parent': () => {
        const other = random.pick(this.#groups);
        random.chance(0.5) ? other.add(child) : other.attach(child);
      },
      'an end': () => {
        group.remove(child);
        if (random.chance(0.7)) this.#later.push(() => group.add(child));
      },
      'what was gone': () => this.#later.shift()?.(),
      'hidden or shown': () => {
        child.visible = !child.visible;
      },
      'a group that moves': () => group.position.copy(random.point(3)),
      'a group that is scaled': () => group.scale.setScalar(random.pick([1, 1, -1, 0.5, 2])),
      'another layer': () => child.layers.set(random.chance(0.8) ? 0 : 1),
      'a wall that moves': () => random.pick(this.#walls).position.copy(random.point(6)),
      'a wall that shines through': () => {
        const { material } = random.pick(this.#walls) as Mesh<BoxGeometry, MeshLambertMaterial>;
        Object.assign(material, { transparent: random.chance(0.4), opacity: 0.5 });
        material.needsUpdate = true;
      },
      'vertices that move': () => {
        const { geometry } = random.pick(this.#walls);
        geometry.translate(random.range(-2, 2), random.range(-2, 2), 0);
      },
      'callbacks of the app': () => {
        this.scene.onBeforeRender = this.scene.onAfterRender = random.pick([() => {}, Scene.prototype.onBeforeRender]);
      },
      'a callback of an object': () => {
        child.onBeforeRender = () => {};
        this.#later.push(() => {
          delete (child as Partial<Object3D>).onBeforeRender;
        });
      },
      'another scene': () => {
        this.scene = litScene(this.root);
        this.#shade();
      },
      'another renderer': () => {
        this.renderer.dispose();
        this.renderer.forceContextLoss();
        this.renderer = painter();
      },
      shadows: () => this.#shade(),
      'a sorting': () => {
        mesh.sortObjects = random.chance(0.5);
        mesh.perObjectFrustumCulled = random.chance(0.7);
      },
      'culled or not': () => {
        crowd.frustumCulled = random.chance(0.6);
      },
    };
    const name = random.pick(Object.keys(changes));
    changes[name]();
    return name;
  }

  readonly #later: (() => unknown)[] = [];

  #shade(): void {
    const sun = this.scene.children.find((each) => each instanceof DirectionalLight) as DirectionalLight;
    sun.castShadow = this.#random.chance(0.5);
    sun.shadow.mapSize.set(64, 64);
    Object.assign(sun.shadow.camera, { left: -15, right: 15, top: 15, bottom: -15 });
  }
}

function painter(): WebGLRenderer {
  const renderer = new WebGLRenderer({ antialias: false });
  renderer.setSize(PICTURE.width, PICTURE.height);
  renderer.shadowMap.enabled = true;
  return renderer;
}

test.each([true, false])(
  `occlusion: %s, ${PICTURES} pictures, seed ${SEED}`,
  async (occlusion) => {
    const random = new Random(SEED);
    const world = new Composed(random, occlusion);
    const [first, second, third] = world.cameras;
    first.position.set(0, 1, 15);
    await world.track();
    const sum = { left: 0, occluded: 0, painted: 0 };
    const log: string[] = [];
    let last: Promise<unknown> = Promise.resolve();
    for (let picture = 0; picture < PICTURES; picture++) {
      for (let n = random.integer(3); n > 0; n--) log.push(world.change());
      if (picture % 3 > 0) for (const camera of world.cameras) camera.rotation.y += random.range(-0.1, 0.1);
      if (random.chance(0.1)) random.pick(world.cameras).position.copy(random.point(12));
      if (random.chance(0.03)) {
        log.push('tracked anew');
        await world.track();
      }
      const { scene, renderer } = world;
      const before = observed(scene);
      for (const camera of random.chance(0.3) ? [second, first, third] : [first]) {
        const { count, painted } = compareCulling(renderer, scene, camera);
        expect(count, `${picture}: ${log.slice(-12).join(', ')}`).toBe(0);
        sum.painted += painted;
      }
      if (random.chance(0.2)) {
        renderer.setRenderTarget(world.target);
        renderer.render(scene, first);
        renderer.setRenderTarget(null);
      }
      const after = observed(scene);
      const other = after.findIndex((each, i) =>
        Array.isArray(each)
          ? each.some((one, k) => one !== (before[i] as unknown[])[k]) ||
            each.length !== (before[i] as unknown[]).length
          : each !== before[i],
      );
      // The twin of a camera is drawn last; what renders by the tracker's own cameras change is restored with each render.
      expect([picture, other, after.length]).toEqual([picture, -1, before.length]);
      const { objects, instances, occluded } = world.tracker!.culled;
      sum.left += objects + instances;
      sum.occluded += occluded;
      if (random.chance(0.3)) continue;
      if (random.chance(0.5)) world.tracker!.setView(second, PICTURE, 'second');
      last = world.tracker!.update(first, PICTURE);
      if (random.chance(0.8)) await last;
    }
    await last;
    world.tracker!.dispose();
    world.renderer.dispose();
    world.renderer.forceContextLoss();
    expect(sum.painted).toBeGreaterThan(PICTURES * 1000);
    expect(sum.left).toBeGreaterThan(PICTURES * 20);
    if (occlusion) expect(sum.occluded).toBeGreaterThan(PICTURES / 4);
    console.log(
      `left out of a picture: ${(sum.left / PICTURES).toFixed(1)}, hidden: ${(sum.occluded / PICTURES).toFixed(1)}`,
    );
  },
  Math.max(60_000, PICTURES * 3000),
);
