import { BufferAttribute, BufferGeometry, Color, Group, Mesh, MeshLambertMaterial, Vector3 } from 'three';

/** The model is about 0.2 units long. */
const SCALE = 36;

/**
 * Cuts a mesh into patches of triangles, each nearest to one of `count` seed points that are far apart: the next seed is always
 * the centroid that is farthest from all seeds so far (Teofilo Gonzalez, Clustering to minimize the maximum intercluster
 * distance, 1985).
 */
export function createPieces(geometry: BufferGeometry, count: number): Group {
  const patches = patchesOf(centroidsOf(geometry), count);
  const root = new Group();
  const center = geometry.boundingBox!.getCenter(new Vector3());
  patches.forEach((triangles, i) => {
    // Patches with consecutive numbers differ widely in hue: multiples of the golden ratio are spread evenly.
    const color = new Color().setHSL((i * 0.618034) % 1, 0.22, 0.5);
    const piece = new Mesh(createPatchGeometry(geometry, triangles), new MeshLambertMaterial({ color }));
    piece.name = `piece ${i + 1}`;
    piece.scale.setScalar(SCALE);
    piece.position.copy(center).multiplyScalar(-SCALE);
    root.add(piece);
  });
  root.updateMatrixWorld(true);
  return root;
}

/** Three coordinates per triangle. */
function centroidsOf({ index, attributes: { position } }: BufferGeometry): Float32Array {
  const centroids = new Float32Array(index!.count);
  for (let i = 0; i < index!.count; i++) {
    const corner = index!.getX(i);
    const triangle = i - (i % 3);
    centroids[triangle] += position.getX(corner) / 3;
    centroids[triangle + 1] += position.getY(corner) / 3;
    centroids[triangle + 2] += position.getZ(corner) / 3;
  }
  return centroids;
}

/** The triangles of each patch. */
function patchesOf(centroids: Float32Array, count: number): number[][] {
  const triangleCount = centroids.length / 3;
  const nearest = new Uint32Array(triangleCount);
  const distances = new Float32Array(triangleCount).fill(Number.POSITIVE_INFINITY);
  let seed = 0;
  for (let patch = 0; patch < count; patch++) {
    const [x, y, z] = centroids.subarray(3 * seed, 3 * seed + 3);
    seed = 0;
    for (let i = 0; i < triangleCount; i++) {
      const distance = Math.hypot(centroids[3 * i] - x, centroids[3 * i + 1] - y, centroids[3 * i + 2] - z);
      if (distance < distances[i]) {
        distances[i] = distance;
        nearest[i] = patch;
      }
      if (distances[i] > distances[seed]) seed = i;
    }
  }
  const patches: number[][] = Array.from({ length: count }, () => []);
  nearest.forEach((patch, i) => {
    patches[patch].push(i);
  });
  return patches;
}

/** Builds a geometry with its own vertices. */
function createPatchGeometry({ index, attributes }: BufferGeometry, triangles: readonly number[]): BufferGeometry {
  const corners = triangles.flatMap((i) => [0, 1, 2].map((k) => index!.getX(3 * i + k)));
  const vertices = [...new Set(corners)];
  const newIndices = new Map(vertices.map((vertex, i) => [vertex, i]));
  const geometry = new BufferGeometry();
  for (const name of ['position', 'normal']) {
    const { array } = attributes[name];
    const values = new Float32Array(vertices.flatMap((vertex) => [...array.slice(3 * vertex, 3 * vertex + 3)]));
    geometry.setAttribute(name, new BufferAttribute(values, 3));
  }
  return geometry.setIndex(corners.map((vertex) => newIndices.get(vertex)!));
}
