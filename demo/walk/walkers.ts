import type { SceneCharacter, SceneTracker } from 'collision-worker/three';
import { CapsuleGeometry, Color, InstancedMesh, Matrix4, MeshLambertMaterial, Vector3 } from 'three';
import { mulberry32 } from '../random.js';
import { IS_LIGHT } from '../scenery.js';
import { CHARACTER_HEIGHT, CHARACTER_RADIUS, HALF_SIZE } from './course.js';

interface Walker {
  character: SceneCharacter;
  velocity: Vector3;
  /** Seconds until it changes direction. */
  left: number;
}

/** People who wander over the course and through one another. They are drawn, but not tracked. */
export class Walkers {
  readonly mesh: InstancedMesh;
  readonly #tracker: SceneTracker;
  readonly #random = mulberry32(7);
  #walkers: Walker[] = [];

  constructor(tracker: SceneTracker, maxCount: number) {
    this.#tracker = tracker;
    const geometry = new CapsuleGeometry(CHARACTER_RADIUS, CHARACTER_HEIGHT - 2 * CHARACTER_RADIUS, 4, 12).translate(
      0,
      CHARACTER_HEIGHT / 2,
      0,
    );
    this.mesh = new InstancedMesh(geometry, new MeshLambertMaterial(), maxCount);
    this.mesh.frustumCulled = false;
    for (let i = 0; i < maxCount; i++)
      this.mesh.setColorAt(i, new Color().setHSL(0.58 + 0.1 * this.#random(), 0.14, IS_LIGHT ? 0.5 : 0.42));
    this.mesh.count = 0;
  }

  get count(): number {
    return this.#walkers.length;
  }

  get standing(): number {
    return this.#walkers.filter(({ character }) => character.state.isStanding).length;
  }

  /** Sets the number of walkers. */
  set(count: number): void {
    for (const { character } of this.#walkers.splice(count)) character.remove();
    while (this.#walkers.length < count) {
      const [x, z] = [0, 0].map(() => (2 * this.#random() - 1) * (HALF_SIZE - 1));
      const character = this.#tracker.createCharacter({
        shape: {
          type: 'capsule',
          radius: CHARACTER_RADIUS,
          from: [0, CHARACTER_RADIUS, 0],
          to: [0, CHARACTER_HEIGHT - CHARACTER_RADIUS, 0],
        },
        ...{ position: [x, 4, z], stepHeight: 0.35, layers: 1 },
      });
      this.#walkers.push({ character, velocity: new Vector3(), left: 0 });
    }
  }

  move(seconds: number): void {
    const matrix = new Matrix4();
    for (const [i, walker] of this.#walkers.entries()) {
      walker.left -= seconds;
      if (walker.left <= 0) {
        const angle = 2 * Math.PI * this.#random();
        walker.velocity.set(Math.cos(angle), 0, Math.sin(angle)).multiplyScalar(1 + 2 * this.#random());
        walker.left = 1 + 4 * this.#random();
        if (this.#random() < 0.15) walker.character.jump(4);
      }
      walker.character.advance(walker.velocity, seconds);
      this.mesh.setMatrixAt(i, matrix.setPosition(walker.character.state.interpolated));
    }
    this.mesh.count = this.#walkers.length;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
