import {
  boxFromGeometry,
  CollisionHelper,
  measure,
  meshDataFromGeometry,
  type SceneCharacter,
  type SceneTracker,
  SectionHelper,
  trackScene,
  viewFromCamera,
} from 'collision-worker/three';
import { BufferAttribute, BufferGeometry, Mesh, Object3D, Plane, Scene, Vector3 } from 'three';
import type { Call } from './call.js';
import { SCENE_FRAME_CALLS } from './frame-calls.js';

import { camera, SIZE, type TrackedWorld } from './three-world.js';
import { IDENTITY } from './world.js';

type W = TrackedWorld;
type AnyFunction = (...args: unknown[]) => unknown;
const options = () => ({ margin: 0, minPixels: 0, occlusion: true, occlusionMargin: 0 });
const query = () => ({
  view: 'main',
  layers: 1,
  ignore: [new Object3D()],
  side: 'double',
  precision: 'mesh',
  clip: [new Plane(new Vector3(0, 0, -1), 100)],
  clipIntersection: false,
  latest: false,
});
const pick = () => ({ ...query(), method: 'ray', radius: 10 });
const filter = ({ instances }: W) => ({
  layers: 1,
  ignore: [new Object3D(), { object: instances, instanceId: 0 }],
  precision: 'mesh',
  signal: undefined,
});
const sidedFilter = (world: W) => ({
  ...filter(world),
  side: 'double',
  clip: [0, 0, -1, 100],
  clipIntersection: false,
});
const point = () => ({ x: 0, y: 0.25, z: 10 });
const triangle = () =>
  new BufferGeometry().setAttribute('position', new BufferAttribute(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), 3));

/** Every method of the tracker except those for our own code. `dispose` ends it. */
export const TRACKER_METHODS: Record<
  Exclude<
    keyof SceneTracker,
    'pending' | 'untracked' | 'culled' | 'root' | 'follow' | 'service' | 'witness' | 'viewName' | 'viewOf' | 'targetIds'
  >,
  Omit<Call<W>, 'name' | 'run'>
> = {
  update: { args: () => [camera(), { ...SIZE }, options()], isDull: true },
  setView: {
    args: () => [camera(), { ...SIZE }, 'other', options()],
    undo: ({ tracker }, _, [, , name]) => {
      if (name !== 'main') tracker.removeView(name as string);
    },
  },
  removeView: { args: () => ['main'] },
  standingOf: { args: ({ instances }) => [instances] },
  settled: { args: () => [] },
  pick: { args: () => [50, 50, { ...pick(), snap: ['vertex', 'edge', 'face'] }], isDull: true },
  pickAll: { args: () => [50, 50, pick()], isDull: true },
  hover: {
    args: () => {
      const { latest: _, ...options } = pick();
      return [new EventTarget(), () => {}, { ...options, every: false }];
    },
    undo: (_, end: () => void) => end(),
  },
  pickRegion: { args: () => [{ ...SIZE }, { ...query(), mode: 'touch', instances: true }], isDull: true },
  raycast: {
    args: (world) => [{ origin: [0, 0.25, 10], direction: [0, 0, -1], tMin: 0, tMax: 100 }, sidedFilter(world)],
    isDull: true,
  },
  raycastAll: {
    args: (world) => [{ origin: point(), direction: { x: 0, y: 0, z: -1 } }, sidedFilter(world)],
    isDull: true,
  },
  lineOfSight: { args: (world) => [point(), [0, 0.25, -10], sidedFilter(world)] },
  overlap: {
    args: (world) => [{ type: 'sphere', radius: 1 }, { elements: [...IDENTITY] }, filter(world)],
    isDull: true,
  },
  containing: { args: (world) => [[0, 0, 0.5], filter(world)], isDull: true },
  closestPoint: { args: (world) => [point(), { ...filter(world), maxDistance: 50 }], isDull: true },
  section: {
    args: (world) => [new Plane(new Vector3(0, 0, 1), -0.1), { ...filter(world), weld: 0, roundPoints: 8, caps: true }],
    isDull: true,
  },
  sweep: {
    args: (world) => [
      { type: 'sphere', radius: 1 },
      { elements: [...IDENTITY] },
      [...IDENTITY],
      { ...sidedFilter(world), clip: [], tolerance: 0.01 },
    ],
    isDull: true,
  },
  place: { args: (world) => [world.box, [...IDENTITY], { ...sidedFilter(world), clip: [] }], isDull: true },
  sweepAll: {
    args: (world) => [
      { type: 'sphere', radius: 1 },
      [...IDENTITY],
      { elements: [...IDENTITY] },
      { ...sidedFilter(world), clip: [], tolerance: 0.01 },
    ],
    isDull: true,
  },
  contact: {
    args: ({ box, instances }) => [
      box,
      { object: instances, instanceId: 1 },
      { detail: 'manifold', signal: undefined },
    ],
    isDull: true,
  },
  distance: {
    args: ({ box, instances }) => [box, { object: instances, instanceId: 1 }, { maxDistance: 50, signal: undefined }],
    isDull: true,
  },
  sees: {
    args: (world) => [[world.box, { object: world.instances, instanceId: 1 }], { ...sidedFilter(world), view: 'main' }],
    isDull: true,
  },
  createCharacter: {
    args: ({ box, instances }) => [
      {
        ...{
          object: box,
          position: { x: 900, y: 900, z: 900 },
          up: [0, 1, 0],
          skin: 0.01,
          slope: 0.5,
          stepHeight: 0.2,
        },
        ...{ snap: 0.2, gravity: 9.81, step: 0.02, layers: 1, ignore: [{ object: instances, instanceId: 0 }] },
        shape: { type: 'capsule', radius: 0.2, from: [0, 0.2, 0], to: [0, 1, 0] },
      },
    ],
    undo: (_, character: SceneCharacter) => character.remove(),
    isDull: true,
  },
  idsOf: { args: ({ box }) => [box], isDull: true },
  objectOf: { args: ({ tracker, box }) => [tracker.idsOf(box)[0]], isDull: true },
  changed: { args: ({ box }) => [box], isDull: true },
  teleport: { args: ({ box }) => [box], isDull: true },
  dispose: { args: () => [] },
};

export const THREE_CALLS: Call<W>[] = [
  {
    name: 'viewFromCamera',
    args: () => [camera(), { ...SIZE }, { margin: 0, minPixels: 0 }],
    // The service accepts or rejects the result.
    run: ({ service }, ...args: [never, never, never]) => service.frustum(viewFromCamera(...args)),
    isDull: true,
  },
  {
    name: 'meshDataFromGeometry',
    args: () => [triangle()],
    run: ({ service }, ...args: [never]) => service.addMesh(meshDataFromGeometry(...args)),
    undo: ({ service }, id: number) => service.removeMesh(id),
    isDull: true,
  },
  {
    name: 'measure',
    args: () => [
      { a: new Vector3(), b: new Vector3(1, 0, 0) },
      { kind: 'vertex', point: new Vector3(0, 0, 1) },
    ],
    run: (_, ...args: [never, never]) => measure(...args),
    isDull: true,
  },
  {
    name: 'boxFromGeometry',
    args: () => [triangle()],
    run: ({ service }, ...args: [never]) => service.overlap(boxFromGeometry(...args)),
    isDull: true,
  },
  {
    name: 'trackScene',
    args: ({ service }) => [
      service,
      new Scene().add(new Mesh(triangle())),
      {
        onProgress: () => {},
        view: 'tracked',
        updateMatrixWorld: true,
        contacts: 'any',
        renderer: { clippingPlanes: [], localClippingEnabled: true },
        shapeOf: () => undefined,
        objectOptions: () => ({}),
      },
    ],
    run: (_, ...args: [never, never, never]) => trackScene(...args),
    undo: (_, tracker: SceneTracker) => tracker.dispose(),
    isDull: true,
  },
  {
    name: 'CollisionHelper',
    args: ({ tracker, box }) => [
      tracker,
      { trees: [box], levels: [0, 2], octree: true, bounds: true, views: ['main'], normalLength: 1, maxBoxes: 100 },
    ],
    run: (_, ...args: [never, never]) => new CollisionHelper(...args).dispose(),
    isDull: true,
  },
  {
    name: 'SectionHelper',
    args: ({ tracker }) => [
      tracker,
      new Plane(new Vector3(0, 0, 1), -0.1),
      { layers: 1, ignore: [new Object3D()], weld: 0, roundPoints: 8, caps: true, color: 1, capColor: 2, offset: 0.1 },
    ],
    run: (_, ...args: [never, never, never]) => new SectionHelper(...args).dispose(),
    isDull: true,
  },
  ...Object.entries(TRACKER_METHODS)
    .filter(([name]) => name !== 'dispose')
    .map(
      ([name, form]): Call<W> => ({
        name: `tracker.${name}`,
        run: ({ tracker }, ...args) => (tracker[name as 'update'] as AnyFunction).apply(tracker, args),
        ...form,
      }),
    ),
  ...SCENE_FRAME_CALLS,
];
