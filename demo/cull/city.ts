import { BoxGeometry, type BufferGeometry, Group, InstancedBufferAttribute, InstancedMesh } from 'three';
import type { Boxes, Car, CityPlan } from './city-plan.js';

/** A city as boxes, in two InstancedMeshes. */
export class City {
  readonly root = new Group();
  readonly buildings: InstancedMesh;
  readonly cars: InstancedMesh;
  /** From its centre to its border, in metres. */
  readonly radius: number;
  readonly #cars: readonly Car[];

  constructor({ buildings, cars, traffic, radius }: CityPlan) {
    const geometry = new BoxGeometry().translate(0, 0.5, 0);
    this.buildings = instancesOf(geometry, buildings, 'building');
    this.cars = instancesOf(geometry, cars, 'car');
    this.#cars = traffic;
    this.radius = radius;
    this.root.add(this.buildings, this.cars);
    this.drive(0);
  }

  get count(): number {
    return this.buildings.count + this.cars.count;
  }

  /** In metres. */
  heightOf({ instanceMatrix: { array } }: InstancedMesh, instance: number): number {
    return array[16 * instance + 5];
  }

  /** Moves the cars to their positions at a time. A car that leaves the city enters again on the other side. */
  drive(seconds: number): void {
    const { array } = this.cars.instanceMatrix;
    this.#cars.forEach(({ lane, isAlongX, speed, start }, i) => {
      const halfLength = Math.sqrt(Math.max(0, this.radius ** 2 - lane ** 2));
      const distance = start + speed * seconds;
      const coordinate =
        halfLength === 0 ? 0 : distance - 2 * halfLength * Math.floor(distance / (2 * halfLength)) - halfLength;
      array[16 * i + 12] = isAlongX ? coordinate : lane;
      array[16 * i + 14] = isAlongX ? lane : coordinate;
    });
    this.cars.instanceMatrix.needsUpdate = true;
  }
}

function instancesOf(geometry: BufferGeometry, { matrices, colors }: Boxes, name: string): InstancedMesh {
  // If it were created with instances, it would write an identity matrix for each.
  const mesh = new InstancedMesh(geometry, undefined, 0);
  mesh.instanceMatrix = new InstancedBufferAttribute(matrices, 16);
  mesh.instanceColor = new InstancedBufferAttribute(colors, 3);
  mesh.count = matrices.length / 16;
  mesh.name = name;
  // Disables three's culling of the whole mesh: it would use the initial bounds, and compute them from all instances.
  mesh.frustumCulled = false;
  return mesh;
}
