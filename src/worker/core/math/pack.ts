/** For each set of four lanes the bytes that move these to the front, in order. */
const packs: usize = memory.data(256, 16);

for (let lanes: usize = 0; lanes < 16; lanes++) {
  let to = packs + (lanes << 4);
  for (let lane: u32 = 0; lane < 4; lane++) {
    if (!(lanes & (1 << lane))) continue;
    store<u32>(to, 0x03020100 + lane * 0x04040404);
    to += 4;
  }
}

/** To be swizzled with: moves the lanes whose bits are set to the front; what follows them means nothing. */
// @ts-ignore: decorator
@inline
export function packing(lanes: u32): v128 {
  return v128.load(packs + (<usize>lanes << 4));
}
