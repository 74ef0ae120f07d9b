export function overlap(description: usize, filter: usize): u32 { return 0; }
export function containing(x: f64, y: f64, z: f64, filter: usize): u32 { return 0; }
export function closestPoint(x: f64, y: f64, z: f64, maxDistance: f64, filter: usize, hit: usize): bool { return false; }
