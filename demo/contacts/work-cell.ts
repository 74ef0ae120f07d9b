import { BoxGeometry, CylinderGeometry, Group, MathUtils, Mesh, MeshPhongMaterial, Vector3 } from 'three';
import { nextTurn } from '../next-turn.js';
import { Robot } from './robot.js';
import { assembled, box } from './robot-forms.js';
import { type Key, Schedule } from './schedule.js';

/** Length of the crate's edges. */
export const CRATE = 0.44;
/** Seconds after which all robots start over. */
export const PERIOD = 16;
const PEDESTAL = 0.5;
const OPEN = 0.66;
/** The fingers press slightly into the crate. */
const SHUT = CRATE - 0.024;
/** The crate, too, sinks a little into its pedestal. */
const RESTING = PEDESTAL + CRATE / 2 - 0.006;
const [FRONT, BACK] = [new Vector3(-1.55, RESTING, 1), new Vector3(-1.55, RESTING, -0.95)];

const ROBOTS = [
  { name: 'Robot A', color: 0xe8742c, grip: 0 },
  { name: 'Robot B', color: 0x3f8fd6, grip: Math.PI / 2 },
  { name: 'Robot C', color: 0xd9b23a, grip: 0 },
];
const PLACES = [new Vector3(-3.1, 0, 0), new Vector3(0, 0, -0.1), new Vector3(1.75, 0, 1.5)];

/** Robot A carries the crate from the front to the back, robot B returns it, and robot C gets in the way. */
export class WorkCell {
  readonly root = new Group();
  readonly robots: readonly Robot[];
  readonly crate = createCrate();
  readonly pedestals: readonly Mesh[];
  readonly #schedules: readonly Schedule[];

  /** Makes the robots one by one, and yields to the page in between. */
  static async create(): Promise<WorkCell> {
    const robots: Robot[] = [];
    for (const [i, { name, color, grip }] of ROBOTS.entries()) {
      robots.push(await Robot.create(name, color, PLACES[i], grip));
      await nextTurn();
    }
    return new WorkCell(robots);
  }

  private constructor(robots: readonly Robot[]) {
    this.robots = robots;
    this.#schedules = [A, B, C].map((keys, i) => new Schedule(PLACES[i], PERIOD, keys));
    this.pedestals = [FRONT, BACK].map((place, i) => createPedestal(['front pedestal', 'back pedestal'][i], place));
    this.root.add(...this.robots.map(({ root }) => root), this.crate, ...this.pedestals);
  }

  pose(seconds: number): void {
    this.robots.forEach((robot, i) => {
      robot.reach(this.#schedules[i].poseAt(seconds));
    });
    const time = MathUtils.euclideanModulo(seconds, PERIOD);
    const { holder, place } = CRATE_STAYS.findLast(({ from }) => time >= from)!;
    if (holder === undefined) this.crate.position.copy(place);
    else this.#carry(holder, seconds);
  }

  #carry(holder: number, seconds: number): void {
    const { angle, radius, height } = this.#schedules[holder].poseAt(seconds);
    const { x, z } = this.robots[holder].root.position;
    this.crate.position.set(x + radius * Math.cos(angle), height, z - radius * Math.sin(angle));
  }
}

function key(at: number, place: Vector3, up: number, opening: number, x = 0, z = 0): Key {
  return { at, tool: new Vector3(place.x + x, place.y + up, place.z + z), opening };
}

const A: readonly Key[] = [
  key(0, FRONT, 0.75, OPEN, -0.1),
  key(1.4, FRONT, 0, OPEN),
  key(2, FRONT, 0, SHUT),
  key(3.2, FRONT, 0.65, SHUT),
  key(5, BACK, 0.65, SHUT),
  key(6.2, BACK, 0, SHUT),
  key(6.8, BACK, 0, OPEN),
  key(7.8, BACK, 0.55, OPEN, -0.15),
  key(9.2, BACK, 0.55, OPEN, -0.15),
  key(11, FRONT, 1.1, OPEN, -0.9, -1),
  key(14.2, FRONT, 1.1, OPEN, -0.9, -1),
];

const B: readonly Key[] = [
  key(0, FRONT, 1.05, OPEN, 0.7, -0.4),
  key(2.6, FRONT, 1.05, OPEN, 0.75, -0.6),
  key(5.5, BACK, 1.05, OPEN, 0.75),
  key(7.2, BACK, 0.9, OPEN, 0.7),
  key(8.6, BACK, 0, OPEN),
  key(9.2, BACK, 0, SHUT),
  key(10.4, BACK, 0.65, SHUT),
  key(12, FRONT, 0.65, SHUT),
  key(13.2, FRONT, 0, SHUT),
  key(13.8, FRONT, 0, OPEN),
  key(15, FRONT, 0.95, OPEN, 0.4),
];

const C: readonly Key[] = [
  { at: 0, tool: new Vector3(3.3, 1.5, 0.6), opening: OPEN },
  { at: 2, tool: new Vector3(3.5, 1.2, 0.2), opening: SHUT },
  { at: 4, tool: new Vector3(3.1, 1.7, 1.4), opening: OPEN },
  { at: 6, tool: new Vector3(1.6, 1.3, 3), opening: SHUT },
  { at: 8.5, tool: new Vector3(0.3, 1.2, 1.4), opening: OPEN },
  { at: 10.6, tool: new Vector3(-0.5, 1.3, 0.36), opening: OPEN },
  { at: 11.6, tool: new Vector3(-0.5, 1.3, 0.36), opening: OPEN },
  { at: 12.6, tool: new Vector3(0.3, 1.3, 1.5), opening: SHUT },
  { at: 14, tool: new Vector3(1.7, 1.2, 3), opening: SHUT },
];

/** Where the crate is: from a time on, at a place, or in the gripper of the robot that brings it there. */
const CRATE_STAYS: readonly { from: number; place: Vector3; holder?: number }[] = [
  { from: 0, place: FRONT },
  { from: 2, place: BACK, holder: 0 },
  { from: 6.2, place: BACK },
  { from: 9.2, place: FRONT, holder: 1 },
  { from: 13.2, place: FRONT },
];

function createCrate(): Mesh {
  const [edge, thin] = [CRATE / 2, 0.05];
  const middle = edge - thin / 2;
  const beams = [-middle, middle].flatMap((u) =>
    [-middle, middle].flatMap((v) => [
      box(CRATE, thin, thin, 0, u, v),
      box(thin, CRATE, thin, u, 0, v),
      box(thin, thin, CRATE, u, v, 0),
    ]),
  );
  const inner = CRATE - 0.03;
  const geometry = assembled(
    [new BoxGeometry(inner, inner, inner), 0x8a5f38],
    ...beams.map((beam): [BoxGeometry, number] => [beam as BoxGeometry, 0xc2935c]),
  );
  const crate = new Mesh(geometry, new MeshPhongMaterial({ vertexColors: true, shininess: 8 }));
  crate.name = 'crate';
  return crate;
}

function createPedestal(name: string, { x, z }: Vector3): Mesh {
  const pedestal = new Mesh(
    new CylinderGeometry(0.36, 0.42, PEDESTAL, 32),
    new MeshPhongMaterial({ color: 0x47536a, shininess: 12 }),
  );
  pedestal.name = name;
  pedestal.position.set(x, PEDESTAL / 2, z);
  return pedestal;
}
