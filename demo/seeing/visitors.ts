import { type BoxGeometry, CapsuleGeometry, Mesh, MeshLambertMaterial, SphereGeometry } from 'three';
import { mulberry32 } from '../random.js';
import { HALF_DEPTH, HALF_WIDTH, wallAt } from './walls.js';

const PERSON_COUNT = 14;
const BALL_COUNT = 6;

interface Walk {
  mesh: Mesh;
  radius: number;
  /** Units per second. */
  velocityX: number;
  velocityZ: number;
}

/** The guard's targets: people and balls that move straight ahead until a wall turns them around. */
export class Visitors {
  readonly meshes: readonly Mesh[];
  readonly #walls: readonly Mesh<BoxGeometry>[];
  readonly #walks: readonly Walk[];

  constructor(walls: readonly Mesh<BoxGeometry>[], seed: number) {
    this.#walls = walls;
    const random = mulberry32(seed);
    const person = new CapsuleGeometry(0.28, 0.85, 6, 16);
    const ball = new SphereGeometry(0.4, 20, 14);
    this.#walks = Array.from({ length: PERSON_COUNT + BALL_COUNT }, (_, i) => {
      const isPerson = i < PERSON_COUNT;
      const mesh = new Mesh(isPerson ? person : ball, new MeshLambertMaterial());
      mesh.name = isPerson ? `visitor ${i + 1}` : `ball ${i - PERSON_COUNT + 1}`;
      const radius = isPerson ? 0.28 : 0.4;
      mesh.position.y = isPerson ? 0.28 + 0.85 / 2 : radius;
      do {
        mesh.position.x = (2 * random() - 1) * HALF_WIDTH;
        mesh.position.z = (2 * random() - 1) * HALF_DEPTH;
      } while (wallAt(walls, mesh.position.x, mesh.position.z, 2 * radius) !== null);
      const angle = 2 * Math.PI * random();
      const speed = 0.5 + random();
      return { mesh, radius, velocityX: speed * Math.cos(angle), velocityZ: speed * Math.sin(angle) };
    });
    this.meshes = this.#walks.map(({ mesh }) => mesh);
  }

  walk(seconds: number): void {
    for (const walk of this.#walks) {
      const { position } = walk.mesh;
      const x = position.x + walk.velocityX * seconds;
      const z = position.z + walk.velocityZ * seconds;
      const wall = wallAt(this.#walls, x, z, walk.radius);
      if (wall === 'x') walk.velocityX *= -1;
      else if (wall === 'z') walk.velocityZ *= -1;
      else position.set(x, position.y, z);
    }
  }
}
