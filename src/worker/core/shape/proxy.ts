import { FLAG_PICKABLE } from '../../../shared/layout';
import { Affine } from '../math/affine';
import { Form, setForm } from '../math/obb-sat-f32';
import { Item } from '../scene/objects';

/**
 * All that most pairs, rays and views are decided by, in three cache lines: a ray that passes by reads the first, a
 * pair the first two. Candidates are kept by position, not by slot: neighbours in space are neighbours in memory then.
 */
@unmanaged
export class Candidate {
  // A Form.
  inverseXx: f32; inverseXy: f32; inverseXz: f32;
  inverseYx: f32; inverseYy: f32; inverseYz: f32;
  inverseZx: f32; inverseZy: f32; inverseZz: f32;
  zero: f32;
  x: f64; y: f64; z: f64;
  edgeXx: f32; edgeXy: f32; edgeXz: f32;
  edgeYx: f32; edgeYy: f32; edgeYz: f32;
  edgeZx: f32; edgeZy: f32; edgeZz: f32;

  shape: u8;
  flags: u8;
  contacts: u8;
  pad: u8;
  id: u32;
  layers: u32;
  collidesWith: u32;
  group: u32;
  /** With x, y and z: the cube [-1, 1]³ to the oriented bounds. */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;

  /** Layers under which rays see it, or 0. */
  // @ts-ignore: decorator
  @inline
  pickable(): u32 {
    return this.flags & <u8>FLAG_PICKABLE ? this.layers : 0;
  }

  // @ts-ignore: decorator
  @inline
  form(): Form {
    return changetype<Form>(changetype<usize>(this));
  }
}

export const CANDIDATE_BYTES: usize = 192;

export function setCandidate(candidate: Candidate, item: Item, bounds: Affine): void {
  setForm(candidate.form(), bounds);
  copyEight(changetype<usize>(candidate) + offsetof<Candidate>('xx'), changetype<usize>(bounds));
  candidate.zz = bounds.zz;
  candidate.shape = <u8>item.shape;
  candidate.flags = <u8>item.flags;
  candidate.contacts = <u8>item.contacts;
  candidate.id = item.id;
  candidate.layers = item.layers;
  candidate.collidesWith = item.collidesWith;
  candidate.group = item.group;
}

/** The oriented bounds as a map. */
export function boundsOf(candidate: Candidate, out: Affine): Affine {
  copyEight(changetype<usize>(out), changetype<usize>(candidate) + offsetof<Candidate>('xx'));
  out.zz = candidate.zz;
  out.tx = candidate.x; out.ty = candidate.y; out.tz = candidate.z;
  return out;
}

/** xx to zy, which are in a row in both. */
// @ts-ignore: decorator
@inline
function copyEight(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  v128.store(to, v128.load(from, 32), 32);
  v128.store(to, v128.load(from, 48), 48);
}
