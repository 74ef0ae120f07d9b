import { transfer } from 'comlink';
import { type PackedBoxes, withBoxes } from '../shared/baked-boxes.js';
import { CollisionError } from '../shared/errors.js';
import { CONTACTS_ANY, IN_FRAME, OUT_MS_COMMANDS } from '../shared/layout.js';
import {
  type AddObjects,
  type Command,
  type Failure,
  type FrameMessage,
  type FromWorker,
  failureOf,
  type InspectRequest,
  type LoadedMesh,
  type MeshDeform,
  type MeshUpdate,
  type ObjectDescription,
  type Outcome,
  type SectionRequest,
  type SmallBuild,
  type SmallLoad,
  type ToWorker,
  type WorkerApi,
} from '../shared/protocol.js';
import type {
  BoxCheck,
  ContactReport,
  Distance,
  Inspection,
  MeshData,
  MeshId,
  ObjectId,
  Section,
} from '../shared/types.js';
import { answering } from './answering.js';
import type { Core, MeshAddress, MeshBuild, PlacedDescription } from './binding/core.js';
import type { CoreContact } from './binding/queries.js';
import { blobCopy } from './blob-copy.js';
import { boxCover } from './box-cover.js';
import { inspect } from './inspection.js';
import { MeshTable } from './mesh-table.js';
import { QueryService } from './query-service.js';
import { Queue } from './queue.js';
import { section } from './section.js';
import { afterMessages, type Gate, SLICE_MS, Slices, type Turns } from './slices.js';
import { findFeatures, withFeatures } from './snap/features.js';
import { topBoxes } from './top-boxes.js';

/**
 * The milliseconds of a frame's contacts before queries are answered: what a pick waits for at most, beside pairs that
 * have no checkpoint for so long.
 */
const FRAME_SLICE_MS = 4;
/** Milliseconds of a frame or a contact after which the main thread is told that it is still worked on. */
const BUSY_EVERY_MS = 100;

/**
 * Calls that change nothing that a frame or a contact reads, or wait by themselves before they do, and so are answered
 * while one is under way.
 */
const HARMLESS: ReadonlySet<unknown> = new Set<keyof WorkerApi>([
  ...([
    'raycast',
    'raycastAll',
    'pickSnap',
    'isClear',
    'raycastMany',
    'pickScreen',
    'pickScreenAll',
    'pickRegion',
  ] as const),
  ...([
    'frustum',
    'sees',
    'overlap',
    'containing',
    'closestPoint',
    'sweep',
    'sweepAll',
    'sweepMany',
    'place',
    'inspect',
    'section',
    'contact',
    'distance',
    'loadMesh',
    'loadMeshes',
    'bakeMesh',
    'meshBoxes',
    'checkBoxes',
    'replaceTree',
  ] as const),
]);

/** Two objects whose contact is asked for, and the frame that the answer sees. */
type AskedPair = Pick<ContactReport, 'a' | 'b' | 'frame'>;
type FoundContact = ContactReport | null;
type FoundDistance = Distance | null;

/** A question about two objects that may take long: found or undefined after its part of the time. */
interface PairQuestion<Found, Answer> {
  /** Tells whether it disturbs what is left between two slices. */
  isLong(): boolean;
  begin(): Found | null | undefined;
  beginKept(kept: number): Found | null | undefined;
  resume(): Found | null | undefined;
  answer(found: Found | null, ms: number): Answer | null;
}

const NO_TURNS: Turns = { pause() {}, hold() {}, release() {} };

/** Answers the main thread out of a core. */
export class WorkerService extends QueryService implements WorkerApi {
  readonly #post: (message: FromWorker, transfer: Transferable[]) => void;
  readonly #turns: Turns;
  readonly #builds = new Map<number, MeshBuild>();
  /** Objects that could not be added. What follows for them is ignored. */
  readonly #unborn = new Set<ObjectId>();
  /** Whether slices are under way that derive what contacts have asked for. */
  #isDeriving = false;
  /** Whether a frame, and whether a contact or distance that takes long, is between two of its slices. */
  #isInFrame = false;
  #isInPair = false;
  /** How much work is under way that reads meshes in slices, beside frames and contacts. */
  #readers = 0;
  /** The last of the changes of each mesh that are under way in slices. */
  readonly #changes = new Map<MeshId, Promise<void>>();
  /** The core does one section at a time. */
  #lastSection: Promise<unknown> = Promise.resolve();
  #lastInspection: Promise<unknown> = Promise.resolve();
  /** Contacts and distances that take long and came meanwhile. */
  readonly #pairs = new Queue<() => void>();
  /** When the main thread was told last that long work is under way. */
  #saidBusyAt = 0;
  /** The error of the first command that failed since the last frame. */
  #failure: Failure | undefined;
  /** Milliseconds of commands since the last frame. */
  #msCommands = 0;

  constructor(core: Core, post: (message: FromWorker, transfer: Transferable[]) => void, turns: Turns = NO_TURNS) {
    super(core, new MeshTable(core));
    this.#post = post;
    this.#turns = turns;
  }

  receive(message: ToWorker): void {
    if (message.type === 'frame') {
      this.#runFrame(message);
    } else if (message.type === 'commands') {
      const start = performance.now();
      for (const command of message.list) this.#tryCommand(command);
      this.#msCommands += performance.now() - start;
    } else if (message.type === 'ahead') {
      this.core.placeAhead(message.input);
      this.frame = new DataView(message.input).getUint32(IN_FRAME, true);
    } else if (message.type === 'place') {
      this.core.place(message.input);
      this.frame = new DataView(message.input).getUint32(IN_FRAME, true);
    } else if (message.type === 'baseline') {
      this.core.setBaseline(message);
    } else if (message.type === 'abort') {
      this.#abort(message.build);
    } // else comlink's
  }

  readonly buildMesh = answering(
    async (
      id: number,
      positions: Float32Array,
      indices: Uint32Array | Uint16Array | undefined,
      weld: number,
      topology: MeshData['topology'],
      deform: MeshDeform,
      features: number | undefined,
    ): Promise<ArrayBuffer> => {
      const build = this.core.beginBuild(positions, indices, weld, topology, deform);
      this.#builds.set(id, build);
      try {
        for (let fraction = build.step(SLICE_MS); fraction < 1; fraction = build.step(SLICE_MS)) {
          this.#post({ type: 'progress', build: id, fraction }, []);
          await this.#pause();
          if (!this.#builds.has(id)) throw new CollisionError('ABORTED', 'the build was aborted');
        }
        let baked = build.finish();
        if (features !== undefined) {
          const slices = new Slices(() => this.#pause());
          baked = withFeatures(baked, await slices.run(findFeatures(() => baked, 0, features)));
          if (!this.#builds.has(id)) throw new CollisionError('ABORTED', 'the build was aborted');
        }
        this.#builds.delete(id);
        return transfer(baked, [baked]);
      } catch (error) {
        this.#abort(id);
        throw error;
      }
    },
  );

  /** Copies the mesh in and checks it, in slices: 65 MB take some 100 ms, for which no pick is to wait. */
  readonly loadMesh = answering(async (mesh: MeshId, baked: ArrayBuffer, isKept: boolean): Promise<LoadedMesh> => {
    this.meshes.beginLoad(mesh, baked);
    let info = this.meshes.stepLoad(mesh, FRAME_SLICE_MS);
    while (!info) {
      await this.#pause();
      info = this.meshes.stepLoad(mesh, FRAME_SLICE_MS);
    }
    return { info, copy: isKept ? await this.#copyOf(baked) : undefined };
  });

  readonly buildMeshes = answering((builds: SmallBuild[]): Outcome<ArrayBuffer>[] =>
    builds.map(({ positions, indices, weld }) =>
      outcomeOf(() => {
        const build = this.core.beginBuild(positions, indices, weld, 'triangles', {});
        try {
          while (build.step(SLICE_MS) < 1);
          return build.finish();
        } catch (error) {
          build.abort();
          throw error;
        }
      }),
    ),
  );

  readonly loadMeshes = answering((loads: SmallLoad[]): Outcome<LoadedMesh>[] =>
    loads.map(({ mesh, baked }) => outcomeOf(() => ({ info: this.meshes.load(mesh, baked), copy: undefined }))),
  );

  readonly bakeMesh = answering(async (mesh: MeshId, boxes: PackedBoxes | undefined): Promise<ArrayBuffer> => {
    const address = this.meshes.addressOf(mesh);
    const angle = this.meshes.features.bakedAngle(address);
    let baked = await this.#bake(address);
    if (angle !== undefined) {
      const slices = new Slices(() => this.#pause());
      baked = withFeatures(baked, await slices.run(findFeatures(() => baked, 0, angle)));
    }
    if (boxes) baked = withBoxes(baked, boxes);
    return transfer(baked, [baked]);
  });

  readonly meshBoxes = answering((mesh: MeshId, level: number, most: number): Promise<Float64Array | null> => {
    const answer = this.#lastInspection.then(() =>
      this.inSlices((slices) => topBoxes(this.core.inspector, this.meshes.addressOf(mesh), level, most, slices)),
    );
    this.#lastInspection = answer.catch(() => {});
    return answer;
  });

  readonly checkBoxes = answering((mesh: MeshId, records: Float64Array): Promise<BoxCheck> => {
    const address = this.meshes.addressOf(mesh);
    return this.inSlices((slices) => slices.run(boxCover(this.core.snaps.memoryOf, address, records)));
  });

  readonly updateMesh = answering((mesh: MeshId, positions: Float32Array): MeshUpdate | Promise<MeshUpdate> => {
    if (!this.meshes.isLong(mesh) && !this.#changes.has(mesh)) return withData(this.meshes.update(mesh, positions));
    return this.#change(mesh, () =>
      this.meshes.updateInSlices(mesh, positions, FRAME_SLICE_MS, () => this.#mayGoAhead()),
    );
  });

  readonly replaceTree = answering(
    async (mesh: MeshId, baked: ArrayBuffer | null, isKept: boolean): Promise<MeshUpdate> => {
      const update = await this.#change(mesh, () =>
        this.meshes.replaceInSlices(mesh, baked, FRAME_SLICE_MS, () => this.#mayGoAhead()),
      );
      if (baked && isKept && update.isInEffect) update.copy = await this.#copyOf(baked);
      return update;
    },
  );

  /** Changes a mesh in slices, behind all changes of it that were asked for before. */
  #change(mesh: MeshId, begin: () => Generator<void, MeshUpdate>): Promise<MeshUpdate> {
    const before = this.#changes.get(mesh) ?? Promise.resolve();
    const change = before.then(async () => withData(await this.#finish(begin())));
    const settled = change.then(
      () => {},
      () => {},
    );
    this.#changes.set(mesh, settled);
    settled.then(() => {
      if (this.#changes.get(mesh) === settled) this.#changes.delete(mesh);
    });
    return change;
  }

  /** Does work in slices; each ends where the work yields. */
  async #finish<T>(work: Generator<void, T>): Promise<T> {
    let step = work.next();
    while (!step.done) {
      await this.#pause();
      step = work.next();
    }
    return step.value;
  }

  #copyOf(baked: ArrayBuffer): Promise<Blob> {
    return blobCopy(baked, FRAME_SLICE_MS, () => this.#pause());
  }

  /**
   * A contact that may take long is found in slices, when no frame and no other question of two objects is under way: it
   * keeps the objects as they are now.
   */
  readonly contact = answering((a: ObjectId, b: ObjectId, detail: number): FoundContact | Promise<FoundContact> => {
    const { queries } = this.core;
    const pair = { a, b, frame: this.frame };
    return this.#askPair(a, b, detail, {
      isLong: () => queries.isLongContact(a, b, detail),
      begin: () => queries.beginContact(a, b, detail, FRAME_SLICE_MS),
      beginKept: (kept) => queries.beginKeptContact(a, b, kept, FRAME_SLICE_MS),
      resume: () => queries.resumeContact(a, b, FRAME_SLICE_MS),
      answer: (found, ms) => reported(pair, found, ms),
    });
  });

  /** It is found in slices as a contact is, and waits for what is under way whatever the shapes are. */
  readonly distance = answering((a: ObjectId, b: ObjectId, limit: number): FoundDistance | Promise<FoundDistance> => {
    const { queries } = this.core;
    const { frame } = this;
    return this.#askPair(a, b, CONTACTS_ANY, {
      isLong: () => queries.canMeasure(a, b),
      begin: () => queries.beginDistance(a, b, limit, FRAME_SLICE_MS),
      beginKept: (kept) => queries.beginKeptDistance(a, b, kept, limit, FRAME_SLICE_MS),
      resume: () => queries.resumeDistance(a, b, FRAME_SLICE_MS),
      answer: (found) => found && { ...found, frame },
    });
  });

  #askPair<Found, Answer>(
    a: ObjectId,
    b: ObjectId,
    detail: number,
    question: PairQuestion<Found, Answer>,
  ): Answer | null | Promise<Answer | null> {
    const { queries } = this.core;
    if (!this.#isHeld || !question.isLong()) return this.#findPair(question, () => question.begin());
    const kept = queries.keepContact(a, b, detail);
    this.meshes.keep();
    return new Promise((resolve, reject) => {
      this.#pairs.add(() => {
        try {
          resolve(this.#findPair(question, () => question.beginKept(kept)));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Lists boxes, in slices between which messages are served. Each tree is listed as it is when its turn comes. */
  readonly inspect = answering((request: InspectRequest): Promise<Inspection> => {
    const answer = this.#lastInspection.then(() =>
      this.inSlices((slices) => inspect(this.core.inspector, request, slices, () => this.frame)),
    );
    this.#lastInspection = answer.catch(() => {});
    return answer;
  });

  /** Cuts objects, in slices between which messages are served. Each object is cut as it is when its turn comes. */
  readonly section = answering((request: SectionRequest): Promise<Section> => {
    const answer = this.#lastSection.then(() => this.#cut(request));
    this.#lastSection = answer.catch(() => {});
    return answer;
  });

  #cut(request: SectionRequest): Promise<Section> {
    return this.inSlices((slices) => section(this.core.sections, request, slices, () => this.frame));
  }

  protected async inSlices<T>(work: (slices: Slices) => Promise<T>): Promise<T> {
    this.#readers++;
    this.meshes.keep();
    try {
      return await work(new Slices(() => this.#pause(), FRAME_SLICE_MS));
    } finally {
      this.#readers--;
      this.#releaseMeshes();
    }
  }

  #releaseMeshes(): void {
    if (!this.#isHeld && this.#readers === 0) this.meshes.release();
  }

  #findPair<Found, Answer>(
    question: PairQuestion<Found, Answer>,
    begin: () => Found | null | undefined,
  ): Answer | null | Promise<Answer | null> {
    const start = performance.now();
    const found = begin();
    const ms = performance.now() - start;
    return found === undefined ? this.#finishPair(question, ms) : question.answer(found, ms);
  }

  /** Goes on with a question of which so many milliseconds are done. */
  async #finishPair<Found, Answer>(question: PairQuestion<Found, Answer>, ms: number): Promise<Answer | null> {
    this.#isInPair = true;
    this.#hold();
    try {
      for (;;) {
        await this.#pause();
        const start = performance.now();
        const found = question.resume();
        ms += performance.now() - start;
        if (found !== undefined) return question.answer(found, ms);
        this.#sayBusy();
      }
    } finally {
      this.#isInPair = false;
      this.#release();
    }
  }

  get #isHeld(): boolean {
    return this.#isInFrame || this.#isInPair;
  }

  /** Tells the main thread that long work goes on, if it was told long ago. */
  #sayBusy(): void {
    const now = performance.now();
    if (now - this.#saidBusyAt <= BUSY_EVERY_MS) return;
    this.#saidBusyAt = now;
    this.#post({ type: 'busy', frame: this.frame }, []);
  }

  /** Lets only what does not disturb long work be done until `#release`, and tells the main thread. */
  #hold(): void {
    this.meshes.keep();
    this.#turns.hold(this.#gate);
    this.#saidBusyAt = 0;
    this.#sayBusy();
  }

  /**
   * What may go before the long work that is under way: objects and meshes may change, as a frame keeps what it reads of
   * them, and a contact has. A frame may begin while a contact is under way. Where there is no memory for what has to be
   * kept, what comes waits.
   */
  readonly #gate: Gate = {
    mayPass: (message) => {
      switch (message.type) {
        case 'frame':
          return !this.#isInFrame;
        case 'ahead':
        case 'commands':
          return this.#mayGoAhead();
        default:
          return message.type === 'abort';
      }
    },
    mayCall: (name, first) => {
      if (HARMLESS.has(name)) return true;
      if (name !== 'updateMesh') return false;
      const mesh = first as MeshId;
      // What is changed in slices waits by itself, when it is done.
      if (this.meshes.isLong(mesh)) return true;
      return this.#mayGoAhead() && hasRoom(() => this.meshes.prepareUpdate(mesh));
    },
  };

  #mayGoAhead(): boolean {
    let mayGo = false;
    return (
      hasRoom(() => {
        mayGo = this.core.goAhead();
      }) && mayGo
    );
  }

  /** Goes on with what waits for long work that has ended. When there is none any more, everything is answered again. */
  #release(): void {
    while (!this.#isHeld && this.#pairs.length > 0) this.#pairs.take()!();
    if (this.#isHeld) return;
    this.#releaseMeshes();
    this.#turns.release();
    if (this.core.isDerivationWanted) this.#derive();
  }

  /** Bakes a mesh as it is now; derives what it needs in slices, where its vertices have moved. */
  async #bake(mesh: MeshAddress): Promise<ArrayBuffer> {
    if (this.core.isFresh(mesh)) return this.core.bakeMesh(mesh);
    const bake = this.core.beginBake(mesh);
    while (bake.step(SLICE_MS) < 1) await this.#pause();
    return bake.finish();
  }

  /**
   * Derives what contacts have asked for, in slices between messages; a frame that is under way sees no change of it.
   */
  async #derive(): Promise<void> {
    if (this.#isDeriving) return;
    this.#isDeriving = true;
    do await this.#pause();
    while (!this.#isHeld && this.core.derive(SLICE_MS));
    this.#isDeriving = false;
  }

  #pause(): Promise<void> {
    return new Promise((resume) => this.#takeTurns(resume));
  }

  /** Serves the messages that wait before it calls `resume`. */
  #takeTurns(resume: () => void): void {
    this.#turns.pause();
    afterMessages(resume);
  }

  #abort(id: number): void {
    this.#builds.get(id)?.abort();
    this.#builds.delete(id);
  }

  #runFrame({ input, out }: FrameMessage): void {
    const failure = this.#failure;
    this.#failure = undefined;
    const msCommands = this.#msCommands;
    this.#msCommands = 0;
    const frame = new DataView(input).getUint32(IN_FRAME, true);
    // After a command that failed none is run: the caller would not see what began and ended in it.
    if (failure) {
      this.frame = frame;
      this.#answer(input, undefined, failure);
      return;
    }
    this.#tryFrame(input, () => {
      this.core.beginFrame(input);
      this.frame = frame;
      const step = (): boolean => {
        const result = this.core.stepFrame(FRAME_SLICE_MS, out, !this.#isInPair);
        if (!result) return false;
        new DataView(result).setFloat64(OUT_MS_COMMANDS, msCommands, true);
        this.#isInFrame = false;
        this.#answer(input, result, undefined);
        return true;
      };
      if (step()) return;
      this.#isInFrame = true;
      this.#hold();
      const goOn = (): void => {
        this.#tryFrame(input, () => {
          if (step()) {
            this.#release();
          } else {
            this.#sayBusy();
            this.#takeTurns(goOn);
          }
        });
      };
      this.#takeTurns(goOn);
    });
    this.frame = frame;
  }

  /**
   * Runs work of a frame. Where that fails, answers the frame with the failure; what it has not done is left to the
   * next one.
   */
  #tryFrame(input: ArrayBuffer, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#isInFrame = false;
      this.#answer(input, undefined, declared(error));
      this.#release();
    }
  }

  #answer(input: ArrayBuffer, out: ArrayBuffer | undefined, failure: Failure | undefined): void {
    const { memoryBytes, usedBytes } = this.core;
    const areMoved = failure && this.core.areCharactersMoved;
    this.#post({ type: 'result', input, out, failure, areMoved, memoryBytes, usedBytes }, out ? [input, out] : [input]);
    if (this.core.isDerivationWanted) this.#derive();
  }

  #tryCommand(command: Command): void {
    try {
      this.#run(command);
    } catch (error) {
      const { code, message } = declared(error);
      this.#failure ??= { code, message: `${nameOf(command)} failed before: ${message}` };
      if (command.type !== 'addObjects') return;
      for (const id of command.ids) {
        this.core.removeObject(id); // a part of them may be there
        this.#unborn.add(id);
      }
    }
  }

  #run(command: Command): void {
    switch (command.type) {
      case 'addObjects':
        this.#addObjects(command);
        break;
      case 'placeObjects':
        this.core.placeAhead(command.input);
        break;
      case 'setObject':
        if (this.#unborn.has(command.id)) break;
        this.core.setObject(command.id, this.#placed(command.description, command.matrix));
        break;
      case 'removeObject':
        if (!this.#unborn.delete(command.id)) this.core.removeObject(command.id);
        break;
      case 'setLayers':
        // Objects that could not be added are not alive.
        for (const id of command.ids) this.core.setLayers(id, command.layers);
        break;
      case 'removeObjects':
        for (const id of command.ids) if (!this.#unborn.delete(id)) this.core.removeObject(id);
        break;
      case 'removeMesh':
        this.meshes.remove(command.mesh);
        break;
      case 'removeView':
        this.core.removeView(command.slot);
        break;
      case 'putCharacter':
        this.core.putCharacter(command.id, command.description);
        break;
      case 'removeCharacter':
        this.core.removeCharacter(command.id);
        break;
    }
  }

  #addObjects({ ids, description, matrices }: AddObjects): void {
    if (ids.length === 1 || matrices.length <= 16) {
      const matrix = matrices.length === 0 ? undefined : matrices;
      this.core.addObjects(Uint32Array.from(ids), this.#placed(description, matrix));
      return;
    }
    const placed = this.#placed(description, undefined);
    for (let i = 0; i < ids.length; i++) {
      placed.matrix = matrices.slice(16 * i, 16 * i + 16);
      this.core.addObjects(Uint32Array.of(ids[i]), placed);
    }
  }

  /** Answers the description as the core takes it: with its mesh's address in it. */
  #placed(description: ObjectDescription, matrix: number[] | undefined): PlacedDescription {
    const mesh = description.mesh === 0 ? 0 : this.meshes.addressOf(description.mesh);
    return { ...description, mesh, matrix };
  }
}

/** Answers the contact of a pair, if there is one. */
function reported(pair: AskedPair, found: CoreContact | null, ms: number): FoundContact {
  if (found === null) return null;
  const { points, normals, depths, triangles, segments, bones } = found;
  const arrays = [points, normals, depths, triangles, segments, bones];
  return transfer(
    { ...pair, ...found, ms },
    arrays.map(({ buffer }) => buffer),
  );
}

/** Answers an update of a mesh whose data are transferred. */
function withData(update: MeshUpdate): MeshUpdate {
  const { positions, indices } = update.rebuild ?? {};
  const buffers = [positions, indices].flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));
  return transfer(update, buffers);
}

/** Does what needs memory, and tells whether there was enough. */
function hasRoom(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    declared(error);
    return false;
  }
}

/** Does one of many: where it fails, the others are done all the same. */
function outcomeOf<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { failure: declared(error) };
  }
}

/** Answers the failure to report. An error that only a bug can throw is thrown again and ends the worker. */
function declared(error: unknown): Failure {
  const failure = failureOf(error);
  if (!failure) throw error;
  return failure;
}

function nameOf(command: Command): string {
  switch (command.type) {
    case 'addObjects':
      return command.ids.length === 1 ? `addObject ${command.ids[0]}` : `adding ${command.ids.length} objects`;
    case 'placeObjects':
      return 'placing instances';
    case 'setObject':
    case 'removeObject':
      return `${command.type} ${command.id}`;
    case 'setLayers':
    case 'removeObjects':
      return `${command.type} of ${command.ids.length}`;
    case 'removeMesh':
      return `removeMesh ${command.mesh}`;
    case 'removeView':
      return 'removeView';
    case 'putCharacter':
      return 'createCharacter';
    case 'removeCharacter':
      return 'character.remove';
  }
}
