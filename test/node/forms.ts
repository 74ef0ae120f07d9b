import { type CollisionService, createCollisionService, type ObjectOptions, type Shape } from 'collision-worker';
import { type Matrix4, Vector3 } from 'three';
import { boxMesh, icosphere, soup, type Triangles } from '../oracle/meshes.js';
import type { Random } from '../oracle/random.js';
import type { Form } from '../oracle/stand-ins.js';

export interface FormItem {
  id: number;
  form: Form;
  matrix: Matrix4;
}

/** Objects of all shapes: in a service of its own, and as the oracle wants them. */
export class FormTwin {
  readonly service: CollisionService;
  readonly items = new Map<number, FormItem>();
  readonly #meshes = new Map<Triangles, number>();

  static async create(): Promise<FormTwin> {
    return new FormTwin(await createCollisionService());
  }

  constructor(service: CollisionService) {
    this.service = service;
  }

  async add(form: Form, matrix: Matrix4, options: Omit<ObjectOptions, 'shape' | 'matrix'> = {}): Promise<number> {
    const id = this.service.addObject({ shape: await this.#shapeOf(form), matrix: matrix.elements, ...options });
    this.items.set(id, { id, form, matrix });
    return id;
  }

  remove(id: number): void {
    this.service.removeObject(id);
    this.items.delete(id);
  }

  dispose(): void {
    this.service.dispose();
  }

  async #shapeOf(form: Form): Promise<Shape> {
    if (form.type === 'sphere') return { type: 'sphere', radius: form.radius, center: form.center.toArray() };
    if (form.type === 'capsule') {
      return { type: 'capsule', radius: form.radius, from: form.from.toArray(), to: form.to.toArray() };
    }
    if (form.type === 'box') {
      const [halfExtents, center] = [form.halfExtents.toArray(), form.center.toArray()];
      return { type: 'box', halfExtents, center, rotation: form.rotation.toArray() };
    }
    const known = this.#meshes.get(form.triangles) ?? (await this.service.addMesh(form.triangles));
    this.#meshes.set(form.triangles, known);
    return { type: 'mesh', mesh: known };
  }
}

/** Of every shape; of meshes also triangles far larger than what else there is. */
export function formMaker(random: Random): () => Form {
  const meshes = [
    ...[icosphere(1, 0), icosphere(0.7, 1), boxMesh(1, 2, 0.5), boxMesh(2, 2, 2)],
    ...[soup(random, 10, 0.6, 1), soup(random, 25, 0.3, 1), soup(random, 1, 1, 0.5), soup(random, 2, 40, 5)],
  ];
  const makers: (() => Form)[] = [
    () => ({ type: 'mesh', triangles: random.pick(meshes) }),
    () => ({ type: 'mesh', triangles: random.pick(meshes) }),
    () => ({
      ...{ type: 'box', halfExtents: new Vector3(random.range(0.1, 1), random.range(0.1, 1), random.range(0.1, 1)) },
      ...{ center: random.point(1), rotation: random.rotation() },
    }),
    () => ({ type: 'sphere', radius: random.range(0.2, 1.5), center: random.point(1) }),
    () => {
      const from = random.point(1);
      const to = random.point(1);
      to.z = from.z + Math.abs(to.z);
      return { type: 'capsule', radius: random.range(0.1, 1), from, to };
    },
  ];
  return () => random.pick(makers)();
}
