import {
  type CollisionService,
  createCollisionService,
  type ObjectOptions,
  type QueryOptions,
  type Shape,
} from 'collision-worker';
import { Box3, BufferAttribute, BufferGeometry, Matrix4, PlaneGeometry, type Ray, Sphere, Vector3 } from 'three';
import {
  Body,
  ballBody,
  ballOf,
  boxBody,
  boxOf,
  capsuleBox,
  capsuleFrame,
  capsuleOf,
  stretched,
  thickened,
} from '../oracle/bodies.js';
import { boundsOf, icosphere, soup, type Triangles, trianglesOf } from '../oracle/meshes.js';
import { meshShape, Placed } from '../oracle/placed.js';
import type { Random } from '../oracle/random.js';
import { rayHits } from '../oracle/ray.js';

export type Precision = NonNullable<QueryOptions['precision']>;
export const PRECISIONS: Precision[] = ['sphere', 'aabb', 'obb', 'mesh'];

/** Where a ray meets an object, or perhaps does not where `depth`, 0 … 1, is tiny. */
export interface Crossing {
  id: number;
  triangle: number;
  distance: number;
  front: boolean;
  depth: number;
  /** Of which one is right. */
  normals: Vector3[];
}

/** A shape in the service's words, and what stands for it under a matrix in the oracle's. */
export interface Kind {
  name: string;
  shape: Shape;
  sphere: Sphere;
  aabb(matrix: Matrix4): Box3;
  obb(matrix: Matrix4): Body;
  /** Null for a mesh. */
  solid(matrix: Matrix4): Body | null;
  mesh: Triangles | null;
}

export function ballKind(radius: number, center = new Vector3()): Kind {
  return {
    name: 'sphere',
    shape: { type: 'sphere', radius, center: center.toArray() },
    sphere: new Sphere(center, radius),
    aabb: (matrix) => capsuleBox(radius, center, center, matrix),
    obb: (matrix) => new Body(matrix, boxOf(new Vector3(radius, radius, radius), center)),
    solid: (matrix) => new Body(matrix, ballOf(radius, center)),
    mesh: null,
  };
}

export function capsuleKind(radius: number, from: Vector3, to: Vector3): Kind {
  const center = from.clone().lerp(to, 0.5);
  const along = radius + from.distanceTo(to) / 2;
  return {
    name: 'capsule',
    shape: { type: 'capsule', radius, from: from.toArray(), to: to.toArray() },
    sphere: new Sphere(center, along),
    aabb: (matrix) => capsuleBox(radius, from, to, matrix),
    obb: (matrix) => new Body(matrix, boxOf(new Vector3(radius, radius, along), center, capsuleFrame(from, to))),
    solid: (matrix) => new Body(matrix, capsuleOf(radius, from, to)),
    mesh: null,
  };
}

export function boxKind(half: Vector3, center = new Vector3(), rotation = capsuleFrame(center, center)): Kind {
  const frame = new Matrix4().compose(center, rotation, new Vector3(1, 1, 1));
  const body = (matrix: Matrix4) => new Body(matrix, boxOf(half, center, rotation));
  return {
    name: 'box',
    shape: { type: 'box', halfExtents: half.toArray(), center: center.toArray(), rotation: rotation.toArray() },
    sphere: new Sphere(center, half.length()),
    aabb: (matrix) => new Box3(half.clone().negate(), half.clone()).applyMatrix4(matrix.clone().multiply(frame)),
    obb: body,
    solid: body,
    mesh: null,
  };
}

export async function meshKind(service: CollisionService, mesh: Triangles): Promise<Kind> {
  const bounds = boundsOf(mesh.positions);
  const center = bounds.getCenter(new Vector3());
  const half = bounds.getSize(new Vector3()).multiplyScalar(0.5);
  const thick = thickened(half);
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(mesh.positions, 3));
  geometry.computeBoundingSphere();
  return {
    name: 'mesh',
    shape: { type: 'mesh', mesh: await service.addMesh(mesh) },
    sphere: geometry.boundingSphere!,
    aabb: (matrix) => new Box3().setFromCenterAndSize(center, thick.clone().multiplyScalar(2)).applyMatrix4(matrix),
    obb: (matrix) => new Body(matrix, boxOf(half, center)),
    solid: () => null,
    mesh,
  };
}

export async function everyKind(service: CollisionService, random: Random): Promise<Kind[]> {
  return [
    ballKind(1),
    ballKind(0.3, new Vector3(1, -0.5, 0)),
    capsuleKind(0.4, new Vector3(0, 0, -1), new Vector3(0, 0, 1)),
    capsuleKind(0.05, random.point(1), random.point(1)),
    capsuleKind(0.7, random.point(0.5), random.point(0.5)),
    capsuleKind(0.5, new Vector3(1, 2, 3), new Vector3(1, 2, 3)),
    boxKind(new Vector3(1, 0.5, 0.2)),
    boxKind(new Vector3(0.3, 0.6, 0.9), new Vector3(1, 0, 0.5), random.rotation()),
    await meshKind(service, icosphere(1, 2)),
    await meshKind(service, soup(random, 40, 0.8, 1)),
    await meshKind(service, trianglesOf(new PlaneGeometry(2, 1, 2, 2))),
  ];
}

interface Thing {
  kind: Kind;
  matrix: Matrix4;
  /** Bodies, or the mesh itself; made when first asked for. */
  standIns: Map<Precision, Body | Placed>;
}

/** One scene twice: in a service of its own, and as bodies. */
export class SolidScene {
  readonly service: CollisionService;
  readonly things = new Map<number, Thing>();

  static async create(): Promise<SolidScene> {
    return new SolidScene(await createCollisionService());
  }

  constructor(service: CollisionService) {
    this.service = service;
  }

  add(kind: Kind, matrix: Matrix4, options: Omit<ObjectOptions, 'shape' | 'matrix'> = {}): number {
    const id = this.service.addObject({ shape: kind.shape, matrix: matrix.elements, ...options });
    this.things.set(id, { kind, matrix, standIns: new Map() });
    return id;
  }

  move(id: number, matrix: Matrix4): void {
    this.service.setTransform(id, matrix.elements);
    this.things.set(id, { kind: this.things.get(id)!.kind, matrix, standIns: new Map() });
  }

  remove(id: number): void {
    this.service.removeObject(id);
    this.things.delete(id);
  }

  /** All of them at t ≥ 0, nearest first. */
  crossings(ray: Ray, precision: Precision, ids: Iterable<number> = this.things.keys()): Crossing[] {
    return [...ids].flatMap((id) => this.#crossingsOf(id, ray, precision)).sort((a, b) => a.distance - b.distance);
  }

  #crossingsOf(id: number, ray: Ray, precision: Precision): Crossing[] {
    const body = this.#standIn(id, precision);
    if (body instanceof Placed) {
      const hits = rayHits([body], ray);
      return hits.map(({ normal, ...hit }) => ({ ...hit, depth: 1, normals: [normal] }));
    }
    const crossings = body.crossings(ray);
    if (crossings === null) return [];
    const { enter, leave, depth } = crossings;
    return [enter, leave]
      .map((distance, i) => {
        const normals = body.normals(ray.at(distance, new Vector3()));
        return { id, triangle: -1, distance, front: i === 0, depth, normals };
      })
      .filter(({ distance }) => distance >= 0);
  }

  #standIn(id: number, precision: Precision): Body | Placed {
    const { kind, matrix, standIns } = this.things.get(id)!;
    if (!standIns.has(precision)) standIns.set(precision, standInOf(id, kind, matrix, precision));
    return standIns.get(precision)!;
  }
}

function standInOf(id: number, kind: Kind, matrix: Matrix4, precision: Precision): Body | Placed {
  if (precision === 'sphere') return ballBody(stretched(kind.sphere, matrix));
  if (precision === 'aabb') return boxBody(kind.aabb(matrix));
  if (precision === 'obb') return kind.obb(matrix);
  return kind.solid(matrix) ?? new Placed(id, meshShape(kind.mesh!), matrix);
}
