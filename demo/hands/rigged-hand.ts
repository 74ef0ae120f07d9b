import { type Bone, Group, Matrix4, type Object3D, Quaternion, type SkinnedMesh, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

/** WebXR's names of the joints that bend, from the knuckle to the tip. */
const FINGERS = ['index', 'middle', 'ring', 'pinky'].map((finger) =>
  ['phalanx-proximal', 'phalanx-intermediate', 'phalanx-distal', 'tip'].map((joint) => `${finger}-finger-${joint}`),
);
/** Bend of a finger at rest, in radians. */
const REST_BEND = 0.3;
const MAX_BEND = 1.2;
/** Share of each joint in the bend. */
const JOINT_SHARES = [0.5, 0.3, 0.2];
const BEND_STEPS = 30;

interface Joint {
  readonly bone: Bone;
  /** Position as modelled. */
  readonly place: Vector3;
  readonly turn: Quaternion;
}

/** A WebXR hand, palm down, whose bones bend its fingers. */
export class RiggedHand {
  /** Moved as a whole. */
  readonly root = new Group();
  readonly mesh: SkinnedMesh;
  readonly side: 'left' | 'right';
  readonly #fingers: readonly (readonly Joint[])[];
  /** Axis about which the fingers bend. */
  readonly #bendAxis: Vector3;
  /** For each finger, the angle in radians at which it presses. */
  readonly #pressAngles: number[] = [];

  private constructor(model: Object3D, side: 'left' | 'right') {
    this.side = side;
    this.mesh = model.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
    this.mesh.name = `${side} hand`;
    this.mesh.frustumCulled = false; // its fingers leave the bounds of the rest pose
    const jointOf = (name: string): Joint => {
      const bone = model.getObjectByName(name) as Bone;
      return { bone, place: bone.position.clone(), turn: bone.quaternion.clone() };
    };
    this.#fingers = FINGERS.map((names) => names.map(jointOf));
    const [wrist, index, middle, pinky] = [
      jointOf('wrist'),
      this.#fingers[0][0],
      this.#fingers[1][0],
      this.#fingers[3][0],
    ].map(({ place }) => place);
    // Turns the fingers away from the viewer, with the thumbs side by side.
    const back = new Vector3().subVectors(wrist, middle).normalize();
    const bendAxis = new Vector3().subVectors(pinky, index).multiplyScalar(side === 'right' ? 1 : -1);
    this.#bendAxis = bendAxis.addScaledVector(back, -bendAxis.dot(back)).normalize();
    const up = new Vector3().crossVectors(back, this.#bendAxis);
    model.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(this.#bendAxis, up, back).transpose());
    this.root.add(model);
  }

  static async load(url: string, side: 'left' | 'right'): Promise<RiggedHand> {
    return new RiggedHand((await new GLTFLoader().loadAsync(url)).scene, side);
  }

  get fingers(): number {
    return this.#fingers.length;
  }

  /** Places the hand above a floor of keys: its fingers rest `restHeight` over them, and press `pressDepth` into them. */
  standOver(keyHeight: number, restHeight: number, pressDepth: number): void {
    this.root.position.y = 0;
    const tips = this.#fingers.map((_, finger) => this.#tipOf(finger, REST_BEND).y);
    this.root.position.y = keyHeight + restHeight - Math.min(...tips);
    this.#fingers.forEach((_, finger) => {
      let bend = REST_BEND;
      while (this.#tipOf(finger, bend).y > keyHeight - pressDepth && bend < MAX_BEND)
        bend += (MAX_BEND - REST_BEND) / BEND_STEPS;
      this.#pressAngles[finger] = bend;
    });
  }

  /** Presses a finger by a fraction: 0 for not at all, 1 for fully. */
  press(finger: number, fraction: number): void {
    this.#bend(finger, REST_BEND + fraction * (this.#pressAngles[finger] - REST_BEND));
  }

  /** World position of the middle finger's tip at rest. */
  get reach(): Vector3 {
    return this.#tipOf(1, REST_BEND);
  }

  #tipOf(finger: number, bend: number): Vector3 {
    this.#bend(finger, bend);
    this.root.updateMatrixWorld(true);
    return this.#fingers[finger].at(-1)!.bone.getWorldPosition(new Vector3());
  }

  /** All joints are direct children of the hand, so each is moved by the joints before it. */
  #bend(finger: number, radians: number): void {
    const joints = this.#fingers[finger];
    const rotation = new Quaternion();
    const position = joints[0].place.clone();
    joints.forEach(({ bone, place: restPosition, turn: restRotation }, i) => {
      if (i > 0) position.add(new Vector3().subVectors(restPosition, joints[i - 1].place).applyQuaternion(rotation));
      rotation.premultiply(BEND_ROTATION.setFromAxisAngle(this.#bendAxis, -radians * (JOINT_SHARES[i] ?? 0)));
      bone.position.copy(position);
      bone.quaternion.multiplyQuaternions(rotation, restRotation);
    });
  }
}

const BEND_ROTATION = new Quaternion();
