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
import type { PageRow } from './page-row.js';
import { SIZE, Streamed, timed } from './streamed.js';

/** Pixels along the sides, less than on a screen: they are painted by the processor. */
const PICTURE = { width: 640, height: 360 };
const FRAMES = 10;
/** How far the camera goes in a frame. */
const STEP = 0.05;

/** What it takes to draw a city with what the worker leaves out, and as three does by itself. */
export async function drawnCityRow(count: number): Promise<PageRow> {
  const matrices = cityOf(count);
  const geometry = new BoxGeometry();
  const meshes = [true, false].map((areHouses) => {
    const parts = [...Array(count).keys()].filter((i) => isHouse(i) === areHouses);
    const mesh = new InstancedMesh(
      geometry,
      new MeshLambertMaterial({ color: areHouses ? 0xaa9988 : 0xcc3311 }),
      parts.length,
    );
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
  const picture = (camera: PerspectiveCamera): void => {
    renderer.render(scene, camera);
    gl.readPixels(0, 0, PICTURE.width, PICTURE.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  };
  const eye = () => new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 2000);
  const walk = (camera: PerspectiveCamera, n: number): void => {
    camera.position.set(STREET / 2 + STEP * n, 1.7, STREET / 2);
    camera.rotation.y = 0.05 * n;
    camera.updateMatrixWorld();
  };
  const walked: Streamed[] = [];
  const drawnBy = async (culling: { occlusion: boolean }) => {
    const streamed = await Streamed.of(scene, { culling, shapeOf: () => undefined });
    streamed.camera = eye();
    walked.push(streamed);
    // What stands on its mesh for the first time, and hides others for the first time.
    for (let n = -30; n < 0; n++) {
      walk(streamed.camera, n);
      picture(streamed.camera);
      await streamed.update();
    }
    return async (n: number): Promise<number> => {
      walk(streamed.camera, n);
      let answer: Promise<unknown> = Promise.resolve();
      const ms = timed(() => {
        picture(streamed.camera);
        answer = streamed.update();
      });
      await answer;
      return ms;
    };
  };
  const alone = eye();
  const frames: Record<string, (n: number) => Promise<number>> = {
    ours: await drawnBy({ occlusion: true }),
    'culling without occlusion': await drawnBy({ occlusion: false }),
    async "three's own culling"(n) {
      walk(alone, n);
      return timed(() => picture(alone));
    },
  };
  const drawn = new Map<string, number>();
  const contenders: PageRow['contenders'] = {};
  const checksums: NonNullable<PageRow['checksums']> = {};
  for (const [name, frame] of Object.entries(frames)) {
    contenders[name] = async (round) => {
      let ms = 0;
      for (let i = 0; i < FRAMES; i++) ms += await frame(FRAMES * round + i);
      return ms / FRAMES;
    };
    checksums[name] = async () => {
      await frame(1000);
      await frame(1000);
      drawn.set(name, renderer.info.render.triangles);
      let sum = 0;
      for (let i = 0; i < pixels.length; i++) sum += pixels[i] * ((i % 8191) + 1);
      return { picture: sum };
    };
  }
  return {
    contenders,
    checksums,
    facts: () => [...drawn].map(([name, value]) => ({ name: `triangles drawn, ${name}`, value, unit: '' })),
    close() {
      for (const streamed of walked) streamed.close();
      renderer.dispose();
    },
  };
}
