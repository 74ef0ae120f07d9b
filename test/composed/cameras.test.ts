// Picks in scenes of three's classes through cameras of all kinds: zoomed, shifted, split into views, below parents that mirror,
// scale and shear, with planes behind the eye and depths of all kinds. The reference is what is drawn at the pixel: every face in
// float64, by the matrices that three draws with, never by a ray.
import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene, type ViewSize } from 'collision-worker/three';
import {
  ArrayCamera,
  BackSide,
  BatchedMesh,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  DoubleSide,
  FrontSide,
  Group,
  InstancedMesh,
  Line,
  LineSegments,
  LOD,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Points,
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
import { poseRandomly, randomRig, roundBones } from '../oracle/rigs.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(4 * SCALE);
const PICKS = 50;
/** For weights in a triangle and for depths: float32 corners, apart from the 1e-8 in three's shader. */
const TOLERANCE = 1e-5;
/** Points and lines are hit where they are drawn within this many pixels; slightly nearer and farther is in doubt. */
const HIT_RADIUS = 4;
const RADIUS_TOLERANCE = 0.01;

type AnyCamera = PerspectiveCamera | OrthographicCamera;

/**
 * An object, or an instance, with its corners in world space and the side that is drawn: three corners for each face, two for
 * each segment of a line, or one for each point.
 */
interface DrawnObject {
  object: Object3D;
  corners: Float64Array;
  perFace: number;
  instanceId: number | undefined;
  side: Side;
  isMirrored: boolean;
}

/** Lists what three would draw. */
function drawnObjects(root: Object3D, camera: AnyCamera): DrawnObject[] {
  const results: DrawnObject[] = [];
  root.traverseVisible((object) => {
    if (object instanceof Sprite) {
      results.push(drawnSprite(object, camera));
    } else if (object instanceof BatchedMesh) {
      for (let i = 0; i < object.instanceCount; i++) {
        if (!object.getVisibleAt(i)) continue;
        const { start, count } = object.getGeometryRangeAt(object.getGeometryIdAt(i))!;
        const matrix = object.getMatrixAt(i, new Matrix4()).premultiply(object.matrixWorld);
        results.push(drawnFaces(object, matrix, i, start, count));
      }
    } else if (object instanceof InstancedMesh) {
      for (let i = 0; i < object.count; i++) {
        const matrix = new Matrix4();
        object.getMatrixAt(i, matrix);
        results.push(drawnFaces(object, matrix.premultiply(object.matrixWorld), i));
      }
    } else if (object instanceof Points || object instanceof Line) {
      results.push(drawnThin(object));
    } else if (object instanceof Mesh) {
      results.push(drawnFaces(object, object.matrixWorld, undefined));
    }
  });
  return results;
}

function drawnFaces(
  object: Mesh<BufferGeometry, Material | Material[]>,
  matrix: Matrix4,
  instanceId: number | undefined,
  start = 0,
  count = Infinity,
): DrawnObject {
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
  return { object, instanceId, corners, perFace: 3, side, isMirrored: matrix.determinant() < 0 };
}

function drawnThin(object: Points | Line): DrawnObject {
  const position = object.geometry.getAttribute('position');
  const vertices = Array.from({ length: position.count }, (_, i) =>
    new Vector3().fromBufferAttribute(position, i).applyMatrix4(object.matrixWorld).toArray(),
  );
  const perFace = object instanceof Points ? 1 : 2;
  // The segments of a continuous line share their ends.
  const isShared = perFace === 2 && !(object instanceof LineSegments);
  const corners = isShared ? vertices.slice(1).map((end, i) => [...vertices[i], ...end]) : vertices;
  return {
    ...{ object, instanceId: undefined, side: DoubleSide, isMirrored: false },
    ...{ corners: Float64Array.from(corners.flat()), perFace },
  };
}

/** As the vertex shader of sprites places them: in view space, scaled by the lengths of the first two columns of their matrix. */
function drawnSprite(sprite: Sprite, camera: AnyCamera): DrawnObject {
  const { center, material, matrixWorld } = sprite;
  const viewCenter = new Vector3().setFromMatrixPosition(matrixWorld).applyMatrix4(camera.matrixWorldInverse);
  const size = [0, 1].map((k) => new Vector3().setFromMatrixColumn(matrixWorld, k).length());
  const isPerspective = 'isPerspectiveCamera' in camera;
  const factor = !material.sizeAttenuation && isPerspective ? -viewCenter.z : 1;
  const [sine, cosine] = [Math.sin(material.rotation), Math.cos(material.rotation)];
  const toWorld = camera.matrixWorldInverse.clone().invert();
  const [a, b, c, d] = [0, 1, 3, 2].map((corner) => {
    const x = ((corner & 1) - center.x) * size[0] * factor;
    const y = ((corner >> 1) - center.y) * size[1] * factor;
    return new Vector3(x * cosine - y * sine, x * sine + y * cosine, 0).add(viewCenter).applyMatrix4(toWorld).toArray();
  });
  const corners = Float64Array.from([...a, ...b, ...c, ...a, ...c, ...d]);
  return { object: sprite, instanceId: undefined, corners, perFace: 3, side: DoubleSide, isMirrored: false };
}

/** A face under a pixel; `isSure`: certainly, not perhaps. */
interface FaceHit {
  drawn: DrawnObject;
  face: number;
  point: Vector3;
  /** 0 at the near plane, 1 at the far plane. */
  depth: number;
  isSure: boolean;
}

/** The corners of all faces in clip space, xyzw each. */
function toClipSpace({ corners }: DrawnObject, camera: AnyCamera): Float64Array {
  const clip = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse);
  const corner = new Vector4();
  const coordinates = new Float64Array((corners.length / 3) * 4);
  for (let i = 0; i < corners.length / 3; i++) {
    corner
      .set(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2], 1)
      .applyMatrix4(clip)
      .toArray(coordinates, 4 * i);
  }
  return coordinates;
}

/**
 * Finds the faces that are drawn at (x, y), in clip space: the weights of a triangle's corners at which x' - x w and y' - y w are 0.
 */
function facesAt(
  allDrawn: readonly [DrawnObject, Float64Array][],
  camera: AnyCamera,
  x: number,
  y: number,
  size: ViewSize,
): FaceHit[] {
  const hits: FaceHit[] = [];
  for (const [item, c] of allDrawn) {
    if (item.perFace < 3) {
      hits.push(...thinFacesAt(item, c, camera, x, y, size));
      continue;
    }
    for (let at = 0; at < c.length; at += 12) {
      const [u0, v0] = [c[at] - x * c[at + 3], c[at + 1] - y * c[at + 3]];
      const [u1, v1] = [c[at + 4] - x * c[at + 7], c[at + 5] - y * c[at + 7]];
      const [u2, v2] = [c[at + 8] - x * c[at + 11], c[at + 9] - y * c[at + 11]];
      const weights = [u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0];
      const sum = weights[0] + weights[1] + weights[2];
      const minWeight = Math.min(weights[0] / sum, weights[1] / sum, weights[2] / sum);
      if (!(minWeight > -TOLERANCE)) continue;
      const w = (weights[0] * c[at + 3] + weights[1] * c[at + 7] + weights[2] * c[at + 11]) / sum;
      const z = (weights[0] * c[at + 2] + weights[1] * c[at + 6] + weights[2] * c[at + 10]) / sum;
      const depth = depthOf(camera, z / w);
      if (!(w > 0 && depth > -TOLERANCE && depth < 1 + TOLERANCE)) continue;
      // Twice the area on the screen, if all of it is in front of the eye.
      const isFront = sum > 0;
      if (item.side !== DoubleSide && (isFront !== item.isMirrored) !== (item.side === FrontSide)) continue;
      const point = new Vector3();
      for (let k = 0; k < 3; k++) {
        point.addScaledVector(new Vector3().fromArray(item.corners, (at / 4) * 3 + 3 * k), weights[k] / sum);
      }
      const isSure = minWeight > TOLERANCE && depth > TOLERANCE && depth < 1 - TOLERANCE;
      hits.push({ drawn: item, face: at / 12, point, depth, isSure });
    }
  }
  return hits;
}

/** 0 at the near plane, 1 at the far plane. */
function depthOf({ reversedDepth, coordinateSystem }: AnyCamera, z: number): number {
  if (reversedDepth === true) return 1 - z;
  return coordinateSystem === WebGPUCoordinateSystem ? z : (z + 1) / 2;
}

/**
 * Finds the points and line segments that are drawn near (x, y), at their nearest point on the screen. Their depth is that of the
 * closest point on the line of everything drawn at (x, y).
 */
function thinFacesAt(
  item: DrawnObject,
  c: Float64Array,
  camera: AnyCamera,
  x: number,
  y: number,
  size: ViewSize,
): FaceHit[] {
  const hits: FaceHit[] = [];
  const clip = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse);
  const toWorld = clip.clone().invert();
  const [origin, direction] = [0.25, 0.75].map((z) => new Vector3(x, y, z).applyMatrix4(toWorld));
  direction.sub(origin).normalize();
  const pixels = ({ x: u, y: v, w }: Vector4): [number, number] => [
    ((u / w - x) * size.width) / 2,
    ((v / w - y) * size.height) / 2,
  ];
  for (let face = 0; face < c.length / 4 / item.perFace; face++) {
    const first = face * item.perFace;
    const [a, b] = [first, first + item.perFace - 1].map((i) => new Vector4().fromArray(c, 4 * i));
    // The part from `tMin` to `tMax` is between the planes: there, depth · w and (1 - depth) · w are above 0.
    let [tMin, tMax] = [0, 1];
    const ends = [a, b].map(({ z, w }) => [w * depthOf(camera, z / w), w - w * depthOf(camera, z / w)]);
    for (const k of [0, 1]) {
      const [start, end] = [ends[0][k], ends[1][k]];
      if (start < 0 && end < 0) tMin = 2;
      else if (start < 0) tMin = Math.max(tMin, start / (start - end));
      else if (end < 0) tMax = Math.min(tMax, start / (start - end));
    }
    if (tMin > tMax) continue;
    const [p, q] = [a.clone().lerp(b, tMin), a.clone().lerp(b, tMax)];
    const [[pu, pv], [qu, qv]] = [pixels(p), pixels(q)];
    const lengthSquared = (qu - pu) ** 2 + (qv - pv) ** 2;
    const onScreen =
      lengthSquared > 0 ? Math.min(1, Math.max(0, -(pu * (qu - pu) + pv * (qv - pv)) / lengthSquared)) : 0;
    const distance = Math.hypot(pu + onScreen * (qu - pu), pv + onScreen * (qv - pv));
    if (distance > HIT_RADIUS + RADIUS_TOLERANCE) continue;
    // On the screen, attributes divided by w are linear.
    const at = onScreen / q.w / ((1 - onScreen) / p.w + onScreen / q.w);
    const [start, end] = [first, first + item.perFace - 1].map((i) => new Vector3().fromArray(item.corners, 3 * i));
    const point = start.lerp(end, tMin + at * (tMax - tMin));
    const onLine = origin.clone().addScaledVector(direction, point.clone().sub(origin).dot(direction));
    const depth = depthOf(camera, onLine.applyMatrix4(clip).z);
    hits.push({ drawn: item, face, point, depth, isSure: distance < HIT_RADIUS - RADIUS_TOLERANCE });
  }
  return hits;
}

function geometry(random: Random): BufferGeometry {
  return random.pick([
    () => new BoxGeometry(1, 1.5, 0.7),
    () => new ConeGeometry(0.7, 1.4, 7),
    () => new TorusGeometry(0.6, 0.2, 5, 9),
    () => new TorusGeometry(0.5, 0.3, 4, 7).toNonIndexed(),
  ])();
}

/** Rotated, stretched, and now and then mirrored; below another such group, it is sheared. */
function placeRandomly(random: Random, object: Object3D, spread: number): void {
  object.position.copy(random.point(spread));
  object.quaternion.copy(random.rotation());
  const scale = () => random.range(0.4, 1.6) * (random.chance(0.2) ? -1 : 1);
  object.scale.set(scale(), scale(), scale());
}

function thinGeometry(random: Random): BufferGeometry {
  const positions = new Float32Array(3 * 12);
  for (let i = 0; i < 12; i++) random.point(1.5).toArray(positions, 3 * i);
  return new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
}

/** How many kinds of objects a scene has, two of each. */
const KIND_COUNT = 8;

function randomScene(random: Random): Group {
  const root = new Group();
  const material = () => new MeshBasicMaterial({ side: random.pick<Side>([FrontSide, BackSide, DoubleSide]) });
  const matrix = () => random.placement(random.point(2), { low: 0.4, high: 1.5, mirrored: 0.3, sheared: 0.3 });
  for (let i = 0; i < 2 * KIND_COUNT; i++) {
    let object: Object3D;
    switch (i % KIND_COUNT) {
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
        poseRandomly(random, rig, 0.4);
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
      case 5:
        object = new Points(thinGeometry(random));
        break;
      case 6:
        object = random.chance(0.5) ? new Line(thinGeometry(random)) : new LineSegments(thinGeometry(random));
        break;
      default: {
        const sprite = new Sprite(
          new SpriteMaterial({ sizeAttenuation: random.chance(0.5), rotation: random.range(-3, 3) }),
        );
        sprite.center.set(random.range(0, 1), random.range(0, 1));
        object = sprite;
      }
    }
    const holder = new Group();
    placeRandomly(random, holder, 2);
    if (i % KIND_COUNT !== 3) placeRandomly(random, object, 0.5);
    if (object instanceof Sprite && !object.material.sizeAttenuation) holder.scale.multiplyScalar(0.2);
    root.add(holder.add(object));
  }
  root.updateMatrixWorld(true);
  return root;
}

/** A camera of any kind, and its parents. */
function randomCamera(random: Random): { camera: AnyCamera; size: ViewSize; kind: string } {
  const isPerspective = random.chance(0.5);
  const traits: string[] = [isPerspective ? 'perspective' : 'orthographic'];
  const pickTrait = (probability: number, trait: string): boolean => {
    const isChosen = random.chance(probability);
    if (isChosen) traits.push(trait);
    return isChosen;
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
    if (pickTrait(0.3, 'film')) camera.filmOffset = random.range(-15, 15);
  } else {
    const near = pickTrait(0.5, 'near < 0') ? -random.range(2, 12) : random.range(0, 2);
    const [w, h] = [random.range(2, 5), random.range(2, 5)];
    camera = new OrthographicCamera(
      -w * random.range(0.2, 1),
      w,
      h,
      -h * random.range(0.2, 1),
      near,
      random.range(8, 40),
    );
  }
  if (pickTrait(0.4, 'zoom')) camera.zoom = random.logRange(0.5, 3);
  if (pickTrait(0.4, 'offset'))
    camera.setViewOffset(900, 700, random.range(-100, 300), random.range(-100, 200), random.range(300, 700), 400);
  if (pickTrait(0.3, 'WebGPU')) camera.coordinateSystem = WebGPUCoordinateSystem;
  else if (pickTrait(0.3, 'reversed')) Object.assign(camera, { _reversedDepth: true });
  camera.position.copy(random.direction().multiplyScalar(random.range(3, 9)));
  camera.up.copy(random.direction());
  camera.lookAt(random.point(1));
  if (pickTrait(0.6, 'parent')) {
    const [outer, inner] = [new Group(), new Group()];
    for (const group of [outer, inner]) {
      group.quaternion.copy(random.rotation());
      const scale = () => random.range(0.6, 1.7) * (random.chance(0.3) ? -1 : 1);
      group.scale.set(scale(), scale(), scale());
    }
    outer.add(inner.add(camera));
    outer.updateMatrixWorld(true);
    // It looks at the scene from there all the same.
    const position = random.direction().multiplyScalar(random.range(3, 9));
    camera.position.copy(inner.worldToLocal(position.clone()));
    outer.updateMatrixWorld(true);
    const world = new Matrix4().lookAt(position, random.point(1), random.direction());
    camera.matrix.copy(inner.matrixWorld).invert().multiply(world.setPosition(position));
    camera.matrix.decompose(camera.position, camera.quaternion, camera.scale);
    outer.updateMatrixWorld(true);
  }
  camera.updateProjectionMatrix();
  if (isPerspective && pickTrait(0.2, 'of an ArrayCamera')) {
    const subCamera = new ArrayCamera([camera as PerspectiveCamera]).cameras[0];
    size = { x: 120, y: 80, width: 400, height: 300 };
    camera = subCamera;
  }
  camera.updateWorldMatrix(true, false);
  return { camera, size, kind: traits.join(', ') };
}

/** Returns a position, in clip space, that is some pixels from where a point or an end of a line is drawn. */
function pointNearThin(
  random: Random,
  allDrawn: readonly [DrawnObject, Float64Array][],
  size: ViewSize,
): [number, number] {
  const [, c] = random.pick(allDrawn.filter(([{ perFace }]) => perFace < 3));
  const i = 4 * random.integer(c.length / 4);
  const [u, v] = [c[i] / c[i + 3], c[i + 1] / c[i + 3]];
  if (!(c[i + 3] > 0 && Math.abs(u) < 0.95 && Math.abs(v) < 0.95)) return [random.range(-1, 1), random.range(-1, 1)];
  const offset = (pixels: number) => (random.range(-1.2, 1.2) * HIT_RADIUS) / pixels;
  return [u + 2 * offset(size.width), v + 2 * offset(size.height)];
}

async function comparePicks(
  tracker: SceneTracker,
  random: Random,
  allDrawn: readonly [DrawnObject, Float64Array][],
  camera: AnyCamera,
  size: ViewSize,
  label: string,
): Promise<{ hits: number; thin: number }> {
  let [hits, thin] = [0, 0];
  const comparisons = Array.from({ length: PICKS }, async () => {
    const [x, y] = random.chance(0.3)
      ? pointNearThin(random, allDrawn, size)
      : [random.range(-1, 1), random.range(-1, 1)];
    const [px, py] = [(size.x ?? 0) + ((x + 1) / 2) * size.width, (size.y ?? 0) + ((1 - y) / 2) * size.height];
    const hit = await tracker.pick(px, py);
    const faces = facesAt(allDrawn, camera, x, y, size);
    const sureFaces = faces.filter(({ isSure }) => isSure);
    const nearest = Math.min(...sureFaces.map(({ depth }) => depth));
    if (hit === null)
      return expect(
        sureFaces.map(({ drawn: { object } }) => object.type),
        `${label}, at ${x}, ${y}`,
      ).toEqual([]);
    hits++;
    if (hit.object instanceof Points || hit.object instanceof Line) thin++;
    const instance = hit.instanceId ?? hit.batchId;
    const isHitFace = ({ drawn: { object, instanceId, perFace }, face, point }: FaceHit): boolean => {
      if (object !== hit.object || instanceId !== instance) return false;
      if (perFace === 3) return point.distanceTo(hit.point) < 1e-4;
      return hit.index === face * (object instanceof LineSegments ? 2 : 1);
    };
    const hitFaces = faces.filter(isHitFace);
    expect(hitFaces.length, `${label}, at ${x}, ${y}: ${hit.object.type} is not there`).toBeGreaterThan(0);
    const depth = Math.min(...hitFaces.map((each) => each.depth));
    expect(
      depth,
      `${label}, at ${x}, ${y}: ${hit.object.type} is hidden by ${sureFaces.find((each) => each.depth === nearest)?.drawn.object.type}`,
    ).toBeLessThan(nearest + TOLERANCE);
  });
  await Promise.all(comparisons);
  return { hits, thin };
}

test(`picks hit what cameras draw, ${ROUNDS} scenes of four cameras, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  let [hits, thin] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const seed = random.integer(2 ** 31);
    const sceneRandom = new Random(seed);
    const root = randomScene(sceneRandom);
    const tracker = await trackScene(service, root, { updateMatrixWorld: true });
    for (let i = 0; i < 4; i++) {
      const { camera, size, kind } = randomCamera(sceneRandom);
      // As the renderer does.
      root.traverse((object) => {
        if (object instanceof LOD) object.update(camera);
      });
      await settle(tracker, camera);
      await tracker.update(camera, size);
      const allDrawn = drawnObjects(root, camera).map((each): [DrawnObject, Float64Array] => [
        each,
        toClipSpace(each, camera),
      ]);
      const label = `round ${round}, seed ${seed}, camera ${i}: ${kind}`;
      const result = await comparePicks(tracker, sceneRandom, allDrawn, camera, size, label);
      hits += result.hits;
      thin += result.thin;
    }
    tracker.dispose();
  }
  expect(hits).toBeGreaterThan(ROUNDS * PICKS);
  expect(thin).toBeGreaterThan(ROUNDS * 5);
  service.dispose();
});
