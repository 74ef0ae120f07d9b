import {
  BufferAttribute,
  BufferGeometry,
  type Intersection,
  type Material,
  type Matrix4,
  Mesh,
  type Raycaster,
  Sphere,
  Vector3,
} from 'three';
import type { Triangles } from './meshes.js';
import { boundsOf } from './meshes.js';

const TRIANGLES_PER_PIECE = 32;

/** A subset of a mesh's triangles: a few of them, or two halves. */
interface Piece {
  sphere: Sphere;
  /** Triangle numbers in the whole mesh. */
  triangles: number[];
  /** Mesh of the few triangles. */
  mesh: Mesh | null;
  halves: Piece[];
}

/**
 * A mesh for three's Raycaster, halved recursively, so that three's test of bounding spheres skips most triangles. three itself
 * tests the remaining ones, from the same float32 vertices.
 */
export class RaycastedMesh {
  readonly #whole: Piece;

  constructor(mesh: Triangles) {
    this.#whole = cut(
      mesh,
      Array.from({ length: mesh.indices.length / 3 }, (_, i) => i),
    );
  }

  /**
   * Like Raycaster.intersectObject under that matrix, with the `faceIndex` of the whole mesh; nearest first, ties by `faceIndex`.
   */
  intersect(raycaster: Raycaster, matrixWorld: Matrix4, material: Material): Intersection[] {
    const hits: Intersection[] = [];
    const sphere = new Sphere();
    const cast = (piece: Piece) => {
      if (!raycaster.ray.intersectsSphere(sphere.copy(piece.sphere).applyMatrix4(matrixWorld))) return;
      const { triangles, mesh, halves } = piece;
      halves.forEach(cast);
      if (!mesh) return;
      mesh.material = material;
      mesh.matrixWorld.copy(matrixWorld);
      for (const hit of raycaster.intersectObject(mesh)) {
        hits.push(Object.assign(hit, { faceIndex: triangles[hit.faceIndex!] }));
      }
    };
    cast(this.#whole);
    return hits.sort((a, b) => a.distance - b.distance || a.faceIndex! - b.faceIndex!);
  }
}

/** Splits the triangles at the middle of their box along its longest side, until there are only a few. */
function cut(mesh: Triangles, triangles: number[]): Piece {
  const geometry = geometryOf(mesh, triangles);
  const sphere = geometry.boundingSphere!;
  if (triangles.length <= TRIANGLES_PER_PIECE) return { sphere, triangles, mesh: new Mesh(geometry), halves: [] };
  const size = boundsOf(geometry.getAttribute('position').array as Float32Array).getSize(new Vector3());
  const axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const height = (triangle: number) => mesh.positions[3 * mesh.indices[3 * triangle] + axis];
  const sorted = triangles.toSorted((a, b) => height(a) - height(b));
  const middle = sorted.length / 2;
  const halves = [sorted.slice(0, middle), sorted.slice(middle)].map((half) => cut(mesh, half));
  return { sphere, triangles, mesh: null, halves };
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
