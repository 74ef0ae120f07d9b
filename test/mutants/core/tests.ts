// Selects the tests that a mutant must survive: those that reach it, the likeliest to notice it and the fastest first.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestPart, TestRunner } from './test-runner.js';
import type { Mutant } from './workspace.js';

/** Measurements of a test file on the original. */
export interface Baseline {
  /** Hash of its text. */
  hash: string;
  milliseconds: number;
  /** CPU time. */
  processorMs: number;
  /** Mutants that it reaches outside of any suite, and therefore in all of its tests. */
  outside: number[];
  tests: TestPart[];
  /** Whether only its first tests were run. */
  isCut: boolean;
}

/** Folders with the core's own tests; also with tests of one defect each. */
const FOLDERS = ['test/worker', 'test/repro'];
/** Tests that exercise parts of the core through a service. */
const BY_A_SERVICE = [
  'test/client/character.test.ts',
  'test/client/character-course.test.ts',
  'test/client/character-solids.test.ts',
  'test/client/character-ways.test.ts',
  'test/client/continuous.test.ts',
  'test/client/pick-ray.test.ts',
  'test/client/place.test.ts',
  'test/client/proximity.test.ts',
  'test/client/restart.test.ts',
  'test/client/sweep-slices.test.ts',
  'test/client/motion-starts.test.ts',
  'test/composed/cameras.test.ts',
  'test/composed/proximity.test.ts',
  'test/composed/section.test.ts',
  'test/composed/snap.test.ts',
  'test/fuzz/fuzz.test.ts',
];
/** Excludes a file that counts the memory pages of a core, which mutants enlarge; and tests that only concern the main thread. */
const LEFT_OUT = /^test\/worker\/(core-)?out-of-memory|^test\/repro\/(three|client)-|-in-the-adapter/;
/** Decrease of the likelihood for each further place in the table; and the factor for a shared word in the names. */
const PLACE = 0.3;
const WORD = 2;
/** Place of files that are not in the table: far from the last one of a short list, or all fast files would come first. */
const UNLISTED = 16;
/** Shorter words do not identify the topic of a file. */
const WORD_LENGTH = 4;
/** CPU time of a file's tests that are run against mutants: only the first ones of a long file. */
const MOST_MS = 2500;
/** Assumed CPU time of a file that was not measured yet. */
const USUAL_MS = 2000;
/** More than any file takes; the wall-clock time applies if it waits after that (test-runner.ts). */
export const LONGEST = { processorMs: 120_000, milliseconds: 90_000 };

/**
 * Test files by part of the core, given the beginning of its path: parts of their names in the order in which they are run. The
 * first entry that matches counts; the other files of that test folder follow.
 */
const TABLE: [core: string, tests: string[]][] = [
  [
    'character/',
    [
      'client/character-ways',
      'client/character.',
      'client/character-solids',
      'client/character-course',
      'client/place',
    ],
  ],
  ['distance/', ['query/distance']],
  ['occlusion/', ['occlusion-effect', 'view/occlusion', 'view/relief-occlusion']],
  ['section/', ['section/', 'composed/section']],
  ['sweep/turning-boxes', ['pairs/continuous', 'client/continuous']],
  ['sweep/two-motions', ['pairs/continuous', 'client/continuous']],
  ['sweep/', ['query/sweep', 'worker/work', 'client/place', 'client/character.', 'client/continuous']],
  ['scene/character/character-table', ['leftovers', 'client/character.']],
  [
    'scene/character/',
    ['client/character-ways', 'client/character.', 'client/character-solids', 'client/character-course'],
  ],
  ['scene/pairs/bone-', ['skin/bone-contacts', 'skin/clearance', 'skin/bone-boxes']],
  ['scene/pairs/box-motions', ['pairs/continuous', 'pairs/clearance', 'client/continuous']],
  ['scene/pairs/reach', ['pairs/continuous', 'pairs/clearance', 'skin/bone-contacts', 'client/continuous']],
  ['scene/pairs/pair-distance', ['query/distance']],
  ['scene/query/section', ['section/', 'composed/section']],
  ['scene/query/sweep', ['query/sweep', 'client/place', 'client/sweep-slices']],
  ['scene/snap/', ['snap/', 'composed/snap']],
  ['scene/scene-invariants', ['core-invariants', 'frame-ahead', 'octree-insert']],
  ['scene/view/last-ids', ['many-views', 'frame-ahead']],
  ['scene/view/occlu', ['occlusion-effect', 'view/occlusion', 'view/relief-occlusion']],
  ['scene/view/occlusion-camera', ['occlusion-effect', 'view/occlusion']],
  ['mesh/query/distance', ['query/distance', 'worker/work']],
  ['mesh/query/obb-distance', ['query/distance', 'worker/work']],
  ['math/triangle-triangle-distance', ['query/distance']],
  ['contact/box/', ['manifold-convex-edges', 'contact/contact', 'manifold-convex', 'solid-pairs']],
  ['contact/convex/contact-feature', ['box-box-tilted', 'mesh/hulls', 'manifold-convex-edges', 'manifold-convex']],
  ['contact/convex/', ['manifold-convex-edges', 'contact/contact', 'hulls', 'solid-meshes', 'manifold-convex']],
  ['contact/mesh/global', ['contained', 'solid-meshes', 'depth-of']],
  ['contact/manifold/', ['manifold-reduction', 'manifold-convex-service', 'manifold-mesh', 'contact/contact']],
  [
    'contact/mesh/',
    ['manifold-mesh-edges', 'manifold-reduction', 'manifold-mesh.', 'contact/contact', 'intersection', 'solid-meshes'],
  ],
  ['contact/primitive/pseudonormal', ['pseudonormal']],
  [
    'contact/primitive/',
    ['manifold-primitive-mesh-cases', 'manifold-primitive-mesh.', 'contact/contact', 'solid-meshes'],
  ],
  ['contact/', ['manifold-convex-edges', 'manifold-mesh-edges', 'contact/contact', 'manifold-']],
  ['scene/frame/out-pairs', ['manifold-convex-service', 'contact/contact', 'contact-events', 'frame-slices']],
  ['scene/frame/frame', ['matrices', 'many-views', 'frame-slices', 'core-invariants', 'contact-events']],
  [
    'scene/frame',
    [
      'frame-ahead',
      'many-views',
      'core-invariants',
      'contact-events',
      'frustum.',
      'pairs.',
      'contact-budget',
      'worker/work',
    ],
  ],
  ['scene/index/', ['octree-insert', 'core-invariants', 'pick.', 'many-views', 'rays-edges', 'pairs.', 'frustum.']],
  [
    'scene/pairs/',
    [
      'witness-cache',
      'box-pairs-touch',
      'core-invariants',
      'contact-budget',
      'contact-events',
      'pairs/pairs.',
      'worker/work',
      'solid-pairs',
      'crowds',
      'client/restart',
      'uniform-grid',
    ],
  ],
  ['scene/view/views', ['leftovers', 'many-views', 'view/occlusion', 'occlusion-effect']],
  ['scene/view/', ['many-views', 'pick.', 'frustum.', 'frustum-query']],
  ['scene/query/thick-ray', ['point-line/picks', 'point-line/rays', 'point-line/raycaster']],
  ['scene/query/point-line', ['point-line/picks', 'point-line/queries', 'clip-regions']],
  ['scene/query/ray-point-line', ['point-line/rays', 'point-line/picks', 'point-line/raycaster']],
  ['scene/query/clip', ['clip-rays', 'clip-regions', 'point-line/picks']],
  ['scene/query/ray', ['pick.', 'rays-edges', 'rays.', 'rays-primitives', 'rays-all', 'rays-many', 'rays-afar']],
  ['scene/query/mesh-volume', ['sees', 'pick-region-edges', 'pick-screen', 'pick-region', 'overlap', 'frustum-query']],
  [
    'scene/query/',
    ['pick-region-edges', 'sees', 'proximity', 'pick-screen', 'pick-region', 'closest', 'overlap', 'containing'],
  ],
  ['scene/inspect/', ['scene/inspect']],
  ['scene/poses', ['skin/poses', 'skin/rays', 'skin/moved-vertices', 'skin/queries']],
  ['scene/mesh-swap', ['skin/moved-vertices', 'update-mesh', 'refit', 'stale-derived']],
  ['scene/motion', ['pairs/continuous', 'client/continuous', 'client/motion-starts']],
  ['scene/', ['frame-ahead', 'octree-insert', 'core-invariants', 'pick.', 'many-views', 'pairs/pairs.', 'frustum.']],
  ['shape/reach', ['pairs/continuous', 'pairs/clearance', 'client/continuous']],
  ['shape/', ['contact/contact', 'sees', 'proximity', 'pick-screen', 'rays-primitives', 'overlap', 'containing']],
  ['skin/hit-boxes', ['skin/bone-boxes']],
  ['skin/', ['skin/rays', 'skin/poses', 'skin/moved-vertices', 'skin/queries']],
  ['point-line/validate', ['point-line/baked']],
  ['point-line/', ['point-line/rays', 'point-line/queries', 'point-line/picks', 'point-line/raycaster']],
  ['mesh/build/bake-deform', ['skin/bone-boxes', 'skin/rays', 'skin/moved-vertices', 'skin/poses', 'forged-mesh']],
  ['mesh/build/weld', ['mesh/weld', 'closed-mesh']],
  ['mesh/build/open-edges', ['closed-mesh', 'mesh/weld']],
  [
    'mesh/build/',
    [
      'refit',
      'build-quality',
      'worker/work',
      'stale-derived',
      'hulls',
      'pick.',
      'tiny-extents',
      'core-invariants',
      'update-mesh',
    ],
  ],
  ['mesh/tree/deform', ['skin/rays', 'skin/poses', 'skin/moved-vertices', 'forged-mesh']],
  ['mesh/tree/validate', ['forged-mesh', 'baked-mesh']],
  ['mesh/tree/checksum', ['baked-mesh']],
  ['mesh/tree/mesh-check', ['forged-mesh', 'baked-mesh']],
  ['mesh/tree/', ['refit', 'stale-derived', 'update-mesh', 'containing', 'baked-mesh', 'worker/work']],
  ['mesh/topology/validate', ['forged-mesh', 'baked-mesh']],
  [
    'mesh/topology/',
    ['hulls', 'convex-meshes', 'derived', 'closed-mesh', 'solid-meshes', 'update-mesh', 'worker/work'],
  ],
  ['mesh/query/ray-parity', ['off-origin', 'closed-mesh', 'solid-meshes']],
  ['mesh/query/ray', ['rays-edges', 'rays.', 'pick.', 'slivers', 'tiny-extents']],
  ['mesh/query/winding', ['off-origin', 'containing', 'closed-mesh', 'solid-meshes']],
  ['mesh/query/closest', ['proximity-', 'closest', 'proximity']],
  ['mesh/query/support', ['contained', 'manifold-mesh-edges', 'solid-meshes', 'hulls']],
  ['mesh/query/beyond', ['derived', 'hulls', 'closed-mesh']],
  ['mesh/query/mesh-pair', ['query/overlap', 'mesh-pairs', 'closest', 'worker/work']],
  [
    'mesh/query/',
    ['mesh-pairs', 'worker/work', 'tiny-extents', 'hulls', 'triangle-pairs', 'slivers', 'manifold-mesh-service'],
  ],
  ['mesh/', ['refit', 'mesh-pairs', 'baked-mesh', 'update-mesh']],
  ['math/clip-polygon', ['pick-region-edges', 'sees', 'pick-screen']],
  ['math/closest', ['proximity-', 'manifold-primitive-mesh.', 'closest', 'overlap']],
  ['math/interval', ['rays-edges', 'rays.', 'pick.', 'rays-all']],
  ['math/obb-axes', ['pairs/continuous', 'client/continuous']],
  ['math/obb-gap', ['pairs/clearance', 'pairs/continuous', 'query/distance']],
  ['math/obb-sat-f64', ['box-pairs-touch', 'solid-pairs', 'overlap', 'pairs/pairs.']],
  ['math/spectral', ['proximity-precision']],
  ['math/jacobi', ['proximity-precision', 'refit', 'overlap']],
  ['math/ellipsoid', ['overlap', 'solid-pairs', 'proximity']],
  ['math/plane', ['pick-region-edges', 'sees', 'pick-screen', 'manifold-primitive-mesh-cases']],
  ['math/quaternion', ['refit', 'tiny-extents', 'mesh-pairs', 'baked-mesh']],
  [
    'math/',
    [
      ...[
        'box-pairs-touch',
        'mesh-pairs',
        'contact/contact',
        'manifold-convex-edges',
        'pick.',
        'proximity',
        'slivers',
        'triangle-pairs',
      ],
      ...['intersection', 'matrices', 'closest', 'rays-primitives', 'overlap', 'solid-pairs'],
    ],
  ],
  ['index.ts', ['binding', 'view/occlusion', 'refit', 'pick.', 'update-mesh', 'frame-slices', 'worker/work']],
  ['', ['pick.', 'contact/contact', 'refit', 'repro']],
];

/**
 * Tests of exact answers that cover most of a part of the core, in the same form. They come before all others, because any change
 * of an answer is noticed there.
 */
const ANSWERS: [core: string, tests: string[]][] = [
  ['character/', ['characters', 'seldom']],
  ['distance/', ['near', 'slices', 'sizes', 'skins', 'seldom']],
  ['occlusion/', ['views', 'rare', 'seldom-frames']],
  ['section/', ['sections', 'sizes']],
  ['sweep/two-motions', ['frames', 'sweeps', 'seldom-frames']],
  ['sweep/turning-boxes', ['frames', 'sweeps', 'seldom-frames']],
  ['sweep/', ['sweeps', 'characters', 'frames', 'rare', 'seldom', 'sizes']],
  ['scene/character/', ['characters', 'seldom']],
  ['scene/inspect/', ['sections', 'frames', 'crowds']],
  ['scene/pairs/bone-', ['skins', 'seldom-frames']],
  ['scene/pairs/pair-distance', ['near', 'skins']],
  ['scene/pairs/contact-queue', ['slices', 'frames', 'crowds']],
  ['scene/pairs/narrow-phase', ['slices', 'frames', 'crowds', 'seldom-frames', 'sizes']],
  ['scene/pairs/', ['frames', 'crowds', 'skins', 'slices', 'seldom-frames', 'contacts', 'near', 'seldom']],
  ['scene/query/section', ['sections', 'sizes']],
  ['scene/query/sweep', ['sweeps', 'slices', 'seldom']],
  ['scene/query/ray', ['rays', 'skins', 'snaps', 'seldom', 'crowds']],
  ['scene/query/thick', ['rays']],
  ['scene/query/frustum', ['views']],
  ['scene/query/lasso', ['views']],
  ['scene/query/region', ['views']],
  ['scene/query/screen', ['views']],
  ['scene/query/', ['near', 'views', 'rays', 'skins', 'seldom', 'crowds']],
  ['scene/snap/', ['snaps', 'snap-sizes']],
  ['scene/view/', ['views', 'rare', 'seldom-frames', 'crowds']],
  ['scene/mesh-swap', ['meshes', 'skins', 'seldom-meshes', 'sizes']],
  ['scene/poses', ['skins']],
  ['scene/index/', ['frames', 'crowds', 'views', 'rays', 'near']],
  ['scene/frame', ['frames', 'slices', 'crowds', 'views', 'skins', 'rare']],
  ['scene/', ['frames', 'crowds', 'views', 'slices', 'rare', 'skins', 'rays', 'near', 'sizes']],
  ['contact/mesh/', ['mesh-contacts', 'contacts', 'sizes', 'frames', 'rare']],
  ['contact/primitive/', ['mesh-contacts', 'contacts', 'sizes', 'frames', 'rare']],
  ['contact/', ['contacts', 'frames', 'seldom', 'skins', 'sizes']],
  ['mesh/build/', ['meshes', 'seldom-meshes', 'skins', 'rare']],
  ['mesh/tree/validate', ['damaged']],
  ['mesh/tree/mesh-check', ['damaged', 'meshes']],
  ['mesh/tree/checksum', ['damaged', 'meshes']],
  ['mesh/topology/validate', ['damaged']],
  ['mesh/tree/', ['meshes', 'seldom-meshes', 'skins', 'sizes', 'near']],
  ['mesh/topology/', ['meshes', 'seldom-meshes', 'rare', 'mesh-contacts', 'near']],
  ['mesh/query/ray', ['rays', 'sizes', 'snaps', 'views', 'seldom']],
  ['mesh/query/mesh-ray', ['rays', 'sizes', 'snaps', 'views', 'seldom']],
  ['mesh/query/', ['near', 'sizes', 'mesh-contacts', 'sweeps', 'slices']],
  ['mesh', ['meshes', 'seldom-meshes', 'skins', 'crowds']],
  ['point-line/validate', ['damaged']],
  ['point-line/', ['rays', 'sizes', 'meshes', 'seldom-meshes', 'views', 'snaps']],
  ['shape/', ['near', 'frames', 'sweeps', 'seldom', 'views', 'skins']],
  ['skin/', ['skins', 'sizes', 'rare']],
  [
    'math/',
    [
      'contacts',
      'mesh-contacts',
      'near',
      'sizes',
      'seldom',
      'rare',
      'sweeps',
      'views',
      'frames',
      'rays',
      'meshes',
      'skins',
    ],
  ],
  ['check', ['slices', 'damaged']],
  ['memory', ['crowds', 'slices', 'frames']],
  ['', ['frames', 'slices', 'meshes', 'rays', 'near', 'contacts', 'views', 'sweeps', 'skins']],
];

/** The part of a test file to run against a mutant, and its CPU time. */
export interface Part {
  file: string;
  /** The names of its tests; missing if the file has to be measured first, as a whole if `isWhole`. */
  only?: string[];
  processorMs: number;
  /** Whether these are all tests of the file that reach the mutant. */
  isWhole: boolean;
}

/** The files of which more than the first tests are run: none, those that the table lists for the mutant, or all. */
export type Depth = 'first' | 'listed' | 'all';

/**
 * Returns the part of a test file to run next against a mutant: of those that reach it and that it has not outlived, the one with
 * the shortest expected time until it notices the mutant. For a file that has to be measured first, `only` is missing. Of long
 * files only the first tests are returned, except for those that `depth` selects.
 */
export function nextPart(
  mutant: Mutant,
  baseline: Readonly<Record<string, Baseline>>,
  files: readonly string[],
  outlived: Readonly<Record<string, Outlived>>,
  depth: Depth,
): Part | undefined {
  let best: Part | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const file of files) {
    const whole = baseline[file];
    const before = outlived[file];
    const isThorough = depth === 'all' || (depth === 'listed' && placeOf(mutant, file) !== undefined);
    if (whole && before?.hash === whole.hash && (before.isWhole || !isThorough)) continue;
    const isKnown = whole && !(isThorough && whole.isCut);
    const part = isKnown
      ? partFor(mutant, file, whole, isThorough ? Number.POSITIVE_INFINITY : MOST_MS)
      : { file, processorMs: USUAL_MS, isWhole: isThorough };
    const delay = part ? part.processorMs / likelihood(mutant, file) : Number.POSITIVE_INFINITY;
    if (delay < least) {
      best = part;
      least = delay;
    }
  }
  return best;
}

/** The part of a file that a mutant has outlived. */
export interface Outlived {
  hash: string;
  isWhole: boolean;
}

function likelihood(mutant: Mutant, test: string): number {
  const words = basename(mutant.file, '.ts')
    .split('-')
    .filter(({ length }) => length >= WORD_LENGTH);
  const isAkin = words.some((word) => test.includes(word));
  return (isAkin ? WORD : 1) / (1 + PLACE * (placeOf(mutant, test) ?? UNLISTED));
}

/** Returns the place of a test file in the lists of a mutant's part of the core. */
function placeOf({ file }: Mutant, test: string): number | undefined {
  const path = file.slice('src/worker/core/'.length);
  const [answers, others] = [ANSWERS, TABLE].map((table) => table.find(([core]) => path.startsWith(core))![1]);
  const names = [...answers!.map((name) => `answers/${name}.`), ...others!];
  const place = names.findIndex((name) => test.includes(name));
  return place < 0 ? undefined : place;
}

function partFor({ id, constant }: Mutant, file: string, whole: Baseline, most: number): Part | undefined {
  const { outside, tests, processorMs } = whole;
  // A constant may be used anywhere.
  const isEverywhere = constant !== undefined || outside.includes(id);
  const reaching = isEverywhere ? tests : tests.filter(({ reaches }) => reaches.includes(id));
  let left = most;
  const those = reaching.filter((test, i) => {
    left -= test.processorMs;
    return i === 0 || left >= 0;
  });
  if (those.length === 0) return undefined;
  const sum = (list: TestPart[]) => list.reduce((total, test) => total + test.processorMs, 0);
  return {
    file,
    only: those.map(({ name }) => name),
    processorMs: processorMs - sum(tests) + sum(those),
    isWhole: !whole.isCut && those.length === reaching.length,
  };
}

export function testFiles(root: string): string[] {
  const found = FOLDERS.flatMap((folder) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    return names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  });
  return [...found, ...BY_A_SERVICE]
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.browser.test.ts') && !LEFT_OUT.test(file))
    .sort();
}

/**
 * Runs a test file on the original; only the first tests of a long one, unless `isThorough`. Returns undefined if it fails there:
 * it would kill every mutant.
 */
export async function measureBaseline(
  file: string,
  root: string,
  runner: TestRunner,
  isThorough: boolean,
): Promise<Baseline | undefined> {
  const hash = hashOf(file, root);
  const order = { file, mutant: 0, ...(!isThorough && { mostMs: MOST_MS }) };
  const { outside = [], tests = [], isCut = false, ...run } = await runner.run(order, LONGEST);
  const { passed, isStray, milliseconds, processorMs, failure } = run;
  if (passed) return { hash, milliseconds, processorMs, outside, tests, isCut };
  if (isStray) runner.close();
  console.log(`${file} fails without a mutant and is left out: ${failure ?? 'it takes too long'}`);
  return undefined;
}

export function hashOf(file: string, root: string): string {
  return createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('hex');
}
