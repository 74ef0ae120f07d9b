import { type Matrix4, Vector3 } from 'three';
import { describeQuery } from '../../src/client/describe.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import type { Filter } from '../../src/shared/protocol.js';
import type { Core, PlacedDescription } from '../../src/worker/core.js';
import { bake, startCore } from '../core.js';
import type { Triangles } from '../oracle/meshes.js';
import type { PlacementOptions } from '../oracle/random.js';
import { type AnyShape, bodiesOf } from '../oracle/shapes.js';
import type { Body } from '../oracle/solids.js';

/** What the client would know of any mesh. */
const CLOSED = { triangles: 0, degenerate: 0, vertices: 0, bytes: 0, closed: true, cost: 1, rebuilds: 0 };

/** What is geometric holds at both. */
export const PLACES = [
  ['at the origin', new Vector3()],
  ['10⁶ units away', new Vector3(1e6, -1e6, 1e6)],
] as const;

/** Matrices of all kinds. */
export const ANY_FORM: PlacementOptions = { low: 0.3, high: 3, mirrored: 0.3, sheared: 0.3 };

export const ALL: Filter = {
  layers: 0xffffffff,
  side: layout.SIDE_DOUBLE,
  precision: layout.PRECISION_MESH,
  ignore: new Uint32Array(),
};

export interface Thing {
  id: number;
  shape: AnyShape;
  /** About the scene's place. */
  matrix: Matrix4;
  bodies: Body[];
}

/** Objects in a core, and what the oracle makes of them: about a place, where float64 has its digits. */
export class NearScene {
  readonly core: Core;
  readonly place: Vector3;
  readonly things = new Map<number, Thing>();
  #count = 0;

  static async at(place: Vector3): Promise<NearScene> {
    return new NearScene(await startCore(), place);
  }

  constructor(core: Core, place: Vector3) {
    this.core = core;
    this.place = place;
  }

  mesh(triangles: Triangles): AnyShape {
    return { shape: { type: 'mesh', mesh: this.core.loadMesh(bake(this.core, triangles)) }, triangles };
  }

  add(shape: AnyShape, matrix: Matrix4, options: Partial<PlacedDescription> = {}): Thing {
    const id = makeId(this.#count++, 1);
    this.core.addObjects(Uint32Array.of(id), { ...this.describe(shape, matrix), ...options });
    const exact = this.exactly(matrix);
    const thing = { id, shape, matrix: exact, bodies: bodiesOf(shape, exact) };
    this.things.set(id, thing);
    return thing;
  }

  remove({ id }: Thing): void {
    this.core.removeObject(id);
    this.things.delete(id);
  }

  /** `matrix` is about the scene's place. */
  describe({ shape }: AnyShape, matrix: Matrix4): PlacedDescription {
    const there = matrix.clone().setPosition(new Vector3().setFromMatrixPosition(matrix).add(this.place));
    return { ...describeQuery('test', shape, () => CLOSED), matrix: there.elements };
  }

  /** The matrix as rounding leaves it there. */
  exactly(matrix: Matrix4): Matrix4 {
    return matrix.clone().setPosition(this.exactPoint(new Vector3().setFromMatrixPosition(matrix)));
  }

  exactPoint(point: Vector3): Vector3 {
    return point.clone().add(this.place).sub(this.place);
  }

  /** In the world. */
  point(point: Vector3): [number, number, number] {
    return point.clone().add(this.place).toArray();
  }
}
