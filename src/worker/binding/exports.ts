// The raw interface of core.wasm: its exports, and the meaning of its codes. core.ts wraps it in an object.
import { CollisionError } from '../../shared/errors.js';
import { MESH_VERSION_VALUE } from '../../shared/layout.js';
import { NARROW_SECTION, NarrowPhase } from './narrow-phase.js';

/** The exports of core.wasm: src/worker/core/index.ts. */
export interface CoreExports {
  memory: WebAssembly.Memory;
  allocate(bytes: bigint): number;
  release(address: number): void;
  usedBytes(): number;
  holdList(content: number, bytes: number): number;
  holdBoxes(records: number, count: number): number;
  dropList(list: number): void;
  beginBuild(vertices: number, triangles: number, weld: number, isFast: boolean, part: number): number;
  mayJoin(build: number): boolean;
  joinSecond(build: number, second: number): void;
  deriveSecond(build: number, second: number): void;
  reserveBuild(build: number, indexed: boolean): void;
  reserveBuildDeform(build: number, bones: number, targets: number, areRelative: boolean): void;
  buildWeights(build: number): number;
  buildBones(build: number): number;
  buildTargets(build: number): number;
  buildPositions(build: number): number;
  buildIndices(build: number): number;
  stepBuild(build: number, deadline: number): number;
  buildError(build: number): number;
  buildCulprit(build: number): number;
  takeMesh(build: number): number;
  beginPointLine(vertices: number, elements: number, size: number): number;
  reservePointLine(build: number, indexed: boolean): void;
  pointLinePositions(build: number): number;
  pointLineIndices(build: number): number;
  stepPointLine(build: number, deadline: number): number;
  pointLineError(build: number): number;
  pointLineCulprit(build: number): number;
  takePointLine(build: number): number;
  freePointLine(build: number): void;
  freeBuild(build: number): void;
  meshPairs(a: number, b: number, matrix: number, findsAll: boolean): number;
  foundPairs(): number;
  beginCheck(address: number, bytes: number): number;
  stepCheck(check: number, deadline: number, available: number): number;
  checkMeshTree(address: number): number;
  isFresh(address: number): boolean;
  beginBake(mesh: number): number;
  stepBake(bake: number, deadline: number): number;
  bakedMesh(bake: number): number;
  readsMesh(bake: number): boolean;
  freeBake(bake: number): void;
  copyMesh(address: number): number;
  beginDerivation(mesh: number): number;
  stepDerivation(derivation: number, deadline: number): number;
  installDerivation(derivation: number): void;
  freeDerivation(derivation: number): void;
  keepUp(mesh: number): void;
  countWanted(): number;
  takeWanted(): number;
  freeMesh(address: number): void;
  refitScratch(address: number): number;
  refitMesh(address: number, positions: number, scratch: number): number;
  refitCulprit(): number;
  updateBytes(): number;
  beginUpdate(update: number, mesh: number, positions: number, scratch: number, isCopied: boolean): void;
  stepUpdate(update: number, deadline: number): number;
  updatedMesh(update: number): number;
  updateCulprit(update: number): number;
  dropUpdate(update: number): void;
  replaceMesh(mesh: number, replacement: number): void;
  meshWeights(address: number): number;
  meshBones(address: number): number;
  hasRelativeTargets(address: number): number;
  copyMeshTarget(address: number, target: number, to: number): void;
  putObject(id: number, description: number): void;
  setLayers(id: number, layers: number): void;
  removeObject(id: number): void;
  removeView(slot: number): void;
  putCharacter(id: number, description: number): void;
  removeCharacter(id: number): void;
  areCharactersMoved(): number;
  beginFrame(input: number): void;
  stepFrame(sliceEnd: number, mayRunNarrowPhase: boolean): number;
  goAhead(): number;
  placeAhead(input: number): void;
  placeFrame(input: number): void;
  setPairs(a: number, b: number, groupA: number, groupB: number, count: number): void;
  setSeen(view: number, ids: number, count: number): void;
  raycast(ray: number, filter: number, hit: number): number;
  raycastAll(ray: number, filter: number): number;
  foundHits(): number;
  boneOfHit(object: number, triangle: number, u: number, v: number, w: number): number;
  anyHit(ray: number, filter: number): number;
  raycastMany(
    filter: number,
    rays: number,
    count: number,
    objects: number,
    triangles: number,
    elements: number,
    bones: number,
    distances: number,
    barycentrics: number,
    deadline: number,
  ): number;
  foundIds(): number;
  waitingIds(): number;
  giveUpQuestion(): void;
  waitingCount(): number;
  askedCount(): number;
  foundInside(): number;
  foundSeen(): number;
  foundOccluded(): number;
  pickScreen(view: number, x: number, y: number, radius: number, filter: number, findsAll: boolean): number;
  pickRegion(view: number, region: number, filter: number, ids: number, count: number, deadline: number): number;
  frustumOfView(view: number, filter: number, ids: number, count: number, deadline: number): number;
  frustumOfPlanes(
    planes: number,
    planeCount: number,
    filter: number,
    ids: number,
    count: number,
    deadline: number,
  ): number;
  sees(view: number, targets: number, count: number, filter: number, points: number): void;
  overlap(description: number, filter: number, ids: number, count: number, deadline: number): number;
  containing(x: number, y: number, z: number, filter: number, ids: number, count: number, deadline: number): number;
  sweep(description: number, motion: number, filter: number, hit: number, maxWork: number): number;
  sweepAll(description: number, motion: number, filter: number, maxWork: number): number;
  sweepMany(
    descriptions: number,
    shapeOf: number,
    ways: number,
    count: number,
    tolerance: number,
    filter: number,
    objects: number,
    triangles: number,
    times: number,
    depths: number,
    points: number,
    normals: number,
    deadline: number,
  ): number;
  closestPoint(
    x: number,
    y: number,
    z: number,
    maxDistance: number,
    nearestObject: number,
    filter: number,
    hit: number,
    ids: number,
    count: number,
    deadline: number,
  ): number;
  beginSection(plane: number, filter: number, count: number, cosine: number, sine: number, weld: number): number;
  beginSnap(filter: number): void;
  listSnap(workspace: number, front: number, hitObject: number): number;
  openSnap(): number;
  isSnapSmall(workspace: number): number;
  closeSnap(workspace: number): void;
  beginSnapRoom(workspace: number): void;
  addSnapTarget(workspace: number, id: number): number;
  resumeSnap(workspace: number): void;
  beginSnapKinds(workspace: number, kinds: number, depth: number): void;
  stepSnap(workspace: number, depth: number, asksBoxes: boolean, asksPoints: boolean, isHidden: boolean): number;
  beginObjectSection(id: number): void;
  stepObjectSection(deadline: number): number;
  endSection(): void;
  countOutlines(): number;
  outlines(): number;
  countOutlinePoints(): number;
  outlinePoints(): number;
  outlineTriangles(): number;
  inspectScene(): number;
  inspectCells(maxBoxes: number): number;
  inspectBounds(maxBoxes: number): number;
  beginTreeListing(id: number, from: number, to: number, maxBoxes: number): number;
  beginMeshListing(mesh: number, to: number, maxBoxes: number): void;
  stepTreeListing(deadline: number): number;
  inspectedMesh(): number;
  inspectedBoxCount(): number;
  inspectedBoxes(): number;
  inspectedElementCount(): number;
  inspectedElements(): number;
  endInspection(): void;
  keepSweep(description: number, motion: number, filter: number, findsAll: boolean): number;
  keepWay(description: number, way: number, tolerance: number, filter: number): number;
  beginKeptSweep(snapshot: number, deadline: number): number;
  resumeSweep(deadline: number): number;
  isLongContact(a: number, b: number, detail: number): number;
  beginContact(a: number, b: number, detail: number, deadline: number): number;
  keepContact(a: number, b: number, detail: number): number;
  beginKeptContact(snapshot: number, deadline: number): number;
  canMeasure(a: number, b: number): number;
  beginDistance(a: number, b: number, limit: number, deadline: number): number;
  beginKeptDistance(snapshot: number, limit: number, deadline: number): number;
  resumeDistance(deadline: number): number;
  measuredDistance(): number;
  resumeContact(deadline: number): number;
  contactPointCount(): number;
  contactPoints(): number;
  contactCrossingCount(): number;
  contactCrossings(): number;
  contactBonePairCount(): number;
  contactBonePairs(): number;
  check(): number;
  mayHaveMesh(slot: number, mesh: number): number;
  /** How many times a pair was suspended before it was finished. */
  interruptions: WebAssembly.Global;
  /** How many pairs with overlapping boxes the broad phase tested one by one. */
  considered: WebAssembly.Global;
}

/**
 * Messages of the validation codes of mesh/tree/mesh-check.ts and mesh/tree/tree-invariants.ts. Tests add those of
 * scene/scene-invariants.ts, which nobody else uses.
 */
export const FAULTS: Record<number, string> = {
  1: 'the data are shorter or longer than their header says',
  2: 'the data are not a baked mesh',
  3: `the mesh was baked by another version, and this one reads version ${MESH_VERSION_VALUE}; add it from its triangles and bake it anew`,
  4: 'the header contradicts itself',
  5: 'the checksum does not match: the data were changed',
  6: 'a link in the tree leads nowhere, upwards or where another does',
  7: 'a box of the tree does not hold what is below it',
  8: 'a triangle is in no leaf',
  9: 'the tree is deeper than any that is built',
  10: 'a number is not finite or out of range',
  11: 'a triangle or a vertex has a number that there is not',
};

/** The compiled modules of core.wasm: the core, and the narrow phase, which is a section of it. */
export type CompiledCore = [core: WebAssembly.Module, narrow: WebAssembly.Module];

/**
 * Starts core.wasm, or its compiled modules, with its own memory, and returns the exports and the modules. Rejects with
 * UNSUPPORTED if WebAssembly SIMD is missing or forbidden.
 */
export async function startCore(source: BufferSource | CompiledCore): Promise<[CoreExports, CompiledCore]> {
  const env = {
    now: () => performance.now(),
    outOfMemory: (bytes: number) => {
      throw new CollisionError('OUT_OF_MEMORY', `the worker could not get ${bytes} more bytes of memory`);
    },
  };
  try {
    const narrow = new NarrowPhase();
    const imports = { env, narrow: narrow.imports };
    let compiled: CompiledCore;
    let instance: WebAssembly.Instance;
    if (Array.isArray(source)) {
      compiled = source;
      instance = await WebAssembly.instantiate(source[0], imports);
    } else {
      const instantiated = await WebAssembly.instantiate(source, imports);
      instance = instantiated.instance;
      const [narrowBytes] = WebAssembly.Module.customSections(instantiated.module, NARROW_SECTION);
      compiled = [instantiated.module, await WebAssembly.compile(narrowBytes)];
    }
    const core = instance.exports as unknown as CoreExports;
    narrow.start(compiled[1], core, env);
    return [core, compiled];
  } catch (cause) {
    throw new CollisionError('UNSUPPORTED', `the core could not be started: ${reasonOf(cause)}`, { cause });
  }
}

/** Starts a core whose compiled modules are not reused. Rejects as `startCore` does. */
export async function instantiateCore(wasm: BufferSource): Promise<CoreExports> {
  return (await startCore(wasm))[0];
}

/** A module with an empty function that makes a vector. */
const SIMD_MODULE = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
];

function reasonOf(cause: unknown): string {
  if (typeof WebAssembly === 'undefined') return 'there is no WebAssembly here';
  if (!WebAssembly.validate(Uint8Array.from(SIMD_MODULE))) {
    return 'WebAssembly has no SIMD here, which the core needs: Chrome 91, Firefox 89 and Safari 16.4 have it';
  }
  // Browsers word this differently, but all name the directive or its source.
  if (/unsafe-eval|content security policy|disallowed by embedder/i.test(String(cause))) {
    const policySource = "that of the worker's script, or of the page where the script is a Blob";
    return `${cause}; a content security policy forbids it, ${policySource}: its script-src needs 'wasm-unsafe-eval'`;
  }
  return String(cause);
}
