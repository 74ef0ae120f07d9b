import {
  BoxGeometry,
  type BufferGeometry,
  CanvasTexture,
  CapsuleGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  type Object3D,
  PlaneGeometry,
  RepeatWrapping,
} from 'three';
import { nextTurn } from '../next-turn.js';
import { IS_LIGHT } from '../scenery.js';

/** Half of the course's side length, in metres. */
export const HALF_SIZE = 16;
/** Radius of the walking capsules. */
export const CHARACTER_RADIUS = 0.3;
export const CHARACTER_HEIGHT = 1.7;
/** The three.js layer that the door checks: walkers are in it as well, balls in no other. */
export const BALL_LAYER = 1;

const COLORS = IS_LIGHT
  ? {
      floor: 0xdbe2ea,
      wall: 0xb7c2cf,
      step: 0x9fb3cb,
      slope: 0x8fb79f,
      moving: 0xd9985a,
      land: 0xb5c4a8,
      hero: 0x2f6db3,
    }
  : {
      floor: 0x232c39,
      wall: 0x3b4859,
      step: 0x4d6a94,
      slope: 0x4f8b73,
      moving: 0xc47a3a,
      land: 0x4a5d4c,
      hero: 0x7fb4e8,
    };

/** Everything that one walks on, into and with. `isStatic` tells the tracker which objects never move. */
export class Course {
  readonly root = new Group();
  readonly hero = new Group();
  readonly door = this.#box('the door', [1.9, 2.6, 0.2], [-9, 1.3, 0], COLORS.moving, true);
  readonly #lift = this.#box('the lift', [2.4, 6, 2.4], [0, -2.9, -9], COLORS.moving, true);
  readonly #bridge = this.#box('the bridge that turns', [6, 0.3, 1.4], [0, 0.15, 9], COLORS.moving, true);

  /** Builds the course part by part, and yields to the page in between. */
  static async create(): Promise<Course> {
    const course = new Course();
    for (const _ of course.#build()) await nextTurn();
    return course;
  }

  /** Yields at points where the page may take over. */
  *#build(): Generator<void> {
    const floor = this.#box('the floor', [2 * HALF_SIZE, 1, 2 * HALF_SIZE], [0, -0.5, 0], COLORS.floor);
    (floor.material as MeshLambertMaterial).map = createTileTexture();
    for (const side of [-1, 1]) {
      this.#addWall([1, 1, 2 * HALF_SIZE + 2], side * (HALF_SIZE + 0.5), 0);
      this.#addWall([2 * HALF_SIZE, 1, 1], 0, side * (HALF_SIZE + 0.5));
    }
    yield;
    this.#addStairs();
    this.#addRamps();
    this.#addDoorway();
    this.#addCorners();
    yield;
    this.#addLand();
    yield;
    this.#addHero();
    this.pose(0);
  }

  /** Returns whether an object never moves. */
  isStatic(object: Object3D): boolean {
    return object.userData.isStill === true;
  }

  /** Moves the lift and the bridge to their places at a time, in seconds. */
  pose(seconds: number): void {
    this.#lift.position.y = -1.9 - Math.cos(0.6 * seconds);
    this.#bridge.rotation.y = 0.3 * seconds;
  }

  /** A low wall below a tall invisible one. */
  #addWall(size: readonly [x: number, y: number, z: number], x: number, z: number): void {
    this.#box('a wall', size, [x, 0.5, z], COLORS.wall);
    const fence = this.#box('a fence', [size[0], 12, size[2]], [x, 7, z], COLORS.wall);
    (fence.material as MeshLambertMaterial).visible = false;
  }

  #addStairs(): void {
    for (let i = 0; i < 8; i++) {
      const height = 0.25 * (i + 1);
      this.#box('a step', [0.5, height, 3], [7 + 0.5 * i, height / 2, -9], COLORS.step);
    }
    this.#box('a landing', [3, 2, 3], [12.25, 1, -9], COLORS.step);
  }

  /** Ramps of 10 to 70 degrees: the first four can be climbed. */
  #addRamps(): void {
    for (let i = 0; i < 7; i++) {
      const angle = ((10 + 10 * i) * Math.PI) / 180;
      const name = `a ramp of ${10 + 10 * i} degrees`;
      const ramp = this.#box(name, [1.8, 0.4, 4], [-13 + 2.2 * i, 2 * Math.sin(angle) - 0.2, 13], COLORS.slope);
      ramp.rotation.x = angle;
    }
  }

  #addDoorway(): void {
    this.#box('the wall beside the door', [2.5, 2.6, 0.4], [-11.2, 1.3, 0], COLORS.wall);
    this.#box('the wall beside the door', [2.5, 2.6, 0.4], [-6.8, 1.3, 0], COLORS.wall);
    this.#box('the wall above the door', [6.9, 0.5, 0.4], [-9, 2.85, 0], COLORS.wall);
  }

  /** A corner of three walls, and a gap a finger's width wider than a character. */
  #addCorners(): void {
    const walls = [
      [[0.3, 2, 3.5], [-6, 1, -10], 0],
      [[3.5, 2, 0.3], [-8, 1, -11.6], 0.25],
      [[3.2, 2, 0.3], [-8.2, 1, -8.6], -0.35],
    ] as const;
    for (const [size, position, rotation] of walls)
      this.#box('a corner', size, position, COLORS.wall).rotation.y = rotation;
    for (const side of [-1, 1]) {
      this.#box('a narrow gap', [2, 2, 2], [7, 1, side * (1 + CHARACTER_RADIUS + 0.03)], COLORS.wall);
    }
  }

  /** Uneven terrain of 7,200 triangles. */
  #addLand(): void {
    const geometry = new PlaneGeometry(7, 13, 40, 90).rotateX(-Math.PI / 2);
    const { position } = geometry.attributes;
    for (let i = 0; i < position.count; i++) {
      const [x, z] = [position.getX(i), position.getZ(i)];
      const edge = Math.min(1, (3.5 - Math.abs(x)) / 1.2, (6.5 - Math.abs(z)) / 1.2);
      position.setY(i, edge * (0.7 + 0.5 * Math.sin(1.6 * x) * Math.cos(1.1 * z) + 0.07 * Math.sin(9 * x + 7 * z)));
    }
    geometry.computeVertexNormals();
    this.#add('uneven ground', geometry, COLORS.land).position.set(12, 0.005, 3);
  }

  #addHero(): void {
    const body = this.#add(
      'you',
      new CapsuleGeometry(CHARACTER_RADIUS, CHARACTER_HEIGHT - 2 * CHARACTER_RADIUS, 6, 20),
      COLORS.hero,
      true,
    );
    const nose = this.#add('your nose', new BoxGeometry(0.12, 0.12, 0.3), COLORS.hero, true);
    body.position.y = CHARACTER_HEIGHT / 2;
    nose.position.set(0, 1.4, CHARACTER_RADIUS);
    for (const part of [body, nose]) part.layers.enable(BALL_LAYER);
    this.hero.add(body, nose);
    this.hero.position.set(2.5, 0, 2);
    this.root.add(this.hero);
  }

  #box(
    name: string,
    size: readonly [x: number, y: number, z: number],
    position: readonly [x: number, y: number, z: number],
    color: number,
    isMoving = false,
  ): Mesh {
    const box = this.#add(name, new BoxGeometry(...size), color, isMoving);
    box.position.set(...position);
    return box;
  }

  #add(name: string, geometry: BufferGeometry, color: number, isMoving = false): Mesh {
    const mesh = new Mesh(geometry, new MeshLambertMaterial({ color }));
    mesh.name = name;
    mesh.userData.isStill = !isMoving;
    this.root.add(mesh);
    return mesh;
  }
}

/** A texture of one-metre floor tiles, each with a border. */
function createTileTexture(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 128;
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 128, 128);
  context.fillStyle = IS_LIGHT ? '#c9d0d8' : '#aab4c2';
  context.fillRect(0, 0, 128, 4);
  context.fillRect(0, 0, 4, 128);
  const texture = new CanvasTexture(canvas);
  texture.wrapS = RepeatWrapping;
  texture.wrapT = RepeatWrapping;
  texture.repeat.set(2 * HALF_SIZE, 2 * HALF_SIZE);
  texture.anisotropy = 8;
  return texture;
}
