// Dimensions of the building.

/** Metres. The ground plan has its corner at the origin. */
export const BAY = 6;
export const BAYS = { x: 9, z: 5 };
export const FLOOR_HEIGHT = 3.9;
export const PLAN = { x: BAY * BAYS.x, z: BAY * BAYS.z };
export const SLAB = 0.3;
/** Beams hang below the slab above. */
export const BEAM = { height: 0.45, width: 0.25, flange: 0.04, web: 0.03 };
export const COLUMN = 0.4;
/** Walls end below the services under the ceiling. */
export const WALL = { height: 2.4, thickness: 0.12 };
/** The bay of the stairs and the risers, at the end of the corridor, where no services run. */
export const STAIRS = { x: BAYS.x - 1, z: 2 };
/** The hole in that bay's slab. */
export const HOLE = { left: 2, right: 4.2, near: 0.8, far: 5.3 };
export const CORRIDOR_LENGTH = BAY * STAIRS.x;
export const STEPS = 18;
/** Metres from the grid to the outside of the facade, and to its inside. */
export const FACADE = { outside: 0.45, inside: 0.25 };
/** Height above the floor of each trade's route, at its centre line. At these heights no two trades collide. */
export const ROUTE_HEIGHT = { duct: 2.9, pipe: 2.6, tray: 2.48, light: 2.39 };
/** Positions in the corridor, which runs along x. */
export const CORRIDOR = { supply: 13.2, exhaust: 16.8, pipe: 15, tray: 14.4 };
/** Metres from the grid to the branch ducts, which begin beside the flanges of the other ducts. */
export const BRANCH_OFFSET = 3.4;
export const DUCT = { width: 0.7, height: 0.36, round: 0.15 };
export const PIPE = { main: 0.06, branch: 0.03, bend: 0.1 };
export const RUN_LENGTH = { duct: 3, pipe: 6, tray: 3 };
/** Probability of a mistake for each run of parts. */
export const MISTAKE_RATES = { duct: 0.08, pipe: 0.05, tray: 0.06, wall: 0.05, twice: 0.002 };

/** Gap between a frame and the piece inserted into it. */
export const FRAME_GAP = 0.01;
export const FINS = 11;
