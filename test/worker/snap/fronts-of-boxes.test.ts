// The frontmost surface in parts of the square around the cursor, by
// rays that the test answers: two walls side by side, one farther away.
import { describe, expect, test } from 'vitest';
import { ViewTable } from '../../../src/client/frame/view-table.js';
import { snapDrawing } from '../../../src/client/query/snap-drawing.js';
import { PRECISION_MESH, PRECISION_OBB } from '../../../src/shared/layout.js';
import type { PickRay } from '../../../src/shared/packed.js';
import type { Filter } from '../../../src/shared/protocol.js';
import type { CoreHit } from '../../../src/worker/binding/hits.js';
import { Fronts } from '../../../src/worker/snap/fronts.js';
import { SnapView } from '../../../src/worker/snap/snap-view.js';
import { ALL_FILTER } from '../../fixtures/near-scene.js';
import { PIXEL_VIEW } from '../../fixtures/pixel-view.js';

const RADIUS = 10;
const record = new ViewTable().recordOf('test', 'view', PIXEL_VIEW);
/** The cursor is at the origin. */
const view = new SnapView(snapDrawing({ record, floats: new Float64Array(record.buffer) }, 200, 150, RADIUS));
const filter: Filter = { ...ALL_FILTER, precision: PRECISION_MESH };
/** The z coordinate and the triangle of the wall left and right of the centre. */
const WALLS = { left: [0, 1], right: [-20, 2] } as const;
/** The identity, without a translation. */
const PLACE = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];

function frontsOf(walls: { left: readonly number[]; right: readonly number[] }): Fronts {
  const fronts = new Fronts(view, RADIUS, filter, ({ origin: [x, y] }: PickRay) => {
    const [z, triangle] = x < 0 ? walls.left : walls.right;
    const normal = [0, 0, 1] as const;
    const rest = { distance: 1, barycentric: normal, bone: -1 } as const;
    return { ...rest, object: 1, triangle, element: triangle, point: [x, y, z], normal } as CoreHit;
  });
  fronts.countHidden(2 ** 20);
  return fronts;
}

function isHidden(fronts: Fronts, low: readonly number[], high: readonly number[]): boolean {
  return fronts.hidesBox(PLACE, Float32Array.of(...low, ...high), [low[0], low[1], high[0], high[1]]);
}

describe('a wall all over the square', () => {
  const fronts = frontsOf({ left: WALLS.left, right: WALLS.left });
  test.each([
    ['behind it', -9, -4, true],
    ['within two pixels behind it', -9, -1, false],
    ['through it', -9, 4, false],
    ['before it', 4, 9, false],
  ] as const)('a box %s', (_, low, high, expected) => {
    expect(isHidden(fronts, [-3, -3, low], [5, 4, high])).toBe(expected);
    expect(fronts.hides([1, 1], [1, 1, high])).toBe(expected);
  });

  test('has the plane that the core leaves objects out by', () => {
    const [x, y, z, w] = fronts.squareFront!;
    [x, y, z - 1, w - 2].forEach((value) => {
      expect(value).toBeCloseTo(0);
    });
  });
});

describe('two walls, of which the right one is farther away', () => {
  const fronts = frontsOf(WALLS);
  test.each([
    ['behind the left one', -8, -6, -9, -4, true],
    ['between both, in front of the right one', 6, 8, -9, -4, false],
    ['behind the right one', 6, 8, -40, -30, true],
    ['across the gap', -2, 2, -9, -4, false],
  ] as const)('a box %s', (_, lowX, highX, low, high, expected) => {
    expect(isHidden(fronts, [lowX, 6, low], [highX, 8, high])).toBe(expected);
  });

  test('there is none of the whole square', () => {
    expect(fronts.squareFront).toBeNull();
  });
});

describe('a solid, entered all over the square', () => {
  const planes = Float64Array.of(0, 0, 1, 100, 0, 0, -1, 100);
  const clipped = (unions: number, intersections: number): Filter => ({
    ...filter,
    clips: { planes, sets: Uint32Array.of(0, unions, intersections, 0) },
  });
  const isFront = (given: Filter, bulge: number): boolean => {
    const fronts = new Fronts(view, RADIUS, given, ({ origin: [x, y] }: PickRay) => {
      const length = Math.hypot(x * bulge, 1);
      const rest = { distance: 1, barycentric: [0, 0, 0], bone: -1, triangle: -1, element: -1, object: 1 } as const;
      return { ...rest, point: [x, y, 0], normal: [(x * bulge) / length, 0, 1 / length] } as CoreHit;
    });
    return fronts.squareFront !== null;
  };
  test.each([
    ['round', filter, 0.05, true],
    ['round, where planes may cut what bulges', clipped(2, 0), 0.05, false],
    ['round, of which something else may stand for the object', { ...filter, precision: PRECISION_OBB }, 0.05, false],
    ['flat', clipped(2, 0), 0, true],
    ['flat, where planes may cut a part out of the middle', clipped(0, 2), 0, false],
  ] as const)('%s', (_, given, bulge, expected) => {
    expect(isFront(given, bulge)).toBe(expected);
  });
});
