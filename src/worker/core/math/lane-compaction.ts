/** For each set of four lanes the bytes that move these to the front, in order. */
const packs: usize = memory.data(256, 16);
/** For each the first bytes of these lanes. */
const bytePacks: usize = memory.data(64, 16);

for (let lanes: usize = 0; lanes < 16; lanes++) {
  let to = packs + (lanes << 4);
  let toByte = bytePacks + (lanes << 2);
  for (let lane: u32 = 0; lane < 4; lane++) {
    if (!(lanes & (1 << lane))) continue;
    store<u32>(to, 0x03020100 + lane * 0x04040404);
    to += 4;
    store<u8>(toByte++, <u8>(4 * lane));
  }
}

/** To be swizzled with: moves the lanes whose bits are set to the front; what follows them means nothing. */
// @ts-ignore: decorator
@inline
export function packing(lanes: u32): v128 {
  return v128.load(packs + (<usize>lanes << 4));
}

/** The same for the first byte of each lane: the first bytes of these lanes come to the front. */
// @ts-ignore: decorator
@inline
export function packingBytes(lanes: u32): v128 {
  return v128.load32_zero(bytePacks + (<usize>lanes << 2));
}
