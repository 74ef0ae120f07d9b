import {
  BAY,
  BEAM,
  COLUMN,
  DUCT,
  FACADE,
  FINS,
  FLOOR_HEIGHT,
  FRAME_GAP,
  HOLE,
  PIPE,
  SLAB,
  STEPS,
  WALL,
} from './measures.js';
import { box, elbow, extrude, lathe, type Solid, tube } from './solids.js';

/** Long solids have length 1 along z, and are scaled. */
export function createSolids() {
  const { height, width, flange, web } = BEAM;
  const door = { from: 2.5, to: 3.5, height: 2.1 };
  const frame = 0.08;
  const [ductX, ductY] = [DUCT.width / 2, DUCT.height / 2];
  const sheet = 0.015;
  return {
    box: box('box'),
    column: box('column', COLUMN, COLUMN),
    roundColumn: lathe(
      'round column',
      [
        [COLUMN / 2, 0],
        [COLUMN / 2, 1],
      ],
      24,
    ),
    beam: extrude(
      'beam',
      [-width / 2, -web / 2, web / 2, width / 2],
      [-height / 2, flange - height / 2, height / 2 - flange, height / 2],
      ['###', '.#.', '###'],
      1,
    ),
    slabWithHole: extrude(
      'slab with a hole',
      [0, HOLE.left, HOLE.right, BAY + FACADE.inside],
      [-BAY, -HOLE.far, -HOLE.near, 0],
      ['###', '#.#', '###'],
      SLAB,
    ),
    stairs: sawtooth('stairs', 1.1, -1, 1),
    balustrade: sawtooth('balustrade', 0.03, 0, 5),
    parapet: extrude('parapet', [0, BAY], [-SLAB, 0.85], ['#'], 0.2),
    window: extrude(
      'window',
      [0, frame, BAY / 2 - frame / 2, BAY / 2 + frame / 2, BAY - frame, BAY],
      [0.85, 0.85 + frame, FLOOR_HEIGHT - SLAB - frame, FLOOR_HEIGHT - SLAB],
      ['#####', '#.#.#', '#####'],
      0.12,
    ),
    panes: extrude(
      'panes',
      [frame + FRAME_GAP, BAY / 2 - frame / 2 - FRAME_GAP, BAY / 2 + frame / 2 + FRAME_GAP, BAY - frame - FRAME_GAP],
      [0.85 + frame + FRAME_GAP, FLOOR_HEIGHT - SLAB - frame - FRAME_GAP],
      ['#.#'],
      0.02,
      0.05,
    ),
    wall: extrude('wall', [0, BAY - 1], [0, WALL.height], ['#'], WALL.thickness),
    highWall: extrude('high wall', [0, BAY - 1], [0, FLOOR_HEIGHT - SLAB - 0.05], ['#'], WALL.thickness),
    wallWithDoor: extrude(
      'wall with a door',
      [COLUMN / 2, door.from, door.to, BAY - COLUMN / 2],
      [0, door.height, WALL.height],
      ['###', '#.#'],
      WALL.thickness,
    ),
    door: extrude(
      'door',
      [FRAME_GAP, door.to - door.from - FRAME_GAP],
      [FRAME_GAP, door.height - FRAME_GAP],
      ['#'],
      0.05,
    ),
    desk: extrude('desk', [-0.8, -0.76, 0.76, 0.8], [0, 0.7, 0.74], ['###', '#.#'], 0.8),
    chair: extrude('chair', [-0.25, -0.2, -0.03, 0.03, 0.25], [0, 0.42, 0.47, 0.9], ['#...', '####', '..#.'], 0.45),
    duct: extrude(
      'duct',
      [-ductX, sheet - ductX, ductX - sheet, ductX],
      [-ductY, sheet - ductY, ductY - sheet, ductY],
      ['###', '#.#', '###'],
      1,
    ),
    flange: extrude(
      'flange',
      [-ductX - 0.03, -ductX, ductX, ductX + 0.03],
      [-ductY - 0.03, -ductY, ductY, ductY + 0.03],
      ['###', '#.#', '###'],
      0.04,
    ),
    roundDuct: tube('round duct', DUCT.round, 0.01, 16),
    drop: tube('drop', 0.08, 0.008, 12),
    diffuser: lathe(
      'diffuser',
      [
        [0.1, 0],
        [0.12, 0.02],
        [0.24, 0.06],
        [0.26, 0.07],
      ],
      16,
    ),
    mainPipe: tube('main pipe', PIPE.main, 0.008, 12),
    branchPipe: tube('branch pipe', PIPE.branch, 0.005, 10),
    coupling: lathe(
      'coupling',
      [
        [PIPE.main + 0.02, 0],
        [PIPE.main + 0.02, 0.12],
      ],
      12,
    ),
    elbow: elbow('elbow', PIPE.branch, 0.005, PIPE.bend, 10, 6),
    sprinkler: lathe(
      'sprinkler',
      [
        [0.012, 0],
        [0.012, 0.05],
        [0.03, 0.055],
        [0.03, 0.065],
      ],
      8,
    ),
    radiator: extrude(
      'radiator',
      Array.from({ length: 2 * FINS + 2 }, (_, i) => (i * 1.2) / (2 * FINS + 1)),
      [0, 0.02, 0.09],
      [`#${'.#'.repeat(FINS)}`, '#'.repeat(2 * FINS + 1)],
      0.6,
    ),
    tray: extrude('cable tray', [-0.15, -0.145, 0.145, 0.15], [-0.03, -0.025, 0.03], ['#.#', '###'], 1),
    light: box('luminaire', 0.3, 0.05, 1.2),
  };
}

/**
 * A stripe that ascends with the steps: at each one, it reaches from `from` to `to` steps above, and at the lowest from the
 * floor.
 */
function sawtooth(name: string, width: number, from: number, to: number): Solid {
  const ascending = (count: number, step: number): number[] => Array.from({ length: count + 1 }, (_, i) => i * step);
  const rows = Array.from({ length: STEPS - 1 + to }, (_, j) =>
    Array.from({ length: STEPS }, (_, i) => (j >= i + from && j < i + to ? '#' : '.')).join(''),
  ).reverse();
  const run = (HOLE.far - HOLE.near) / STEPS;
  return extrude(name, ascending(STEPS, run), ascending(rows.length, FLOOR_HEIGHT / STEPS), rows, width);
}
