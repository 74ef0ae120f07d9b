// The rest of a character's way, and the planes that it hit, by which the way is clipped, as for Quake's players (Fauerby,
// "Improved Collision Detection and Response", 2003).

/** The normals of the planes by which the way is clipped: xyz each. */
const MOST_PLANES: u32 = 6;
const PLANE_BYTES: usize = 24;
const planes: usize = memory.data(<i32>MOST_PLANES * <i32>PLANE_BYTES, 16);
export let planeCount: u32 = 0;

export function addPlane(nx: f64, ny: f64, nz: f64): void {
  if (planeCount == MOST_PLANES) return;
  const at = planes + <usize>planeCount * PLANE_BYTES;
  planeCount++;
  store<f64>(at, nx);
  store<f64>(at, ny, 8);
  store<f64>(at, nz, 16);
}

// The rest of the way.
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;

/** A way that enters a plane by less than this, relative to its length, counts as parallel. */
const ALONG: f64 = 1e-10;

/** Returns whether a way enters none of the planes. */
export function isFree(vx: f64, vy: f64, vz: f64): bool {
  const most = -ALONG * sqrt(vx * vx + vy * vy + vz * vz);
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    if (vx * load<f64>(at) + vy * load<f64>(at, 8) + vz * load<f64>(at, 16) < most) return false;
  }
  return true;
}

/**
 * Clips the rest of the way by the planes: to one of them, to the line where two of them intersect, or to nothing. A way
 * that leads backwards becomes nothing, so that a character does not jitter in a corner.
 */
export function clip(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  if (!isFree(wayX, wayY, wayZ)) clipToPlanes();
  if (!(wayX * forwardX + wayY * forwardY + wayZ * forwardZ > 0)) wayX = wayY = wayZ = 0;
}

function clipToPlanes(): void {
  const vx = wayX, vy = wayY, vz = wayZ;
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    const nx = load<f64>(at), ny = load<f64>(at, 8), nz = load<f64>(at, 16);
    const into = vx * nx + vy * ny + vz * nz;
    if (into >= 0) continue;
    const px = vx - into * nx, py = vy - into * ny, pz = vz - into * nz;
    if (isFree(px, py, pz)) {
      wayX = px; wayY = py; wayZ = pz;
      return;
    }
  }
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    const nx = load<f64>(at), ny = load<f64>(at, 8), nz = load<f64>(at, 16);
    for (let k: u32 = i + 1; k < planeCount; k++) {
      const other = planes + <usize>k * PLANE_BYTES;
      const mx = load<f64>(other), my = load<f64>(other, 8), mz = load<f64>(other, 16);
      const cx = ny * mz - nz * my, cy = nz * mx - nx * mz, cz = nx * my - ny * mx;
      const square = cx * cx + cy * cy + cz * cz;
      if (!(square > 1e-12)) continue;
      const along = (vx * cx + vy * cy + vz * cz) / square;
      const px = along * cx, py = along * cy, pz = along * cz;
      if (isFree(px, py, pz)) {
        wayX = px; wayY = py; wayZ = pz;
        return;
      }
    }
  }
  wayX = wayY = wayZ = 0;
}

// @ts-ignore: decorator
@inline
export function setWay(vx: f64, vy: f64, vz: f64): void {
  wayX = vx; wayY = vy; wayZ = vz;
}

/** Removes all planes. */
// @ts-ignore: decorator
@inline
export function clearPlanes(): void {
  planeCount = 0;
}
