import type { MeshInfo } from '../../shared/types.js';

/** Describes what keeps a mesh open, and how far it is from closed. */
export function describeOpenEdges({ openEdges, openEdge, closingWeld }: Readonly<MeshInfo>): string {
  const edges = openEdges === 1 ? '1 edge has' : `${openEdges} edges have`;
  const { triangle = 0, edge = 0, from = [], to = [] } = openEdge ?? {};
  const example = `as edge ${edge} of triangle ${triangle}, from (${from.join(', ')}) to (${to.join(', ')})`;
  const remedy = closingWeld === null ? 'no small weld closes it' : `weld: ${closingWeld} closes it`;
  return `${edges} more faces on one side than on the other, ${example}; ${remedy}`;
}
