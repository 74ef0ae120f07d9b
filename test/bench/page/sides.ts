import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BackSide,
  DoubleSide,
  FrontSide,
  IcosahedronGeometry,
  type Intersection,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Raycaster,
  Scene,
  type Side,
  Vector2,
} from 'three';
import { Random } from '../../oracle/random.js';
import type { PageRow } from './page-row.js';
import { latencyOf, quantile } from './picks.js';
import { SIZE } from './streamed.js';

const PICKS_A_ROUND = 50;
const COMPARED_PICKS = 3;
/** Side of the cube for each Mesh. */
const SPACING = 4;

/** Meshes at random places around the camera; the rendered sides of their faces alternate. */
class Crowd {
  readonly root = new Scene();
  readonly camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 1e-3, 1e4);
  readonly #pickPositions: readonly Vector2[];
  #service!: CollisionService;
  #tracker!: SceneTracker;

  static async of(count: number, sides: readonly Side[]): Promise<Crowd> {
    const crowd = new Crowd(count, sides);
    crowd.#service = await createCollisionService();
    crowd.#tracker = await trackScene(crowd.#service, crowd.root);
    await crowd.#tracker.update(crowd.camera, SIZE);
    return crowd;
  }

  private constructor(count: number, sides: readonly Side[]) {
    const geometry = new IcosahedronGeometry(1, 1);
    const materials = sides.map((side) => new MeshBasicMaterial({ side }));
    const random = new Random(1);
    for (let i = 0; i < count; i++) {
      const mesh = new Mesh(geometry, materials[i % materials.length]);
      mesh.position.copy(random.point((Math.cbrt(count) * SPACING) / 2));
      this.root.add(mesh);
    }
    this.root.updateMatrixWorld();
    this.camera.updateMatrixWorld();
    this.#pickPositions = Array.from(
      { length: PICKS_A_ROUND },
      () => new Vector2(random.range(-1, 1), random.range(-1, 1)),
    );
  }

  async latency(): Promise<number> {
    const samples: number[] = [];
    for (const ndc of this.#pickPositions) samples.push(await latencyOf(() => this.#pick(ndc)));
    return quantile(samples, 0.5);
  }

  /** Sum over the hits of the first picks. */
  sumOfPicks(): Promise<Record<string, number>> {
    return this.#sumOf((ndc) => this.#pick(ndc));
  }

  sumOfCasts(): Promise<Record<string, number>> {
    return this.#sumOf(async (ndc) => this.cast(ndc));
  }

  cast(ndc = this.#pickPositions[0]): Intersection | null {
    const raycaster = new Raycaster();
    raycaster.setFromCamera(ndc, this.camera);
    return raycaster.intersectObjects(this.root.children, false)[0] ?? null;
  }

  close(): void {
    this.#tracker.dispose();
    this.#service.dispose();
  }

  #pick({ x, y }: Vector2): Promise<Intersection | null> {
    return this.#tracker.pick((0.5 + 0.5 * x) * SIZE.width, (0.5 - 0.5 * y) * SIZE.height);
  }

  async #sumOf(find: (ndc: Vector2) => Promise<Intersection | null>): Promise<Record<string, number>> {
    const sums = { meshes: 0, distances: 0 };
    for (const ndc of this.#pickPositions.slice(0, COMPARED_PICKS)) {
      const hit = await find(ndc);
      sums.meshes += hit === null ? 0 : this.root.children.indexOf(hit.object);
      sums.distances += hit?.distance ?? 0;
    }
    return sums;
  }
}

/** A pick among objects of mixed sides, compared with as many objects of one side. */
export async function sidesRow(count: number): Promise<PageRow> {
  const mixed = await Crowd.of(count, [FrontSide, BackSide, DoubleSide]);
  const front = await Crowd.of(count, [FrontSide]);
  const sumBoth = async (sum: (crowd: Crowd) => Promise<Record<string, number>>) => {
    const [ofMixed, ofFront] = [await sum(mixed), await sum(front)];
    return { ...ofMixed, 'meshes of one side': ofFront.meshes, 'distances of one side': ofFront.distances };
  };
  return {
    contenders: {
      ours: () => mixed.latency(),
      'objects of one side': () => front.latency(),
      "three's Raycaster": () => latencyOf(async () => mixed.cast()),
    },
    checksums: {
      ours: () => sumBoth((crowd) => crowd.sumOfPicks()),
      "three's Raycaster": () => sumBoth((crowd) => crowd.sumOfCasts()),
    },
    close() {
      mixed.close();
      front.close();
    },
  };
}
