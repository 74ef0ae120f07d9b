import {
  AmbientLight,
  BoxGeometry,
  DirectionalLight,
  InstancedMesh,
  MeshLambertMaterial,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { cityOf, isHouse, STREET } from '../work/city.js';
import type { PageFact, PageRow } from './page-row.js';
import { SIZE, StreamedScene, timed } from './streamed.js';

/** Size of the picture. It has few pixels, because without a graphics card the CPU draws them. */
const PICTURE = { width: 320, height: 180 };
/** Frames until the occluders have been at rest for several answers. */
const WARM_UP_FRAMES = 6;
/** The frame that is compared. */
const COMPARED_FRAME = 3;
/** Distance that the camera moves per frame. */
const STEP = 0.05;

interface DrawStats {
  calls: number;
  triangles: number;
  instances: number;
}

/** Time to draw a city from a street, with the worker's culling, and with three's own. */
export async function drawnCityRow(count: number): Promise<PageRow> {
  const matrices = cityOf(count);
  const geometry = new BoxGeometry();
  const trianglesPerInstance = geometry.index!.count / 3;
  const meshes = [true, false].map((areHouses) => {
    const parts = Array.from({ length: count }, (_, i) => i).filter((i) => isHouse(i) === areHouses);
    const material = new MeshLambertMaterial({ color: areHouses ? 0xaa9988 : 0xcc3311 });
    const mesh = new InstancedMesh(geometry, material, parts.length);
    parts.forEach((i, n) => {
      mesh.instanceMatrix.array.set(matrices.subarray(16 * i, 16 * i + 16), 16 * n);
    });
    mesh.computeBoundingSphere();
    return mesh;
  });
  const scene = new Scene().add(new AmbientLight(0xffffff, 0.5), new DirectionalLight(0xffffff, 2), ...meshes);
  scene.updateMatrixWorld();
  const renderer = new WebGLRenderer({ antialias: false });
  renderer.setSize(PICTURE.width, PICTURE.height, false);
  const gl = renderer.getContext();
  const pixels = new Uint8Array(4 * PICTURE.width * PICTURE.height);
  /** Also waits for the GPU to finish, which a page never does. */
  const drawAndWait = (camera: PerspectiveCamera): void => {
    renderer.render(scene, camera);
    gl.readPixels(0, 0, PICTURE.width, PICTURE.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  };
  const createCamera = () => new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 2000);
  const placeCamera = (camera: PerspectiveCamera, n: number): void => {
    camera.position.set(STREET / 2 + STEP * n, 1.7, STREET / 2);
    camera.rotation.y = 0.05 * n;
    camera.updateMatrixWorld();
  };
  const streamed = await StreamedScene.of(scene, {
    culling: { occlusion: true },
    shapeOf: () => undefined,
    objectOptions: () => ({ motion: 'static' }),
  });
  streamed.camera = createCamera();
  const [unoccludedCamera, peerCamera] = [createCamera(), createCamera()];
  /** Requests visibility for the camera's next picture, and for one without occlusion. */
  const requestVisibility = () => {
    streamed.tracker.setView(unoccludedCamera, SIZE, 'without occlusion', { occlusion: false });
    return streamed.update();
  };
  const drawWith = (camera: PerspectiveCamera) => async (n: number) => {
    for (const each of [streamed.camera, unoccludedCamera]) placeCamera(each, n);
    let answer: Promise<unknown> = Promise.resolve();
    const ms = timed(() => {
      drawAndWait(camera);
      answer = requestVisibility();
    });
    await answer;
    return ms;
  };
  const frames: Record<string, (n: number) => Promise<number>> = {
    ours: drawWith(streamed.camera),
    'culling without occlusion': drawWith(unoccludedCamera),
    async "three's own culling"(n) {
      for (const each of [streamed.camera, unoccludedCamera, peerCamera]) placeCamera(each, n);
      await requestVisibility();
      return timed(() => drawAndWait(peerCamera));
    },
  };
  for (let n = -WARM_UP_FRAMES; n < 0; n++) {
    for (const each of [streamed.camera, unoccludedCamera]) placeCamera(each, n);
    await requestVisibility();
  }
  let step = 0;
  const statsByName = new Map<string, DrawStats>();
  const contenders: PageRow['contenders'] = {};
  const checksums: NonNullable<PageRow['checksums']> = {};
  for (const [name, frame] of Object.entries(frames)) {
    // The steps continue from contender to contender, since each answer is for the camera's current step.
    contenders[name] = () => frame(step++);
    // All contenders draw the same picture, for which the preceding answers were requested.
    checksums[name] = async () => {
      for (const each of [streamed.camera, unoccludedCamera]) placeCamera(each, COMPARED_FRAME);
      for (let i = 0; i < 2; i++) await requestVisibility();
      await frame(COMPARED_FRAME);
      const { calls, triangles } = renderer.info.render;
      statsByName.set(name, { calls, triangles, instances: triangles / trianglesPerInstance });
      let sum = 0;
      for (let i = 0; i < pixels.length; i++) sum += pixels[i] * ((i % 8191) + 1);
      return { picture: sum };
    };
  }
  return {
    contenders,
    checksums,
    facts: () => factsOf(statsByName, gl),
    close() {
      streamed.close();
      renderer.dispose();
    },
  };
}

function factsOf(
  statsByName: ReadonlyMap<string, DrawStats>,
  gl: WebGLRenderingContext | WebGL2RenderingContext,
): PageFact[] {
  const facts = [...statsByName].flatMap(([name, { calls, triangles, instances }]) => [
    { name: `draw calls, ${name}`, value: calls, unit: '' },
    { name: `triangles drawn, ${name}`, value: triangles, unit: '' },
    { name: `instances drawn, ${name}`, value: instances, unit: '' },
  ]);
  const drawnInstances = statsByName.get('ours')!.instances;
  const instancesInView = statsByName.get('culling without occlusion')!.instances;
  const extension = gl.getExtension('WEBGL_debug_renderer_info');
  const rendererName = extension === null ? gl.RENDERER : extension.UNMASKED_RENDERER_WEBGL;
  return [
    ...facts,
    {
      name: 'of what is in view, hidden and left out',
      value: (100 * (instancesInView - drawnInstances)) / instancesInView,
      unit: '%',
    },
    {
      name: `painted by ${gl.getParameter(rendererName)}, ${PICTURE.width} × ${PICTURE.height}`,
      value: PICTURE.width * PICTURE.height,
      unit: 'pixels',
    },
  ];
}
