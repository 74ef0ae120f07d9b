import { Mesh, blockAt, treeScale, triangleOf } from './tree/layout';

/** Distance of the farthest vertex from the middle of a mesh's bounds, in mesh space; found when first asked for. */
export function meshRadius(mesh: Mesh): f64 {
  if (mesh.radius == 0) mesh.radius = farthest(mesh);
  return mesh.radius;
}

function farthest(mesh: Mesh): f64 {
  const scale = treeScale(mesh);
  const x = (0.5 * (mesh.lowX + mesh.highX) - mesh.offsetX) * scale;
  const y = (0.5 * (mesh.lowY + mesh.highY) - mesh.offsetY) * scale;
  const z = (0.5 * (mesh.lowZ + mesh.highZ) - mesh.offsetZ) * scale;
  let square: f64 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      for (let at = changetype<usize>(block) + (<usize>lane << 2), end = at + 144; at < end; at += 48) {
        const dx = <f64>load<f32>(at) - x, dy = <f64>load<f32>(at, 16) - y, dz = <f64>load<f32>(at, 32) - z;
        square = max(square, dx * dx + dy * dy + dz * dz);
      }
    }
  }
  return sqrt(square) / scale;
}
