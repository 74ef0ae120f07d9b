export function pickScreen(view: usize, x: f64, y: f64, radius: f64, filter: usize, all: bool): u32 { return 0; }
