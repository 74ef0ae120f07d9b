import { type CollisionService, createCollisionService, type ObjectOptions, type Shape } from 'collision-worker';
import { type Matrix4, type Quaternion, Vector3 } from 'three';
import { type Triangles, withoutFlat } from '../oracle/meshes.js';
import { boxShape, meshShape, type OracleShape, Placed } from '../oracle/placed.js';

/** What is geometric holds at both. */
export const PLACES = [
  ['at the origin', new Vector3()],
  ['10⁶ units away', new Vector3(1e6, -1e6, 1e6)],
] as const;

export interface TwinShape {
  shape: Shape;
  truth: OracleShape;
}

/** One scene twice: in a service of its own, and in the oracle. */
export class Twin {
  readonly service: CollisionService;
  readonly items = new Map<number, Placed>();

  static async create(): Promise<Twin> {
    return new Twin(await createCollisionService());
  }

  constructor(service: CollisionService) {
    this.service = service;
  }

  async mesh(triangles: Triangles): Promise<TwinShape> {
    return { shape: { type: 'mesh', mesh: await this.service.addMesh(triangles) }, truth: meshShape(triangles) };
  }

  box(halfExtents: Vector3, center?: Vector3, rotation?: Quaternion): TwinShape {
    const shape: Shape = {
      type: 'box',
      halfExtents: halfExtents.toArray(),
      ...(center && { center: center.toArray() }),
      ...(rotation && { rotation: rotation.toArray() }),
    };
    return { shape, truth: boxShape(halfExtents, center, rotation) };
  }

  /** Gives a mesh other vertices, for all objects that have it; answers the shape that it is now. */
  async deform({ shape, truth }: TwinShape, moved: Triangles): Promise<TwinShape> {
    const after = meshShape(withoutFlat(moved));
    if (shape.type === 'mesh') await this.service.updateMesh(shape.mesh, moved.positions);
    for (const [id, item] of this.items) {
      if (item.shape === truth) this.items.set(id, new Placed(id, after, item.matrix));
    }
    return { shape, truth: after };
  }

  add({ shape, truth }: TwinShape, matrix: Matrix4, options: Omit<ObjectOptions, 'shape' | 'matrix'> = {}): number {
    const id = this.service.addObject({ shape, matrix: matrix.elements, ...options });
    this.items.set(id, new Placed(id, truth, matrix.clone()));
    return id;
  }

  move(id: number, matrix: Matrix4): void {
    this.service.setTransform(id, matrix.elements);
    this.items.set(id, new Placed(id, this.items.get(id)!.shape, matrix.clone()));
  }

  remove(id: number): void {
    this.service.removeObject(id);
    this.items.delete(id);
  }

  dispose(): void {
    this.service.dispose();
  }
}
