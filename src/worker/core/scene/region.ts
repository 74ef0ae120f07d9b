export function pickRegion(view: usize, region: usize, filter: usize): u32 { return 0; }
