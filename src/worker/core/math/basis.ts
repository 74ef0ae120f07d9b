// Two directions perpendicular to a third and to each other (Duff et al., "Building an Orthonormal Basis, Revisited",
// 2017).

export let tangentX: f64 = 0, tangentY: f64 = 0, tangentZ: f64 = 0;
export let bitangentX: f64 = 0, bitangentY: f64 = 0, bitangentZ: f64 = 0;

/** Sets two unit directions perpendicular to a unit direction and to each other. */
export function setBasis(x: f64, y: f64, z: f64): void {
  const sign: f64 = z < 0 ? -1 : 1;
  const p = -1.0 / (sign + z);
  const q = x * y * p;
  tangentX = 1.0 + sign * x * x * p;
  tangentY = sign * q;
  tangentZ = -sign * x;
  bitangentX = q;
  bitangentY = sign + y * y * p;
  bitangentZ = -y;
}
