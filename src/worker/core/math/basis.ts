// Two directions perpendicular to a third and to each other (Duff et al., "Building an Orthonormal Basis, Revisited",
// 2017).

export let firstX: f64 = 0, firstY: f64 = 0, firstZ: f64 = 0;
export let secondX: f64 = 0, secondY: f64 = 0, secondZ: f64 = 0;

/** Sets two unit directions perpendicular to a unit direction and to each other. */
export function setBasis(x: f64, y: f64, z: f64): void {
  const sign: f64 = z < 0 ? -1 : 1;
  const p = -1.0 / (sign + z);
  const q = x * y * p;
  firstX = 1.0 + sign * x * x * p;
  firstY = sign * q;
  firstZ = -sign * x;
  secondX = q;
  secondY = sign + y * y * p;
  secondZ = -y;
}
