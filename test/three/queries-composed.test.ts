// The tracker's queries in terms of objects, of scenes of all classes that have triangles, against slow float64 code on the
// triangles that three itself draws. The scene changes after the queries and before their answers.
import { type SceneObject, type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  Bone,
  BoxGeometry,
  BufferAttribute,
  type BufferGeometry,
  DoubleSide,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  LineSegments,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Points,
  type Quaternion,
  Scene,
  Skeleton,
  SkinnedMesh,
  Sprite,
  TetrahedronGeometry,
  Triangle,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, settle } from '../fixtures/three-picks.js';
import { triangleDistance } from '../oracle/distances.js';
import { trianglesIntersect } from '../oracle/exact.js';
import { Random, SEED } from '../oracle/random.js';

withService();

/** Multiplies the number of queries; 1 takes some seconds. */
const SHARE = Number(process.env.QUESTIONS ?? 1);
const RADIUS = 4;
const NEAR = 1e-5;

/** Versions older than r170 do not expose the triangles of an instance. */
const HAS_RANGES = 'getGeometryRangeAt' in BatchedMesh.prototype;

type Corners = readonly [Vector3, Vector3, Vector3];

interface Face {
  readonly corners: Corners;
  readonly faceIndex: number;
}

/** An object or an instance, with its triangles in world space. */
interface Part extends SceneObject {
  readonly name: string;
  readonly faces: readonly Face[];
}

/** The corners of each drawn triangle, with its number. */
function* drawnFaces(geometry: BufferGeometry, materials: number, from: number, end: number) {
  const { index, groups, drawRange } = geometry;
  const last = Math.min(end, drawRange.start + drawRange.count);
  const runs =
    materials > 0
      ? groups.filter(({ materialIndex }) => materialIndex! < materials)
      : [{ start: 0, count: Number.POSITIVE_INFINITY }];
  for (const { start, count } of runs) {
    const first = Math.max(from, drawRange.start, start);
    for (let i = first; i + 2 < Math.min(last, start + count); i += 3) {
      yield { at: [0, 1, 2].map((k) => (index === null ? i + k : index.getX(i + k))), faceIndex: Math.floor(i / 3) };
    }
  }
}

function facesOf(mesh: Mesh, world: Matrix4, from = 0, end = Number.POSITIVE_INFINITY): Face[] {
  const { geometry, material } = mesh;
  const all = Math.min(end, (geometry.index ?? geometry.attributes.position).count);
  return [...drawnFaces(geometry, Array.isArray(material) ? material.length : 0, from, all)].map(
    ({ at, faceIndex }) => {
      const corners = at.map((i) => mesh.getVertexPosition(i, new Vector3()).applyMatrix4(world));
      return { corners: corners as never as Corners, faceIndex };
    },
  );
}

function partsOf(root: Object3D): Part[] {
  const parts: Part[] = [];
  root.updateMatrixWorld();
  root.traverseVisible((object) => {
    const add = (faces: Face[], instanceId?: number) => {
      // A skin under a singular matrix has no positions: they become NaN.
      const isDrawn = faces.some(({ corners }) => new Triangle(...corners).getArea() > 0);
      if (isDrawn) parts.push({ object, instanceId, name: `${object.name} ${instanceId ?? ''}`, faces });
    };
    if (object instanceof InstancedMesh) {
      for (let i = 0; i < object.count; i++) {
        const matrix = new Matrix4();
        object.getMatrixAt(i, matrix);
        add(facesOf(object, matrix.premultiply(object.matrixWorld)), i);
      }
    } else if (object instanceof BatchedMesh) {
      const { _instanceInfo: all } = object as never as { _instanceInfo: { active: boolean; visible: boolean }[] };
      all.forEach(({ active, visible }, i) => {
        if (!active || !visible) return;
        const matrix = object.getMatrixAt(i, new Matrix4()).premultiply(object.matrixWorld);
        const { start, count } = object.getGeometryRangeAt(object.getGeometryIdAt(i))!;
        add(
          facesOf(object as never, matrix, start, start + count).map((face) => face),
          i,
        );
      });
    } else if (object instanceof Mesh) add(facesOf(object, object.matrixWorld));
  });
  return parts;
}

/** Where a ray hits a triangle, from either side; `isSure`: not near an edge. */
function crossing(origin: Vector3, way: Vector3, [a, b, c]: Corners): { t: number; isSure: boolean } | null {
  const [ab, ac] = [b.clone().sub(a), c.clone().sub(a)];
  const p = way.clone().cross(ac);
  const det = ab.dot(p);
  const s = origin.clone().sub(a);
  const u = s.dot(p) / det;
  const q = s.cross(ab);
  const v = way.dot(q) / det;
  const least = Math.min(u, v, 1 - u - v);
  if (!(least > -1e-4)) return null;
  return { t: ac.dot(q) / det, isSure: least > 1e-4 };
}

const scratch = new Vector3();
const distanceTo = (point: Vector3, { faces }: Part) =>
  Math.min(
    ...faces.map(({ corners }) => new Triangle(...corners).closestPointToPoint(point, scratch).distanceTo(point)),
  );

function gapOf(a: Part, b: Part): number {
  let least = Number.POSITIVE_INFINITY;
  for (const p of a.faces)
    for (const q of b.faces)
      least = Math.min(least, trianglesIntersect(p.corners, q.corners) ? 0 : triangleDistance(p.corners, q.corners));
  return least;
}

const FORMS = [
  () => new BoxGeometry(),
  () => new TetrahedronGeometry(0.9),
  () => new IcosahedronGeometry(0.7),
  () => {
    const form = new BoxGeometry(1, 0.4, 0.8);
    form.setDrawRange(6, 21);
    return form;
  },
  () => {
    const form = new BoxGeometry(0.8, 0.8, 0.8);
    const { position } = form.attributes;
    const data = new Float32Array(5 * position.count);
    for (let i = 0; i < position.count; i++)
      data.set([9, position.getX(i), position.getY(i), position.getZ(i), 9], 5 * i);
    return form.setAttribute('position', new InterleavedBufferAttribute(new InterleavedBuffer(data, 5), 3, 1));
  },
];

class World {
  readonly root = new Scene();
  readonly #random: Random;
  readonly #groups = [0, 1, 2].map(() => new Group());
  readonly #material = new MeshBasicMaterial({ side: DoubleSide });
  readonly #out: Object3D[] = [];
  readonly bystanders: Object3D[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.root.add(...this.#groups);
    for (let i = 0; i < 5; i++) this.#add(new Mesh(FORMS[i](), this.#material), `mesh ${i}`);
    const mixed = new Mesh(
      new BoxGeometry(),
      [0, 1, 2, 3].map(() => this.#material),
    ); // two of its groups have none
    this.#add(mixed as never, 'mixed');
    const crowd = new InstancedMesh(FORMS[1](), this.#material, 5);
    for (let i = 0; i < 5; i++) crowd.setMatrixAt(i, this.#matrix());
    this.#add(crowd, 'crowd');
    if (HAS_RANGES) this.#addBatch();
    this.#add(this.#rigged(), 'rigged');
    const form = new BoxGeometry();
    form.morphAttributes.position = [
      new BufferAttribute(
        form.attributes.position.array.map((x) => 1.7 * x + 0.1),
        3,
      ),
    ];
    this.#add(Object.assign(new Mesh(form, this.#material), { morphTargetInfluences: [0.3] }), 'morphed');
    const lod = new LOD();
    for (const i of [2, 0])
      lod.addLevel(Object.assign(new Mesh(FORMS[i](), this.#material), { name: `level ${i}` }), 20 * i);
    lod.autoUpdate = false;
    lod.children[1].visible = false;
    this.#add(lod, 'lod');
    for (const other of [new Points(FORMS[0]()), new LineSegments(FORMS[0]()), new Sprite()]) {
      this.bystanders.push(other);
      this.#add(other, 'bystander');
    }
  }

  #addBatch(): void {
    const batch = new BatchedMesh(6, 200, 200, this.#material);
    const kinds = [0.8, 1.2].map((size) => batch.addGeometry(new BoxGeometry(size, 1, 0.5)));
    for (let i = 0; i < 5; i++) batch.setMatrixAt(batch.addInstance(this.#random.pick(kinds)), this.#matrix());
    this.#add(batch as never, 'batch');
  }

  #rigged(): SkinnedMesh {
    const form = FORMS[0]();
    const { count } = form.attributes.position;
    const indices = Array.from({ length: 4 * count }, (_, i) => (i % 4 < 2 ? i % 4 : 0));
    const weights = Array.from(
      { length: 4 * count },
      (_, i) => [0.25 + 0.5 * (Math.floor(i / 4) % 2), 0.75 - 0.5 * (Math.floor(i / 4) % 2), 0, 0][i % 4],
    );
    form.setAttribute('skinIndex', new BufferAttribute(new Uint8Array(indices), 4));
    form.setAttribute('skinWeight', new BufferAttribute(new Float32Array(weights), 4));
    const own = new SkinnedMesh(form, this.#material);
    const bones = [new Bone(), new Bone()];
    own.add(bones[0].add(bones[1]));
    own.bind(new Skeleton(bones));
    return own;
  }

  #add(object: Object3D, name: string): void {
    object.name = name;
    this.#move(object);
    this.#random.pick(this.#groups).add(object);
  }

  #place(): [Vector3, Quaternion, Vector3] {
    const random = this.#random;
    const scale = new Vector3(1, 1, 1).multiplyScalar(random.chance(0.1) ? 0 : random.range(0.5, 1.5));
    if (random.chance(0.3)) scale.x *= -1;
    return [random.point(RADIUS), random.rotation(), scale];
  }

  #matrix(): Matrix4 {
    return new Matrix4().compose(...this.#place());
  }

  #move({ position, quaternion, scale }: Object3D): void {
    const [at, turned, wide] = this.#place();
    position.copy(at);
    quaternion.copy(turned);
    scale.copy(wide);
  }

  get all(): Object3D[] {
    return this.#groups.flatMap(({ children }) => children);
  }

  change(): void {
    const random = this.#random;
    const object = random.pick(this.all);
    const find = (name: string) => this.root.getObjectByName(name);
    const [crowd, batch] = [find('crowd') as InstancedMesh | undefined, find('batch') as BatchedMesh | undefined];
    const [rigged, morphed, lod] = [find('rigged') as SkinnedMesh, find('morphed') as Mesh, find('lod') as LOD];
    const changes: (() => unknown)[] = [
      () => this.#move(object),
      () => this.#move(object),
      () => (object.visible = !object.visible),
      () => this.#out.push(object.removeFromParent()),
      () => this.#out.length > 0 && random.pick(this.#groups).add(this.#out.pop()!),
      () => random.pick(this.#groups).attach(object),
      () => random.pick(this.#groups).position.copy(random.point(1)),
      () => random.pick(this.#groups).scale.set(random.pick([1, -1]), random.range(0.5, 1.5), 1),
      () => {
        if (crowd === undefined) return;
        crowd.setMatrixAt(random.integer(5), this.#matrix());
        crowd.instanceMatrix.needsUpdate = true;
        crowd.count = random.integer(6);
      },
      () => batch?.setMatrixAt(0, this.#matrix()),
      () => batch?.setVisibleAt(1, random.chance(0.5)),
      () => batch?.setGeometryIdAt(2, random.integer(2)),
      () => {
        if (batch === undefined) return;
        batch.deleteInstance(3);
        batch.setMatrixAt(batch.addInstance(random.integer(2)), this.#matrix());
      },
      () => rigged?.skeleton.bones[1].position.copy(random.point(0.5)),
      () => rigged?.skeleton.bones[0].quaternion.copy(random.rotation()),
      () => {
        if (morphed !== undefined) morphed.morphTargetInfluences = [random.range(-0.5, 1.5)];
      },
      () => {
        if (lod === undefined) return;
        const shown = random.integer(2);
        lod.children.forEach((level, i) => {
          level.visible = i === shown;
        });
      },
      () => {
        if (!(object instanceof Mesh) || object instanceof SkinnedMesh || object.name === 'batch') return;
        object.geometry.translate(random.range(-0.3, 0.3), 0, 0);
      },
    ];
    random.pick(changes)();
  }
}

const keyOf = ({ object, instanceId, batchId }: SceneObject & { batchId?: number }) =>
  `${object.name} ${instanceId ?? batchId ?? ''}`;

/** For a level, the LOD is named. */
const withLod = ({ object, name, ...part }: Part): Part =>
  object.parent instanceof LOD
    ? { ...part, object: object.parent, name: `${object.parent.name} ` }
    : { ...part, object, name };

async function faultsOf(tracker: SceneTracker, world: World, random: Random): Promise<string[]> {
  const { root, bystanders } = world;
  const parts = partsOf(root);
  const objects = parts.map(withLod);
  const named = (part: Part) => parts.indexOf(part);
  const ignore = bystanders;
  const faults: string[] = [];
  const asked: Promise<void>[] = [];
  const ask = <T>(answer: Promise<T>, check: (answer: T) => string | false): void => {
    asked.push(
      answer.then((value) => {
        const fault = check(value);
        if (fault !== false) faults.push(fault);
      }),
    );
  };
  for (let i = 0; i < 12 * SHARE; i++) {
    const origin = random.point(1.5 * RADIUS);
    const way = random.point(RADIUS / 2).sub(origin);
    const crossings = parts.flatMap((part) =>
      part.faces.flatMap(({ corners, faceIndex }) => {
        const found = crossing(origin, way, corners);
        return found === null || found.t < 0 ? [] : [{ ...found, key: `${part.name} ${faceIndex}`, part }];
      }),
    );
    ask(tracker.raycastAll({ origin, direction: way }, { side: 'double', ignore }), (hits) => {
      const keys = hits.map((hit) => `${keyOf(hit as never)} ${hit.faceIndex}`);
      const missed = crossings.filter(({ isSure, key }) => isSure && !keys.includes(key));
      const wrong = keys.filter((key) => !crossings.some((each) => each.key === key));
      const length = way.length();
      const off = hits.filter(
        (hit, k) =>
          !crossings.some(
            ({ key, t }) => key === keys[k] && Math.abs(t * length - hit.distance) < NEAR * (1 + hit.distance),
          ),
      );
      return (
        missed.length + wrong.length + off.length > 0 &&
        `ray: missed ${missed.map(({ key }) => key)}, wrong ${wrong}, off ${off.length}`
      );
    });
    const to = origin.clone().add(way);
    const between = crossings.filter(({ t }) => t <= 1 + 1e-6);
    const isUnsure = between.length > 0 && between.every(({ isSure, t }) => !isSure || t > 1 - 1e-6 || t < 1e-6);
    ask(
      tracker.lineOfSight(origin, to, { side: 'double', ignore }),
      (isClear) => !isUnsure && isClear !== (between.length === 0) && 'line of sight',
    );
    const point = random.point(1.2 * RADIUS);
    const distances = parts.map((part) => distanceTo(point, part));
    const least = Math.min(...distances);
    ask(
      tracker.closestPoint(point, { ignore }),
      (found) =>
        Math.abs((found?.distance ?? Number.POSITIVE_INFINITY) - least) > NEAR * (1 + least) &&
        `closest point at ${found?.distance} and not ${least}`,
    );
    const radius = random.range(0.1, 1.5);
    ask(tracker.overlap({ type: 'sphere', radius }, new Matrix4().setPosition(point), { ignore }), (found) => {
      const keys = found.map(keyOf);
      const bad = objects.filter(
        ({ name }, k) => Math.abs(distances[k] - radius) > NEAR && keys.includes(name) !== distances[k] < radius,
      );
      return (bad.length > 0 || new Set(keys).size !== keys.length) && `overlap: ${bad.map(({ name }) => name)}`;
    });
    if (i % 4 > 0) continue;
    ask(
      tracker.sweep({ type: 'sphere', radius }, new Matrix4().setPosition(origin), new Matrix4().setPosition(to), {
        ignore,
      }),
      (hit) => {
        const end = hit?.time ?? 1;
        const at = (t: number) =>
          Math.min(...parts.map((part) => distanceTo(origin.clone().addScaledVector(way, t), part)));
        if (at(0) < radius + 1e-4) return hit?.time !== 0 && at(0) < radius - 1e-4 && 'sweep: begins in overlap';
        for (let k = 0; k < 24; k++)
          if (at((end * k) / 24) < radius - 1e-4) return `sweep to ${end} passes through at ${(end * k) / 24}`;
        return (
          hit !== null &&
          Math.abs(at(end) - radius) > 1e-3 &&
          end > 0 &&
          `sweep: touches at ${end}, ${at(end) - radius} off`
        );
      },
    );
  }
  for (let i = 0; i < 6 * SHARE && parts.length > 1; i++) {
    const [a, b] = [random.pick(parts), random.pick(parts)];
    if (a.object === b.object) continue;
    const gap = gapOf(a, b);
    const [p, q] = [objects[named(a)], objects[named(b)]].map(({ object, instanceId }) =>
      instanceId === undefined ? object : { object, instanceId },
    );
    const label = `of ${a.name} and ${b.name}`;
    ask(
      tracker.distance(p as never, q as never),
      (found) =>
        !(Math.abs((found?.distance ?? Number.NaN) - gap) <= NEAR * (1 + gap)) &&
        `distance ${label}: ${found?.distance} and not ${gap}`,
    );
    ask(
      tracker.contact(p as never, q as never),
      (found) =>
        (gap === 0 || (gap > NEAR && found !== null && !found.contained)) &&
        (found !== null) !== (gap === 0) &&
        `contact ${label}: ${found === null ? 'none' : 'one'} at ${gap}`,
    );
  }
  // Pending queries see the scene as it was.
  for (let i = 0; i < 3; i++) world.change();
  await Promise.all(asked);
  return faults;
}

test.each([0, 1, 2, 3])(`scene %i, seed ${SEED}`, async (number) => {
  const random = new Random(1000 * SEED + number);
  const world = new World(random);
  const tracker = await trackScene(service, world.root, { contacts: 'any', updateMatrixWorld: true });
  for (let round = 0; round < 8; round++) {
    await settle(tracker, frontCamera());
    expect(await faultsOf(tracker, world, random), `round ${round}`).toEqual([]);
  }
  await settle(tracker, frontCamera());
  const frame = await tracker.update(frontCamera(), SIZE);
  const parts = partsOf(world.root).map(withLod);
  const touching = new Set<string>();
  frame.forEachContact((a, b) => {
    touching.add([keyOf(a), keyOf(b)].sort().join(' with '));
  });
  const missed = parts.flatMap((a, i) =>
    parts.slice(i + 1).flatMap((b) => {
      const key = [a.name, b.name].sort().join(' with ');
      return gapOf(a, b) === 0 && !touching.has(key) ? [key] : [];
    }),
  );
  expect(missed).toEqual([]);
});
