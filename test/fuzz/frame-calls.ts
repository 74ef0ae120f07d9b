import type { Character, FrameResult } from 'collision-worker';
import type { SceneCharacter, SceneFrame } from 'collision-worker/three';
import { Object3D } from 'three';
import type { Call } from './call.js';
import type { TrackedWorld } from './three-world.js';
import { characterOptions, type World } from './world.js';

type AnyFunction = (...args: unknown[]) => unknown;
type Case<W> = Omit<Call<W>, 'name' | 'run'>;

/** The results of frames have methods of their own: those of a frame, of its contacts, and of a tracker's frame. */
export const FRAME_METHODS: Record<'copy', Case<World>[]> = { copy: [{ args: () => [] }] };

export const CONTACT_METHODS: Record<'between' | 'Symbol(Symbol.iterator)', Case<World>[]> = {
  between: [
    { args: ({ cube, ball }) => [cube, ball] },
    { args: ({ cube }) => [cube] },
    { args: ({ ball }) => [{ group: 1 }, ball] },
  ],
  'Symbol(Symbol.iterator)': [{ args: () => [] }],
};

export const SCENE_FRAME_METHODS: Record<
  Exclude<keyof SceneFrame, 'result' | 'frame' | 'culled'>,
  Case<TrackedWorld>[]
> = {
  forEachVisible: [{ args: () => [() => {}, 'main'], visits: true }],
  visibleInstances: [
    { args: ({ instances }) => [instances, new Uint32Array(2), 'main'] },
    { args: ({ box }) => [box, new Uint32Array(2)] },
  ],
  forEachContact: [{ args: () => [() => {}], visits: true }],
  contactsBetween: [
    { args: ({ box, instances }) => [box, instances], isDull: true },
    { args: () => [new Object3D()], isDull: true },
  ],
  contactsOf: [
    { args: ({ box }) => [box], isDull: true },
    { args: ({ instances }) => [{ object: instances, instanceId: 1 }], isDull: true },
  ],
  forEachEnded: [{ args: () => [() => {}], visits: true }],
};

/** The methods of a character. */
export const CHARACTER_METHODS: Record<Exclude<keyof Character, 'state'>, Case<World>[]> = {
  move: [{ args: () => [[0.1, 0, 0]] }],
  advance: [{ args: () => [[0.1, 0, 0], 0.02] }],
  jump: [{ args: () => [2] }],
  set: [{ args: () => [{ ...characterOptions(), position: [900, 900, 900], object: 0 }] }],
  remove: [{ args: () => [], undo: (world) => world.restock() }],
};

/** The methods of a tracker's character, except those for our own code. */
export const SCENE_CHARACTER_METHODS: Record<
  Exclude<keyof SceneCharacter, 'state' | 'object' | 'refresh' | 'place' | 'end'>,
  Case<TrackedWorld>[]
> = {
  move: [{ args: () => [{ x: 0.1, y: 0, z: 0 }] }],
  advance: [{ args: () => [[0.1, 0, 0], 0.02] }],
  jump: [{ args: () => [2] }],
  set: [
    {
      args: ({ box, instances }) => [
        { ...characterOptions(), position: [900, 900, 900], ignore: [box, { object: instances, instanceId: 0 }] },
      ],
    },
  ],
  remove: [{ args: () => [], undo: (world) => world.restock() }],
};

/** Names of properties that are read, not called. */
export const FRAME_PARTS: readonly (keyof FrameResult | 'isGone')[] = [
  ...(['visible', 'views', 'contacts', 'rejected', 'ms', 'isGone'] as const),
];

/** The same for contact sets. */
export const CONTACT_PARTS: readonly (keyof FrameResult['contacts'])[] = ['time'];

function callsOf<W>(prefix: string, methods: Record<string, Case<W>[]>, objectOf: (world: W) => object): Call<W>[] {
  return Object.entries(methods).flatMap(([name, cases]) =>
    cases.map((form) => ({
      name: `${prefix}.${name}`,
      run: (world, ...args) => {
        const object = objectOf(world) as Record<PropertyKey, AnyFunction>;
        if (name === 'Symbol(Symbol.iterator)') return [...(object as unknown as Iterable<unknown>)];
        return object[name].apply(object, args);
      },
      ...form,
    })),
  );
}

export const FRAME_CALLS: Call<World>[] = [
  ...callsOf<World>('frame', FRAME_METHODS, ({ frame }) => frame!),
  ...callsOf<World>('contacts', CONTACT_METHODS, ({ frame }) => frame!.contacts),
  ...callsOf<World>('character', CHARACTER_METHODS, ({ character }) => character),
];

export const SCENE_FRAME_CALLS: Call<TrackedWorld>[] = [
  ...callsOf<TrackedWorld>('sceneFrame', SCENE_FRAME_METHODS, ({ frame }) => frame!),
  ...callsOf<TrackedWorld>('sceneCharacter', SCENE_CHARACTER_METHODS, ({ character }) => character),
];
