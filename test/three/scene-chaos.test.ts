// Scenes of every class that three draws, to which anything happens in any order,
// including a lost worker: a tracker that lived through it gives the same results as a new
// tracker in a new service, and for objects with triangles the same as three's Raycaster.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneIntersection, type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  LOD,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  type PerspectiveCamera,
  Points,
  PointsMaterial,
  type SkinnedMesh,
  Sprite,
  SpriteMaterial,
  TorusKnotGeometry,
  Vector3,
} from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { afterEach, expect, test, vi } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { shareOf } from '../fixtures/share.js';
import { RandomBatch } from '../fixtures/three-batches.js';
import { SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { cameraAt, comparePosedPicks, rigIn } from '../fixtures/three-rigs.js';
import { place, randomMatrix } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';
import { poseRandomly, type Rig } from '../oracle/rigs.js';

const LIVES = shareOf(4);
const ROUNDS = 8;
const STEPS = 6;
const PICKS = 25;
const RADIUS = 4;
const ORIGIN = new Vector3();

afterEach(() => {
  vi.restoreAllMocks();
});

/** All objects of a scene, and their state beyond three's. */
class Life {
  readonly root = new Group();
  readonly rigs: Rig[] = [];
  readonly batches: RandomBatch[] = [];
  readonly lods: LOD[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
    for (const make of this.#kinds) this.root.add(make());
  }

  /** One for each class. */
  readonly #kinds: readonly (() => Object3D)[] = [
    () =>
      this.#placed(new Mesh(this.#random.pick([new BoxGeometry(), new TorusKnotGeometry(0.6, 0.2, 30, 6)]), surface())),
    () => {
      const count = 4 + this.#random.integer(6);
      const instanced = new InstancedMesh(new BoxGeometry(0.5, 0.7, 0.6), surface(), count);
      for (let i = 0; i < count; i++) instanced.setMatrixAt(i, randomMatrix(this.#random, RADIUS / 2));
      return instanced;
    },
    () => this.#rig().root,
    () => {
      const lod = new LOD();
      for (let level = 0; level < 3; level++) {
        const object = this.#random.chance(0.7)
          ? this.#rig().root
          : this.#placed(new Mesh(new BoxGeometry(), surface()));
        lod.addLevel(object, 3 + 3 * level);
      }
      this.lods.push(lod);
      return lod;
    },
    () => {
      const batch = new RandomBatch(this.#random, RADIUS / 2, surface());
      this.batches.push(batch);
      return batch.mesh;
    },
    () => this.#placed(new Points(this.#walk(40), new PointsMaterial())),
    () => this.#placed(new Line(this.#walk(12), new LineBasicMaterial())),
    () => this.#placed(new LineSegments(this.#walk(12), new LineBasicMaterial())),
    () => this.#placed(new LineLoop(this.#walk(9), new LineBasicMaterial())),
    () => {
      const material = new LineMaterial({ linewidth: this.#random.range(1, 9) });
      material.resolution.set(SIZE.width, SIZE.height);
      const positions = this.#walk(8).attributes.position.array as Float32Array;
      return this.#placed(new Line2(new LineGeometry().setPositions(positions), material));
    },
    () => this.#placed(new Sprite(new SpriteMaterial({ rotation: this.#random.range(0, 6) }))),
  ];

  #placed<T extends Object3D>(object: T): T {
    object.name = `${object.type} ${object.id}`;
    place(object, this.#random, RADIUS / 2);
    return object;
  }

  #rig(): Rig {
    const rig = rigIn(this.#random, this.#random.point(1));
    this.rigs.push(rig);
    return rig;
  }

  #walk(count: number): BufferGeometry {
    const at = this.#random.point(1);
    const positions = Array.from({ length: count }, () => at.add(this.#random.point(0.5)).toArray()).flat();
    return new BufferGeometry().setAttribute('position', new Float32BufferAttribute(positions, 3));
  }

  /** Makes a random change to a random object. */
  step(): void {
    const random = this.#random;
    const { children } = this.root;
    const object = children.length > 0 ? random.pick(children) : this.root;
    const kinds: (() => unknown)[] = [
      () => this.root.add(random.pick(this.#kinds)()),
      () => children.length > 8 && object.removeFromParent(),
      () => {
        object.visible = random.chance(0.7);
      },
      () =>
        object !== this.root &&
        randomMatrix(random, RADIUS / 2).decompose(object.position, object.quaternion, object.scale),
      () => {
        // Into a group, or out of it.
        const group = children.find((child) => child.type === 'Group' && child !== object && child.name === 'shelf');
        if (group === undefined) this.root.add(Object.assign(new Group(), { name: 'shelf' }));
        else if (group.children.length > 0) this.root.add(random.pick(group.children));
        else group.add(object);
      },
      () => this.rigs.length > 0 && poseRandomly(random, random.pick(this.rigs)),
      () => this.rigs.length > 0 && poseRandomly(random, random.pick(this.rigs), 2),
      () => this.#moveVertices(object),
      () => this.rigs.length > 0 && this.#moveVertices(random.pick(this.rigs).mesh),
      () => {
        const [a, b] = [this.#anyRig(), this.#anyRig()];
        if (a === null || b === null) return;
        // A geometry of another rig, which may need other bones: those must exist.
        const isSame =
          (a.mesh as SkinnedMesh).skeleton?.bones.length === (b.mesh as SkinnedMesh).skeleton?.bones.length;
        if (!isSame || a.mesh.morphTargetInfluences?.length !== b.mesh.morphTargetInfluences?.length) return;
        a.mesh.geometry = b.mesh.geometry;
      },
      () => {
        if (!(object instanceof InstancedMesh)) return;
        object.setMatrixAt(random.integer(object.count), randomMatrix(random, RADIUS / 2));
        object.instanceMatrix.needsUpdate = true;
      },
      () => {
        if (object instanceof InstancedMesh) object.count = 1 + random.integer(object.instanceMatrix.count);
      },
      () => this.batches.length > 0 && random.pick(this.batches).change(),
      () => this.lods.length > 0 && random.pick(this.lods).addLevel(this.#rig().root, random.range(0, 12)),
    ];
    random.pick(kinds)();
  }

  #anyRig(): Rig | null {
    return this.rigs.length === 0 ? null : this.#random.pick(this.rigs);
  }

  #moveVertices(object: Object3D): void {
    const position = (object as Mesh).geometry?.attributes.position;
    if (position === undefined || 'isBatchedMesh' in object || 'isLineSegments2' in object || object.type === 'Sprite')
      return;
    const scale = this.#random.pick([1.1, 0.7, 1.5]);
    for (let i = 0; i < position.count; i++) position.setY(i, scale * position.getY(i));
    position.needsUpdate = true;
    (object as Mesh).geometry.boundingSphere = (object as SkinnedMesh).isSkinnedMesh
      ? (object as Mesh).geometry.boundingSphere
      : null;
  }

  /** As three's renderer does before it draws. */
  show(camera: PerspectiveCamera): void {
    this.root.updateMatrixWorld();
    camera.updateMatrixWorld();
    for (const lod of this.lods) lod.update(camera);
  }
}

function surface(): MeshBasicMaterial {
  return new MeshBasicMaterial({ side: 2 });
}

function wordsOf(hits: readonly SceneIntersection[]): string[] {
  return hits
    .map(({ object, distance, faceIndex, index, instanceId, batchId, bone }) =>
      [object.name || object.id, distance, faceIndex ?? index, instanceId ?? batchId, bone].join(' '),
    )
    .sort();
}

/** What is under random pixels, and the frame's visible objects and contacts: a line for each. */
async function answersOf(tracker: SceneTracker, camera: PerspectiveCamera, random: Random): Promise<string[]> {
  await settle(tracker, camera);
  const lines: string[] = [];
  for (let i = 0; i < PICKS; i++) {
    const [x, y] = [random.next() * SIZE.width, random.next() * SIZE.height];
    const hits = await tracker.pickAll(
      x,
      y,
      random.chance(0.5) ? { params: { Points: { threshold: 0.1 }, Line: { threshold: 0.1 } } } : {},
    );
    lines.push(`${x}, ${y}: ${wordsOf(hits).join('; ')}`);
  }
  const region = await tracker.pickRegion({ x: 200, y: 150, width: 200, height: 200 });
  lines.push(
    `region: ${region
      .map(({ id }) => id)
      .sort()
      .join()}`,
  );
  const frame = await tracker.update(camera, SIZE);
  const seen: number[] = [];
  frame.forEachVisible(({ object }) => seen.push(object.id));
  lines.push(`seen: ${seen.sort().join()}`);
  const met: string[] = [];
  frame.forEachContact((a, b) =>
    met.push([`${a.object.id} ${a.instanceId}`, `${b.object.id} ${b.instanceId}`].sort().join('-')),
  );
  lines.push(`met: ${met.sort().join()}`);
  return lines;
}

test.each(Array.from({ length: LIVES }, (_, i) => SEED * 1000 + i))(
  'life %i',
  async (seed) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const random = new Random(seed);
    const mortal = await KillableService.create();
    const life = new Life(random);
    const options = { ...UNRENDERED, contacts: 'any' as const };
    const tracker = await trackScene(mortal.service, life.root, options);
    const deaths = [1 + random.integer(3), 4 + random.integer(4)];
    let [hits, kills] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < STEPS; i++) life.step();
      const camera = cameraAt(random, ORIGIN);
      life.show(camera);
      // The worker is lost while frames, builds and queries are in progress.
      const isLost = deaths.includes(round);
      if (isLost) {
        const asked = [tracker.update(camera, SIZE), tracker.pick(400, 300), tracker.update(camera, SIZE)];
        const settled = Promise.allSettled<unknown>(asked);
        await mortal.kill();
        kills++;
        for (const each of await settled)
          if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'WORKER_LOST' });
      }
      for (const object of life.root.children) tracker.changed(object); // changes without an event are noticed within a second
      await settle(tracker, camera);
      const other: CollisionService = await createCollisionService();
      const fresh = await trackScene(other, life.root, options);
      await settle(fresh, camera);
      const pixels = random.integer(1 << 30);
      const [found, expected] = await Promise.all(
        [tracker, fresh].map((each) => answersOf(each, camera, new Random(pixels))),
      );
      other.dispose();
      expect(found, `seed ${seed}, round ${round}, ${kills} workers lost`).toEqual(expected);
      hits += found.filter((line) => line.includes(';')).length;
    }
    expect(hits).toBeGreaterThan(0);
    expect(kills).toBe(2);
    expect(mortal.events).toEqual(['lost', 'restored', 'lost', 'restored']);
    // After all that, objects with triangles are hit as three hits them.
    for (const child of [...life.root.children])
      child.traverse((object) => {
        if (
          'isSprite' in object ||
          'isLine' in object ||
          'isPoints' in object ||
          'isLineSegments2' in object ||
          'isInstancedMesh' in object ||
          'isBatchedMesh' in object
        )
          object.visible = false;
      });
    const camera = cameraAt(random, ORIGIN);
    life.show(camera);
    for (const object of life.root.children) tracker.changed(object);
    await settle(tracker, camera);
    const compared = await comparePosedPicks(tracker, life.root, camera, random, 4 * PICKS);
    expect(compared.faults).toEqual([]);
    expect([...tracker.untracked.values()]).toEqual([]);
  },
  60_000,
);
