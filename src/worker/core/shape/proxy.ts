import { Affine } from '../math/affine';
import { Form, setForm } from '../math/obb-sat-f32';
import { Item } from './item';

/**
 * All data that decide most pairs, rays and views, in three cache lines: a ray that misses reads the first, a pair
 * the first two. Proxies are ordered by position, not by slot, so that neighbours in space are neighbours in memory.
 */
@unmanaged
export class Proxy {
  // A Form.
  inverseXx: f32; inverseXy: f32; inverseXz: f32;
  inverseYx: f32; inverseYy: f32; inverseYz: f32;
  inverseZx: f32; inverseZy: f32; inverseZz: f32;
  reach: f32;
  x: f64; y: f64; z: f64;
  edgeXx: f32; edgeXy: f32; edgeXz: f32;
  edgeYx: f32; edgeYy: f32; edgeYz: f32;
  edgeZx: f32; edgeZy: f32; edgeZz: f32;

  shape: u8;
  flags: u8;
  contacts: u8;
  /** The item's other flags. */
  highFlags: u8;
  id: u32;
  layers: u32;
  collidesWith: u32;
  group: u32;
  /** The map from the cube [-1, 1]³ to the oriented bounds, together with x, y and z. */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;

  // @ts-ignore: decorator
  @inline
  form(): Form {
    return changetype<Form>(changetype<usize>(this));
  }
}

export const PROXY_BYTES: usize = offsetof<Proxy>();

export function setProxy(proxy: Proxy, item: Item, bounds: Affine): void {
  setForm(proxy.form(), bounds);
  setFields(proxy, item, bounds);
}

/** Sets what changes when an object moves, except how far it reaches. */
export function moveProxy(proxy: Proxy, bounds: Affine): void {
  setForm(proxy.form(), bounds);
  setColumns(proxy, bounds);
}

// @ts-ignore: decorator
@inline
function setColumns(proxy: Proxy, bounds: Affine): void {
  copyEight(changetype<usize>(proxy) + offsetof<Proxy>('xx'), changetype<usize>(bounds));
  proxy.zz = bounds.zz;
}

/** Sets how far beyond its bounds an object may come into contact. */
export function setProxyReach(proxy: Proxy, length: f64): void {
  proxy.reach = <f32>(length * ROUNDING_FACTOR);
}

/** Exceeds the relative error of rounding to float32. */
const ROUNDING_FACTOR: f64 = 1.000001;

/** Sets everything except the form, of which it sets only the position. */
export function setAllButForm(proxy: Proxy, item: Item, bounds: Affine): void {
  proxy.x = bounds.tx;
  proxy.y = bounds.ty;
  proxy.z = bounds.tz;
  setFields(proxy, item, bounds);
}

// @ts-ignore: decorator
@inline
function setFields(proxy: Proxy, item: Item, bounds: Affine): void {
  setColumns(proxy, bounds);
  proxy.shape = item.shape;
  proxy.flags = <u8>item.flags;
  proxy.highFlags = <u8>(item.flags >> 8);
  proxy.contacts = item.contacts;
  proxy.id = item.id;
  proxy.layers = item.layers;
  proxy.collidesWith = item.collidesWith;
  proxy.group = item.group;
}

/** Reads the oriented bounds as a map. Returns `out`. */
export function boundsOf(proxy: Proxy, out: Affine): Affine {
  copyEight(changetype<usize>(out), changetype<usize>(proxy) + offsetof<Proxy>('xx'));
  out.zz = proxy.zz;
  out.tx = proxy.x; out.ty = proxy.y; out.tz = proxy.z;
  return out;
}

/** Copies xx to zy, which are contiguous in both. */
// @ts-ignore: decorator
@inline
function copyEight(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  v128.store(to, v128.load(from, 32), 32);
  v128.store(to, v128.load(from, 48), 48);
}
