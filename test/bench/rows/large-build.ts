import { type CollisionService, createCollisionService, type MeshId, type Vec3 } from 'collision-worker';
import { Random } from '../../oracle/random.js';
import { type ContenderElsewhere, type Fact, here, type Row } from '../harness.js';
import { awaited, OURS } from '../ours.js';
import { Terrain } from '../work/terrain.js';

/** Number of rays that check the trees. */
const RAYS = 10_000;
/** Distance by which the whole terrain is raised when its vertices move. */
const RAISED = 16;
/** Maximum ratio of the time per triangle to that of the smaller terrain. */
const WORST_RATIO = 1.15;

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
          here(() => large.contender(OURS)),
          here(() => ({ ...small.contender(smaller), part, target: 1 / WORST_RATIO })),
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

  contender(name: string): ContenderElsewhere {
    const { measure, ...contender } = awaited({
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
    const moved = this.#terrain.triangles.positions.map((each, i) => (i % 3 === 1 ? each - RAISED : each));
    await service.update();
    let isMoved = false;
    const start = performance.now();
    const update = service.updateMesh(this.#mesh!, moved).then(() => {
      isMoved = true;
    });
    let longest = 0;
    let picks = 0;
    for (; !isMoved || picks === 0; picks++) {
      const asked = performance.now();
      await service.raycast({ origin, direction });
      longest = Math.max(longest, performance.now() - asked);
    }
    await update;
    const ms = performance.now() - start;
    service.removeObject(object);
    const wrong = await this.#wrongHeights(RAISED);
    if (wrong > 0) throw new Error(`${wrong} of ${RAYS} rays are wrong after updateMesh`);
    return [
      { name: 'a triangle', value: (1000 * this.#ms) / this.count, unit: 'µs' },
      { name: 'bytes', value: service.meshInfo(this.#mesh!).bytes / this.count, unit: 'a triangle' },
      { name: 'updateMesh of it', value: ms, unit: 'ms' },
      { name: 'picks answered meanwhile', value: picks, unit: '' },
      { name: 'the slowest of these', value: longest, unit: 'ms' },
    ];
  }

  /** Counts the rays with a wrong hit, for a ground that is lower by this distance. */
  async #wrongHeights(lower: number): Promise<number> {
    const { rays, distances } = this.#terrain.raysDown(new Random(2), RAYS);
    const object = this.#service.addObject({ shape: { type: 'mesh', mesh: this.#mesh! } });
    const found = (await this.#service.raycastMany(rays)).distances;
    this.#service.removeObject(object);
    // The moved vertices are rounded to float32.
    const isWrong = (distance: number, i: number) => !(Math.abs(distance - distances[i] - lower) <= 1e-5 * distance);
    return found.filter(isWrong).length;
  }
}
