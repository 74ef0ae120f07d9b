export function frustumOfView(view: usize, filter: usize): u32 { return 0; }
export function frustumOfPlanes(planes: usize, count: u32, filter: usize): u32 { return 0; }
export function foundInside(): u32 { return 0; }
