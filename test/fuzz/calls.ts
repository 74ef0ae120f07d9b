import * as library from 'collision-worker';
import {
  type Character,
  type CollisionService,
  createCollisionService,
  frustumMotion,
  measure,
} from 'collision-worker';
import type { Call } from './call.js';
import { FRAME_CALLS } from './frame-calls.js';
import { characterOptions, FAR_AWAY, IDENTITY, riggedBox, viewOptions, type World } from './world.js';

const query = (world: World) => ({
  layers: 1,
  ignore: [...world.victims],
  side: 'double',
  precision: 'mesh',
  threshold: 0,
  clip: [0, 0, -1, 100],
  clipIntersection: false,
  signal: undefined,
});
/** Options for queries about whole objects. */
const wholeQuery = (world: World) => ({ ...query(world), clip: [] });
const pick = (world: World) => ({ ...query(world), view: 'main', method: 'ray', radius: 5, latest: false });
const ray = () => ({ origin: [0, 0.25, 10], direction: [0, 0, -1], tMin: 0, tMax: 100 });
const ball = () => ({ type: 'sphere', radius: 0.5, center: [0, 0, 1] });
const box = () => ({ type: 'box', halfExtents: [1, 1, 1], center: [0, 0, 0], rotation: [0, 0, 0, 1] });
const capsule = () => ({ type: 'capsule', radius: 0.5, from: [0, 0, 1], to: [0, 0, 2] });
const objectOptions = (shape: object) => ({
  shape,
  matrix: [...FAR_AWAY],
  motion: 'moving',
  layers: 2,
  collidesWith: 2,
  group: 0,
  contacts: 'none',
  pickable: true,
  cullable: true,
  occluder: true,
  clearance: 0.5,
  continuous: true,
  side: 'double',
});
const triangle = () => ({
  positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0),
  indices: Uint32Array.of(0, 1, 2),
});
const lines = () => ({ ...triangle(), indices: Uint16Array.of(0, 1, 1, 2), topology: 'lines' });
const points = () => ({ positions: triangle().positions, topology: 'points' });
const meshOptions = () => ({ onProgress: () => {}, signal: undefined, transfer: false });
const namedBoxes = () => [
  { name: 'body', center: [0, 0, 0.5], halfExtents: [1, 2, 0.5], rotation: [0, 0, 0, 1] },
  { name: 'handle', center: [2, 0, 0], halfExtents: [1, 0, 1], rotation: [0, 0.6, 0, 0.8] },
];
const planes = () => Float32Array.of(0, 0, 1, 5, 1, 0, 0, 5);
const cubeShape = (world: World) => ({ type: 'mesh', mesh: world.mesh, solid: true });

/** A path from one place to another, with a rotation of 180°. */
const SWEEP_PATH = [0, 0, 5, 0, 0, 0, 1, 0, 0, -5, 0, 0, 1, 0];

type Method = Exclude<
  keyof CollisionService,
  'dispatchEvent' | 'stats' | 'ready' | 'ended' | 'isObstructed' | 'poseObject'
>;
type Case = Omit<Call, 'name' | 'run'>;

/** Every method of the service, in one or more forms. */
export const METHODS: Record<Method, Case[]> = {
  addMesh: [
    {
      args: () => [triangle(), meshOptions()],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    {
      args: () => [{ positions: triangle().positions }, { ...meshOptions(), transfer: true }],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    ...[() => true, () => ({ angle: 20 })].map((features) => ({
      args: () => [triangle(), { ...meshOptions(), features: features() }],
      undo: (world: World, id: number) => world.service.removeMesh(id),
      isDull: true,
    })),
    {
      args: () => [triangle(), { ...meshOptions(), boxes: namedBoxes() }],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    ...[lines, points].map((elements) => ({
      args: () => [elements(), meshOptions()],
      undo: (world: World, id: number) => world.service.removeMesh(id),
      isDull: true,
    })),
    {
      args: (world) => [world.cloud.slice(0), meshOptions()],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    {
      args: () => [riggedBox(), meshOptions()],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    {
      args: (world) => [world.baked.slice(0), meshOptions()],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
    {
      args: (world) => [world.baked.slice(0), { ...meshOptions(), transfer: true }],
      undo: (world, id: number) => world.service.removeMesh(id),
      isDull: true,
    },
  ],
  bakeMesh: [{ args: (world) => [world.mesh] }, { args: (world) => [world.mesh, { boxes: namedBoxes() }] }],
  meshBoxes: [{ args: (world) => [world.mesh, { level: 1, signal: undefined }] }],
  checkBoxes: [{ args: (world) => [world.mesh, namedBoxes(), { signal: undefined }] }],
  updateMesh: [
    { args: (world) => [world.spare, new Float32Array(24).map((_, i) => (i * 7) % 5)] },
    { args: (world) => [world.spare, new Float32Array(24).map((_, i) => (i * 7) % 5), { transfer: true }] },
  ],
  meshInfo: [{ args: (world) => [world.mesh] }],
  meshOf: [{ args: (world) => [world.victims[0]] }],
  removeMesh: [{ args: (world) => [world.spare], undo: (world) => world.restock() }],
  addObject: [
    ...[box, ball, capsule].map((shape) => ({
      args: () => [objectOptions(shape())],
      undo: (world: World, id: number) => world.service.removeObject(id),
      isDull: true,
    })),
    {
      args: (world) => [{ ...objectOptions(cubeShape(world)), boxes: namedBoxes() }],
      undo: (world: World, id: number) => world.service.removeObject(id),
      isDull: true,
    },
  ],
  addInstances: [
    {
      args: () => [objectOptions(box()), 2],
      undo: (world, ids: Uint32Array) => {
        for (const id of ids) world.service.removeObject(id);
      },
      isDull: true,
    },
  ],
  reserveObjects: [{ args: () => [100] }],
  setObject: [{ args: (world) => [world.victims[0], objectOptions(box())], undo: (world) => world.restock() }],
  setLayers: [{ args: (world) => [world.victims.slice(), 2], undo: (world) => world.restock() }],
  removeObject: [{ args: (world) => [world.victims[0]], undo: (world) => world.restock() }],
  removeObjects: [{ args: (world) => [world.victims.slice()], undo: (world) => world.restock() }],
  setTransform: [{ args: (world) => [world.victims[0], [...FAR_AWAY]], undo: settleRejected }],
  isPlacedAs: [{ args: (world) => [world.cube, [...IDENTITY]] }],
  moveObjects: [
    {
      args: (world) => [world.victims.slice(), [[...FAR_AWAY], [...FAR_AWAY]], 0, 2],
      undo: settleRejected,
      isInParts: true,
    },
  ],
  moveInstances: [
    {
      args: (world) => [world.victims.slice(), new Float32Array([...FAR_AWAY, ...FAR_AWAY]), [...IDENTITY]],
      undo: settleRejected,
    },
  ],
  createCharacter: [
    {
      args: ({ victims }) => [{ ...characterOptions(), position: [900, 900, 900], ignore: [victims[0]], object: 0 }],
      undo: (_, character: Character) => character.remove(),
      isDull: true,
    },
  ],
  setPose: [
    {
      args: (world) => [
        world.doll,
        {
          bones: new Float32Array([...IDENTITY, ...IDENTITY]),
          bind: [...IDENTITY],
          bindInverse: [...IDENTITY],
          morphs: [0.5],
        },
      ],
      undo: settleRejected,
    },
    { args: (world) => [world.doll, {}], undo: settleRejected },
  ],
  placeInstances: [
    {
      args: (world) => [world.victims.slice(), new Float32Array([...FAR_AWAY, ...FAR_AWAY]), [...IDENTITY]],
      undo: (world) => world.restock(),
    },
  ],
  setTransforms: [
    {
      args: (world) => [world.victims.slice(), new Float32Array([...FAR_AWAY, ...FAR_AWAY]), [...IDENTITY]],
      undo: settleRejected,
    },
    {
      args: (world) => [world.victims.slice(), new Float64Array([...FAR_AWAY, ...FAR_AWAY]), [...IDENTITY]],
      undo: settleRejected,
    },
  ],
  setView: [
    {
      args: () => [viewOptions(), 'fuzz'],
      undo: async (world, _, [, name = 'main']) => {
        world.service.removeView(name as string);
        await world.restock();
      },
    },
  ],
  removeView: [{ args: () => ['main'], undo: (world) => world.restock() }],
  update: [{ args: () => [] }],
  pick: [
    { args: (world) => [50, 45, pick(world)] },
    { args: (world) => [50, 45, { ...pick(world), method: 'screen', radius: 50, latest: true }] },
    {
      args: (world) => [50, 45, { ...pick(world), radius: 40, snap: ['vertex', 'midpoint', 'center', 'edge', 'face'] }],
    },
  ],
  pickAll: [
    { args: (world) => [50, 45, pick(world)] },
    { args: (world) => [50, 45, { ...pick(world), method: 'screen', radius: 50, latest: true }] },
  ],
  raycast: [
    { args: (world) => [ray(), query(world)] },
    { args: (world) => [ray(), { ...query(world), layers: 4, threshold: 1 }] },
  ],
  raycastAll: [
    { args: (world) => [ray(), query(world)] },
    { args: (world) => [ray(), { ...query(world), layers: 4, threshold: 1 }] },
  ],
  raycastMany: [{ args: (world) => [Float32Array.of(0, 0.25, 10, 0, 0, 0, -1, 100), query(world)] }],
  lineOfSight: [{ args: (world) => [[0, 0.25, 10], [0, 0.25, -10], query(world)] }],
  pickRegion: [
    { args: (world) => [{ x: 10, y: 10, width: 80, height: 80 }, region(world)] },
    { args: (world) => [Float32Array.of(10, 10, 90, 10, 50, 90), { ...region(world), mode: 'enclose' }] },
  ],
  frustum: [
    { args: (world) => ['main', query(world)] },
    { args: (world) => [viewOptions(), query(world)] },
    { args: (world) => [planes(), query(world)] },
  ],
  sees: [
    { args: (world) => [viewOptions(), [world.cube, world.ball], query(world)] },
    { args: (world) => ['main', Uint32Array.of(world.cube), query(world)] },
  ],
  overlap: [
    { args: (world) => [ball(), [...IDENTITY], wholeQuery(world)] },
    { args: (world) => [cubeShape(world), [...IDENTITY], wholeQuery(world)] },
  ],
  containing: [{ args: (world) => [[0, 0, 0.5], query(world)] }],
  closestPoint: [{ args: (world) => [[0, 0.25, 3], { ...wholeQuery(world), maxDistance: 50 }] }],
  distance: [{ args: (world) => [world.cube, world.ball, { maxDistance: 50, signal: undefined }] }],
  section: [
    { args: (world) => [[0, 0, 1, -0.1], { ...wholeQuery(world), weld: 1e-3, roundPoints: 16, caps: true }] },
    { args: () => [[0, 1, 0, 0], { precision: 'obb' }] },
  ],
  sweep: [
    { args: (world) => [ball(), [...IDENTITY], [...FAR_AWAY], { ...wholeQuery(world), tolerance: 0.01 }] },
    { args: (world) => [cubeShape(world), [...IDENTITY], [...FAR_AWAY], wholeQuery(world)] },
  ],
  sweepAll: [{ args: (world) => [capsule(), [...IDENTITY], [...FAR_AWAY], { ...wholeQuery(world), tolerance: 0.01 }] }],
  place: [
    { args: (world) => [box(), [...FAR_AWAY], wholeQuery(world)] },
    { args: (world) => [world.ball, [...FAR_AWAY], wholeQuery(world)] },
  ],
  sweepMany: [
    { args: (world) => [box(), Float64Array.from(SWEEP_PATH), { ...wholeQuery(world), tolerance: 0.01 }] },
    {
      args: (world) => [
        [ball(), capsule()],
        Float32Array.from(SWEEP_PATH),
        { ...wholeQuery(world), shapeOf: Uint8Array.of(1) },
      ],
    },
  ],
  contact: [{ args: (world) => [world.cube, world.ball, { detail: 'manifold', signal: undefined }] }],
  inspect: [
    {
      args: (world) => [
        {
          octree: true,
          objects: [world.cube, world.ball],
          levels: [0, 2],
          bounds: true,
          views: ['main'],
          maxBoxes: 100,
          lines: true,
          origin: [0, 0, 1],
          signal: undefined,
        },
      ],
      isDull: true, // it counts calls made before
    },
  ],
  addEventListener: [
    {
      args: () => ['lost', () => {}, { once: false, passive: true, capture: false, signal: undefined }],
      undo: (world, _, args) => world.service.removeEventListener(...(args as [never, never, never])),
    },
  ],
  removeEventListener: [{ args: () => ['restored', () => {}, { capture: false }] }],
  dispose: [{ args: () => [] }],
};

const region = (world: World) => ({ ...query(world), view: 'main', mode: 'touch', latest: false });

/** A singular matrix is only rejected by the next frame. */
async function settleRejected(world: World): Promise<void> {
  await world.service.update();
  await world.restock();
}

const FUNCTIONS: Call[] = [
  {
    name: 'createCollisionService',
    args: () => [{ createWorker: undefined, restart: true, builders: 0, timeout: 5000, contactBudget: 5 }],
    run: (_, ...args: [never]) => createCollisionService(...args),
    undo: (_, service: CollisionService) => service.dispose(),
    isDull: true,
    isSlow: true,
  },
  {
    name: 'measure',
    args: () => [
      { a: [0, 0, 0], b: [1, 0, 0] },
      { normal: [0, 0, 1], triangles: Uint32Array.of(0), corners: Float64Array.of(0, 0, 1, 1, 0, 1, 0, 1, 1) },
    ],
    run: (_, ...args: [never, never]) => measure(...args),
  },
  {
    name: 'frustumMotion',
    args: () => [viewOptions(), { ...viewOptions(), view: [...IDENTITY] }, 50],
    run: (_, ...args: [never, never, never]) => frustumMotion(...args),
  },
];

/** All methods except `dispose`, after which there is nothing to call. */
export const CALLS: Call[] = [
  ...FUNCTIONS,
  ...Object.entries(METHODS)
    .flatMap(([name, cases]) =>
      cases.map(
        (form): Call => ({
          name,
          run: ({ service }, ...args) => (service[name as Method] as (...all: unknown[]) => unknown)(...args),
          ...form,
        }),
      ),
    )
    .filter(({ name }) => name !== 'dispose'),
  ...FRAME_CALLS,
];

/** The callable exports of the package. */
export const EXPORTED = Object.entries(library)
  .filter(([name, value]) => typeof value === 'function' && name !== 'CollisionError')
  .map(([name]) => name);
