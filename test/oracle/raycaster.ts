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
interface MeshNode {
  sphere: Sphere;
  /** Triangle numbers in the whole mesh. */
  triangles: number[];
  /** Mesh of the few triangles. */
  mesh: Mesh | null;
  halves: MeshNode[];
}

/**
 * A mesh for three's Raycaster, halved recursively, so that three's test of bounding spheres skips most triangles. three itself
 * tests the remaining ones, from the same float32 vertices.
 */
export class RaycastedMesh {
  readonly #root: MeshNode;

  constructor(mesh: Triangles) {
    this.#root = splitMesh(
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
    const cast = (node: MeshNode) => {
      if (!raycaster.ray.intersectsSphere(sphere.copy(node.sphere).applyMatrix4(matrixWorld))) return;
      const { triangles, mesh, halves } = node;
      halves.forEach(cast);
      if (!mesh) return;
      mesh.material = material;
      mesh.matrixWorld.copy(matrixWorld);
      for (const hit of raycaster.intersectObject(mesh)) {
        hits.push(Object.assign(hit, { faceIndex: triangles[hit.faceIndex!] }));
      }
    };
    cast(this.#root);
    return hits.sort((a, b) => a.distance - b.distance || a.faceIndex! - b.faceIndex!);
  }
}

/** Splits the triangles at the middle of their box along its longest side, until there are only a few. */
function splitMesh(mesh: Triangles, triangles: number[]): MeshNode {
  const geometry = geometryOf(mesh, triangles);
  const sphere = geometry.boundingSphere!;
  if (triangles.length <= TRIANGLES_PER_PIECE) return { sphere, triangles, mesh: new Mesh(geometry), halves: [] };
  const size = boundsOf(geometry.getAttribute('position').array as Float32Array).getSize(new Vector3());
  const axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const coordinate = (triangle: number) => mesh.positions[3 * mesh.indices[3 * triangle] + axis];
  const sorted = triangles.toSorted((a, b) => coordinate(a) - coordinate(b));
  const halfCount = sorted.length / 2;
  const halves = [sorted.slice(0, halfCount), sorted.slice(halfCount)].map((half) => splitMesh(mesh, half));
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
