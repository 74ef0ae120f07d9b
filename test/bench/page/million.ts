import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  Frustum,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  PerspectiveCamera,
  Plane,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
} from 'three';
import { Random } from '../../oracle/random.js';
import type { PageRow } from './page-row.js';
import { latencyOf, quantile } from './picks.js';
import { FRAMES_A_ROUND, SIZE } from './streamed.js';

const FRAMES_A_TURN = 300;
const PICKS_A_ROUND = 20;
const COMPARED_PICKS = 3;
/** Field of view in degrees: a camera in the middle sees about a twentieth of the instances. */
const FIELD_OF_VIEW = 38;
const HALF_SIZE = 0.5;
/** Side of the cube for each instance. */
const SPACING = 2;

/** An InstancedMesh of many static boxes, with its tracker. */
class InstancedScene {
  readonly camera: PerspectiveCamera;
  readonly mesh: InstancedMesh;
  readonly #service: Awaited<ReturnType<typeof createCollisionService>>;
  readonly tracker: SceneTracker;
  readonly heapBytes: number;
  readonly coreBytes: number;

  static async of(count: number): Promise<InstancedScene> {
    const size = 2 * HALF_SIZE;
    const mesh = new InstancedMesh(new BoxGeometry(size, size, size), new MeshBasicMaterial(), count);
    const random = new Random(1);
    const radius = (Math.cbrt(count) * SPACING) / 2;
    for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().setPosition(random.point(radius)));
    mesh.computeBoundingSphere();
    const root = new Scene().add(mesh);
    root.updateMatrixWorld();
    const camera = new PerspectiveCamera(FIELD_OF_VIEW, SIZE.width / SIZE.height, 0.1, 4 * radius);
    const service = await createCollisionService();
    const { usedBytes } = service.stats;
    const heap = await window.heapBytes();
    const tracker = await trackScene(service, root, {
      objectOptions: () => ({ motion: 'static' }),
      shapeOf: () => ({ type: 'box', halfExtents: [HALF_SIZE, HALF_SIZE, HALF_SIZE] }),
    });
    await tracker.update(camera, SIZE);
    const heapBytes = (await window.heapBytes()) - heap;
    return new InstancedScene(camera, mesh, service, tracker, heapBytes, service.stats.usedBytes - usedBytes);
  }

  private constructor(
    camera: PerspectiveCamera,
    mesh: InstancedMesh,
    service: Awaited<ReturnType<typeof createCollisionService>>,
    tracker: SceneTracker,
    heapBytes: number,
    coreBytes: number,
  ) {
    this.camera = camera;
    this.mesh = mesh;
    this.#service = service;
    this.tracker = tracker;
    this.heapBytes = heapBytes;
    this.coreBytes = coreBytes;
  }

  /** Turns the camera to its orientation in a frame. */
  turn(frame: number): void {
    this.camera.rotation.y = (2 * Math.PI * frame) / FRAMES_A_TURN;
    this.camera.updateMatrixWorld();
  }

  close(): void {
    this.tracker.dispose();
    this.#service.dispose();
  }
}

/** Time from requesting a frame to the list of instances that a turning camera sees. */
export async function millionRow(count: number): Promise<PageRow> {
  const forest = await InstancedScene.of(count);
  const { camera, mesh, tracker } = forest;
  const visibleIds = new Uint32Array(count);
  const boxes = new BoxLoop(mesh);
  let visible = 0;
  const round = async (roundIndex: number, frame: () => number | Promise<number>): Promise<number> => {
    const samples: number[] = [];
    for (let i = 0; i < FRAMES_A_ROUND; i++) {
      await new Promise(requestAnimationFrame);
      forest.turn(roundIndex * FRAMES_A_ROUND + i);
      samples.push(
        await latencyOf(async () => {
          visible = await frame();
        }),
      );
    }
    return quantile(samples, 0.5);
  };
  const ours = async () => (await tracker.update(camera, SIZE)).visibleInstances(mesh, visibleIds);
  const checksum = async () => ({ visible });
  return {
    contenders: {
      ours: (roundIndex) => round(roundIndex, ours),
      'JavaScript loop': (roundIndex) => round(roundIndex, () => boxes.cull(camera, visibleIds)),
    },
    checksums: { ours: checksum, 'JavaScript loop': checksum },
    facts: () => [
      { name: 'visible', value: visible, unit: 'instances' },
      { name: 'in the core', value: forest.coreBytes / count, unit: 'bytes each' },
      { name: 'on the main thread', value: forest.heapBytes / count, unit: 'bytes each' },
    ],
    close: () => forest.close(),
  };
}

/** The loop of an app with its boxes' centres in one array: it tests each against the planes of the frustum. */
class BoxLoop {
  readonly #centres: Float32Array;
  readonly #frustum = new Frustum(...Array.from({ length: 6 }, () => new Plane()));
  readonly #planes = new Float64Array(24);

  constructor({ count, instanceMatrix: { array } }: InstancedMesh) {
    this.#centres = new Float32Array(3 * count);
    for (let i = 0; i < count; i++) this.#centres.set(array.subarray(16 * i + 12, 16 * i + 15), 3 * i);
  }

  cull({ projectionMatrix, matrixWorldInverse }: PerspectiveCamera, visible: Uint32Array): number {
    this.#frustum.setFromProjectionMatrix(new Matrix4().multiplyMatrices(projectionMatrix, matrixWorldInverse));
    const planes = this.#planes;
    this.#frustum.planes.forEach(({ normal, constant }, i) => {
      const extent = HALF_SIZE * (Math.abs(normal.x) + Math.abs(normal.y) + Math.abs(normal.z));
      planes.set([normal.x, normal.y, normal.z, constant + extent], 4 * i);
    });
    const centres = this.#centres;
    let count = 0;
    next: for (let i = 0; i < centres.length; i += 3) {
      const x = centres[i];
      const y = centres[i + 1];
      const z = centres[i + 2];
      for (let p = 0; p < 24; p += 4) {
        if (planes[p] * x + planes[p + 1] * y + planes[p + 2] * z + planes[p + 3] < 0) continue next;
      }
      visible[count++] = i / 3;
    }
    return count;
  }
}

/** A sequence of picks, each at the position of a different instance. */
export async function millionPickRow(count: number): Promise<PageRow> {
  const forest = await InstancedScene.of(count);
  const { camera, mesh, tracker } = forest;
  const random = new Random(2);
  const pickPositions = Array.from(
    { length: PICKS_A_ROUND },
    () => new Vector2(random.range(-1, 1), random.range(-1, 1)),
  );
  const raycaster = new Raycaster();
  camera.updateMatrixWorld();
  const pick = ({ x, y }: Vector2) => tracker.pick((0.5 + 0.5 * x) * SIZE.width, (0.5 - 0.5 * y) * SIZE.height);
  const raycast = (ndc: Vector2) => {
    raycaster.setFromCamera(ndc, camera);
    raycaster.near = camera.near / raycaster.ray.direction.dot(camera.getWorldDirection(new Vector3()));
    return raycaster.intersectObject(mesh)[0] ?? null;
  };
  const checksumOf = async (find: (ndc: Vector2) => unknown): Promise<Record<string, number>> => {
    const sums = { instances: 0, distances: 0 };
    for (const ndc of pickPositions.slice(0, COMPARED_PICKS)) {
      const hit = (await find(ndc)) as { instanceId: number; distance: number } | null;
      sums.instances += hit?.instanceId ?? 0;
      sums.distances += hit?.distance ?? 0;
    }
    return sums;
  };
  return {
    contenders: {
      async ours() {
        const samples: number[] = [];
        for (const ndc of pickPositions) samples.push(await latencyOf(() => pick(ndc)));
        return quantile(samples, 0.5);
      },
      "three's Raycaster": () => latencyOf(async () => raycast(pickPositions[0])),
    },
    checksums: { ours: () => checksumOf(pick), "three's Raycaster": () => checksumOf(raycast) },
    close: () => forest.close(),
  };
}
