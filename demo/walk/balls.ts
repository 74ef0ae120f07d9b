import type { SceneCharacter, SceneTracker } from 'collision-worker/three';
import { Mesh, MeshLambertMaterial, type Object3D, SphereGeometry, type Vector3 } from 'three';
import { BALL_LAYER } from './course.js';

const RADIUS = 0.13;
const MAX_BALLS = 40;
const GRAVITY = 9.81;
/** Share of the speed that a bounce keeps across the wall, and along it. */
const BOUNCE_RATIO = 0.6;
const SLIDE_RATIO = 0.985;

interface Ball {
  mesh: Mesh;
  /** A ball is a small character. It is swept along its whole path, so it passes through nothing, however fast it is. */
  character: SceneCharacter;
  velocity: Vector3;
}

/** Thrown balls that bounce off the objects that their characters touch. */
export class Balls {
  readonly #root: Object3D;
  readonly #tracker: SceneTracker;
  readonly #balls: Ball[] = [];
  readonly #geometry = new SphereGeometry(RADIUS, 20, 12);
  readonly #material = new MeshLambertMaterial({ color: 0xe0894a });

  constructor(root: Object3D, tracker: SceneTracker) {
    this.#root = root;
    this.#tracker = tracker;
  }

  get count(): number {
    return this.#balls.length;
  }

  /** Height of the lowest ball: nothing falls through the floor. */
  get lowest(): number {
    return Math.min(...this.#balls.map(({ mesh }) => mesh.position.y));
  }

  throw(from: Vector3, velocity: Vector3, thrower: Object3D): void {
    if (this.#balls.length === MAX_BALLS) this.#remove(this.#balls.shift()!);
    const mesh = new Mesh(this.#geometry, this.#material);
    mesh.name = 'a ball';
    mesh.layers.set(BALL_LAYER);
    mesh.position.copy(from);
    this.#root.add(mesh);
    const shape = { type: 'capsule', radius: RADIUS, from: [0, 0, 0], to: [0, 0, 0] } as const;
    const character = this.#tracker.createCharacter({
      object: mesh,
      shape,
      ignore: thrower.children,
      layers: 1,
      stepHeight: 0,
      slope: 0,
    });
    this.#balls.push({ mesh, character, velocity: velocity.clone() });
  }

  /** Moves all balls, and bounces them off the objects that they touched in the last step. */
  move(seconds: number): void {
    for (const { character, velocity } of this.#balls) {
      const { touches, ground } = character.state;
      for (const { normal } of ground === null ? touches : [...touches, ground]) {
        const normalSpeed = velocity.dot(normal);
        if (normalSpeed >= 0) continue;
        velocity.addScaledVector(normal, -normalSpeed).multiplyScalar(SLIDE_RATIO);
        if (normalSpeed < -0.4) velocity.addScaledVector(normal, -BOUNCE_RATIO * normalSpeed);
      }
      velocity.y -= GRAVITY * seconds;
      character.move(velocity.clone().multiplyScalar(seconds));
    }
  }

  clear(): void {
    for (const ball of this.#balls.splice(0)) this.#remove(ball);
  }

  #remove({ mesh, character }: Ball): void {
    character.remove();
    this.#root.remove(mesh);
  }
}
