import {
  CapsuleGeometry,
  Group,
  MathUtils,
  Mesh,
  MeshLambertMaterial,
  OctahedronGeometry,
  RingGeometry,
  Vector2,
} from 'three';

const RADIUS = 0.28;
const HEIGHT = 0.85;
/** Units per second. */
const SPEED = 3.2;
/** Where the thief is safe, and the radius of that place. */
const HOME = new Vector2(-10, 7);
const HOME_RADIUS = 0.9;
/** Positions behind walls, x and z. */
const JEWELS = [new Vector2(-5.6, -3.2), new Vector2(5.4, -3.6), new Vector2(7.7, 4.6)];
const PICKUP_RADIUS = 0.6;
const COLORS = { jewel: 0xffe14d, home: 0x5fd1a8 };
const KEY_DIRECTIONS: Readonly<Record<string, readonly [x: number, z: number]>> = {
  KeyW: [0, -1],
  KeyA: [-1, 0],
  KeyS: [0, 1],
  KeyD: [1, 0],
};

/** A thief who must bring the jewels home without being seen by the guard. */
export class Heist {
  readonly thief: Mesh;
  /** Drawn, but not tracked: marks occlude nothing. */
  readonly marks = new Group();
  caught = 0;
  readonly #isFree: (x: number, z: number) => boolean;
  readonly #jewels: readonly Mesh[];
  readonly #ring: Mesh;
  readonly #pressed = new Set<string>();
  /** Target of the thief. */
  #goal: Vector2 | null = null;

  constructor(isFree: (x: number, z: number) => boolean) {
    this.#isFree = isFree;
    this.thief = new Mesh(new CapsuleGeometry(RADIUS, HEIGHT, 6, 16), new MeshLambertMaterial());
    this.thief.name = 'thief';
    this.thief.position.y = RADIUS + HEIGHT / 2;
    const jewel = new OctahedronGeometry(0.24);
    this.#jewels = JEWELS.map(({ x, y }) => {
      const mesh = new Mesh(jewel, new MeshLambertMaterial({ color: COLORS.jewel, emissive: 0x5a4a00 }));
      mesh.position.set(x, 0.4, y);
      return mesh;
    });
    this.#ring = ring(0.42, COLORS.jewel);
    const home = ring(HOME_RADIUS, COLORS.home);
    home.position.set(HOME.x, home.position.y, HOME.y);
    this.marks.add(...this.#jewels, this.#ring, home);
    this.#begin();
  }

  /** Number of jewels that the thief has; `all` is the total. */
  get taken(): number {
    return this.#jewels.filter(({ visible }) => !visible).length;
  }

  get all(): number {
    return this.#jewels.length;
  }

  get isHome(): boolean {
    const { x, z } = this.thief.position;
    return Math.hypot(x - HOME.x, z - HOME.y) < HOME_RADIUS;
  }

  /** Lets the keys W, A, S and D move the thief, too. */
  listen(): void {
    addEventListener('keydown', ({ code, target }) => {
      if (code in KEY_DIRECTIONS && !(target instanceof HTMLInputElement)) this.#pressed.add(code);
    });
    addEventListener('keyup', ({ code }) => this.#pressed.delete(code));
    addEventListener('blur', () => this.#pressed.clear());
  }

  /** Sets the target of the thief. */
  lead(x: number, z: number): void {
    this.#goal = new Vector2(x, z);
  }

  stop(): void {
    this.#goal = null;
  }

  walk(seconds: number): void {
    const { position } = this.thief;
    const motion = new Vector2();
    for (const code of this.#pressed) motion.add(new Vector2(...KEY_DIRECTIONS[code]));
    const maxDistance = SPEED * seconds;
    if (motion.lengthSq() > 0) motion.setLength(maxDistance);
    else if (this.#goal !== null)
      motion.set(this.#goal.x - position.x, this.#goal.y - position.z).clampLength(0, maxDistance);
    // Slides along a wall that blocks the way.
    if (this.#isFree(position.x + motion.x, position.z)) position.x += motion.x;
    if (this.#isFree(position.x, position.z + motion.y)) position.z += motion.y;
    this.#ring.position.set(position.x, this.#ring.position.y, position.z);
    for (const jewel of this.#jewels)
      jewel.rotation.y = MathUtils.euclideanModulo(jewel.rotation.y + seconds, 2 * Math.PI);
  }

  /** Updates the game, given whether the guard sees the thief; returns a message, if any. */
  judge(isSeen: boolean): string | null {
    if (isSeen && !this.isHome) {
      this.caught++;
      this.#begin();
      return 'the thief was seen, and begins anew';
    }
    const { x, z } = this.thief.position;
    const nearJewel = this.#jewels.find(
      ({ visible, position }) => visible && Math.hypot(position.x - x, position.z - z) < PICKUP_RADIUS,
    );
    if (nearJewel !== undefined) {
      nearJewel.visible = false;
      return `jewel ${this.taken} of ${this.all} taken`;
    }
    if (!this.isHome || this.taken < this.all) return null;
    this.#begin();
    return 'all jewels are at home: well done';
  }

  #begin(): void {
    this.#goal = null;
    this.thief.position.set(HOME.x, this.thief.position.y, HOME.y);
    for (const jewel of this.#jewels) jewel.visible = true;
  }
}

/** A ring on the floor. */
function ring(radius: number, color: number): Mesh {
  const mesh = new Mesh(
    new RingGeometry(radius - 0.08, radius, 48).rotateX(-Math.PI / 2),
    new MeshLambertMaterial({ color, emissive: color, emissiveIntensity: 0.6 }),
  );
  mesh.position.y = 0.02;
  return mesh;
}
