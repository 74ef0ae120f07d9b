import { MESH_CHECKED } from '../../../shared/layout';
import { Mesh } from './layout';

/**
 * Over all bytes behind the checksum itself, 16 at a time: four lanes of a multiply-and-rotate hash with the
 * multipliers of xxHash32 (Collet 2012), so that any flipped bit changes it. A mesh is a multiple of 4 bytes.
 */
export function checksum(mesh: Mesh): u32 {
  const start = changetype<usize>(mesh) + MESH_CHECKED;
  const end = changetype<usize>(mesh) + mesh.bytes;
  const prime = i32x4.splat(-2048144777);
  let lanes = i32x4.splat(<i32>mesh.bytes);
  let at = start;
  for (; at + 16 <= end; at += 16) {
    lanes = i32x4.add(lanes, i32x4.mul(v128.load(at), prime));
    lanes = v128.or(i32x4.shl(lanes, 13), i32x4.shr_u(lanes, 19));
    lanes = i32x4.mul(lanes, i32x4.splat(-1640531535));
  }
  let hash: u32 =
    rotl<u32>(<u32>i32x4.extract_lane(lanes, 0), 1) + rotl<u32>(<u32>i32x4.extract_lane(lanes, 1), 7) +
    rotl<u32>(<u32>i32x4.extract_lane(lanes, 2), 12) + rotl<u32>(<u32>i32x4.extract_lane(lanes, 3), 18);
  for (; at + 4 <= end; at += 4) hash = rotl<u32>(hash + load<u32>(at) * 3266489917, 17) * 668265263;
  hash ^= hash >> 15;
  hash *= 2246822519;
  return hash ^ (hash >> 13);
}
