import type { Hit } from 'collision-worker';
import {
  ArrowHelper,
  Box3,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineLoop,
  type LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
} from 'three';
import { closedForm } from '../closed-form.js';
import { boxEdges } from '../marker.js';
import type { Method } from './methods.js';

const CIRCLE = new BufferGeometry().setFromPoints(
  Array.from({ length: 64 }, (_, i) => new Vector3(Math.cos((i * Math.PI) / 32), Math.sin((i * Math.PI) / 32), 0)),
);
const DOT = new SphereGeometry(1, 12, 8);
// Rotations of three circles: about z, y and x.
const CIRCLE_ROTATIONS = [
  new Matrix4(),
  new Matrix4().makeRotationX(Math.PI / 2),
  new Matrix4().makeRotationY(Math.PI / 2),
];

/** Draws the hit of a method: the point, the normal as an arrow, and the bounding shape that was picked. */
export class MethodMarker {
  readonly root = new Group();
  /** The bounding shape: a box or a sphere; empty for the other methods. */
  readonly bounds = new Group();
  readonly #dot: Mesh;
  readonly #arrow: ArrowHelper;
  readonly #precision: Method['options']['precision'];

  /** Hits of one ray are behind each other: the marker with the higher `order` is in front. */
  constructor({ color, options }: Method, order: number) {
    this.#precision = options.precision;
    this.#dot = new Mesh(DOT, new MeshBasicMaterial({ color, depthTest: false, transparent: true }));
    this.#arrow = new ArrowHelper(new Vector3(0, 0, 1), new Vector3(), 1, color);
    this.#arrow.visible = options.method !== 'screen'; // for 'screen' it points at the eye
    const lines = new LineBasicMaterial({ color, transparent: true, opacity: 0.65 });
    if (this.#precision === 'sphere') this.bounds.add(...CIRCLE_ROTATIONS.map((rotation) => circle(lines, rotation)));
    else if (this.#precision === 'obb' || this.#precision === 'aabb') this.bounds.add(boxEdges(lines));
    this.bounds.matrixAutoUpdate = false;
    this.root.add(this.#dot, this.#arrow, this.bounds);
    this.root.traverse((part) => {
      part.renderOrder = order;
    });
    this.root.visible = false;
  }

  show(hit: Hit | null, object: Mesh | null): void {
    this.root.visible = hit !== null;
    if (hit === null || object === null) return;
    const size = 0.02 + 0.003 * hit.distance;
    this.#dot.position.set(...hit.point);
    this.#dot.scale.setScalar(size);
    this.#arrow.position.copy(this.#dot.position);
    this.#arrow.setDirection(new Vector3(...hit.normal));
    this.#arrow.setLength(16 * size, 5 * size, 3 * size);
    this.#fitBounds(object);
  }

  #fitBounds(object: Mesh): void {
    const { matrix } = this.bounds;
    const { matrixWorld, geometry } = object;
    if (this.#precision === 'sphere') {
      const { center, radius } = geometry.boundingSphere!.clone().applyMatrix4(matrixWorld);
      matrix.makeScale(radius, radius, radius).setPosition(center);
    } else if (this.#precision === 'obb') {
      fitBox(matrix, geometry.boundingBox!).premultiply(matrixWorld);
    } else if (this.#precision === 'aabb') {
      fitBox(matrix, boxAlongAxes(object));
    }
    this.bounds.matrixWorldNeedsUpdate = true;
  }
}

/** Round shapes have exact bounds; for the others, it is the box around the corners of their own box. */
function boxAlongAxes(object: Mesh): Box3 {
  const type = closedForm(object)?.type;
  if (type === 'sphere' || type === 'capsule') return new Box3().setFromObject(object, true);
  return object.geometry.boundingBox!.clone().applyMatrix4(object.matrixWorld);
}

function fitBox(matrix: Matrix4, { min, max }: Box3): Matrix4 {
  return matrix.makeScale(max.x - min.x, max.y - min.y, max.z - min.z).setPosition(min);
}

function circle(material: LineBasicMaterial, rotation: Matrix4): LineSegments | LineLoop {
  const loop = new LineLoop(CIRCLE, material);
  loop.matrixAutoUpdate = false;
  loop.matrix.copy(rotation);
  return loop;
}
