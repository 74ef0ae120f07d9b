// The rest of a character's motion, and the planes that it hit, by which the motion is clipped, as for Quake's players (Fauerby,
// "Improved Collision Detection and Response", 2003).

/** The normals of the planes by which the motion is clipped: xyz each. */
const MAX_PLANES: u32 = 6;
const PLANE_BYTES: usize = 24;
const planes: usize = memory.data(<i32>MAX_PLANES * <i32>PLANE_BYTES, 16);
export let planeCount: u32 = 0;

export function addPlane(nx: f64, ny: f64, nz: f64): void {
  if (planeCount == MAX_PLANES) return;
  const at = planes + <usize>planeCount * PLANE_BYTES;
  planeCount++;
  store<f64>(at, nx);
  store<f64>(at, ny, 8);
  store<f64>(at, nz, 16);
}

// The rest of the motion.
export let motionX: f64 = 0, motionY: f64 = 0, motionZ: f64 = 0;

/** A motion that enters a plane by less than this, relative to its length, counts as parallel. */
const PARALLEL: f64 = 1e-10;

/** Returns whether a motion enters none of the planes. */
export function isUnobstructed(vx: f64, vy: f64, vz: f64): bool {
  const minSpeed = -PARALLEL * sqrt(vx * vx + vy * vy + vz * vz);
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    if (vx * load<f64>(at) + vy * load<f64>(at, 8) + vz * load<f64>(at, 16) < minSpeed) return false;
  }
  return true;
}

/**
 * Clips the rest of the motion by the planes: to one of them, to the line where two of them intersect, or to nothing. A motion
 * that leads backwards becomes nothing, so that a character does not jitter in a corner.
 */
export function clipMotion(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  if (!isUnobstructed(motionX, motionY, motionZ)) clipToPlanes();
  if (!(motionX * forwardX + motionY * forwardY + motionZ * forwardZ > 0)) motionX = motionY = motionZ = 0;
}

function clipToPlanes(): void {
  const vx = motionX, vy = motionY, vz = motionZ;
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    const nx = load<f64>(at), ny = load<f64>(at, 8), nz = load<f64>(at, 16);
    const normalSpeed = vx * nx + vy * ny + vz * nz;
    if (normalSpeed >= 0) continue;
    const px = vx - normalSpeed * nx, py = vy - normalSpeed * ny, pz = vz - normalSpeed * nz;
    if (isUnobstructed(px, py, pz)) {
      motionX = px; motionY = py; motionZ = pz;
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
      const lengthSquared = cx * cx + cy * cy + cz * cz;
      if (!(lengthSquared > 1e-12)) continue;
      const projection = (vx * cx + vy * cy + vz * cz) / lengthSquared;
      const px = projection * cx, py = projection * cy, pz = projection * cz;
      if (isUnobstructed(px, py, pz)) {
        motionX = px; motionY = py; motionZ = pz;
        return;
      }
    }
  }
  motionX = motionY = motionZ = 0;
}

// @ts-ignore: decorator
@inline
export function setMotion(vx: f64, vy: f64, vz: f64): void {
  motionX = vx; motionY = vy; motionZ = vz;
}

/** Removes all planes. */
// @ts-ignore: decorator
@inline
export function clearPlanes(): void {
  planeCount = 0;
}
