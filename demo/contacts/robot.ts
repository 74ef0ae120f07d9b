import { BoxGeometry, type BufferGeometry, Group, type Material, Mesh, MeshPhongMaterial, type Vector3 } from 'three';
import { nextTurn } from '../next-turn.js';
import { box, drum, link, mergeColored, pillar, roundedBox, shaft } from './robot-forms.js';
import type { ToolPose } from './schedule.js';

const SHOULDER = 0.82;
const UPPER_ARM = 1.35;
const FOREARM = 1.15;
/** Distance from the wrist joint to the midpoint between the fingertips. */
const TOOL = 0.62;
const FINGER = { width: 0.1, length: 0.36, depth: 0.2 };
const METAL = 0x2b323d;
const STEEL = 0x8793a5;

/** An arm with five joints and a gripper that points down. Every part is a named object; the robot is their group. */
export class Robot {
  readonly root = new Group();
  /** The palm and two fingers. */
  readonly gripper = createGroup('gripper');
  readonly #turret = new Group();
  readonly #upperArm = new Group();
  readonly #forearm = new Group();
  readonly #wrist = new Group();
  readonly #fingers: readonly Mesh[];
  /** The direction in which the fingers close: the angle of their line about y. */
  readonly #gripAngle: number;

  /** Makes the robot part by part, and yields to the page in between. */
  static async create(name: string, color: number, position: Vector3, grip: number): Promise<Robot> {
    const robot = new Robot(name, position, grip);
    for (const _ of robot.#assemble(color)) await nextTurn();
    return robot;
  }

  private constructor(name: string, position: Vector3, grip: number) {
    this.root.name = name;
    this.root.position.copy(position);
    this.#gripAngle = grip;
    this.#turret.position.y = SHOULDER;
    this.#forearm.position.x = UPPER_ARM;
    this.#wrist.position.x = FOREARM;
    this.#fingers = ['left finger', 'right finger'].map((side) => {
      const finger = createPart(
        side,
        new BoxGeometry(FINGER.length, FINGER.depth, FINGER.width),
        createMaterial(STEEL),
      );
      finger.position.x = TOOL + 0.04 - FINGER.length / 2;
      return finger;
    });
  }

  /** Yields at points where the page may take over. */
  *#assemble(color: number): Generator<void> {
    const palm = roundedBox(0.15, 0.26, 0.86, 0.235);
    yield;
    this.gripper.add(
      createPart('palm', mergeColored([palm, METAL], [shaft(0.12, 0.02, 0.16), STEEL])),
      ...this.#fingers,
    );
    yield;
    this.#wrist.add(
      createPart('wrist', mergeColored([drum(0.125, 0.3), METAL], [shaft(0.1, 0, 0.14), color])),
      this.gripper,
    );
    yield;
    const forearm = link(FOREARM, 0.19, 0.13, 0.17);
    yield;
    this.#forearm.add(createPart('forearm', mergeColored([forearm, color], [drum(0.16, 0.4), METAL])), this.#wrist);
    yield;
    const upperArm = link(UPPER_ARM, 0.25, 0.2, 0.21);
    yield;
    this.#upperArm.add(
      createPart('upper arm', mergeColored([upperArm, color], [drum(0.2, 0.5), METAL])),
      this.#forearm,
    );
    yield;
    this.#turret.add(createPart('shoulder', createShoulder(color)), this.#upperArm);
    yield;
    this.root.add(
      createPart('base', mergeColored([pillar(0.5, 0.46, 0, 0.12), METAL], [pillar(0.36, 0.3, 0.12, 0.3), color])),
    );
    this.root.add(this.#turret);
  }

  /** Turns the joints by the law of cosines so that the tool is at the pose, pointing down. */
  reach({ angle, radius, height, opening }: ToolPose): void {
    const rise = height + TOOL - SHOULDER;
    const distance = Math.min(Math.hypot(radius, rise), UPPER_ARM + FOREARM);
    const upper = Math.atan2(rise, radius) + angleBetween(UPPER_ARM, distance, FOREARM);
    const elbow = angleBetween(UPPER_ARM, FOREARM, distance) - Math.PI;
    this.#turret.rotation.y = angle;
    this.#upperArm.rotation.z = upper;
    this.#forearm.rotation.z = elbow;
    this.#wrist.rotation.z = -Math.PI / 2 - upper - elbow;
    this.gripper.rotation.x = angle - this.#gripAngle;
    this.#fingers.forEach((finger, i) => {
      finger.position.z = (i === 0 ? -0.5 : 0.5) * (opening + FINGER.width);
    });
  }
}

/** The angle between two sides of a triangle, given the side opposite it. */
function angleBetween(a: number, b: number, opposite: number): number {
  return Math.acos((a * a + b * b - opposite * opposite) / (2 * a * b));
}

function createShoulder(color: number): BufferGeometry {
  return mergeColored(
    [pillar(0.32, 0.3, -0.4, 0.22), METAL],
    [box(0.34, 0.46, 0.09, 0, 0, 0.21), color],
    [box(0.34, 0.46, 0.09, 0, 0, -0.21), color],
  );
}

function createGroup(name: string): Group {
  const result = new Group();
  result.name = name;
  return result;
}

/** Each part has its own material, so that it can be highlighted alone. */
function createPart(name: string, geometry: BufferGeometry, material: Material = createMaterial(0xffffff, true)): Mesh {
  const mesh = new Mesh(geometry, material);
  mesh.name = name;
  return mesh;
}

function createMaterial(color: number, vertexColors = false): MeshPhongMaterial {
  return new MeshPhongMaterial({ color, vertexColors, specular: 0x333a44, shininess: 40 });
}
