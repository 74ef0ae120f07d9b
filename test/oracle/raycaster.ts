import {
  BufferAttribute,
  BufferGeometry,
  type Intersection,
  type Material,
  type Matrix4,
  Mesh,
  type Raycaster,
  type Sphere,
  Vector3,
} from 'three';
import type { Triangles } from './meshes.js';
import { boundsOf } from './meshes.js';

const TRIANGLES_PER_PIECE = 256;

/**
 * A mesh before three's Raycaster, cut into pieces so that its test of bounding spheres skips most triangles. Those
 * that are left three tests itself, from the same float32 vertices.
 */
export class RaycastedMesh {
  readonly #pieces: { mesh: Mesh; triangles: number[] }[] = [];
  readonly #sphere: Sphere;

  constructor(mesh: Triangles) {
    const all = Array.from({ length: mesh.indices.length / 3 }, (_, i) => i);
    this.#cut(mesh, all);
    this.#sphere = geometryOf(mesh, all).boundingSphere!;
  }

  /** Raycaster.intersectObject under that matrix, with `faceIndex` the whole mesh's; nearest first, ties by it. */
  intersect(raycaster: Raycaster, matrixWorld: Matrix4, material: Material): Intersection[] {
    if (!raycaster.ray.intersectsSphere(this.#sphere.clone().applyMatrix4(matrixWorld))) return [];
    const hits: Intersection[] = [];
    for (const { mesh, triangles } of this.#pieces) {
      mesh.material = material;
      mesh.matrixWorld.copy(matrixWorld);
      for (const hit of raycaster.intersectObject(mesh)) {
        hits.push(Object.assign(hit, { faceIndex: triangles[hit.faceIndex!] }));
      }
    }
    return hits.sort((a, b) => a.distance - b.distance || a.faceIndex! - b.faceIndex!);
  }

  /** Halves the triangles at their middle along the longest side of their box. */
  #cut(mesh: Triangles, triangles: number[]): void {
    const geometry = geometryOf(mesh, triangles);
    if (triangles.length <= TRIANGLES_PER_PIECE) {
      this.#pieces.push({ mesh: new Mesh(geometry), triangles });
      return;
    }
    const size = boundsOf(geometry.getAttribute('position').array as Float32Array).getSize(new Vector3());
    const axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const height = (triangle: number) => mesh.positions[3 * mesh.indices[3 * triangle] + axis];
    const sorted = triangles.toSorted((a, b) => height(a) - height(b));
    this.#cut(mesh, sorted.slice(0, sorted.length / 2));
    this.#cut(mesh, sorted.slice(sorted.length / 2));
  }
}

function geometryOf(mesh: Triangles, triangles: number[]): BufferGeometry {
  const positions = new Float32Array(triangles.length * 9);
  triangles.forEach((triangle, i) => {
    for (let corner = 0; corner < 3; corner++) {
      const vertex = 3 * mesh.indices[3 * triangle + corner];
      positions.set(mesh.positions.subarray(vertex, vertex + 3), 9 * i + 3 * corner);
    }
  });
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  geometry.computeBoundingSphere();
  return geometry;
}
