import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  LinearSRGBColorSpace,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

/** CSS pixels; each pixel ratio gives the canvas a whole number of pixels. */
const CANVAS = { width: 120, height: 80 };
const PLACES = [
  ['the whole canvas', { x: 0, y: 0, ...CANVAS }],
  ['a part of the canvas', { x: 30, y: 12, width: 64, height: 56 }],
] as const;
type Place = (typeof PLACES)[number][1];

/** Canvas pixels from one triangle to the next: they do not overlap. */
const STEP = 6;
const CAMERAS: [string, (aspect: number) => PerspectiveCamera | OrthographicCamera][] = [
  ['perspective', (aspect) => new PerspectiveCamera(55, aspect, 0.5, 200)],
  ['orthographic', (aspect) => new OrthographicCamera(-7 * aspect, 7 * aspect, 7, -7, 0.5, 200)],
  [
    'off-axis',
    (aspect) => {
      const camera = new PerspectiveCamera(80, aspect, 0.5, 200);
      camera.setViewOffset(300, 200, 140, 20, 100, 70);
      return camera;
    },
  ],
];

let service: CollisionService;
let renderer: WebGLRenderer;
beforeEach(async () => {
  service = await createCollisionService();
  renderer = new WebGLRenderer({ antialias: false });
  renderer.outputColorSpace = LinearSRGBColorSpace; // colours are used as numbers here
});
afterEach(() => {
  service.dispose();
  renderer.dispose();
  renderer.forceContextLoss();
});

const gl = () => renderer.getContext();

/** About as large as a pixel, each with a colour of its own, at all depths. */
function triangles(
  camera: PerspectiveCamera | OrthographicCamera,
  place: Place,
  ratio: number,
  random: Random,
): Mesh[] {
  const meshes: Mesh[] = [];
  const [width, height] = [place.width * ratio, place.height * ratio];
  for (let x = STEP / 2; x < width; x += STEP) {
    for (let y = STEP / 2; y < height; y += STEP) {
      const middle = new Vector2(x + random.range(-1, 1), y + random.range(-1, 1));
      const depth = random.logRange(1, 150);
      const { z } = new Vector3(0, 0, -depth).applyMatrix4(camera.projectionMatrix);
      const turn = random.range(0, 2 * Math.PI);
      const corners = [0, 1, 2].map((i) => {
        const angle = turn + (i * 2 * Math.PI) / 3;
        const reach = random.range(0.4, 1.4);
        const [px, py] = [middle.x + reach * Math.cos(angle), middle.y + reach * Math.sin(angle)];
        return new Vector3((2 * px) / width - 1, 1 - (2 * py) / height, z).unproject(camera);
      });
      // Relative to the triangle itself, where float32 has digits.
      const geometry = new BufferGeometry();
      const positions = corners.flatMap((corner) => corner.clone().sub(corners[0]).toArray());
      geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
      const number = meshes.length + 1;
      const material = new MeshBasicMaterial({ side: DoubleSide });
      material.color.setRGB((number & 255) / 255, (number >> 8) / 255, 0);
      const mesh = new Mesh(geometry, material);
      mesh.name = `${number}`;
      mesh.position.copy(corners[0]);
      mesh.updateMatrixWorld();
      meshes.push(mesh);
    }
  }
  return meshes;
}

/** The number of what is drawn at each pixel, rows from the top; 0 if nothing is. */
function draw(scene: Scene, camera: PerspectiveCamera | OrthographicCamera, place: Place, ratio: number): Uint16Array {
  renderer.setPixelRatio(ratio);
  renderer.setSize(CANVAS.width, CANVAS.height);
  renderer.setViewport(place.x, CANVAS.height - place.y - place.height, place.width, place.height);
  renderer.render(scene, camera);
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl();
  expect([width, height]).toEqual([CANVAS.width * ratio, CANVAS.height * ratio]);
  const bytes = new Uint8Array(4 * width * height);
  gl().readPixels(0, 0, width, height, gl().RGBA, gl().UNSIGNED_BYTE, bytes);
  return Uint16Array.from({ length: width * height }, (_, i) => {
    const at = 4 * ((height - 1 - Math.floor(i / width)) * width + (i % width));
    return bytes[at] + 256 * bytes[at + 1];
  });
}

/** Pixels from a point of the viewport to the nearest edge; negative outside the triangle. */
function depthIn(mesh: Mesh, camera: PerspectiveCamera | OrthographicCamera, size: Vector2, point: Vector2): number {
  const { position } = mesh.geometry.attributes;
  const corners = [0, 1, 2].map((i) => {
    const { x, y } = new Vector3().fromBufferAttribute(position, i).applyMatrix4(mesh.matrixWorld).project(camera);
    return new Vector2(((x + 1) / 2) * size.x, ((1 - y) / 2) * size.y);
  });
  const heights = corners.map((a, i) => {
    const along = corners[(i + 1) % 3].clone().sub(a);
    return along.cross(point.clone().sub(a)) / along.length();
  });
  const turn = Math.sign(corners[1].clone().sub(corners[0]).cross(corners[2].clone().sub(corners[0])));
  return Math.min(...heights.map((height) => turn * height));
}

describe.each([1, 1.5, 2])(`at a device pixel ratio of %d, seed ${SEED}`, (ratio) => {
  describe.each(PLACES)('on %s', (_, place) => {
    test.each(CAMERAS)(
      '%s: what is drawn at a pixel is picked at its centre, and what is not, is not',
      async (_, make) => {
        const random = new Random(SEED);
        const camera = make(place.width / place.height);
        camera.position.copy(random.point(20));
        camera.quaternion.copy(random.rotation());
        camera.updateMatrixWorld();
        camera.updateProjectionMatrix();
        const meshes = triangles(camera, place, ratio, random);
        const scene = new Scene().add(...meshes);
        const tracker = await trackScene(service, scene);
        await tracker.update(camera, place);
        const pixels = draw(scene, camera, place, ratio);
        // A corner is drawn where it is rounded to this many subpixel
        // bits: nearer to an edge than that, nothing is predictable.
        const doubt = 2 ** -gl().getParameter(gl().SUBPIXEL_BITS);

        const size = new Vector2(place.width, place.height).multiplyScalar(ratio);
        const raycaster = new Raycaster();
        const count = { drawn: 0, beside: 0, doubtful: 0 };
        const picks: Promise<void>[] = [];
        pixels.forEach((number, i) => {
          const width = CANVAS.width * ratio;
          const center = new Vector2((i % width) + 0.5, Math.floor(i / width) + 0.5);
          const inPlace = center.clone().sub(new Vector2(place.x, place.y).multiplyScalar(ratio));
          if (inPlace.x < 0 || inPlace.y < 0 || inPlace.x > size.x || inPlace.y > size.y) {
            expect(number).toBe(0);
            return;
          }
          const column = Math.min(Math.floor(inPlace.x / STEP), Math.ceil((size.x - STEP / 2) / STEP) - 1);
          const rows = Math.ceil((size.y - STEP / 2) / STEP);
          const own = meshes[column * rows + Math.min(Math.floor(inPlace.y / STEP), rows - 1)];
          const depth = depthIn(own, camera, size, inPlace);
          if (Math.abs(depth) < doubt) {
            count.doubtful++;
            return;
          }
          if (number === 0 && depth < -1.5) return; // of the many with nothing near
          const drawn = number === 0 ? undefined : `${number}`;
          count[drawn ? 'drawn' : 'beside']++;
          raycaster.setFromCamera(new Vector2((2 * inPlace.x) / size.x - 1, 1 - (2 * inPlace.y) / size.y), camera);
          const [three] = raycaster.intersectObject(scene);
          const check = tracker.pick(center.x / ratio, center.y / ratio).then((hit) => {
            expect(hit?.object.name, `pixel ${center.toArray()}, ${depth} inside ${own.name}`).toBe(drawn);
            expect(three?.object.name).toBe(drawn);
            if (hit && three) expect(Math.abs(hit.distance / three.distance - 1)).toBeLessThan(1e-5);
          });
          picks.push(check);
        });
        await Promise.all(picks);
        expect(count.drawn).toBeGreaterThan(30);
        expect(count.beside).toBeGreaterThan(30);
        expect(count.doubtful).toBeLessThan((count.drawn + count.beside) / 5);
      },
    );
  });
});
