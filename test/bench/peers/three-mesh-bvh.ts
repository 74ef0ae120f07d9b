import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Line3,
  Matrix4,
  Plane,
  Ray,
  type Side,
  Sphere,
  Vector3,
} from 'three';

import { type HitPointInfo, MeshBVH, type MeshBVHOptions, SAH } from 'three-mesh-bvh';
import { boundsOf, type Triangles } from '../../oracle/meshes.js';
import type { Contender, SelfTimedContender } from '../harness.js';
import { type BoxFrame, frameOfRound, pairChecksum } from '../work/boxes.js';
import type { SectionWork } from '../work/cuts.js';
import { type Level, SETTLING_FRAMES, WALKER, type Walk, walkChecksum } from '../work/level.js';
import { poseChecksum, sumOfFirst } from '../work/poses.js';
import { rayChecksum } from '../work/rays.js';

/** Contains only positions and indices: normals and the like would make a hit more expensive. */
export function geometryOf({ positions, indices }: Triangles): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  geometry.setIndex(new BufferAttribute(indices.slice(), 1)); // a copy, since the tree reorders it
  return geometry;
}

/**
 * The best of leaf sizes 1, 2, 4 and 10 (the default), with and without an indirect buffer. For rays on the dragon of 47,794
 * triangles: 4 and indirect (1.15 times as fast as the default); on the full one and on rods: the default. For
 * intersectsGeometry: the default (2 to 5 times as fast as the others). For bvhcast: 2 (1.7 times as fast as the default).
 */
export type TreeOptions = Pick<MeshBVHOptions, 'targetLeafSize' | 'indirect'>;

export const SMALL_LEAVES: TreeOptions = { targetLeafSize: 4, indirect: true };

export function treeOf(mesh: Triangles, options: TreeOptions = {}): MeshBVH {
  return new MeshBVH(geometryOf(mesh), { strategy: SAH, ...options });
}

export function raycastFirst(tree: MeshBVH, rays: Float32Array, side: Side = DoubleSide): Contender {
  const ray = new Ray();
  const distances = new Float64Array(rays.length / 8);
  const triangles = new Int32Array(rays.length / 8);
  return {
    name: 'three-mesh-bvh raycastFirst',
    run() {
      for (let i = 0; i < distances.length; i++) {
        ray.origin.fromArray(rays, i * 8);
        ray.direction.fromArray(rays, i * 8 + 4);
        const hit = tree.raycastFirst(ray, side);
        distances[i] = hit ? hit.distance : Infinity;
        triangles[i] = hit ? (hit.faceIndex as number) : -1;
      }
    },
    checksum: (part) => rayChecksum(distances, part),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

/** Tests the mesh against itself at other poses, 16 numbers each. */
export function intersectsGeometry(mesh: Triangles, poses: Float64Array): Contender {
  const tree = treeOf(mesh);
  const { geometry } = tree;
  geometry.boundsTree = tree;
  const matrix = new Matrix4();
  const hitFlags = new Float64Array(poses.length / 16);
  return {
    name: 'three-mesh-bvh intersectsGeometry',
    run() {
      for (let i = 0; i < hitFlags.length; i++) {
        hitFlags[i] = Number(tree.intersectsGeometry(geometry, matrix.fromArray(poses, 16 * i)));
      }
    },
    checksum: () => poseChecksum(hitFlags),
  };
}

/** Distance of the mesh from itself at other poses; only for some of them, since one takes tens of milliseconds. */
export function closestPointToGeometry(mesh: Triangles, poses: Float64Array): Contender {
  const tree = treeOf(mesh);
  const { geometry } = tree;
  geometry.boundsTree = tree;
  const matrix = new Matrix4();
  const part = Math.min(1, FEW_POSES / (poses.length / 16));
  const distances = new Float64Array(Math.round(part * (poses.length / 16)));
  return {
    name: 'three-mesh-bvh closestPointToGeometry',
    part,
    run() {
      for (let i = 0; i < distances.length; i++) {
        distances[i] = tree.closestPointToGeometry(geometry, matrix.fromArray(poses, 16 * i))!.distance;
      }
    },
    checksum: () => ({ distances: sumOfFirst(distances, 1) }),
    tolerance: { of: { distances: 1e-6 }, because: 'float64 sums, rounded otherwise' },
  };
}

const FEW_POSES = 5;

/** Finds all pairs of triangles, two indices each. */
export function bvhcast(mesh: Triangles, poses: Float64Array): Contender {
  const tree = treeOf(mesh, { targetLeafSize: 2 });
  const matrix = new Matrix4();
  const counts = new Float64Array(poses.length / 16);
  const pairs = new Uint32Array(1 << 20);
  let count = 0;
  const callbacks: Parameters<MeshBVH['bvhcast']>[2] = {
    intersectsTriangles(a, b, indexOfA, indexOfB) {
      if (!a.intersectsTriangle(b)) return false;
      pairs[2 * count] = indexOfA;
      pairs[2 * count + 1] = indexOfB;
      count++;
      return false;
    },
  };
  return {
    name: 'three-mesh-bvh bvhcast',
    run() {
      for (let i = 0; i < counts.length; i++) {
        count = 0;
        tree.bvhcast(tree, matrix.fromArray(poses, 16 * i), callbacks);
        counts[i] = count;
      }
    },
    checksum: () => poseChecksum(counts),
  };
}

/**
 * For many instances of one mesh: finds every pair of triangles that intersect, for all instances whose world bounding boxes
 * overlap.
 */
export function bvhcastFrames(mesh: Triangles, frames: readonly BoxFrame[]): Contender {
  const tree = treeOf(mesh, { targetLeafSize: 2 });
  const bounds = boundsOf(mesh.positions);
  const count = frames[0].positions.length / 3;
  const matrices = Array.from({ length: count }, () => new Matrix4());
  const boxes = Array.from({ length: count }, () => new Box3());
  const inverse = new Matrix4();
  const relative = new Matrix4();
  const triangles: number[] = [];
  const pairs: [a: number, b: number][] = [];
  const callbacks: Parameters<MeshBVH['bvhcast']>[2] = {
    intersectsTriangles(a, b, indexOfA, indexOfB) {
      if (a.intersectsTriangle(b)) triangles.push(indexOfA, indexOfB);
      return false;
    },
  };
  return {
    name: 'three-mesh-bvh bvhcast',
    note: 'all pairs of triangles that meet, without points, normals and depths of what they make',
    run(round) {
      const frame = frameOfRound(frames, round);
      for (let i = 0; i < count; i++) {
        matrices[i].fromArray(frame.matrices, 16 * i);
        boxes[i].copy(bounds).applyMatrix4(matrices[i]);
      }
      pairs.length = 0;
      for (let i = 0; i < count; i++) {
        inverse.copy(matrices[i]).invert();
        for (let j = i + 1; j < count; j++) {
          if (!boxes[i].intersectsBox(boxes[j])) continue;
          triangles.length = 0;
          tree.bvhcast(tree, relative.multiplyMatrices(inverse, matrices[j]), callbacks);
          if (triangles.length > 0) pairs.push([i, j]);
        }
      }
    },
    checksum: () => pairChecksum(pairs.length, (i) => pairs[i]),
  };
}

/** `points`: xyz each. */
export function closestPointToPoint(mesh: Triangles, points: Float64Array): Contender {
  const tree = treeOf(mesh);
  const point = new Vector3();
  const hit: HitPointInfo = { point: new Vector3(), distance: 0, faceIndex: 0 };
  const distances = new Float64Array(points.length / 3);
  return {
    name: 'three-mesh-bvh closestPointToPoint',
    run() {
      for (let i = 0; i < distances.length; i++) {
        distances[i] = tree.closestPointToPoint(point.fromArray(points, 3 * i), hit)!.distance;
      }
    },
    checksum: () => ({ distances: distances.reduce((sum, each) => sum + each) }),
    tolerance: { of: { distances: 1e-9 }, because: 'float64 sums, rounded otherwise' },
  };
}

/** Spheres of one radius about `points`, xyz each. */
export function intersectsSphere(mesh: Triangles, points: Float64Array, radius: number): Contender {
  const tree = treeOf(mesh);
  const sphere = new Sphere(new Vector3(), radius);
  let met = 0;
  return {
    name: 'three-mesh-bvh intersectsSphere',
    run() {
      met = 0;
      for (let i = 0; i < points.length; i += 3) {
        sphere.center.fromArray(points, i);
        if (tree.intersectsSphere(sphere)) met++;
      }
    },
    checksum: () => ({ met }),
  };
}

/**
 * As its users do it: a shapecast of each part with the plane in the part's local space, and three's test for each edge of a
 * triangle.
 */
export function clippedEdges({ meshes, places, planes }: SectionWork): Contender {
  const trees = meshes.map((mesh) => treeOf(mesh));
  const matrices = Array.from({ length: places.length / 16 }, (_, i) => new Matrix4().fromArray(places, 16 * i));
  const inverses = matrices.map((matrix) => matrix.clone().invert());
  const plane = new Plane();
  const local = new Plane();
  const edge = new Line3();
  const ends = [new Vector3(), new Vector3(), new Vector3()];
  let output = new Float32Array(6 << 20);
  let segments = 0;
  return {
    name: 'three-mesh-bvh shapecast',
    note: 'segments in no order, in float32',
    run() {
      segments = 0;
      for (let i = 0; i < planes.length; i += 4) {
        plane.normal.fromArray(planes, i);
        plane.constant = planes[i + 3];
        matrices.forEach((matrix, part) => {
          local.copy(plane).applyMatrix4(inverses[part]);
          trees[part % trees.length].shapecast({
            intersectsBounds: (box) => local.intersectsBox(box),
            intersectsTriangle({ a, b, c }) {
              let count = 0;
              for (const [start, end] of [
                [a, b],
                [b, c],
                [c, a],
              ]) {
                if (local.intersectLine(edge.set(start, end), ends[count])) count++;
              }
              if (count !== 2) return;
              if (6 * segments + 6 > output.length) {
                const larger = new Float32Array(2 * output.length);
                larger.set(output);
                output = larger;
              }
              ends[0].applyMatrix4(matrix).toArray(output, 6 * segments);
              ends[1].applyMatrix4(matrix).toArray(output, 6 * segments++ + 3);
            },
          });
        });
      }
    },
    checksum() {
      let length = 0;
      for (let i = 0; i < 6 * segments; i += 6) {
        length += Math.hypot(output[i + 3] - output[i], output[i + 4] - output[i + 1], output[i + 5] - output[i + 2]);
      }
      return { segments, length };
    },
    tolerance: { of: { length: 1e-5 }, because: 'float32' },
  };
}

/** How often a capsule is moved and pushed out within a step, so that it is not pushed through thin geometry. */
const PUSHES = 5;

/**
 * Capsules that are moved and then pushed out of each triangle by hand, as in its character example. They climb no steps, do not
 * stick to the floor and are inside walls for a while, so that only their heights are compared.
 */
export function bvhCharacters({ mesh }: Level, walk: Walk): SelfTimedContender {
  const tree = treeOf(mesh);
  const { radius, half, slope, step } = WALKER;
  const positions = Float64Array.from(walk.starts);
  const fallSpeeds = new Float64Array(walk.count);
  const groundedFlags = new Uint8Array(walk.count);
  const segment = new Line3();
  const box = new Box3();
  const onTriangle = new Vector3();
  const onAxis = new Vector3();
  let isPushed = false;
  const callbacks: Parameters<MeshBVH['shapecast']>[0] = {
    intersectsBounds: (bounds) => bounds.intersectsBox(box),
    intersectsTriangle(triangle) {
      const distance = triangle.closestPointToSegment(segment, onTriangle, onAxis);
      if (distance >= radius) return false;
      const push = onAxis
        .sub(onTriangle)
        .normalize()
        .multiplyScalar(radius - distance);
      segment.start.add(push);
      segment.end.add(push);
      return false;
    },
  };
  const move = (frame: number | undefined) => {
    const substep = step / PUSHES;
    for (let i = 0; i < walk.count; i++) {
      const [vx, vz] = frame === undefined ? [0, 0] : walk.wayOf(i, frame);
      for (let k = 0; k < PUSHES; k++) {
        fallSpeeds[i] -= 9.81 * substep;
        const [x, y, z] = [
          positions[3 * i] + vx * substep,
          positions[3 * i + 1] + fallSpeeds[i] * substep,
          positions[3 * i + 2] + vz * substep,
        ];
        segment.start.set(x, y + radius, z);
        segment.end.set(x, y + radius + 2 * half, z);
        box.makeEmpty().expandByPoint(segment.start).expandByPoint(segment.end).expandByScalar(radius);
        isPushed = false;
        tree.shapecast(callbacks);
        const { start } = segment;
        const [dx, dy, dz] = [start.x - x, start.y - radius - y, start.z - z];
        const length = Math.hypot(dx, dy, dz);
        groundedFlags[i] = Number(isPushed && dy > Math.cos(slope) * length);
        if (groundedFlags[i]) fallSpeeds[i] = 0;
        else if (isPushed) fallSpeeds[i] -= (dy * (dx * vx + dy * fallSpeeds[i] + dz * vz)) / length ** 2;
        positions.set([start.x, start.y - radius, start.z], 3 * i);
      }
    }
  };
  const settle = () => {
    positions.set(walk.starts);
    fallSpeeds.fill(0);
    for (let i = 0; i < SETTLING_FRAMES; i++) move(undefined);
  };
  return {
    name: 'three-mesh-bvh by hand',
    async measure(round) {
      if (round === 0) settle();
      const start = performance.now();
      move(round);
      return performance.now() - start;
    },
    checksum: () => ({ height: walkChecksum(walk, (i) => positions.subarray(3 * i, 3 * i + 3), 0).height }),
    tolerance: {
      of: { height: 0.1 },
      because: 'it climbs no steps, and what pushes a capsule may push it through the ground',
    },
  };
}
