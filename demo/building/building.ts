import { mulberry32 } from '../random.js';
import { createSolids } from './building-solids.js';
import {
  BAY,
  BAYS,
  BEAM,
  BRANCH_OFFSET,
  CORRIDOR,
  CORRIDOR_LENGTH,
  DUCT,
  FACADE,
  FLOOR_HEIGHT,
  HOLE,
  MISTAKE_RATES,
  PIPE,
  PLAN,
  ROUTE_HEIGHT,
  RUN_LENGTH,
  SLAB,
  STAIRS,
  WALL,
} from './measures.js';
import type { Solid } from './solids.js';

export type Layer =
  | 'slabs'
  | 'columns'
  | 'beams'
  | 'facade'
  | 'walls'
  | 'stairs'
  | 'furniture'
  | 'ducts'
  | 'pipes'
  | 'trays'
  | 'lights';

export interface BuildingPart {
  /** Unique to the part, and the same for the same options. */
  readonly id: string;
  /** A readable name. */
  readonly name: string;
  readonly layer: Layer;
  /** Counted from 0. */
  readonly floor: number;
  /** Shared between parts: compare by identity. */
  readonly geometry: Solid;
  /** 16 numbers in column-major order, as in three's Matrix4; in metres, y is up. */
  readonly matrix: readonly number[];
}

export interface BuildingOptions {
  /** About 1,150 parts each. */
  floors: number;
  /** Determines where the fitters made mistakes. */
  seed: number;
}

const SOLIDS = createSolids();
type SolidName = keyof typeof SOLIDS;

type Point = readonly [x: number, y: number, z: number];
/** Quarter turns about the vertical that take +z to +x, then to -z; 'up' takes +z to +y, 'down' to -y. */
type Turn = 0 | 1 | 2 | 3 | 'up' | 'down';

/**
 * An office building with its structure and its services: about 1,150 parts a floor. Fitters have made mistakes: ducts through
 * beams, pipes through ducts, trays into pipes, walls that are too high, and duplicate parts.
 */
export function makeBuilding(options: BuildingOptions): BuildingPart[] {
  return [...floorsOf(options)].flat();
}

/** Yields the same parts, floor by floor. */
export function* floorsOf({ floors, seed }: BuildingOptions): Generator<BuildingPart[], void> {
  const random = mulberry32(seed);
  for (let floor = 0; floor < floors; floor++) {
    const parts: BuildingPart[] = [];
    const builder = new Floor(floor, parts, random);
    builder.structure(floor === floors - 1);
    builder.facade(floor === floors - 1);
    builder.rooms();
    builder.ducts();
    builder.pipes();
    builder.trays();
    builder.lights();
    yield parts;
  }
}

/** Adds the parts of one floor. Heights are relative to the floor. */
class Floor {
  readonly #floor: number;
  readonly #parts: BuildingPart[];
  readonly #random: () => number;
  readonly #counts = new Map<string, number>();

  constructor(floor: number, parts: BuildingPart[], random: () => number) {
    this.#floor = floor;
    this.#parts = parts;
    this.#random = random;
  }

  structure(isTop: boolean): void {
    const ceiling = FLOOR_HEIGHT - SLAB;
    for (let x = 0; x < BAYS.x; x++) {
      for (let z = 0; z < BAYS.z; z++) {
        this.#slab('slab', x, z, 0, x === STAIRS.x && z === STAIRS.z && this.#floor > 0);
        if (isTop) this.#slab('roof', x, z, FLOOR_HEIGHT, false);
      }
    }
    for (let x = 0; x <= BAYS.x; x++) {
      for (let z = 0; z <= BAYS.z; z++) {
        const isRound = z === STAIRS.z || z === STAIRS.z + 1;
        const size: Point = [1, 1, ceiling - BEAM.height];
        this.#add('columns', 'column', isRound ? 'roundColumn' : 'column', [BAY * x, 0, BAY * z], 'up', size);
      }
    }
    const beamY = ceiling - BEAM.height / 2;
    for (let x = 0; x < BAYS.x; x++) {
      for (let z = 0; z <= BAYS.z; z++) this.#add('beams', 'beam', 'beam', [BAY * x, beamY, BAY * z], 1, [1, 1, BAY]);
    }
    // The beams along z end at those along x.
    const gap = BEAM.width / 2;
    for (let x = 0; x <= BAYS.x; x++) {
      for (let z = 0; z < BAYS.z; z++) {
        this.#add('beams', 'beam', 'beam', [BAY * x, beamY, BAY * z + gap], 0, [1, 1, BAY - 2 * gap]);
      }
    }
    const [left, near] = [BAY * STAIRS.x + HOLE.left, BAY * STAIRS.z + HOLE.near];
    if (!isTop) {
      this.#add('stairs', 'flight of stairs', 'stairs', [left + 1.4, 0, near], 3);
      this.#add('stairs', 'balustrade', 'balustrade', [left + 1.45, 0, near], 3);
    }
    for (let k = 0; k < 4; k++) {
      const at: Point = [left + 1.65 + 0.15 * k, 0, near + 2];
      this.#add('pipes', 'riser', 'mainPipe', at, 'up', [1, 1, isTop ? ceiling : FLOOR_HEIGHT]);
    }
  }

  facade(isTop: boolean): void {
    const { outside, inside } = FACADE;
    const addSide = (count: number, at: (k: number) => Point, turn: Turn): void => {
      for (let k = 0; k < count; k++) {
        const [x, y, z] = at(k);
        this.#add('facade', 'parapet', 'parapet', [x, y, z], turn);
        this.#add('facade', 'window frame', 'window', [x, y, z], turn);
        this.#add('facade', 'window', 'panes', [x, y, z], turn);
        if (isTop) this.#add('facade', 'parapet', 'parapet', [x, y + FLOOR_HEIGHT, z], turn);
      }
    };
    addSide(BAYS.x, (k) => [BAY * k, 0, -outside], 0);
    addSide(BAYS.x, (k) => [BAY * (k + 1), 0, PLAN.z + outside], 2);
    addSide(BAYS.z, (k) => [-outside, 0, BAY * (k + 1)], 1);
    addSide(BAYS.z, (k) => [PLAN.x + outside, 0, BAY * k], 3);
    // An L-shaped piece at each corner.
    const [width, height] = [outside - inside, isTop ? FLOOR_HEIGHT + SLAB + 0.85 : FLOOR_HEIGHT];
    const centerY = height / 2 - SLAB;
    for (const [x, toX] of [
      [0, -1],
      [PLAN.x, 1],
    ]) {
      for (const [z, toZ] of [
        [0, -1],
        [PLAN.z, 1],
      ]) {
        const far = toZ < 0 ? z - outside : z + inside;
        this.#add('facade', 'corner', 'box', [x + (toX * outside) / 2, centerY, far], 0, [outside, height, width]);
        const near = toZ < 0 ? z - inside : z;
        const sideX = x + toX * (inside + width / 2);
        this.#add('facade', 'corner', 'box', [sideX, centerY, near], 0, [width, height, inside]);
      }
    }
  }

  rooms(): void {
    const half = WALL.thickness / 2;
    for (let x = 1; x < STAIRS.x; x++) {
      for (const z of [STAIRS.z, STAIRS.z + 1]) {
        const at: Point = [BAY * x, 0, BAY * z - half];
        this.#add('walls', 'corridor wall', 'wallWithDoor', at, 0);
        this.#add('walls', 'door', 'door', [at[0] + 2.5, 0, at[2] + 0.03], 0);
      }
    }
    for (let x = 1; x < BAYS.x; x++) {
      for (const z of [0, 1, 3, 4]) {
        if (this.#random() < 0.35) continue;
        const isTooHigh = this.#random() < MISTAKE_RATES.wall;
        const at: Point = [BAY * x - half, 0, BAY * z + 0.5];
        this.#add('walls', 'partition', isTooHigh ? 'highWall' : 'wall', at, 3);
      }
    }
    for (let x = 0; x < BAYS.x; x++) {
      for (const z of [0, 1, 3, 4]) {
        for (const k of [0, 1]) {
          const [left, far] = [BAY * x + 1.6 + 2.4 * k, BAY * z + 2.4 + 0.4 * this.#random()];
          this.#add('furniture', 'desk', 'desk', [left, 0, far], 0);
          const turn = Math.floor(4 * this.#random()) as Turn;
          this.#add('furniture', 'chair', 'chair', [left + 0.1, 0, far + 1.3], turn);
        }
      }
    }
  }

  ducts(): void {
    const { supply, exhaust } = CORRIDOR;
    for (const [z, kind] of [
      [supply, 'supply duct'],
      [exhaust, 'exhaust duct'],
    ] as const) {
      for (let k = 0; k < CORRIDOR_LENGTH / RUN_LENGTH.duct; k++) {
        const at: Point = [RUN_LENGTH.duct * k, ROUTE_HEIGHT.duct, z];
        this.#add('ducts', kind, 'duct', at, 1, [1, 1, RUN_LENGTH.duct - 0.04]);
        this.#add('ducts', 'flange', 'flange', [at[0] + RUN_LENGTH.duct - 0.04, at[1], z], 1);
      }
    }
    for (let x = 0; x < STAIRS.x; x++) {
      for (const direction of [-1, 1]) {
        // A duct that is too high runs through the beams.
        const height = ROUTE_HEIGHT.duct + (this.#random() < MISTAKE_RATES.duct ? 0.38 : 0);
        const from = direction < 0 ? supply - DUCT.width / 2 : exhaust + DUCT.width / 2;
        for (let k = 0; k < 4; k++) {
          const at: Point = [BAY * x + BRANCH_OFFSET, height, from + direction * 2.8 * k];
          this.#add('ducts', 'branch duct', 'roundDuct', at, direction < 0 ? 2 : 0, [1, 1, 2.8]);
          if (k === 0) continue;
          const outlet: Point = [at[0], 2.5, at[2] + direction * 1.4];
          this.#add('ducts', 'drop', 'drop', outlet, 'up', [1, 1, height - DUCT.round + 0.02 - outlet[1]]);
          this.#add('ducts', 'diffuser', 'diffuser', outlet, 'down');
        }
      }
    }
  }

  pipes(): void {
    const { pipe: z } = CORRIDOR;
    for (let k = 0; k < CORRIDOR_LENGTH / RUN_LENGTH.pipe; k++) {
      const at: Point = [RUN_LENGTH.pipe * k, ROUTE_HEIGHT.pipe, z];
      this.#add('pipes', 'sprinkler main', 'mainPipe', at, 1, [1, 1, RUN_LENGTH.pipe]);
      this.#add('pipes', 'coupling', 'coupling', [at[0] + RUN_LENGTH.pipe - 0.06, at[1], z], 1);
    }
    for (let k = 0; k < 2 * STAIRS.x; k++) {
      for (const direction of [-1, 1]) {
        // A pipe that is too high runs through the ducts of the corridor.
        const height = ROUTE_HEIGHT.pipe + (this.#random() < MISTAKE_RATES.pipe ? 0.27 : 0);
        const x = 1.3 + 3 * k;
        for (let j = 0; j < 2; j++) {
          const at: Point = [x, height, z + direction * (PIPE.main + RUN_LENGTH.pipe * j)];
          this.#add('pipes', 'sprinkler branch', 'branchPipe', at, direction < 0 ? 2 : 0, [1, 1, RUN_LENGTH.pipe]);
          for (const fraction of [0.45, 0.95]) {
            const head: Point = [x, height - PIPE.branch + 0.005, at[2] + direction * fraction * RUN_LENGTH.pipe];
            this.#add('pipes', 'sprinkler', 'sprinkler', head, 'down');
          }
        }
      }
    }
    this.#heating();
  }

  trays(): void {
    for (let k = 0; k < CORRIDOR_LENGTH / RUN_LENGTH.tray; k++) {
      this.#add('trays', 'cable tray', 'tray', [RUN_LENGTH.tray * k, ROUTE_HEIGHT.tray, CORRIDOR.tray], 1, [
        1,
        1,
        RUN_LENGTH.tray,
      ]);
    }
    for (let x = 0; x < STAIRS.x; x++) {
      for (const direction of [-1, 1]) {
        const height = ROUTE_HEIGHT.tray + (this.#random() < MISTAKE_RATES.tray ? 0.1 : 0);
        for (let k = 0; k < 3; k++) {
          const at: Point = [BAY * x + 4.95, height, CORRIDOR.tray + direction * (0.15 + RUN_LENGTH.tray * k)];
          this.#add('trays', 'cable tray', 'tray', at, direction < 0 ? 2 : 0, [1, 1, RUN_LENGTH.tray]);
        }
      }
    }
  }

  lights(): void {
    for (let x = 0; x < BAYS.x; x++) {
      for (const z of [0, 1, 3, 4]) {
        for (const k of [0, 1]) {
          this.#add('lights', 'luminaire', 'light', [BAY * x + 2 + 2.2 * k, ROUTE_HEIGHT.light, BAY * z + 2.2], 0);
        }
      }
    }
  }

  /** Two pipes around the building, and a radiator below each window of its long sides. */
  #heating(): void {
    for (const [name, inset, height] of [
      ['flow pipe', 0.3, 0.14],
      ['return pipe', 0.42, 0.06],
    ] as const) {
      const { bend } = PIPE;
      const [right, far] = [PLAN.x - inset, PLAN.z - inset];
      const corners: [Point, Turn][] = [
        [[inset, height, far], 1],
        [[right, height, far], 2],
        [[right, height, inset], 3],
        [[inset, height, inset], 0],
      ];
      corners.forEach(([[x, , z], turn], i) => {
        const [stepX, stepZ] = [
          [1, 0],
          [0, -1],
          [-1, 0],
          [0, 1],
        ][i];
        const length = (stepX === 0 ? far - inset : right - inset) - 2 * bend;
        const pieces = stepX === 0 ? BAYS.z : BAYS.x;
        for (let k = 0; k < pieces; k++) {
          const distance = bend + (length / pieces) * k;
          const at: Point = [x + distance * stepX, height, z + distance * stepZ];
          this.#add('pipes', name, 'branchPipe', at, turn, [1, 1, length / pieces]);
        }
        const end: Point = [x + (length + bend) * stepX, height, z + (length + bend) * stepZ];
        this.#add('pipes', 'elbow', 'elbow', end, turn);
      });
    }
    for (let x = 0; x < BAYS.x; x++) {
      this.#add('pipes', 'radiator', 'radiator', [BAY * x + 2.4, 0.8, 0.05], 'down');
      this.#add('pipes', 'radiator', 'radiator', [BAY * x + 2.4, 0.2, PLAN.z - 0.05], 'up');
    }
  }

  /** The slabs at the edges extend to the facade. */
  #slab(kind: string, x: number, z: number, height: number, hasHole: boolean): void {
    if (hasHole) {
      this.#add('slabs', 'slab', 'slabWithHole', [BAY * x, height - SLAB, BAY * z], 'up');
      return;
    }
    const { inside } = FACADE;
    const [left, right] = [x === 0 ? -inside : BAY * x, x === BAYS.x - 1 ? PLAN.x + inside : BAY * (x + 1)];
    const [near, far] = [z === 0 ? -inside : BAY * z, z === BAYS.z - 1 ? PLAN.z + inside : BAY * (z + 1)];
    const size: Point = [right - left, SLAB, far - near];
    this.#add('slabs', kind, 'box', [(left + right) / 2, height - SLAB / 2, near], 0, size);
  }

  #add(layer: Layer, kind: string, solid: SolidName, at: Point, turn: Turn, scale: Point = [1, 1, 1]): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const matrix = matrixOf([at[0], at[1] + FLOOR_HEIGHT * this.#floor, at[2]], turn, scale);
    const part = {
      id: `F${String(this.#floor).padStart(2, '0')}-${kind.replaceAll(' ', '-')}-${String(count).padStart(3, '0')}`,
      name: `${kind} ${count}, floor ${this.#floor}`,
      layer,
      floor: this.#floor,
      geometry: SOLIDS[solid],
      matrix,
    };
    this.#parts.push(part);
    if (this.#random() >= MISTAKE_RATES.twice) return;
    this.#parts.push({ ...part, id: `${part.id}-copy`, name: `${part.name}, copy` });
  }
}

function matrixOf([x, y, z]: Point, turn: Turn, [width, height, depth]: Point): number[] {
  const axes = {
    0: [1, 0, 0, 0, 1, 0, 0, 0, 1],
    1: [0, 0, -1, 0, 1, 0, 1, 0, 0],
    2: [-1, 0, 0, 0, 1, 0, 0, 0, -1],
    3: [0, 0, 1, 0, 1, 0, -1, 0, 0],
    up: [1, 0, 0, 0, 0, -1, 0, 1, 0],
    down: [1, 0, 0, 0, 0, 1, 0, -1, 0],
  }[turn];
  const column = (axis: number, size: number): number[] =>
    axes.slice(3 * axis, 3 * axis + 3).map((each) => size * each);
  return [...column(0, width), 0, ...column(1, height), 0, ...column(2, depth), 0, x, y, z, 1];
}
