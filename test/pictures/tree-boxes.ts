import { Matrix3, Vector3 } from 'three';
import * as layout from '../../src/shared/layout.js';
import { BakedMesh, NODE_MAX, NODE_MIN, NODE_ORIGIN, NODE_QUATERNION, NODE_SCALE } from '../oracle/baked.js';
import type { Triangles } from '../oracle/meshes.js';

/** A child's box of a node of a baked mesh, in mesh space: the points axes · p with low ≤ p ≤ high. */
export interface TreeBox {
  /** 1 for the children of the root. */
  level: number;
  /** Its rows lead from mesh space to the box's own axes; they have the scale of the tree. */
  axes: Matrix3;
  offset: Vector3;
  low: Vector3;
  high: Vector3;
  children: TreeBox[];
  /** The triangles of a leaf, four at most. */
  triangles: number[];
}

/** Reads the boxes below the root. Throws where a box does not hold the triangles below it. */
export function treeBoxesOf(baked: ArrayBuffer, mesh: Triangles): TreeBox[] {
  const tree = new BakedMesh(baked);
  const offset = new Vector3(...[0, 8, 16].map((at) => tree.view.getFloat64(layout.MESH_OFFSET + at, true)));
  const scale = 2 ** tree.view.getInt32(layout.MESH_EXPONENT, true);

  const childrenOf = (node: number, level: number): TreeBox[] => {
    const at = tree.nodeAt(node);
    const { count, inner, firstNode, firstBlock } = tree.links(node);
    const axes = rotationAt(tree.view, at + NODE_QUATERNION).multiplyScalar(scale);
    return Array.from({ length: count }, (_, i) => {
      const cornerAt = (offsets: number[]) =>
        new Vector3(
          ...offsets.map((byteOffset, axis) => {
            const origin = tree.view.getFloat32(at + NODE_ORIGIN + 4 * axis, true);
            return (
              origin + tree.view.getFloat32(at + NODE_SCALE + 4 * axis, true) * tree.view.getUint8(at + byteOffset + i)
            );
          }),
        );
      const children = i < inner ? childrenOf(firstNode + i, level + 1) : [];
      const block = firstBlock + i - inner;
      const triangles = i < inner ? [] : [0, 1, 2, 3].map((lane) => tree.triangleIn(4 * block + lane));
      const box = { level, axes, offset, low: cornerAt(NODE_MIN), high: cornerAt(NODE_MAX), children, triangles };
      box.triangles = box.triangles.filter((triangle) => triangle >= 0);
      for (const triangle of trianglesBelow(box)) assertContained(box, mesh, triangle);
      return box;
    });
  };
  return childrenOf(0, 1);
}

function* trianglesBelow({ children, triangles }: TreeBox): Generator<number> {
  yield* triangles;
  for (const child of children) yield* trianglesBelow(child);
}

/** Lists what a tree has at a level, and the leaves above it. */
export function boxesAt(boxes: readonly TreeBox[], level: number): TreeBox[] {
  return boxes.flatMap((box) =>
    box.level === level || box.children.length === 0 ? [box] : boxesAt(box.children, level),
  );
}

/** Takes a point or a direction of mesh space to the axes of a box. */
export function toBox({ axes, offset }: TreeBox, vector: Vector3, isPoint = true): Vector3 {
  return (isPoint ? vector.clone().sub(offset) : vector.clone()).applyMatrix3(axes);
}

/** The eight corners in mesh space; bit k of the index says whether coordinate k is the high one. */
export function cornersOf({ axes, offset, low, high }: TreeBox): Vector3[] {
  const inverse = axes.clone().invert();
  return Array.from({ length: 8 }, (_, i) =>
    new Vector3(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z)
      .applyMatrix3(inverse)
      .add(offset),
  );
}

function assertContained(box: TreeBox, { positions, indices }: Triangles, triangle: number): void {
  for (let corner = 0; corner < 3; corner++) {
    const p = toBox(box, new Vector3().fromArray(positions, 3 * indices[3 * triangle + corner]));
    for (let axis = 0; axis < 3; axis++) {
      const value = p.getComponent(axis);
      if (value >= box.low.getComponent(axis) - 1e-5 && value <= box.high.getComponent(axis) + 1e-5) continue;
      throw new Error(`a box of level ${box.level} does not hold triangle ${triangle}`);
    }
  }
}

/** As src/worker/core/math/quaternion.ts has it. */
function rotationAt(view: DataView, at: number): Matrix3 {
  const [x, y, z, w] = [0, 2, 4, 6].map((byteOffset) => view.getInt16(at + byteOffset, true));
  const s = 2 / (x * x + y * y + z * z + w * w);
  return new Matrix3(
    ...([1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)] as const),
    ...([s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)] as const),
    ...([s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)] as const),
  );
}
