import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  type BufferGeometry,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Raycaster,
  Scene,
  Vector2,
} from 'three';
import { acceleratedRaycast, MeshBVH } from 'three-mesh-bvh';
import { Random } from '../../oracle/random.js';
import { median } from '../statistics.js';
import type { PageRow } from './page-row.js';
import { beginTrace, type LongestTask } from './probes.js';
import { factsOf } from './stage.js';
import { SIZE } from './streamed.js';

/** Triangles per geometry. */
const TRIANGLES = 48;
const TRACED_RUNS = 3;
/** Half the side of the cube for each, so that there is an object in front of the camera. */
const SPACING = 2.8;

type PickChecksum = Record<'mesh' | 'distance', number>;

/** Many small geometries: time from an untracked scene to the answer of a pick. */
export async function trackingRow(count: number): Promise<PageRow> {
  const camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  const radius = SPACING * Math.cbrt(count);
  camera.position.z = 2 * radius;
  camera.updateMatrixWorld();
  const raycaster = new Raycaster();
  raycaster.firstHitOnly = true;
  raycaster.setFromCamera(new Vector2(0, 0), camera);
  let checksum: PickChecksum = { mesh: -1, distance: 0 };

  const track = async (service: CollisionService, root: Object3D): Promise<SceneTracker> => {
    const tracker = await trackScene(service, root);
    const frame = tracker.update(camera, SIZE);
    const hit = await tracker.pick(SIZE.width / 2, SIZE.height / 2);
    await frame; // which has already been answered
    checksum = { mesh: hit === null ? -1 : root.children.indexOf(hit.object), distance: hit?.distance ?? 0 };
    return tracker;
  };
  /** Calls `measure` around the work on a new scene, in a separate task. */
  const measureTracking = async (measure: (work: () => Promise<unknown>) => Promise<number>): Promise<number> => {
    const service = await createCollisionService();
    const root = sceneOf(count);
    let tracker: SceneTracker | undefined;
    await new Promise((resolve) => setTimeout(resolve));
    const figure = await measure(async () => {
      tracker = await track(service, root);
    });
    tracker?.dispose();
    service.dispose();
    return figure;
  };
  return {
    contenders: {
      ours: () =>
        measureTracking(async (work) => {
          const start = performance.now();
          await work();
          return performance.now() - start;
        }),
      async 'three-mesh-bvh'() {
        const { children } = sceneOf(count);
        const start = performance.now();
        for (const mesh of children as Mesh[]) mesh.geometry.boundsTree = new MeshBVH(mesh.geometry);
        const [hit] = raycaster.intersectObjects(children, false);
        const ms = performance.now() - start;
        checksum = { mesh: hit === undefined ? -1 : children.indexOf(hit.object), distance: hit?.distance ?? 0 };
        return ms;
      },
    },
    checksums: { ours: async () => checksum, 'three-mesh-bvh': async () => checksum },
    async facts() {
      const tasks: LongestTask[] = [];
      for (let i = 0; i < TRACED_RUNS; i++) {
        await measureTracking(async (work) => {
          await window.heapBytes(); // excludes the scene's own garbage
          await beginTrace();
          await work();
          tasks.push(await window.longestTask());
          return 0;
        });
      }
      const medianOf = (key: keyof LongestTask) => median(tasks.map((task) => task[key]));
      const medians = { wall: medianOf('wall'), cpu: medianOf('cpu'), ours: medianOf('ours') };
      const bytes = await measureTracking(async (work) => {
        const bytesBefore = await window.heapBytes();
        await work();
        return (await window.heapBytes()) - bytesBefore;
      });
      return [...factsOf(medians), { name: 'kept on the main thread', value: bytes / count, unit: 'bytes a Mesh' }];
    },
    close() {},
  };
}

function sceneOf(count: number): Scene {
  const random = new Random(1);
  const material = new MeshBasicMaterial();
  const root = new Scene();
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(bumpyPlane(random), material);
    mesh.raycast = acceleratedRaycast;
    mesh.position.copy(random.point(SPACING * Math.cbrt(count)));
    root.add(mesh);
  }
  root.updateMatrixWorld();
  return root;
}

/** A geometry that nothing else shares. */
function bumpyPlane(random: Random): BufferGeometry {
  const geometry = new PlaneGeometry(8, 8, TRIANGLES / 8, 4);
  const { position } = geometry.attributes;
  for (let i = 0; i < position.count; i++) position.setZ(i, random.range(-1, 1));
  return geometry;
}
