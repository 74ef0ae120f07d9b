import { type BufferGeometry, type Group, Matrix4, Mesh, MeshLambertMaterial, Quaternion, Vector3 } from 'three';

export type Metal = keyof typeof METALS;

const METALS = {
  steel: 0x8d97a5,
  darkSteel: 0x565f6d,
  aluminium: 0xaeb6c1,
  crankcase: 0x5d6b7d,
  brass: 0xb59a5c,
  copper: 0xa6694a,
  rubber: 0x2c3038,
  paint: 0x3f6f5f,
  blade: 0x454d5b,
  ceramic: 0xd8b23c,
} as const;

const UP = new Vector3(0, 1, 0);

/** Adds named parts to a model. Each has its own material, so that it can be shown as selected. */
export class Assembly {
  readonly #root: Group;
  readonly #prefix: string;
  /** Frame of the added parts, in the model's space. */
  readonly #frame: Matrix4;

  constructor(root: Group, prefix = '', frame = new Matrix4()) {
    this.#root = root;
    this.#prefix = prefix;
    this.#frame = frame;
  }

  add(name: string, metal: Metal, geometry: BufferGeometry, transform = new Matrix4()): void {
    const material = new MeshLambertMaterial({ color: METALS[metal] });
    const mesh = new Mesh(geometry, material);
    mesh.name = this.#prefix + name;
    mesh.matrixAutoUpdate = false;
    mesh.matrix.multiplyMatrices(this.#frame, transform);
    this.#root.add(mesh);
  }
}

/** A translation, after a rotation from y to `axis`. */
export function placement(x: number, y: number, z: number, axis = UP): Matrix4 {
  const rotation = new Quaternion().setFromUnitVectors(UP, axis.clone().normalize());
  return new Matrix4().compose(new Vector3(x, y, z), rotation, new Vector3(1, 1, 1));
}

/** For a geometry of unit length along y, centred: stretches it from one point to the other. */
export function rodBetween(from: Vector3, to: Vector3): Matrix4 {
  const direction = new Vector3().subVectors(to, from);
  const center = new Vector3().addVectors(from, to).divideScalar(2);
  return placement(center.x, center.y, center.z, direction).scale(new Vector3(1, direction.length(), 1));
}
