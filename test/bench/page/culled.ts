import { InstancedMesh2 } from '@three.ez/instanced-mesh';
import {
  BoxGeometry,
  type Camera,
  Frustum,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { Random } from '../../oracle/random.js';
import { createBatch } from './batch-of-forms.js';
import { framesOf } from './length.js';
import type { PageRow } from './page-row.js';
import { roundOf, SIZE, StreamedScene, timed } from './streamed.js';

/** Half the side of the cube for each instance. */
const SPACING = 2;
const WARM_UP_FRAMES = 300;

/** A camera amid the instances that turns, and sees about a tenth of them. */
function turningCamera(): { camera: PerspectiveCamera; turn(frame: number): void } {
  const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  return {
    camera,
    turn(frame) {
      camera.rotation.y = 0.01 * frame;
      camera.updateMatrixWorld();
    },
  };
}

/** Does what a renderer does before it draws: it tests each object and its children against the view's frustum. */
function listVisible(scene: Scene, camera: Camera, root: Object3D): Object3D[] {
  const frustum = new Frustum().setFromProjectionMatrix(
    new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse),
    camera.coordinateSystem,
  );
  const visible: Object3D[] = [];
  scene.onBeforeRender(RENDERER, scene, camera, null as never, null as never, null as never);
  if (!root.frustumCulled || frustum.intersectsObject(root)) visible.push(root);
  for (const child of root.children) if (!child.frustumCulled || frustum.intersectsObject(child)) visible.push(child);
  return visible;
}

function finishRender(scene: Scene, camera: Camera): void {
  scene.onAfterRender(RENDERER, scene, camera, null as never, null as never, null as never);
}

const RENDERER = { isWebGLRenderer: true } as unknown as WebGLRenderer;

/**
 * The main thread's time for culling an InstancedMesh whose instances all move, compared with InstancedMesh2; also with sorting.
 */
async function instancesRow(count: number, isSorted: boolean): Promise<PageRow> {
  const random = new Random(1);
  const radius = SPACING * Math.cbrt(count);
  const geometry = new BoxGeometry();
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial(), count);
  const scene = new Scene().add(mesh);
  const array = mesh.instanceMatrix.array as Float32Array;
  for (let i = 0; i < count; i++) random.placement(random.point(radius)).toArray(array, 16 * i);
  const base = array.slice();
  const { camera, turn } = turningCamera();
  const move = (frame: number): void => {
    for (let i = 0; i < array.length; i += 16) array[i + 12] = base[i + 12] + Math.sin(0.05 * frame + i);
    mesh.instanceMatrix.needsUpdate = true;
    turn(frame);
  };
  mesh.computeBoundingSphere();
  scene.updateMatrixWorld();
  const culling = isSorted ? { order: 'front-to-back' as const } : true;
  const streamed = await StreamedScene.of(scene, { culling, shapeOf: () => undefined });
  streamed.camera = camera;
  let drawn = 0;
  const frame = async (): Promise<number> => {
    const drawMs = timed(() => {
      const list = listVisible(scene, camera, mesh) as InstancedMesh[];
      drawn = list[0]?.count ?? 0;
      finishRender(scene, camera);
    });
    return drawMs + (await streamed.share());
  };
  for (let n = 0; n < framesOf(WARM_UP_FRAMES); n++) {
    move(n);
    await frame();
  }
  const renderer = new WebGLRenderer();
  const peer = new InstancedMesh2(geometry.clone(), new MeshBasicMaterial(), { capacity: count, renderer });
  peer.addInstances(count, () => {});
  peer.sortObjects = isSorted;
  const matrix = new Matrix4();
  const culledByPeer = (round: number) =>
    roundOf(round, move, () =>
      timed(() => {
        for (let i = 0; i < count; i++) peer.setMatrixAt(i, matrix.fromArray(array, 16 * i));
        peer.performFrustumCulling(camera);
      }),
    );
  const allMatrices = new Float32Array(array.length);
  const tenth = new Float32Array(array.length / 10);
  return {
    contenders: {
      ours: (round) => roundOf(round, move, frame),
      'one set of all and one of a tenth': (round) =>
        roundOf(round, move, () =>
          timed(() => {
            allMatrices.set(array);
            tenth.set(array.subarray(0, tenth.length));
          }),
        ),
      InstancedMesh2: culledByPeer,
    },
    idle: (round) => roundOf(round, move, async () => 0),
    facts: () => [
      { name: 'instances drawn', value: drawn, unit: '' },
      { name: 'instances that InstancedMesh2 draws', value: peer.count, unit: '' },
    ],
    close() {
      streamed.close();
      renderer.dispose();
    },
  };
}

/** The time to write the draw list of a BatchedMesh, compared with three's own. */
async function batchRow(count: number, seesAll: boolean): Promise<PageRow> {
  const { batch, array, texture, radius } = createBatch(new Random(1), count, SPACING);
  const material = batch.material as Material;
  const base = array.slice();
  const scene = new Scene().add(batch);
  const { camera, turn } = turningCamera();
  if (seesAll) camera.position.z = 5 * radius;
  const move = (frame: number): void => {
    for (let i = 0; i < array.length; i += 16) array[i + 12] = base[i + 12] + Math.sin(0.05 * frame + i);
    texture.needsUpdate = true;
    turn(seesAll ? 0 : frame);
  };
  batch.computeBoundingSphere();
  scene.updateMatrixWorld();
  const streamed = await StreamedScene.of(scene, { culling: true, shapeOf: () => undefined });
  streamed.camera = camera;
  const internals = batch as unknown as { _multiDrawCount: number; _indirectTexture: { image: { data: Uint32Array } } };
  const draw = (): void => batch.onBeforeRender(RENDERER, scene, camera, batch.geometry, material, null as never);
  const frame = async (): Promise<number> => {
    const drawMs = timed(() => {
      listVisible(scene, camera, batch);
      draw();
      finishRender(scene, camera);
    });
    await streamed.share();
    return drawMs;
  };
  for (let n = 0; n < framesOf(WARM_UP_FRAMES / 4); n++) {
    move(n);
    await frame();
  }
  /** The draw list in its order. Instances at the border of the view may differ, and are not compared. */
  const drawnChecksum = () => ({ drawn: seesAll ? internals._multiDrawCount : 0 });
  const drawCounts: number[] = [];
  return {
    contenders: {
      ours: (round) => roundOf(round, move, frame),
      "three's own": (round) => roundOf(round, move, () => timed(draw)),
    },
    checksums: {
      async ours() {
        await frame();
        drawCounts[0] = internals._multiDrawCount;
        return drawnChecksum();
      },
      async "three's own"() {
        draw();
        drawCounts[1] = internals._multiDrawCount;
        return drawnChecksum();
      },
    },
    idle: (round) => roundOf(round, move, async () => 0),
    facts: () => [
      { name: 'instances drawn', value: drawCounts[0], unit: '' },
      { name: 'instances that three draws', value: drawCounts[1], unit: '' },
    ],
    close: () => streamed.close(),
  };
}

export const culledInstancesRow = (count: number): Promise<PageRow> => instancesRow(count, false);
export const sortedInstancesRow = (count: number): Promise<PageRow> => instancesRow(count, true);
export const culledBatchRow = (count: number): Promise<PageRow> => batchRow(count, false);
export const wholeBatchRow = (count: number): Promise<PageRow> => batchRow(count, true);
