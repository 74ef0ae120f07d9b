import {
  type Character,
  type CollisionService,
  createCollisionService,
  type FrameResult,
  type MeshId,
  type ObjectId,
} from 'collision-worker';
import { PerspectiveCamera } from 'three';
import { boxMesh } from '../oracle/meshes.js';

export const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
/** Far from the scene that is queried. */
export const FAR_AWAY: readonly number[] = IDENTITY.with(12, 1000).with(13, 10);
export const viewOptions = () => ({
  projection: [...new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements],
  view: [...IDENTITY].with(14, -10),
  viewport: { x: 0, y: 0, width: 100, height: 100 },
  depth: 'webgl',
  reversed: false,
  layers: 1,
  margin: 0,
  minPixels: 0,
  occlusion: true,
  occlusionMargin: 0.5,
});
const HALF_SIZE = 1;

/** The options of a character, except its position and what it carries. */
export const characterOptions = () => ({
  ...{ shape: { type: 'capsule', radius: 0.5, from: [0, 0, 1], to: [0, 0, 2] }, up: [0, 0, 1], skin: 0.01, slope: 0.5 },
  ...{ stepHeight: 0.2, snap: 0.1, gravity: 9, step: 0.02, layers: 8, ignore: [] },
});

/** A small scene for which every answer is known, and some objects next to it that calls may use. */
export class World {
  readonly service: CollisionService;
  /** In the scene, at the origin; the two touch each other. */
  cube: ObjectId = 0;
  ball: ObjectId = 0;
  /** Objects next to the scene. */
  victims: Uint32Array = new Uint32Array(0);
  /** Far away from all other objects. */
  character!: Character;
  /** An object whose mesh has two bones and a morph target. */
  doll: ObjectId = 0;
  mesh: MeshId = 0;
  spare: MeshId = 0;
  baked = new ArrayBuffer(0);
  /** Baked points. */
  cloud = new ArrayBuffer(0);
  /** A copy of the latest frame. */
  frame: FrameResult | undefined;
  lost = '';
  #objectCount = 0;

  private constructor(service: CollisionService) {
    this.service = service;
    service.addEventListener('lost', (event) => {
      this.lost = String((event as Event & { error: unknown }).error);
    });
  }

  static async open(): Promise<World> {
    const world = new World(await createCollisionService());
    const { service } = world;
    // No object may have the id 1, because it is one of the hostile values.
    service.removeObject(service.addObject({ shape: { type: 'sphere', radius: 1 } }));
    service.removeMesh(await service.addMesh(boxMesh(1, 1, 1)));
    await service.update();
    world.mesh = await service.addMesh(boxMesh(2, 2, 2));
    world.baked = await service.bakeMesh(world.mesh);
    const cloud = await service.addMesh({ positions: boxMesh(1, 1, 1).positions, topology: 'points' });
    world.cloud = await service.bakeMesh(cloud);
    // In its own layer, which no other query includes.
    service.addObject({ shape: { type: 'mesh', mesh: cloud }, layers: 4, cullable: false });
    world.cube = service.addObject({ shape: { type: 'mesh', mesh: world.mesh } });
    world.ball = service.addObject({ shape: { type: 'sphere', radius: 1, center: [1.5, 0, 0] }, pickable: false });
    const rig = await service.addMesh(riggedBox());
    const separate = { layers: 2, collidesWith: 2, contacts: 'none', matrix: FAR_AWAY } as const;
    world.doll = service.addObject({ shape: { type: 'mesh', mesh: rig }, ...separate });
    world.#objectCount = 4;
    await world.restock();
    service.setView(viewOptions() as never);
    world.frame = (await service.update()).copy();
    return world;
  }

  /** Restores everything that a call may have removed, moved or changed. */
  async restock(): Promise<void> {
    const { service } = this;
    for (const id of this.victims) if (exists(() => service.setTransform(id, FAR_AWAY))) service.removeObject(id);
    const separate = { layers: 2, collidesWith: 2, contacts: 'none', matrix: FAR_AWAY } as const;
    this.victims = service.addInstances(
      { shape: { type: 'box', halfExtents: [HALF_SIZE, HALF_SIZE, HALF_SIZE] }, ...separate },
      2,
    );
    if (!exists(() => service.meshInfo(this.spare))) this.spare = await service.addMesh(boxMesh(1, 1, 1));
    if (!exists(() => this.character.state)) this.character = service.createCharacter(characterOptions() as never);
    service.setView(viewOptions() as never);
  }

  /**
   * Waits until builds that were aborted before their worker had started have ended with it; if any remain, that is a complaint.
   */
  async #untilReleased(): Promise<void> {
    for (let i = 0; i < 100 && this.service.stats.pending > 0; i++) await new Promise((wait) => setTimeout(wait, 20));
  }

  /** Returns what is wrong with the service; empty if it is unchanged. */
  async complaint(): Promise<string> {
    const { service, cube, ball } = this;
    if (this.lost) return `the worker was lost: ${this.lost}`;
    const [hit, frame] = await Promise.all([
      service.raycast({ origin: [0, 0.25, 10], direction: [0, 0, -2] }),
      service.update(),
    ]);
    this.frame = frame.copy();
    await this.#untilReleased();
    const actual = JSON.stringify({
      hit: hit && [hit.object, hit.distance, hit.triangle >= 0],
      contacts: [...frame.contacts.a, ...frame.contacts.b],
      visible: [...frame.visible.ids].sort(),
      rejected: [...frame.rejected],
      views: [...frame.views.keys()],
      objects: service.stats.objects - this.#objectCount - this.victims.length,
      meshes: service.stats.meshes,
      pending: service.stats.pending,
    });
    const expected = JSON.stringify({
      hit: [cube, 9, true],
      contacts: [cube, ball],
      visible: [cube, ball].sort(),
      rejected: [],
      views: ['main'],
      objects: 0,
      meshes: 4,
      pending: 0,
    });
    return actual === expected ? '' : `${actual}, expected ${expected}`;
  }
}

/** A box whose halves are each moved by one bone, and the whole of it by a morph target. */
export function riggedBox() {
  const box = boxMesh(2, 2, 2);
  const count = box.positions.length / 3;
  const bones = Uint8Array.from({ length: 4 * count }, (_, i) => (box.positions[3 * (i >> 2)] > 0 ? 1 : 0));
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const target = Float32Array.from(box.positions, (x) => 0.1 * x);
  return { ...box, skin: { bones, weights, boneCount: 2 }, morphs: { targets: [target], relative: true } };
}

function exists(access: () => unknown): boolean {
  try {
    access();
    return true;
  } catch {
    return false;
  }
}
