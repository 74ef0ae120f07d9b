// What three draws at a pixel, for each class of its objects, in a
// colour for each, is what a pick at the pixel's centre returns.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  type BufferAttribute,
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  Line,
  LinearSRGBColorSpace,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  LOD,
  Mesh,
  MeshBasicMaterial,
  NoToneMapping,
  type Object3D,
  Points,
  PointsMaterial,
  Raycaster,
  Scene,
  Sprite,
  SpriteMaterial,
  TorusKnotGeometry,
  Vector2,
  WebGLRenderer,
} from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { randomCamera, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';
import { poseRandomly, randomRig } from '../oracle/rigs.js';

withService();

const RADIUS = 4;
const SCENES = 5;
const PIXELS = 200;
const OBJECTS = 12;
/** This share of pixels may be next to an edge, where a rasterizer's fixed-point arithmetic decides. */
const MOST_ON_EDGES = 0.02;

/** Makes an object in a colour, or its parts in this colour and the next ones. */
type Make = (random: Random, colorOf: (next: number) => Color) => Object3D;

const positions = (random: Random, count: number): BufferAttribute =>
  new Float32BufferAttribute(Array.from({ length: count }, () => random.point(1.5).toArray()).flat(), 3);
const thin = (random: Random): BufferGeometry => new BufferGeometry().setAttribute('position', positions(random, 8));
const numbers = (random: Random): number[] => Array.from(positions(random, 6).array);

function morphedBall(random: Random): BufferGeometry {
  const geometry = new IcosahedronGeometry(0.7, 2);
  const { count } = geometry.attributes.position;
  const [axis, by] = [random.direction(), random.range(0.5, 1.5)];
  const moved = Array.from({ length: count }, () => axis.toArray().map((each) => by * each)).flat();
  geometry.morphAttributes.position = [new Float32BufferAttribute(moved, 3)];
  geometry.morphTargetsRelative = true;
  return geometry;
}

const SURFACES: Record<string, Make> = {
  Mesh: (_, color) => new Mesh(new TorusKnotGeometry(0.6, 0.2, 40, 6), new MeshBasicMaterial({ color: color(0) })),
  InstancedMesh: (random, color) => instances(random, color, new TorusKnotGeometry(0.5, 0.2, 40, 6)),
  'InstancedMesh with morphs': (random, color) => {
    const mesh = instances(random, color, morphedBall(random));
    const posed = new Mesh(mesh.geometry);
    for (let i = 0; i < mesh.count; i++) {
      posed.morphTargetInfluences![0] = random.range(-1, 1);
      mesh.setMorphAt(i, posed);
    }
    mesh.morphTexture!.needsUpdate = true;
    return mesh;
  },
  SkinnedMesh: (random, color) => {
    const rig = randomRig(random, { bones: 4 });
    poseRandomly(random, rig);
    (rig.mesh.material as MeshBasicMaterial).color = color(0);
    return rig.root;
  },
  'Mesh with morphs': (random, color) => {
    const mesh = new Mesh(morphedBall(random), new MeshBasicMaterial({ color: color(0) }));
    mesh.morphTargetInfluences![0] = random.range(-1, 1);
    return mesh;
  },
  LOD: (_, color) => {
    const lod = new LOD();
    for (const [detail, distance] of [
      [2, 0],
      [1, 5],
      [0, 9],
    ]) {
      lod.addLevel(
        new Mesh(new IcosahedronGeometry(1, detail), new MeshBasicMaterial({ color: color(detail) })),
        distance,
      );
    }
    return lod;
  },
  Sprite: (random, color) =>
    new Sprite(
      new SpriteMaterial({ color: color(0), rotation: random.range(0, 6), sizeAttenuation: random.chance(0.5) }),
    ),
};

function instances(random: Random, color: (next: number) => Color, geometry: BufferGeometry): InstancedMesh {
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial(), 4);
  for (let i = 0; i < mesh.count; i++) {
    mesh.setMatrixAt(i, random.placement(random.point(1.5), { low: 0.5, high: 1.2 }));
    mesh.setColorAt(i, color(i));
  }
  return mesh;
}

function lineMaterial(color: Color, linewidth: number, worldUnits: boolean): LineMaterial {
  const material = new LineMaterial({ linewidth, worldUnits });
  material.color = color;
  return material;
}

/** Objects without a surface are hit within half the drawn width. */
const THIN: Record<string, [Make, reach: number]> = {
  Points: [
    (random, color) =>
      new Points(thin(random), new PointsMaterial({ color: color(0), size: 6, sizeAttenuation: false })),
    3 * Math.SQRT2,
  ],
  Line: [(random, color) => new Line(thin(random), new LineBasicMaterial({ color: color(0) })), 1],
  LineSegments: [(random, color) => new LineSegments(thin(random), new LineBasicMaterial({ color: color(0) })), 1],
  LineLoop: [(random, color) => new LineLoop(thin(random), new LineBasicMaterial({ color: color(0) })), 1],
  Line2: [
    (random, color) => {
      const geometry = new LineGeometry().setPositions(numbers(random));
      return new Line2(geometry, lineMaterial(color(0), 5, false));
    },
    0,
  ],
  LineSegments2: [
    (random, color) => {
      const geometry = new LineSegmentsGeometry().setPositions(numbers(random));
      return new LineSegments2(geometry, lineMaterial(color(0), 0.2, true));
    },
    0,
  ],
};

/** Sixteen colours for each object, each far from all others. */
const colorOf = (object: number, part: number): Color => new Color((20 + 10 * part) / 255, (20 + 15 * object) / 255, 0);

function nameAt(bytes: ArrayLike<number>, at: number): string | null {
  const [part, object] = [(bytes[at] - 20) / 10, (bytes[at + 1] - 20) / 15];
  return bytes[at + 1] < 10 ? null : `${Math.round(object)} ${Math.round(part)}`;
}

function pixelsOf(renderer: WebGLRenderer, scene: Scene, camera: Parameters<WebGLRenderer['render']>[1]) {
  renderer.render(scene, camera);
  const gl = renderer.getContext();
  const bytes = new Uint8Array(4 * SIZE.width * SIZE.height);
  gl.readPixels(0, 0, SIZE.width, SIZE.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  return bytes;
}

function makeScene(random: Random, make: Make): { scene: Scene; names: Map<Object3D, string> } {
  const scene = new Scene();
  const names = new Map<Object3D, string>();
  for (let i = 0; i < OBJECTS; i++) {
    const object = make(random, (part) => colorOf(i, part));
    const around = new Group().add(object);
    place(around, random, RADIUS / 2);
    around.traverse((each) => {
      each.frustumCulled = false;
      names.set(each, `${i}`);
    });
    scene.add(around);
  }
  return { scene, names };
}

function cameraOf(random: Random) {
  const camera = randomCamera(random, RADIUS);
  camera.position.setLength(2.5 * RADIUS);
  camera.lookAt(0, 0, 0);
  camera.near = 0.1;
  camera.far = 100;
  camera.updateProjectionMatrix();
  return camera;
}

/** Names what a pick hits as the colours do. */
async function pickedAt(
  tracker: SceneTracker,
  names: Map<Object3D, string>,
  [x, y]: readonly [number, number],
  options = {},
): Promise<string | null> {
  const hit = await tracker.pick(x + 0.5, y + 0.5, options);
  if (hit === null) return null;
  const { object } = hit;
  const level = object.parent instanceof LOD ? 2 - object.parent.levels.findIndex((each) => each.object === object) : 0;
  return `${names.get(object)} ${hit.instanceId ?? level}`;
}

function createWebGL(): WebGLRenderer {
  const renderer = new WebGLRenderer({ antialias: false });
  renderer.outputColorSpace = LinearSRGBColorSpace; // colours are used as numbers here
  renderer.toneMapping = NoToneMapping;
  renderer.setPixelRatio(1);
  renderer.setSize(SIZE.width, SIZE.height);
  return renderer;
}

test.each(Object.keys(SURFACES))(`%s, seed ${SEED}`, async (kind) => {
  const random = new Random(SEED);
  const renderer = createWebGL();
  const faults: string[] = [];
  let drawn = 0;
  for (let number = 0; number < SCENES; number++) {
    const { scene, names } = makeScene(random, SURFACES[kind]);
    const camera = cameraOf(random);
    const tracker = await trackScene(service, scene, UNRENDERED);
    const bytes = pixelsOf(renderer, scene, camera); // which chooses the levels of LODs
    await settle(tracker, camera);
    for (let i = 0; i < PIXELS; i++) {
      const pixel = [random.integer(SIZE.width), random.integer(SIZE.height)] as const;
      const expected = nameAt(bytes, 4 * ((SIZE.height - 1 - pixel[1]) * SIZE.width + pixel[0]));
      const found = await pickedAt(tracker, names, pixel);
      if (expected !== null) drawn++;
      if (found !== expected) faults.push(`scene ${number}, pixel ${pixel}: ${found} instead of ${expected}`);
    }
    tracker.dispose();
  }
  renderer.dispose();
  renderer.forceContextLoss();
  expect(drawn).toBeGreaterThan((SCENES * PIXELS) / 20);
  expect(faults.length, faults.slice(0, 20).join('\n')).toBeLessThan(MOST_ON_EDGES * SCENES * PIXELS);
});

test.each(Object.keys(THIN))(`%s, seed ${SEED}`, async (kind) => {
  const random = new Random(SEED);
  const renderer = createWebGL();
  const [make, reach] = THIN[kind];
  const faults: string[] = [];
  let drawn = 0;
  for (let number = 0; number < SCENES; number++) {
    const { scene, names } = makeScene(random, make);
    const camera = cameraOf(random);
    const tracker = await trackScene(service, scene, UNRENDERED);
    const bytes = pixelsOf(renderer, scene, camera); // which chooses the levels of LODs
    await settle(tracker, camera);
    const nameOf = (x: number, y: number): string | null =>
      x < 0 || y < 0 || x >= SIZE.width || y >= SIZE.height
        ? null
        : nameAt(bytes, 4 * ((SIZE.height - 1 - y) * SIZE.width + x));
    /** three's own rays hit wide lines where they pass the ray, and it draws them at the depth of a strip. */
    const metAt = (x: number, y: number): string | null | undefined => {
      if (reach > 0) return undefined;
      const raycaster = new Raycaster();
      raycaster.setFromCamera(new Vector2(((x + 0.5) / SIZE.width) * 2 - 1, 1 - ((y + 0.5) / SIZE.height) * 2), camera);
      const [hit] = raycaster.intersectObjects(scene.children);
      return hit ? `${names.get(hit.object)} 0` : null;
    };
    const all = Array.from({ length: SIZE.width * SIZE.height }, (_, i) => [
      i % SIZE.width,
      Math.floor(i / SIZE.width),
    ]);
    const painted = all.filter(([x, y]) => nameOf(x, y) !== null);
    for (let i = 0; i < PIXELS; i++) {
      const [x, y] = i % 2 === 0 ? random.pick(painted) : [random.integer(SIZE.width), random.integer(SIZE.height)];
      const expected = nameOf(x, y);
      const found = await pickedAt(tracker, names, [x, y], { radius: reach });
      if (expected !== null) drawn++;
      // The pick circle is larger than what is drawn, and other objects may be drawn in it.
      const about: (string | null)[] = [];
      const r = Math.ceil(reach) + 1;
      for (let dx = -r; dx <= r; dx++) for (let dy = -r; dy <= r; dy++) about.push(nameOf(x + dx, y + dy));
      const isRight = found === expected || (found !== null && about.includes(found)) || found === metAt(x, y);
      if (!isRight) faults.push(`scene ${number}, pixel ${x}, ${y}: ${found} instead of ${expected}`);
    }
    tracker.dispose();
  }
  renderer.dispose();
  renderer.forceContextLoss();
  expect(drawn).toBeGreaterThan((SCENES * PIXELS) / 3);
  expect(faults.length, faults.slice(0, 20).join('\n')).toBeLessThan(MOST_ON_EDGES * SCENES * PIXELS);
});

test(`what WebGPURenderer draws, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const renderer = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await renderer.init();
  renderer.outputColorSpace = LinearSRGBColorSpace;
  renderer.toneMapping = NoToneMapping;
  renderer.setPixelRatio(1);
  renderer.setSize(SIZE.width, SIZE.height);
  const faults: string[] = [];
  let drawn = 0;
  for (let number = 0; number < SCENES; number++) {
    const { scene, names } = makeScene(random, SURFACES.Mesh);
    const camera = cameraOf(random);
    const tracker = await trackScene(service, scene);
    renderer.render(scene, camera);
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [SIZE.width, SIZE.height];
    const picture = canvas.getContext('2d', { willReadFrequently: true })!;
    picture.drawImage(renderer.domElement, 0, 0);
    const bytes = picture.getImageData(0, 0, SIZE.width, SIZE.height).data;
    for (let i = 0; i < 2; i++) await tracker.update(camera, SIZE);
    for (let i = 0; i < PIXELS; i++) {
      const pixel = [random.integer(SIZE.width), random.integer(SIZE.height)] as const;
      const expected = nameAt(bytes, 4 * (pixel[1] * SIZE.width + pixel[0]));
      const found = await pickedAt(tracker, names, pixel);
      if (expected !== null) drawn++;
      if (found !== expected) faults.push(`scene ${number}, pixel ${pixel}: ${found} instead of ${expected}`);
    }
    tracker.dispose();
  }
  renderer.dispose();
  expect(drawn).toBeGreaterThan((SCENES * PIXELS) / 20);
  expect(faults.length, faults.slice(0, 20).join('\n')).toBeLessThan(MOST_ON_EDGES * SCENES * PIXELS);
});
