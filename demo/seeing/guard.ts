import {
  CapsuleGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  PerspectiveCamera,
  SphereGeometry,
} from 'three';

const EYE_HEIGHT = 1.5;
/** Radians to each side, and per second. */
const SWEEP_ANGLE = 1.1;
const ANGULAR_SPEED = 0.45;

/** A figure that looks around. Its camera does not render: it defines the field of view. */
export class Guard {
  readonly root = new Group();
  readonly camera = new PerspectiveCamera(22, 2.4, 0.45, 11);
  /** Angle about y; 0 looks along -z. */
  #direction = -0.5;
  #seconds = 0;

  constructor() {
    const coat = new MeshLambertMaterial({ color: 0xd9c27a });
    const dark = new MeshLambertMaterial({ color: 0x39424f });
    const body = new Mesh(new CapsuleGeometry(0.3, 0.6, 6, 18), coat);
    body.position.y = 0.6;
    const head = new Mesh(new SphereGeometry(0.22, 18, 12), new MeshLambertMaterial({ color: 0xe5b48f }));
    head.position.y = EYE_HEIGHT;
    const cap = new Mesh(new CylinderGeometry(0.2, 0.25, 0.16, 18), dark);
    cap.position.set(0, EYE_HEIGHT + 0.17, 0);
    const peak = new Mesh(new CylinderGeometry(0.16, 0.16, 0.03, 18), dark);
    peak.position.set(0, EYE_HEIGHT + 0.1, -0.2);
    this.camera.position.y = EYE_HEIGHT;
    this.camera.rotation.x = -0.1;
    this.root.add(body, head, cap, peak, this.camera);
    this.root.name = 'guard';
    for (const part of this.parts) part.name = 'guard';
    this.turn(0);
  }

  get parts(): Mesh[] {
    return this.root.children.filter((child) => child instanceof Mesh);
  }

  /** Sweeps the view back and forth. */
  turn(seconds: number): void {
    this.#seconds += seconds;
    this.root.rotation.y = this.#direction + SWEEP_ANGLE * Math.sin((ANGULAR_SPEED / SWEEP_ANGLE) * this.#seconds);
    this.root.updateMatrixWorld(true);
  }

  /** Looks at a position, and from then on sweeps about that direction. */
  lookAt(x: number, z: number): void {
    const { position } = this.root;
    this.#direction = Math.atan2(position.x - x, position.z - z);
    this.#seconds = 0;
    this.turn(0);
  }

  moveTo(x: number, z: number): void {
    this.root.position.set(x, 0, z);
    this.root.updateMatrixWorld(true);
  }
}
