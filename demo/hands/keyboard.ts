import { BoxGeometry, Group, MathUtils, Mesh, MeshLambertMaterial } from 'three';

/** Metres. */
const WHITE = { width: 0.0235, height: 0.02, length: 0.15 };
const BLACK = { width: 0.011, height: 0.012, length: 0.095 };
const GAP = 0.0015;
/** Travel of a key, and its return speed (metres per second). */
const TRAVEL = 0.006;
const RISE_SPEED = 0.03;
const NOTES = ['C', 'D', 'E', 'F', 'G', 'A', 'B'];
/** Keys with a black key behind them. */
const SHARPS = new Set(['C', 'D', 'F', 'G', 'A']);
const COLORS = { white: 0xf2efe6, black: 0x23262d, touched: 0xff9a4a };

export type Key = Mesh<BoxGeometry, MeshLambertMaterial>;

/** A piano keyboard. The front of the keys is at z = 0, and the top of the white ones at y = 0. */
export class Keyboard {
  readonly root = new Group();
  readonly keys: readonly Key[];
  readonly width: number;
  readonly length = WHITE.length;

  constructor(octaves: number, first: number) {
    const count = NOTES.length * octaves;
    this.width = count * WHITE.width;
    const keys: Key[] = [];
    for (let i = 0; i < count; i++) {
      const [note, octave] = [NOTES[i % NOTES.length], first + Math.floor(i / NOTES.length)];
      const x = (i + 0.5) * WHITE.width - this.width / 2;
      keys.push(createKey(`${note}${octave}`, WHITE, COLORS.white, [x, -WHITE.height / 2, -WHITE.length / 2]));
      if (!SHARPS.has(note)) continue;
      const z = BLACK.length / 2 - WHITE.length;
      keys.push(createKey(`${note}♯${octave}`, BLACK, COLORS.black, [x + WHITE.width / 2, BLACK.height / 2 + GAP, z]));
    }
    this.keys = keys;
    this.root.add(...keys);
  }

  /** Keys that are touched go down and are highlighted; all others rise gradually. */
  settle(touched: ReadonlySet<Key>, seconds: number): void {
    for (const key of this.keys) {
      const isTouched = touched.has(key);
      key.material.color.set(isTouched ? COLORS.touched : key.userData.color);
      const top = key.userData.top as number;
      key.position.y = isTouched ? top - TRAVEL : Math.min(top, key.position.y + RISE_SPEED * seconds);
    }
  }
}

function createKey(
  name: string,
  { width, height, length }: typeof WHITE,
  color: number,
  position: [number, number, number],
): Key {
  const key = new Mesh(new BoxGeometry(width - GAP, height, length), new MeshLambertMaterial({ color }));
  key.name = name;
  key.position.set(...position);
  Object.assign(key.userData, { color, top: position[1] });
  return key;
}

/** How far down a finger is at a time, from 0 to 1: the fingers play one after the other. */
export function beat(seconds: number, finger: number, fingers: number): number {
  const phase = MathUtils.euclideanModulo(seconds * 1.6 - finger, fingers);
  return MathUtils.smoothstep(phase, 0, 0.3) * (1 - MathUtils.smoothstep(phase, 0.7, 1));
}
