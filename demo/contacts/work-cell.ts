import { BoxGeometry, CylinderGeometry, Group, MathUtils, Mesh, MeshPhongMaterial, Vector3 } from 'three';
import { nextTurn } from '../next-turn.js';
import { Robot } from './robot.js';
import { box, mergeColored } from './robot-forms.js';
import { type Key, Schedule } from './schedule.js';

/** Length of the crate's edges. */
export const CRATE = 0.44;
/** Seconds after which all robots start over. */
const PERIOD = 16;
const PEDESTAL = 0.5;
const OPEN_WIDTH = 0.66;
/** The fingers press slightly into the crate. */
const CLOSED_WIDTH = CRATE - 0.024;
/** The crate, too, sinks a little into its pedestal. */
const RESTING_HEIGHT = PEDESTAL + CRATE / 2 - 0.006;
const [FRONT, BACK] = [new Vector3(-1.55, RESTING_HEIGHT, 1), new Vector3(-1.55, RESTING_HEIGHT, -0.95)];

const ROBOTS = [
  { name: 'Robot A', color: 0xe8742c, grip: 0 },
  { name: 'Robot B', color: 0x3f8fd6, grip: Math.PI / 2 },
  { name: 'Robot C', color: 0xd9b23a, grip: 0 },
];
const ROBOT_POSITIONS = [new Vector3(-3.1, 0, 0), new Vector3(0, 0, -0.1), new Vector3(1.75, 0, 1.5)];

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
      robots.push(await Robot.create(name, color, ROBOT_POSITIONS[i], grip));
      await nextTurn();
    }
    return new WorkCell(robots);
  }

  private constructor(robots: readonly Robot[]) {
    this.robots = robots;
    this.#schedules = [KEYS_A, KEYS_B, KEYS_C].map((keys, i) => new Schedule(ROBOT_POSITIONS[i], PERIOD, keys));
    this.pedestals = [FRONT, BACK].map((position, i) =>
      createPedestal(['front pedestal', 'back pedestal'][i], position),
    );
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

function key(at: number, position: Vector3, up: number, opening: number, x = 0, z = 0): Key {
  return { at, tool: new Vector3(position.x + x, position.y + up, position.z + z), opening };
}

const KEYS_A: readonly Key[] = [
  key(0, FRONT, 0.75, OPEN_WIDTH, -0.1),
  key(1.4, FRONT, 0, OPEN_WIDTH),
  key(2, FRONT, 0, CLOSED_WIDTH),
  key(3.2, FRONT, 0.65, CLOSED_WIDTH),
  key(5, BACK, 0.65, CLOSED_WIDTH),
  key(6.2, BACK, 0, CLOSED_WIDTH),
  key(6.8, BACK, 0, OPEN_WIDTH),
  key(7.8, BACK, 0.55, OPEN_WIDTH, -0.15),
  key(9.2, BACK, 0.55, OPEN_WIDTH, -0.15),
  key(11, FRONT, 1.1, OPEN_WIDTH, -0.9, -1),
  key(14.2, FRONT, 1.1, OPEN_WIDTH, -0.9, -1),
];

const KEYS_B: readonly Key[] = [
  key(0, FRONT, 1.05, OPEN_WIDTH, 0.7, -0.4),
  key(2.6, FRONT, 1.05, OPEN_WIDTH, 0.75, -0.6),
  key(5.5, BACK, 1.05, OPEN_WIDTH, 0.75),
  key(7.2, BACK, 0.9, OPEN_WIDTH, 0.7),
  key(8.6, BACK, 0, OPEN_WIDTH),
  key(9.2, BACK, 0, CLOSED_WIDTH),
  key(10.4, BACK, 0.65, CLOSED_WIDTH),
  key(12, FRONT, 0.65, CLOSED_WIDTH),
  key(13.2, FRONT, 0, CLOSED_WIDTH),
  key(13.8, FRONT, 0, OPEN_WIDTH),
  key(15, FRONT, 0.95, OPEN_WIDTH, 0.4),
];

const KEYS_C: readonly Key[] = [
  { at: 0, tool: new Vector3(3.3, 1.5, 0.6), opening: OPEN_WIDTH },
  { at: 2, tool: new Vector3(3.5, 1.2, 0.2), opening: CLOSED_WIDTH },
  { at: 4, tool: new Vector3(3.1, 1.7, 1.4), opening: OPEN_WIDTH },
  { at: 6, tool: new Vector3(1.6, 1.3, 3), opening: CLOSED_WIDTH },
  { at: 8.5, tool: new Vector3(0.3, 1.2, 1.4), opening: OPEN_WIDTH },
  { at: 10.6, tool: new Vector3(-0.5, 1.3, 0.36), opening: OPEN_WIDTH },
  { at: 11.6, tool: new Vector3(-0.5, 1.3, 0.36), opening: OPEN_WIDTH },
  { at: 12.6, tool: new Vector3(0.3, 1.3, 1.5), opening: CLOSED_WIDTH },
  { at: 14, tool: new Vector3(1.7, 1.2, 3), opening: CLOSED_WIDTH },
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
  const [halfEdge, thickness] = [CRATE / 2, 0.05];
  const offset = halfEdge - thickness / 2;
  const beams = [-offset, offset].flatMap((u) =>
    [-offset, offset].flatMap((v) => [
      box(CRATE, thickness, thickness, 0, u, v),
      box(thickness, CRATE, thickness, u, 0, v),
      box(thickness, thickness, CRATE, u, v, 0),
    ]),
  );
  const inner = CRATE - 0.03;
  const geometry = mergeColored(
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
