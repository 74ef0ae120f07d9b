// Moves the vertices of a mesh of points or lines. Which elements are in which block stays; tree space, coordinates and
// boxes become what a build would make of them.

import { BOUNDS_BYTES, costOf, fitNode } from './fit';
import {
  LEAST_RADIUS, NO_ELEMENT, PointLine, blockOf, elementsABlock, exponentOf, numberIn, storeLine, storePoint, vertexOf,
} from './layout';
import { REFIT_NOT_FINITE, REFIT_NOT_IN_TREE, REFIT_OK } from '../mesh/tree/refit';
import { SPACE_BYTES, Space, chooseOffset, clearBounds, include, largestCoordinate, scaleFor } from '../mesh/tree/tree-space';

/** With REFIT_NOT_FINITE, a vertex of an element in the tree. */
export let culprit: u32 = 0;

const space = changetype<Space>(memory.data(<i32>offsetof<Space>(), 16)); // as it will be
let vertices: usize = 0; // f32 xyz each

/** Answers how many bytes of scratch memory `refitPointLine` works in. */
export function refitPointLineBytes(mesh: PointLine): usize {
  return mesh.nodeCount * <u32>BOUNDS_BYTES;
}

/** Moves the vertices to `positions`. Answers REFIT_*; but for REFIT_OK the mesh is as it was. Allocates nothing. */
export function refitPointLine(mesh: PointLine, positions: usize, scratch: usize): u32 {
  vertices = positions;
  const fault = survey(mesh);
  if (fault != REFIT_OK) return fault;
  chooseOffset(space);
  const largest = largestCoordinate(space);
  mesh.exponent = exponentOf(largest);
  memory.copy(changetype<usize>(mesh) + offsetof<PointLine>('offsetX'), changetype<usize>(space), SPACE_BYTES);
  const scale = scaleFor(mesh.exponent);
  writeBlocks(mesh, scale);
  const extent: f32 = largest == 0 ? 1 : <f32>(largest * scale);
  const nodes = changetype<usize>(mesh) + mesh.nodes, blocks = changetype<usize>(mesh) + mesh.blocks;
  let areas: f64 = 0;
  for (let index = mesh.nodeCount; index-- > 0; ) areas += fitNode(nodes, index, blocks, mesh.size, scratch, extent);
  mesh.cost = costOf(mesh, areas, <f64>extent);
  return REFIT_OK;
}

// @ts-ignore: decorator
@inline
function placeOf(mesh: PointLine, element: u32, k: u32): usize {
  return vertices + <usize>vertexOf(mesh, element, k) * 12;
}

// @ts-ignore: decorator
@inline
function isFinite(at: usize): bool {
  const sum = <f64>load<f32>(at) + <f64>load<f32>(at, 4) + <f64>load<f32>(at, 8);
  return sum - sum == 0.0;
}

/** Looks at all elements where they shall be: those in the tree must be finite, all others must not. */
function survey(mesh: PointLine): u32 {
  clearBounds(space);
  const last = mesh.size - 1;
  let finite: u32 = 0;
  for (let e: u32 = 0; e < mesh.elementCount; e++) {
    const a = placeOf(mesh, e, 0), b = placeOf(mesh, e, last);
    if (!isFinite(a) || !isFinite(b)) continue;
    finite++;
    const ax = <f64>load<f32>(a), ay = <f64>load<f32>(a, 4), az = <f64>load<f32>(a, 8);
    include(space, ax, ay, az, <f64>load<f32>(b), <f64>load<f32>(b, 4), <f64>load<f32>(b, 8), ax, ay, az);
  }
  if (finite == mesh.elementCount && mesh.keptCount == finite) return REFIT_OK;
  const per = elementsABlock(mesh.size);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < per; lane++) {
      const e = numberIn(block, lane, mesh.size);
      if (e == NO_ELEMENT) continue;
      for (let k: u32 = 0; k <= last; k++) {
        if (isFinite(placeOf(mesh, e, k))) continue;
        culprit = vertexOf(mesh, e, k);
        return REFIT_NOT_FINITE;
      }
    }
  }
  return finite > mesh.keptCount ? REFIT_NOT_IN_TREE : REFIT_OK;
}

function writeBlocks(mesh: PointLine, scale: f64): void {
  const size = mesh.size, per = elementsABlock(size);
  const x = 0.5 * (space.lowX + space.highX), y = 0.5 * (space.lowY + space.highY), z = 0.5 * (space.lowZ + space.highZ);
  let square: f64 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < per; lane++) {
      let e = numberIn(block, lane, size);
      if (e == NO_ELEMENT) e = numberIn(block, 0, size);
      const at = block + (<usize>lane << 2);
      const a = placeOf(mesh, e, 0), b = placeOf(mesh, e, size - 1);
      square = f64.max(square, f64.max(squareFrom(a, x, y, z), squareFrom(b, x, y, z)));
      if (size == 1) storePoint(at, inTree(a, scale));
      else storeLine(at, inTree(a, scale), inTree(b, scale));
    }
  }
  mesh.radius = f64.max(sqrt(square), LEAST_RADIUS);
}

// @ts-ignore: decorator
@inline
function inTree(at: usize, scale: f64): v128 {
  const x = <f32>((<f64>load<f32>(at) - space.offsetX) * scale);
  const y = <f32>((<f64>load<f32>(at, 4) - space.offsetY) * scale);
  const z = <f32>((<f64>load<f32>(at, 8) - space.offsetZ) * scale);
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(x), 1, y), 2, z);
}

// @ts-ignore: decorator
@inline
function squareFrom(at: usize, x: f64, y: f64, z: f64): f64 {
  const dx = <f64>load<f32>(at) - x, dy = <f64>load<f32>(at, 4) - y, dz = <f64>load<f32>(at, 8) - z;
  return dx * dx + dy * dy + dz * dz;
}
