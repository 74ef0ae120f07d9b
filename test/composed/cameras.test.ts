// Picks in scenes of three's classes through cameras of all kinds: zoomed, shifted, cut into views, below parents that mirror, scale and
// shear, with planes behind the eye and depths of all kinds. The truth is what is drawn at the pixel: every face in float64, by
// the matrices that three draws with, never by a ray.
import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene, type ViewSize } from 'collision-worker/three';
import {
  ArrayCamera,
  BackSide,
  BatchedMesh,
  BoxGeometry,
  type BufferGeometry,
  ConeGeometry,
  DoubleSide,
  FrontSide,
  Group,
  InstancedMesh,
  LOD,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  type Side,
  Sprite,
  SpriteMaterial,
  TorusGeometry,
  Vector3,
  Vector4,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';
import { SIZE, settle } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';
import { randomRig, roundBones, strike } from '../oracle/rigs.js';

/** How much is done: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(4 * SCALE);
const PICKS = 50;
/** Of weights in a triangle and of depths: float32 corners, three's 1e-8 of its shader left aside. */
const DOUBT = 1e-5;

type AnyCamera = PerspectiveCamera | OrthographicCamera;

/** An object, or an instance, with its corners in the world, nine numbers for each face, and which side of it is drawn. */
interface Drawn {
  object: Object3D;
  instanceId: number | undefined;
  corners: Float64Array;
  side: Side;
  isMirrored: boolean;
}

/** Lists what three would draw. */
function drawn(root: Object3D, camera: AnyCamera): Drawn[] {
  const found: Drawn[] = [];
  root.traverseVisible((object) => {
    if (object instanceof Sprite) {
      found.push(drawnSprite(object, camera));
    } else if (object instanceof BatchedMesh) {
      for (let i = 0; i < object.instanceCount; i++) {
        if (!object.getVisibleAt(i)) continue;
        const { start, count } = object.getGeometryRangeAt(object.getGeometryIdAt(i))!;
        const matrix = object.getMatrixAt(i, new Matrix4()).premultiply(object.matrixWorld);
        found.push(drawnFaces(object, matrix, i, start, count));
      }
    } else if (object instanceof InstancedMesh) {
      for (let i = 0; i < object.count; i++) {
        const matrix = new Matrix4();
        object.getMatrixAt(i, matrix);
        found.push(drawnFaces(object, matrix.premultiply(object.matrixWorld), i));
      }
    } else if (object instanceof Mesh) {
      found.push(drawnFaces(object, object.matrixWorld, undefined));
    }
  });
  return found;
}

function drawnFaces(
  object: Mesh<BufferGeometry, Material | Material[]>,
  matrix: Matrix4,
  instanceId: number | undefined,
  start = 0,
  count = Infinity,
): Drawn {
  const index = object.geometry.getIndex();
  const end = Math.min(start + count, index?.count ?? object.geometry.getAttribute('position').count);
  const corners = new Float64Array(3 * (end - start));
  const p = new Vector3();
  for (let i = start; i < end; i++) {
    const vertex = index?.getX(i) ?? i;
    if (object instanceof BatchedMesh) p.fromBufferAttribute(object.geometry.getAttribute('position'), vertex);
    else object.getVertexPosition(vertex, p);
    p.applyMatrix4(matrix).toArray(corners, 3 * (i - start));
  }
  const { side } = object.material as Material;
  return { object, instanceId, corners, side, isMirrored: matrix.determinant() < 0 };
}

/** As the vertex shader of sprites places them: in the camera's space, by the lengths of the first two columns of their matrix. */
function drawnSprite(sprite: Sprite, camera: AnyCamera): Drawn {
  const { center, material, matrixWorld } = sprite;
  const middle = new Vector3().setFromMatrixPosition(matrixWorld).applyMatrix4(camera.matrixWorldInverse);
  const size = [0, 1].map((k) => new Vector3().setFromMatrixColumn(matrixWorld, k).length());
  const isPerspective = 'isPerspectiveCamera' in camera;
  const factor = !material.sizeAttenuation && isPerspective ? -middle.z : 1;
  const [sine, cosine] = [Math.sin(material.rotation), Math.cos(material.rotation)];
  const toWorld = camera.matrixWorldInverse.clone().invert();
  const [a, b, c, d] = [0, 1, 3, 2].map((corner) => {
    const x = ((corner & 1) - center.x) * size[0] * factor;
    const y = ((corner >> 1) - center.y) * size[1] * factor;
    return new Vector3(x * cosine - y * sine, x * sine + y * cosine, 0).add(middle).applyMatrix4(toWorld).toArray();
  });
  const corners = Float64Array.from([...a, ...b, ...c, ...a, ...c, ...d]);
  return { object: sprite, instanceId: undefined, corners, side: DoubleSide, isMirrored: false };
}

/** What lies under a pixel: of the face, or perhaps. */
interface Under {
  drawn: Drawn;
  face: number;
  point: Vector3;
  /** 0 at the near plane, 1 at the far plane. */
  depth: number;
  isSure: boolean;
}

/** The corners of all faces in clip space, xyzw each. */
function clipped({ corners }: Drawn, camera: AnyCamera): Float64Array {
  const clip = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse);
  const corner = new Vector4();
  const made = new Float64Array((corners.length / 3) * 4);
  for (let i = 0; i < corners.length / 3; i++) {
    corner
      .set(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2], 1)
      .applyMatrix4(clip)
      .toArray(made, 4 * i);
  }
  return made;
}

/**
 * Finds the faces that are drawn at (x, y), in clip space: the weights of a triangle's corners at which x' - x w and y' - y w are 0.
 */
function under(all: readonly [Drawn, Float64Array][], camera: AnyCamera, x: number, y: number): Under[] {
  const isReversed = camera.reversedDepth === true;
  const hasHalf = isReversed || camera.coordinateSystem === WebGPUCoordinateSystem;
  const found: Under[] = [];
  for (const [each, c] of all) {
    for (let at = 0; at < c.length; at += 12) {
      const [u0, v0] = [c[at] - x * c[at + 3], c[at + 1] - y * c[at + 3]];
      const [u1, v1] = [c[at + 4] - x * c[at + 7], c[at + 5] - y * c[at + 7]];
      const [u2, v2] = [c[at + 8] - x * c[at + 11], c[at + 9] - y * c[at + 11]];
      const weights = [u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0];
      const sum = weights[0] + weights[1] + weights[2];
      const least = Math.min(weights[0] / sum, weights[1] / sum, weights[2] / sum);
      if (!(least > -DOUBT)) continue;
      const w = (weights[0] * c[at + 3] + weights[1] * c[at + 7] + weights[2] * c[at + 11]) / sum;
      const z = (weights[0] * c[at + 2] + weights[1] * c[at + 6] + weights[2] * c[at + 10]) / sum;
      const depth = isReversed ? 1 - z / w : hasHalf ? z / w : (z / w + 1) / 2;
      if (!(w > 0 && depth > -DOUBT && depth < 1 + DOUBT)) continue;
      // Twice the area on the screen, where all is in front of the eye.
      const isFront = sum > 0;
      if (each.side !== DoubleSide && (isFront !== each.isMirrored) !== (each.side === FrontSide)) continue;
      const point = new Vector3();
      for (let k = 0; k < 3; k++) {
        point.addScaledVector(new Vector3().fromArray(each.corners, (at / 4) * 3 + 3 * k), weights[k] / sum);
      }
      const isSure = least > DOUBT && depth > DOUBT && depth < 1 - DOUBT;
      found.push({ drawn: each, face: at / 12, point, depth, isSure });
    }
  }
  return found;
}

function geometry(random: Random): BufferGeometry {
  return random.pick([
    () => new BoxGeometry(1, 1.5, 0.7),
    () => new ConeGeometry(0.7, 1.4, 7),
    () => new TorusGeometry(0.6, 0.2, 5, 9),
    () => new TorusGeometry(0.5, 0.3, 4, 7).toNonIndexed(),
  ])();
}

/** Turned, stretched, and now and then mirrored; below another such group, it is sheared. */
function place(random: Random, object: Object3D, spread: number): void {
  object.position.copy(random.point(spread));
  object.quaternion.copy(random.rotation());
  const scale = () => random.range(0.4, 1.6) * (random.chance(0.2) ? -1 : 1);
  object.scale.set(scale(), scale(), scale());
}

function randomScene(random: Random): Group {
  const root = new Group();
  const material = () => new MeshBasicMaterial({ side: random.pick<Side>([FrontSide, BackSide, DoubleSide]) });
  const matrix = () => random.placement(random.point(2), { low: 0.4, high: 1.5, mirrored: 0.3, sheared: 0.3 });
  for (let i = 0; i < 12; i++) {
    let object: Object3D;
    switch (i % 6) {
      case 0:
        object = new Mesh(geometry(random), material());
        break;
      case 1: {
        const instanced = new InstancedMesh(geometry(random), material(), 4);
        for (let k = 0; k < 4; k++) instanced.setMatrixAt(k, matrix());
        object = instanced;
        break;
      }
      case 2: {
        const batch = new BatchedMesh(6, 400, 800, material());
        const ids = [new BoxGeometry(1, 1, 1), new TorusGeometry(0.6, 0.2, 5, 9)].map((form) =>
          batch.addGeometry(form),
        );
        for (let k = 0; k < 5; k++) batch.setMatrixAt(batch.addInstance(random.pick(ids)), matrix());
        batch.setVisibleAt(2, false);
        object = batch;
        break;
      }
      case 3: {
        const rig = randomRig(random, { bones: random.integer(4), targets: 1 });
        strike(random, rig, 0.4);
        roundBones(rig);
        object = rig.root;
        break;
      }
      case 4: {
        const lod = new LOD();
        for (const distance of [0, 4, 8]) lod.addLevel(new Mesh(geometry(random), material()), distance);
        object = lod;
        break;
      }
      default: {
        const sprite = new Sprite(
          new SpriteMaterial({ sizeAttenuation: random.chance(0.5), rotation: random.range(-3, 3) }),
        );
        sprite.center.set(random.range(0, 1), random.range(0, 1));
        object = sprite;
      }
    }
    const holder = new Group();
    place(random, holder, 2);
    if (i % 6 !== 3) place(random, object, 0.5);
    if (object instanceof Sprite && !object.material.sizeAttenuation) holder.scale.multiplyScalar(0.2);
    root.add(holder.add(object));
  }
  root.updateMatrixWorld(true);
  return root;
}

/** A camera of any kind, and what it hangs on. */
function randomCamera(random: Random): { camera: AnyCamera; size: ViewSize; kind: string } {
  const isPerspective = random.chance(0.5);
  const traits: string[] = [isPerspective ? 'perspective' : 'orthographic'];
  const may = (probability: number, trait: string): boolean => {
    const does = random.chance(probability);
    if (does) traits.push(trait);
    return does;
  };
  let size: ViewSize = SIZE;
  let camera: AnyCamera;
  if (isPerspective) {
    camera = new PerspectiveCamera(
      random.range(25, 100),
      random.range(0.8, 2),
      random.logRange(0.01, 3),
      random.range(8, 60),
    );
    if (may(0.3, 'film')) camera.filmOffset = random.range(-15, 15);
  } else {
    const behind = may(0.5, 'near < 0') ? -random.range(2, 12) : random.range(0, 2);
    const [w, h] = [random.range(2, 5), random.range(2, 5)];
    camera = new OrthographicCamera(
      -w * random.range(0.2, 1),
      w,
      h,
      -h * random.range(0.2, 1),
      behind,
      random.range(8, 40),
    );
  }
  if (may(0.4, 'zoom')) camera.zoom = random.logRange(0.5, 3);
  if (may(0.4, 'offset'))
    camera.setViewOffset(900, 700, random.range(-100, 300), random.range(-100, 200), random.range(300, 700), 400);
  if (may(0.3, 'WebGPU')) camera.coordinateSystem = WebGPUCoordinateSystem;
  else if (may(0.3, 'reversed')) Object.assign(camera, { _reversedDepth: true });
  camera.position.copy(random.direction().multiplyScalar(random.range(3, 9)));
  camera.up.copy(random.direction());
  camera.lookAt(random.point(1));
  if (may(0.6, 'parent')) {
    const [outer, inner] = [new Group(), new Group()];
    for (const group of [outer, inner]) {
      group.quaternion.copy(random.rotation());
      const scale = () => random.range(0.6, 1.7) * (random.chance(0.3) ? -1 : 1);
      group.scale.set(scale(), scale(), scale());
    }
    outer.add(inner.add(camera));
    outer.updateMatrixWorld(true);
    // It looks at the scene from there all the same.
    const at = random.direction().multiplyScalar(random.range(3, 9));
    camera.position.copy(inner.worldToLocal(at.clone()));
    outer.updateMatrixWorld(true);
    const world = new Matrix4().lookAt(at, random.point(1), random.direction());
    camera.matrix.copy(inner.matrixWorld).invert().multiply(world.setPosition(at));
    camera.matrix.decompose(camera.position, camera.quaternion, camera.scale);
    outer.updateMatrixWorld(true);
  }
  camera.updateProjectionMatrix();
  if (isPerspective && may(0.2, 'of an ArrayCamera')) {
    const part = new ArrayCamera([camera as PerspectiveCamera]).cameras[0];
    size = { x: 120, y: 80, width: 400, height: 300 };
    camera = part;
  }
  camera.updateWorldMatrix(true, false);
  return { camera, size, kind: traits.join(', ') };
}

async function comparePicks(
  tracker: SceneTracker,
  random: Random,
  all: readonly [Drawn, Float64Array][],
  camera: AnyCamera,
  size: ViewSize,
  what: string,
): Promise<number> {
  let hits = 0;
  const asked = Array.from({ length: PICKS }, async () => {
    const [x, y] = [random.range(-1, 1), random.range(-1, 1)];
    const [px, py] = [(size.x ?? 0) + ((x + 1) / 2) * size.width, (size.y ?? 0) + ((1 - y) / 2) * size.height];
    const hit = await tracker.pick(px, py);
    const found = under(all, camera, x, y);
    const sure = found.filter(({ isSure }) => isSure);
    const nearest = Math.min(...sure.map(({ depth }) => depth));
    if (hit === null)
      return expect(
        sure.map(({ drawn: { object } }) => object.type),
        `${what}, at ${x}, ${y}`,
      ).toEqual([]);
    hits++;
    const instance = hit.instanceId ?? hit.batchId;
    const isOwn = ({ drawn: { object, instanceId }, point }: Under): boolean =>
      object === hit.object && instanceId === instance && point.distanceTo(hit.point) < 1e-4;
    const own = found.filter(isOwn);
    expect(own.length, `${what}, at ${x}, ${y}: ${hit.object.type} is not there`).toBeGreaterThan(0);
    const depth = Math.min(...own.map((each) => each.depth));
    expect(
      depth,
      `${what}, at ${x}, ${y}: ${hit.object.type} is hidden by ${sure.find((each) => each.depth === nearest)?.drawn.object.type}`,
    ).toBeLessThan(nearest + DOUBT);
  });
  await Promise.all(asked);
  return hits;
}

test(`picks hit what cameras draw, ${ROUNDS} scenes of four cameras, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  let hits = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const seed = random.integer(2 ** 31);
    const own = new Random(seed);
    const root = randomScene(own);
    const tracker = await trackScene(service, root, { updateMatrixWorld: true });
    for (let i = 0; i < 4; i++) {
      const { camera, size, kind } = randomCamera(own);
      // As the renderer does.
      root.traverse((object) => {
        if (object instanceof LOD) object.update(camera);
      });
      await settle(tracker, camera);
      await tracker.update(camera, size);
      const all = drawn(root, camera).map((each): [Drawn, Float64Array] => [each, clipped(each, camera)]);
      hits += await comparePicks(tracker, own, all, camera, size, `round ${round}, seed ${seed}, camera ${i}: ${kind}`);
    }
    tracker.dispose();
  }
  expect(hits).toBeGreaterThan(ROUNDS * PICKS);
  service.dispose();
});
