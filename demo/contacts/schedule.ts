import { MathUtils, type Vector3 } from 'three';

/** Key frame: where the tool should be at a time; `opening` is the distance between the fingers. */
export interface Key {
  at: number;
  tool: Vector3;
  opening: number;
}

/** Tool pose in cylindrical coordinates about the robot's axis. `angle` rotates +x towards it about y. */
export interface ToolPose {
  angle: number;
  radius: number;
  height: number;
  opening: number;
}

/** Pose of a robot's tool at any time: it moves from key frame to key frame, rests at each, and repeats. */
export class Schedule {
  readonly #period: number;
  readonly #times: readonly number[];
  readonly #poses: readonly ToolPose[];

  /** `keys` are in order from time 0 on; the schedule returns to its start after `period`. */
  constructor(base: Vector3, period: number, keys: readonly Key[]) {
    const poses: ToolPose[] = [];
    for (const { tool, opening } of [...keys, keys[0]]) {
      const [x, z] = [tool.x - base.x, tool.z - base.z];
      const lastAngle = poses.at(-1)?.angle ?? 0;
      // Takes the shorter way around.
      const angle =
        lastAngle + MathUtils.euclideanModulo(Math.atan2(-z, x) - lastAngle + Math.PI, 2 * Math.PI) - Math.PI;
      poses.push({ angle, radius: Math.hypot(x, z), height: tool.y, opening });
    }
    this.#period = period;
    this.#times = [...keys.map(({ at }) => at), period];
    this.#poses = poses;
  }

  poseAt(seconds: number): ToolPose {
    const time = MathUtils.euclideanModulo(seconds, this.#period);
    const next = Math.max(
      1,
      this.#times.findIndex((each) => each > time),
    );
    const [from, to] = [this.#poses[next - 1], this.#poses[next]];
    const fraction = MathUtils.smoothstep(time, this.#times[next - 1], this.#times[next]);
    return {
      angle: MathUtils.lerp(from.angle, to.angle, fraction),
      radius: MathUtils.lerp(from.radius, to.radius, fraction),
      height: MathUtils.lerp(from.height, to.height, fraction),
      opening: MathUtils.lerp(from.opening, to.opening, fraction),
    };
  }
}
