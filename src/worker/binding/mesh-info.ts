import * as layout from '../../shared/layout.js';
import type { TreeInfo } from '../../shared/protocol.js';
import type { OpenEdge, Vec3 } from '../../shared/types.js';
import { deformCounts } from './deform.js';
import type { MeshAddress } from './descriptions.js';
import type { CoreMemory } from './memory.js';
import { ELEMENT_SIZES } from './point-line-build.js';
import { copyBytes, type Steps } from './steps.js';

/** Reads a mesh's info from its header. */
export function meshInfo(view: DataView, mesh: MeshAddress): TreeInfo {
  const elements = view.getUint32(mesh + layout.MESH_TRIANGLE_COUNT, true);
  const topology = topologyOf(view, mesh);
  return {
    topology,
    elements,
    triangles: topology === 'triangles' ? elements : 0,
    degenerate: elements - view.getUint32(mesh + layout.MESH_KEPT_COUNT, true),
    vertices: view.getUint32(mesh + layout.MESH_VERTEX_COUNT, true),
    closed: view.getUint32(mesh + layout.MESH_CLOSED, true) === 1,
    openEdges: view.getUint32(mesh + layout.MESH_OPEN_EDGES, true),
    openEdge: openEdgeOf(view, mesh),
    closingWeld: roundedUp(view.getFloat64(mesh + layout.MESH_CLOSING_WELD, true)) || null,
    ...deformCounts(view, mesh),
    bytes: view.getUint32(mesh + layout.MESH_BYTES, true),
    cost: view.getFloat64(mesh + layout.MESH_COST, true) / view.getFloat64(mesh + layout.MESH_BUILT_COST, true),
  };
}

/** Copies a mesh's indices in steps; undefined if successive vertices form its elements. */
export function* meshIndices(memory: CoreMemory, mesh: MeshAddress): Steps<Uint32Array<ArrayBuffer> | undefined> {
  const { view } = memory;
  if (view.getUint32(mesh + layout.MESH_INDEXED, true) === 0) return undefined;
  const at = mesh + view.getUint32(mesh + layout.MESH_INDICES, true);
  const { topology, elements } = meshInfo(view, mesh);
  const count = elements * (topology === 'triangles' ? 3 : ELEMENT_SIZES[topology]);
  return new Uint32Array(yield* copyBytes(4 * count, (from, bytes) => memory.bytes(at + from, bytes)));
}

function topologyOf(view: DataView, mesh: MeshAddress): TreeInfo['topology'] {
  if (view.getUint32(mesh + layout.MESH_MAGIC, true) !== layout.POINT_LINE_MAGIC_VALUE) return 'triangles';
  return view.getUint32(mesh + layout.POINT_LINE_SIZE, true) === ELEMENT_SIZES.points ? 'points' : 'lines';
}

function openEdgeOf(view: DataView, mesh: MeshAddress): OpenEdge | null {
  if (view.getUint32(mesh + layout.MESH_OPEN_EDGES, true) === 0) return null;
  const pointAt = (at: number): Vec3 => [0, 4, 8].map((k) => view.getFloat32(mesh + at + k, true)) as unknown as Vec3;
  return {
    triangle: view.getUint32(mesh + layout.MESH_OPEN_TRIANGLE, true),
    edge: view.getUint32(mesh + layout.MESH_OPEN_EDGE, true),
    from: pointAt(layout.MESH_OPEN_FROM),
    to: pointAt(layout.MESH_OPEN_TO),
  };
}

/** Rounds a weld distance up to three digits: the core finds it to one part in a hundred. */
function roundedUp(weld: number): number {
  return Number((1.01 * weld).toPrecision(3));
}
