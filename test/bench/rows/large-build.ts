import { type CollisionService, createCollisionService, type MeshId, type Vec3 } from 'collision-worker';
import { Random } from '../../oracle/random.js';
import { type Fact, inThisProcess, type Row, type SelfTimedContender } from '../harness.js';
import { OURS, timeAwaited } from '../ours.js';
import { Terrain } from '../work/terrain.js';

/** Number of rays that check the trees. */
const RAYS = 10_000;
/** Distance by which the whole terrain is raised when its vertices move. */
const RAISE_HEIGHT = 16;
/** Maximum ratio of the time per triangle to that of the smaller terrain. */
const MAX_RATIO = 1.15;

/**
 * The tree of a terrain larger than any cache, compared with a smaller one of the same kind; and the update when all its vertices
 * have moved.
 */
export function largeBuildRow(count: number, fewer: number): Row {
  return {
    name: 'build-18m',
    work: `the tree of a terrain of ${count.toLocaleString('en')} triangles`,
    rounds: 1,
    isLarge: true,
    async prepare() {
      const large = await BuiltTerrain.of(count);
      const small = await BuiltTerrain.of(fewer);
      const part = small.count / large.count;
      const smaller = `one of ${small.count.toLocaleString('en')}, as many times`;
      return {
        contenders: [
          inThisProcess(() => large.contender(OURS)),
          inThisProcess(() => ({ ...small.contender(smaller), part, target: 1 / MAX_RATIO })),
        ],
        facts: () => large.facts(),
      };
    },
  };
}

class BuiltTerrain {
  readonly #terrain: Terrain;
  readonly #service: CollisionService;
  #mesh: MeshId | undefined;
  #ms = 0;

  static async of(triangles: number): Promise<BuiltTerrain> {
    return new BuiltTerrain(new Terrain(triangles), await createCollisionService());
  }

  private constructor(terrain: Terrain, service: CollisionService) {
    this.#terrain = terrain;
    this.#service = service;
  }

  get count(): number {
    return this.#terrain.count;
  }

  contender(name: string): SelfTimedContender {
    const { measure, ...contender } = timeAwaited({
      name,
      before: () => {
        if (this.#mesh !== undefined) this.#service.removeMesh(this.#mesh);
      },
      run: async () => {
        this.#mesh = await this.#service.addMesh(this.#terrain.triangles);
      },
      checksum: async () => ({ 'wrong heights': await this.#wrongHeights(0) }),
      close: () => this.#service.dispose(),
    });
    return {
      ...contender,
      measure: async (round) => {
        this.#ms = await measure(round);
        return this.#ms;
      },
    };
  }

  async facts(): Promise<Fact[]> {
    const service = this.#service;
    const object = service.addObject({ shape: { type: 'mesh', mesh: this.#mesh! } });
    const { rays } = this.#terrain.raysDown(new Random(3), 1);
    const origin: Vec3 = [rays[0], rays[1], rays[2]];
    const direction: Vec3 = [rays[4], rays[5], rays[6]];
    const moved = this.#terrain.triangles.positions.map((each, i) => (i % 3 === 1 ? each - RAISE_HEIGHT : each));
    await service.update();
    let isMoved = false;
    const start = performance.now();
    const update = service.updateMesh(this.#mesh!, moved).then(() => {
      isMoved = true;
    });
    let slowest = 0;
    let picks = 0;
    for (; !isMoved || picks === 0; picks++) {
      const queryStart = performance.now();
      await service.raycast({ origin, direction });
      slowest = Math.max(slowest, performance.now() - queryStart);
    }
    await update;
    const ms = performance.now() - start;
    service.removeObject(object);
    const wrongCount = await this.#wrongHeights(RAISE_HEIGHT);
    if (wrongCount > 0) throw new Error(`${wrongCount} of ${RAYS} rays are wrong after updateMesh`);
    return [
      { name: 'a triangle', value: (1000 * this.#ms) / this.count, unit: 'µs' },
      { name: 'bytes', value: service.meshInfo(this.#mesh!).bytes / this.count, unit: 'a triangle' },
      { name: 'updateMesh of it', value: ms, unit: 'ms' },
      { name: 'picks answered meanwhile', value: picks, unit: '' },
      { name: 'the slowest of these', value: slowest, unit: 'ms' },
    ];
  }

  /** Counts the rays with a wrong hit, for a ground that is lower by this distance. */
  async #wrongHeights(offset: number): Promise<number> {
    const { rays, distances } = this.#terrain.raysDown(new Random(2), RAYS);
    const object = this.#service.addObject({ shape: { type: 'mesh', mesh: this.#mesh! } });
    const actual = (await this.#service.raycastMany(rays)).distances;
    this.#service.removeObject(object);
    // The moved vertices are rounded to float32.
    const isWrong = (distance: number, i: number) => !(Math.abs(distance - distances[i] - offset) <= 1e-5 * distance);
    return actual.filter(isWrong).length;
  }
}
