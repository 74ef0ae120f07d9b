export function sees(view: usize, targets: usize, count: u32, filter: usize, points: usize): void {}
