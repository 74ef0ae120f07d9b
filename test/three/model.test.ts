// A model of three's scene graph: whatever happens to a scene,
// after the next frame every pick is that of three's Raycaster.
import { trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  DoubleSide,
  FrontSide,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  REVISION,
  Scene,
  TorusGeometry,
} from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import { comparePicks, randomCamera, SIZE } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
const SIDES = [FrontSide, BackSide, DoubleSide];

/** A scene, and everything that may happen to it. */
class Model {
  readonly root = new Scene();
  readonly statics = new Set<Object3D>();
  /** Objects whose changes are not noticed in the next frame unless reported. */
  readonly unnoticed = new Set<Object3D>();
  readonly #random: Random;
  readonly #geometries: BufferGeometry[];
  readonly #materials: MeshBasicMaterial[];
  /** Objects that move during a render, in their `onBeforeRender`. */
  readonly #driven = new Set<Object3D>();
  readonly #out: Object3D[] = [];
  #named = 0;

  constructor(random: Random, nodes: number) {
    this.#random = random;
    this.#geometries = [
      new BoxGeometry(1.5, 1, 2),
      new IcosahedronGeometry(1, 1),
      new TorusGeometry(0.8, 0.3, 5, 7).toNonIndexed(),
      new BoxGeometry(0.5, 2, 1, 2, 1, 1),
    ];
    this.#materials = Array.from({ length: 5 }, (_, i) => new MeshBasicMaterial({ side: SIDES[i % 3] }));
    for (let i = 0; i < nodes; i++) this.#add();
  }

  /** What three's renderers do to a scene before and while they draw it. */
  render(): void {
    this.root.updateMatrixWorld();
    this.root.traverseVisible((object) => {
      if (!this.#driven.has(object)) return;
      object.position.y += 0.05;
      object.updateMatrixWorld();
      this.#notice(object);
    });
  }

  change(): void {
    if (this.#random.chance(0.2)) this.#show(this.root);
    const node = this.#anyNode();
    const mesh = this.#anyMesh();
    const changes: (() => Object3D | undefined)[] = [
      () => this.#add(),
      () => this.#add(),
      () => this.#leave(node),
      () => (this.#out.length === 0 ? undefined : this.#anyNode().add(this.#out.pop()!) && undefined),
      () => this.#move(node),
      () => this.#turnOver(node, () => Object.assign(node, { visible: !node.visible })),
      () => this.#turnOver(node, () => this.#place(node)),
      () => this.#turnOver(node, () => node.scale.setScalar(this.#random.chance(0.5) ? 0 : 1)),
      () => this.#turnOver(node, () => this.#placeByHand(node)),
      () => mesh && this.#turnOver(mesh, () => Object.assign(mesh, { geometry: this.#random.pick(this.#geometries) })),
      () => mesh && this.#turnOver(mesh, () => Object.assign(mesh, { material: this.#look() })),
      () => mesh && this.#turnOver(mesh, () => mesh.layers.set(this.#random.chance(0.3) ? 3 : 0)),
      () => mesh && this.#turnOver(mesh, () => this.#changeInstances(mesh)),
      () => this.#driven.add(node) && undefined,
      () => void this.#driven.delete(node) as undefined,
      () => {
        const material = this.#random.pick(this.#materials);
        if (this.#random.chance(0.7)) material.side = this.#random.pick(SIDES);
        else material.visible = true;
        return this.#notice(this.root);
      },
    ];
    this.#random.pick(changes)();
  }

  /** Changes `object`, and records the change if it is static or an ancestor of a static one. */
  #turnOver(object: Object3D, change: () => unknown): Object3D {
    change();
    return this.#notice(object);
  }

  #notice(object: Object3D): Object3D {
    object.traverse((below) => {
      if (this.statics.has(below)) this.unnoticed.add(object);
    });
    return object;
  }

  #show(object: Object3D): void {
    object.visible = true;
    object.scale.setScalar(1);
    this.#notice(object);
  }

  #anyNode(): Object3D {
    const nodes: Object3D[] = [];
    this.root.traverse((node) => nodes.push(node));
    return this.#random.pick(nodes);
  }

  #anyMesh(): Mesh | undefined {
    const meshes: Mesh[] = [];
    this.root.traverse((node) => {
      if (node instanceof Mesh) meshes.push(node);
    });
    return meshes.length === 0 ? undefined : this.#random.pick(meshes);
  }

  #look(): Material | Material[] {
    if (this.#random.chance(0.8)) return this.#random.pick(this.#materials);
    return Array.from({ length: 6 }, () => this.#random.pick(this.#materials));
  }

  #add(): undefined {
    const object = this.#make();
    object.name = `${this.#named++}`;
    this.#place(object);
    const parent = this.#random.chance(0.5) ? this.root : this.#anyNode();
    parent.add(object);
    if (this.#random.chance(0.2)) this.statics.add(object);
  }

  #make(): Object3D {
    const geometry = this.#random.pick(this.#geometries);
    const kind = this.#random.next();
    if (kind < 0.25) return new Group();
    if (kind < 0.8) return new Mesh(geometry, this.#look());
    const instances = new InstancedMesh(geometry, this.#look(), 4);
    for (let i = 0; i < 4; i++) instances.setMatrixAt(i, this.#somewhere());
    return instances;
  }

  #somewhere(): Matrix4 {
    return new Matrix4().setPosition(this.#random.point(RADIUS / 2));
  }

  #place(object: Object3D): void {
    object.position.copy(this.#random.point(object.parent === this.root ? RADIUS : RADIUS / 3));
    object.rotation.set(this.#random.range(0, 6), this.#random.range(0, 6), 0);
  }

  #placeByHand(object: Object3D): void {
    object.matrixAutoUpdate = !object.matrixAutoUpdate;
    if (object.matrixAutoUpdate) return;
    object.matrix.copy(this.#somewhere());
    object.matrixWorldNeedsUpdate = true;
  }

  #changeInstances(mesh: Mesh): void {
    if (!(mesh instanceof InstancedMesh)) return;
    if (this.#random.chance(0.5)) mesh.count = this.#random.integer(5);
    mesh.setMatrixAt(
      this.#random.integer(4),
      this.#random.chance(0.2) ? new Matrix4().makeScale(0, 0, 0) : this.#somewhere(),
    );
    mesh.instanceMatrix.needsUpdate = true;
  }

  #leave(node: Object3D): undefined {
    if (node === this.root) return;
    node.removeFromParent();
    this.#out.push(node);
  }

  #move(node: Object3D): undefined {
    const parent = this.#anyNode();
    for (let above: Object3D | null = parent; above !== null; above = above.parent) if (above === node) return;
    if (node === this.root) return;
    if (this.#random.chance(0.3)) parent.attach(node);
    else parent.add(node);
    this.#notice(node);
  }
}

test.each(
  [
    [1, 330, 12],
    [30, 520, 15],
    [400, 320, 20],
    [5000, 15, 60],
  ].map(([nodes, frames, changes]) => [nodes, shareOf(frames), changes]),
)(
  `three r${REVISION}: scenes of %i nodes at first, %i frames of up to %i changes each, seed ${SEED}`,
  { timeout: 240_000 },
  async (nodes, frames, changes) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const random = new Random(SEED);
    const model = new Model(random, nodes);
    let clock = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const tracker = await trackScene(service, model.root, {
      objectOptions: (object) => ({ motion: model.statics.has(object) ? 'static' : 'moving' }),
    });
    let hits = 0;
    for (let frame = 0; frame < frames; frame++) {
      for (let left = random.integer(changes); left > 0; left--) model.change();
      const camera = randomCamera(random, RADIUS);
      if (random.chance(0.3)) camera.layers.enable(3);
      model.render();
      if (model.unnoticed.size > 0) {
        if (random.chance(0.5)) for (const object of model.unnoticed) tracker.changed(object);
        else clock += 1000;
        model.unnoticed.clear();
      }
      do {
        clock += 16;
        await tracker.update(camera, SIZE);
      } while (tracker.pending.length > 0);
      await tracker.update(camera, SIZE);
      const picks = await comparePicks(tracker, model.root, camera, random, nodes > 1000 ? 30 : 20);
      expect(picks.faults, `frame ${frame}`).toEqual([]);
      hits += picks.hits;
    }
    expect(hits).toBeGreaterThan(frames / 2);
    // An array of materials where the geometry has no groups: three draws nothing.
    for (const { message } of tracker.untracked.values()) expect(message).toMatch(/nothing lies in the draw range/);
  },
);
