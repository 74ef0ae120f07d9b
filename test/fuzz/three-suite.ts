import { CollisionError } from 'collision-worker';
import * as adapter from 'collision-worker/three';
import {
  BatchedMesh,
  Bone,
  BufferAttribute,
  BufferGeometry,
  Group,
  InstancedMesh,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Line,
  LineLoop,
  LOD,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Points,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Sprite,
} from 'three';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { namesOf } from './crawl.js';
import { testEveryCall } from './every-call.js';
import { SCENE_CHARACTER_METHODS, SCENE_FRAME_METHODS } from './frame-calls.js';
import { HOSTILE } from './hostile.js';
import { THREE_CALLS, TRACKER_METHODS } from './three-calls.js';
import { TrackedWorld } from './three-world.js';

// The same in Node and in a browser.

interface FuzzOptions {
  /** Of all that is hostile, in all places: 1 takes some minutes. */
  share: number;
  isLoud?: boolean;
}

/** What the tracker has for our own code, and what is no method. */
const OWN = [
  'pending',
  'untracked',
  'culled',
  'root',
  'follow',
  'service',
  'witness',
  'viewName',
  'viewOf',
  'targetIds',
  'askFollowers',
  'endAll',
  'tell',
];

export function fuzzTracker({ share, isLoud = false }: FuzzOptions): void {
  let world: TrackedWorld;
  beforeAll(async () => {
    world = await TrackedWorld.open();
  });
  afterAll(() => world.service.dispose());

  test('the table knows all that there is to call', () => {
    expect(namesOf(world.tracker)).toEqual([...Object.keys(TRACKER_METHODS), ...OWN].sort());
    expect(namesOf(world.frame!)).toEqual([...Object.keys(SCENE_FRAME_METHODS), 'frame'].sort());
    const ofCharacters = [...Object.keys(SCENE_CHARACTER_METHODS), 'state', 'object', 'refresh', 'place', 'end'];
    expect(namesOf(world.character)).toEqual(ofCharacters.sort());
    const names = THREE_CALLS.map(({ name }) => name).filter((name) => !name.includes('.'));
    // An overlay is of a document.
    expect([...names, 'StatsOverlay'].sort()).toEqual(Object.keys(adapter).sort());
  });

  testEveryCall({
    calls: THREE_CALLS,
    worldOf: () => world,
    knownOf: ({ tracker, service, frame, character, box }) => [
      tracker,
      character,
      service,
      frame!,
      frame!.result,
      frame!.result.contacts,
      frame!.contactsOf(box)[0],
      () => {}, // what ends a hover
    ],
    share,
    isLoud,
  });

  test('a frame whose buffer was recycled says so', async () => {
    const frame = world.frame!;
    frame.forEachContact(() => {});
    const [contact] = frame.contactsOf(world.box);
    for (let i = 0; i < 3; i++) await world.restock();
    const calls = [
      ...[() => frame.forEachVisible(() => {}), () => frame.forEachContact(() => {})],
      ...[() => frame.forEachEnded(() => {}), () => frame.contactsBetween(world.box)],
      ...[() => frame.visibleInstances(world.instances, new Uint32Array(2)), () => frame.contactsOf(world.box)],
      ...[() => contact.begun, () => contact.points, () => contact.triangles],
    ];
    const gone = expect.objectContaining({ name: 'CollisionError', code: 'DISPOSED' });
    for (const call of calls) expect(call, String(call)).toThrowError(gone);
  });

  test('a draw list without room is refused', () => {
    const list = () => world.frame!.visibleInstances(world.instances, new Uint32Array(1));
    expect(list).toThrowError(/visibleInstances: the length of target is 1, expected room/);
  });

  test.each([
    ['meshDataFromGeometry', adapter.meshDataFromGeometry],
    ['boxFromGeometry', adapter.boxFromGeometry],
  ] as const)('%s of what is no good', async (_, dataOf) => {
    for (const [what, make] of Object.entries(GEOMETRIES)) {
      const { service } = world;
      try {
        const taken = dataOf(make() as never);
        if ('type' in taken) await service.overlap(taken);
        else service.removeMesh(await service.addMesh(taken));
      } catch (error) {
        expect(error, `${what}: ${error}`).toBeInstanceOf(CollisionError);
      }
    }
    expect(await world.complaint()).toBe('');
  });

  test('objects in the scene that are no good are left out, and the others stay', async () => {
    const bad: [string, () => unknown][] = [
      ...Object.entries(GEOMETRIES).map(([what, make]): [string, () => unknown] => [
        `geometry ${what}`,
        () => Object.assign(new Mesh(), { geometry: make() }),
      ]),
      ...Object.entries(GEOMETRIES).flatMap(([what, make]) =>
        Object.entries(KINDS).map(([kind, makeKind]): [string, () => unknown] => [
          `${kind} of geometry ${what}`,
          () => makeKind(make()),
        ]),
      ),
      ...Object.entries(HOSTILE).flatMap(([what, make]) =>
        Object.entries(PARTS).map(([part, makePart]): [string, () => unknown] => [
          `${part} that is ${what}`,
          () => makePart(make()),
        ]),
      ),
      ['material null', () => Object.assign(new Mesh(), { material: null })],
      ['matrix of NaN', () => new Mesh(new SphereGeometry()).translateX(Number.NaN)],
    ];
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    for (const [what, make] of bad) await meet(what, make() as Object3D);
  });

  test(`objects in the scene that become no good are left out, and the others stay, seed ${SEED}`, async () => {
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const random = new Random(SEED);
    const values: [string, (() => unknown) | null][] = [...Object.entries(HOSTILE), ['a getter that throws', null]];
    for (const [kind, { make, paths }] of Object.entries(CHANGED)) {
      for (const path of paths) {
        for (const [what, makeValue] of values) {
          // three itself goes through all that is endless.
          if (!random.chance(share) || /endless|spin|longest|huge/.test(what)) continue;
          const keys = path.split('.');
          const name = keys.pop()!;
          await meet(`${kind} with ${path} that is ${what}`, make(), (object) => {
            const owner = keys.reduce<object>((each, key) => each[key as never], object);
            const value = makeValue === null ? { get: fail } : { value: makeValue(), writable: true };
            Object.defineProperty(owner, name, { ...value, configurable: true });
          });
        }
      }
    }
  });

  /** Puts an object into the scene, changes it there, and takes it out again: all others answer all the while. */
  async function meet(what: string, object: Object3D, change?: (object: Object3D) => void): Promise<void> {
    const { scene, tracker, service } = world;
    scene.children.push(object);
    tracker.changed(scene); // what comes by hand is noticed within a second else
    if (change !== undefined) {
      object.parent = scene;
      await world.restock();
      // Some of it is built by then.
      await expect.poll(() => service.stats.pending, { message: what, timeout: 20_000, interval: 1 }).toBe(0);
      await world.restock();
      change(object);
      tracker.changed(scene);
    }
    for (let i = 0; i < 2; i++) expect(await world.answers(), what).toBe('');
    scene.children.splice(scene.children.indexOf(object), 1);
    tracker.changed(scene); // some are good after all
    await world.restock();
    // A build that nobody wants any more ends in its own time.
    await expect.poll(() => service.stats.pending, { message: what, timeout: 20_000, interval: 1 }).toBe(0);
    await expect.poll(() => world.complaint(), { message: what, timeout: 20_000, interval: 1 }).toBe('');
  }
}

const withGeometry = <T extends Object3D>(object: T, geometry: unknown): T => Object.assign(object, { geometry });
const KINDS: Record<string, (geometry: unknown) => Object3D> = {
  Points: (geometry) => withGeometry(new Points(), geometry),
  Line: (geometry) => withGeometry(new Line(), geometry),
  LineLoop: (geometry) => withGeometry(new LineLoop(), geometry),
  'a skinned Mesh': (geometry) => withGeometry(rigged(), geometry),
  'a level of a LOD': (geometry) => new LOD().addLevel(withGeometry(new Mesh(), geometry)),
  'a skinned level of a LOD': (geometry) => new LOD().addLevel(withGeometry(rigged(), geometry)),
};
/** What is no good beside the geometry. */
const PARTS: Record<string, (part: unknown) => Object3D> = {
  'a skeleton': (skeleton) => Object.assign(rigged(), { skeleton }),
  'a bind matrix': (bindMatrix) => Object.assign(rigged(), { bindMatrix, bindMode: 'detached' }),
  'bone matrices': (boneMatrices) => {
    const own = rigged();
    Object.assign(own.skeleton, { boneMatrices, update() {} });
    return own;
  },
  influences: (morphTargetInfluences) => {
    const own = new Mesh(new SphereGeometry());
    own.geometry.morphAttributes.position = [own.geometry.attributes.position as BufferAttribute];
    return Object.assign(own, { morphTargetInfluences });
  },
  'morph targets': (position) => {
    const own = new Mesh(new SphereGeometry());
    return Object.assign(own, {
      geometry: Object.assign(own.geometry, { morphAttributes: { position } }),
      morphTargetInfluences: [1],
    });
  },
  'weights of a skin': (skinWeight) => {
    const own = rigged();
    Object.assign(own.geometry.attributes, { skinWeight });
    return own;
  },
  'a level of a LOD': (object) => {
    const own = new LOD();
    own.levels.push({ object: object as never, distance: 0, hysteresis: 0 });
    return own;
  },
  'the material of a Sprite': (material) => Object.assign(new Sprite(), { material }),
};

/** What an object is before it becomes no good, and what of it does. */
const CHANGED: Record<string, { make: () => Object3D; paths: readonly string[] }> = {
  'a Mesh': {
    make: () => new Mesh(new SphereGeometry(1, 6, 5)),
    paths: [
      ...['geometry', 'material', 'matrixWorld', 'matrixWorld.elements', 'layers', 'visible', 'children', 'name'],
      ...['geometry.attributes', 'geometry.attributes.position', 'geometry.index', 'geometry.drawRange'],
      ...['geometry.groups', 'geometry.morphAttributes', 'material.side', 'material.visible', 'parent'],
      ...['material.clippingPlanes', 'updateWorldMatrix', 'morphTargetInfluences', 'isMesh'],
    ],
  },
  'a Group': {
    make: () => new Group().add(new Mesh(new SphereGeometry(1, 6, 5))),
    paths: ['children', 'visible', 'matrixWorld', 'parent', 'children.0'],
  },
  'a Mesh of many materials': {
    make: () => {
      const materials = [0, 1].map(() => new MeshBasicMaterial());
      const own = new Mesh<BufferGeometry, MeshBasicMaterial[]>(new SphereGeometry(1, 6, 5), materials);
      own.geometry.addGroup(0, 9, 0);
      own.geometry.addGroup(9, 9, 1);
      return own;
    },
    paths: ['material', 'material.1', 'material.1.side', 'geometry.groups', 'geometry.groups.0'],
  },
  'an InstancedMesh': {
    make: () => new InstancedMesh(new SphereGeometry(1, 6, 5), new MeshBasicMaterial(), 3),
    paths: [
      ...['instanceMatrix', 'instanceMatrix.array', 'instanceMatrix.version', 'instanceMatrix.count', 'count'],
      ...['geometry', 'matrixWorld', 'morphTexture', 'layers', 'material'],
    ],
  },
  'a SkinnedMesh': {
    make: rigged,
    paths: [
      ...['skeleton', 'skeleton.bones', 'skeleton.boneMatrices', 'skeleton.update', 'skeleton.boneTexture'],
      ...['bindMatrix', 'bindMatrixInverse', 'geometry.attributes.skinWeight', 'visible', 'bindMatrix.elements'],
    ],
  },
  'a Mesh with morph targets': {
    make: () => {
      const own = new Mesh(new SphereGeometry(1, 6, 5));
      own.geometry.morphAttributes.position = [own.geometry.attributes.position as BufferAttribute];
      own.updateMorphTargets();
      return own;
    },
    paths: [
      ...['morphTargetInfluences', 'morphTargetInfluences.0', 'geometry.morphAttributes.position'],
      ...['geometry.morphAttributes.position.0', 'geometry.morphTargetsRelative'],
    ],
  },
  'a Line': { make: () => new Line(new SphereGeometry(1, 6, 5)), paths: ['geometry', 'material', 'matrixWorld'] },
  'a Sprite': {
    make: () => new Sprite(),
    paths: ['material', 'center', 'matrixWorld', 'material.rotation', 'layers'],
  },
  'a LineSegments2': {
    make: () => new LineSegments2(new LineSegmentsGeometry().setPositions([0, 0, 0, 1, 1, 1])),
    paths: [
      ...['geometry', 'geometry.attributes', 'geometry.instanceCount', 'geometry.attributes.instanceStart'],
      ...['material', 'material.linewidth', 'matrixWorld'],
    ],
  },
  'a LOD': {
    make: () => {
      const own = new LOD().addLevel(new Mesh(new SphereGeometry(1, 6, 5)));
      return own.addLevel(new Mesh(new SphereGeometry(1, 4, 3)), 10);
    },
    paths: [
      ...['levels.0', 'levels.1.object', 'levels.0.object.geometry', 'levels.1.object.material'],
      ...['autoUpdate', 'matrixWorld', 'children', 'levels.0.object.children', 'levels.0.object.visible'],
    ],
  },
  'a BatchedMesh': {
    make: () => {
      const own = new BatchedMesh(4, 1000, 2000, new MeshBasicMaterial());
      own.addInstance(own.addGeometry(new SphereGeometry(1, 6, 5)));
      return own;
    },
    paths: ['geometry', 'material', 'matrixWorld', '_matricesTexture', '_instanceInfo', '_geometryInfo', 'layers'],
  },
};

function rigged(): SkinnedMesh {
  const geometry = new SphereGeometry(1, 6, 5);
  const { count } = geometry.attributes.position;
  geometry.setAttribute('skinIndex', new BufferAttribute(new Uint8Array(4 * count), 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(new Float32Array(4 * count).fill(0.25), 4));
  const own = new SkinnedMesh(geometry);
  own.bind(new Skeleton([new Bone()]));
  return own;
}

function fail(): never {
  throw new Error('a getter of the caller');
}

const floats = (value: number) => new Float32Array(18).fill(value);
const withPosition = (position: unknown) => Object.assign(new BufferGeometry(), { attributes: { position } });
const GEOMETRIES: Record<string, () => unknown> = {
  'without position': () => new BufferGeometry(),
  'of NaN': () => withPosition(new BufferAttribute(floats(Number.NaN), 3)),
  'of infinite numbers': () => withPosition(new BufferAttribute(floats(Number.POSITIVE_INFINITY), 3)),
  'of more positions than there are': () =>
    withPosition(Object.assign(new BufferAttribute(floats(1), 3), { count: 2 ** 28 })),
  'of 2^32 positions': () => withPosition({ array: [], itemSize: 3, count: 2 ** 32, getX: () => 0 }),
  'of two numbers each': () => withPosition(new BufferAttribute(floats(1), 2)),
  'interleaved out of bounds': () =>
    withPosition(new InterleavedBufferAttribute(new InterleavedBuffer(floats(1), 6), 3, 5)),
  'with an index out of bounds': () => new SphereGeometry().setIndex([0, 1, 2 ** 31]),
  'with an index of NaN': () =>
    Object.assign(new SphereGeometry(), {
      index: new BufferAttribute(new Float64Array(3).fill(Number.NaN) as never, 1),
    }),
  'with a draw range of NaN': () => Object.assign(new SphereGeometry(), { drawRange: { start: Number.NaN, count: 3 } }),
  'with half a draw range': () => Object.assign(new SphereGeometry(), { drawRange: { start: 0.5, count: 3 } }),
  'with a negative draw range': () => Object.assign(new SphereGeometry(), { drawRange: { start: -9, count: 3 } }),
  ...HOSTILE,
};
