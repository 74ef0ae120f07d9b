import type { Character, CharacterState, CollisionService, QueryOptions } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import type { Random } from '../oracle/random.js';
import type { FrameLog } from './frame-log.js';
import type { Hogs } from './hogs.js';
import type { Life } from './life.js';
import type { Point } from './solids.js';
import type { Line } from './truth.js';
import type { Window } from './windows.js';
import { DETAILS, type ModelBox, type ModelObject, type World } from './world.js';

const AXES = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/** The state that the steps of a life act on, and their randomness. */
export class Actor {
  readonly life: Life;
  readonly frames: FrameLog;
  readonly hogs: Hogs;
  /** Random numbers of the current step: they depend on the seed and the step's number, not on earlier answers. */
  random: Random;
  /** Matrices staged for the next update(). */
  readonly staged = new Map<number, readonly number[]>();
  /** The views, as given to picks. */
  readonly windows = new Map<string, Window>();
  /** Meshes whose size is unknown until their update is answered. */
  readonly meshesInDoubt = new Set<number>();
  /** The boxes given to meshes, for as long as they live. */
  readonly boxesOfMeshes = new Map<number, readonly ModelBox[]>();
  /** Baked meshes, their scale, and the boxes that are baked into them. */
  readonly baked: [baked: ArrayBuffer, scale: number, boxes: readonly ModelBox[]][] = [];
  /** The characters, each with its state when it was last checked. */
  readonly characters = new Map<Character, CharacterState | undefined>();
  /** Instances that no query sees, which the worker has to hold. */
  crowd: Uint32Array = new Uint32Array(0);
  #names = 0;

  constructor(life: Life, frames: FrameLog, hogs: Hogs, random: Random) {
    this.life = life;
    this.frames = frames;
    this.hogs = hogs;
    this.random = random;
  }

  get service(): CollisionService {
    return this.life.service;
  }

  get world(): World {
    return this.life.world;
  }

  ids(count: number): number[] {
    const ids = [...this.world.things.keys()];
    const size = Math.min(count, ids.length);
    return Array.from({ length: size }, () => ids.splice(this.random.integer(ids.length), 1)[0]);
  }

  mesh(): number | undefined {
    const meshes = [...this.world.meshes.keys()];
    return meshes.length > 0 ? this.random.pick(meshes) : undefined;
  }

  /** Returns a name that no view has had before. */
  newName(): string {
    return `view ${this.#names++}`;
  }

  /** A random matrix that permutes the axes, mirrors some of them and scales uniformly. */
  matrix(): number[] {
    const { random } = this;
    const scale = random.range(0.5, 1.5);
    const matrix = new Matrix4().setPosition(random.point(6)).elements;
    random.pick(AXES).forEach((row, column) => {
      matrix.fill(0, 4 * column, 4 * column + 3);
      matrix[4 * column + row] = random.pick([-scale, scale]);
    });
    return matrix;
  }

  thing(): ModelObject {
    const { random } = this;
    const mesh = this.mesh();
    const kinds = [
      'box',
      'ball',
      'capsule',
      ...(mesh === undefined ? [] : ['surface', 'solid mesh']),
    ] as ModelObject['kind'][];
    const kind = random.pick(kinds);
    const isMesh = kind === 'surface' || kind === 'solid mesh';
    const size = () => random.range(0.3, 1.5);
    const half = { box: [size(), size(), size()], ball: [0, 0, 0], capsule: [0, 0, size()] }[kind as 'box'] ?? [
      1, 1, 1,
    ];
    if (kind === 'capsule') half.unshift(...half.splice(random.integer(3)));
    return {
      ...{ kind, half: half as unknown as Point, mesh: isMesh ? mesh! : 0 },
      radius: kind === 'ball' || kind === 'capsule' ? size() : 0,
      ...(isMesh ? this.boxesOn(mesh!) : { boxes: [], hasOwnBoxes: false }),
      center: isMesh || random.chance(0.7) ? [0, 0, 0] : (random.point(1).toArray() as Point),
      matrix: this.matrix(),
      motion: random.chance(0.2) ? 'static' : 'moving',
      layers: random.pick([1, 2, 3, 0x80000000]),
      collidesWith: random.pick([1, 0xffffffff, 0xffffffff, 0xffffffff]),
      group: random.integer(3),
      contacts: random.pick(DETAILS),
      clearance: random.chance(0.3) ? random.range(0.01, 1) : 0,
      continuous: random.chance(0.3),
      pickable: random.chance(0.9),
      cullable: random.chance(0.9),
      occluder: random.chance(0.8),
    };
  }

  /** Boxes for an object of a mesh: some of its own, an empty list that overrides the mesh's, or those of its mesh. */
  boxesOn(mesh: number): Pick<ModelObject, 'boxes' | 'hasOwnBoxes'> {
    const hasOwnBoxes = this.random.chance(0.5);
    if (!hasOwnBoxes) return { boxes: this.boxesOfMeshes.get(mesh) ?? [], hasOwnBoxes };
    return { boxes: this.random.chance(0.7) ? this.boxes() : [], hasOwnBoxes };
  }

  /** They stay within a cube of half extents 0.45: a mesh never gets smaller than 0.5. */
  boxes(): ModelBox[] {
    const { random } = this;
    return Array.from({ length: 1 + random.integer(3) }, (_, i) => {
      const half = random
        .point(1)
        .toArray()
        .map((value) => 0.05 + 0.2 * Math.abs(value)) as unknown as Point;
      const center = random.point(0.2).toArray() as Point;
      return { name: `box ${i}`, center, half, isTurned: random.chance(0.5) };
    });
  }

  window(): Window {
    const { random } = this;
    const half: Point = [random.range(2, 6), random.range(2, 6), random.range(4, 20)];
    const width = random.range(50, 500);
    return {
      ...{ center: random.point(3).toArray() as Point, half, width, height: (width * half[1]) / half[0] },
      ...{ left: random.range(-50, 50), top: random.range(-50, 50), layers: random.pick([1, 0xffffffff]) },
      ...{ margin: random.pick([0, 0.5]), minPixels: random.pick([0, 0, 30]), occlusion: random.chance(0.4) },
      ...{ depth: random.pick(['webgl', 'webgpu'] as const), reversed: random.chance(0.3) },
    };
  }

  /** In float32 precision, as raycastMany takes it. */
  line(): Line {
    const { random } = this;
    const origin = random.point(10).toArray().map(Math.fround) as unknown as Point;
    const rayDirection = random.chance(0.5) ? random.direction() : random.point(4).sub(new Vector3(...origin));
    const rounded = rayDirection.normalize().toArray().map(Math.fround);
    const direction = new Vector3().fromArray(rounded).normalize().toArray() as Point;
    return { origin, direction, tMax: random.pick([Number.POSITIVE_INFINITY, Math.fround(random.range(5, 15))]) };
  }

  query(): QueryOptions {
    const { random } = this;
    return {
      layers: random.pick([1, 2, 3, 0xffffffff, 0xffffffff]),
      ignore: random.chance(0.3) ? this.ids(2) : [],
      side: random.pick(['front', 'back', 'double', 'double']),
      precision: random.pick(['sphere', 'aabb', 'obb', 'mesh', 'mesh', 'mesh']),
      ...this.signal(),
    };
  }

  /** Usually no signal; otherwise one that is aborted at once, or soon. */
  signal(): { signal?: AbortSignal } {
    const { random } = this;
    if (!random.chance(0.15)) return {};
    const controller = new AbortController();
    const delay = random.integer(5);
    if (delay === 0) controller.abort();
    else if (delay === 1) queueMicrotask(() => controller.abort());
    else setTimeout(() => controller.abort(), delay - 2);
    return { signal: controller.signal };
  }
}
