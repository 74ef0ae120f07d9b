import { CollisionError, type CollisionService, type MeshId } from 'collision-worker';
import { CollisionHelper, type SceneIntersection, type SceneTracker, trackScene } from 'collision-worker/three';
import { AnimationMixer, Box3, type Mesh, type Object3D, PerspectiveCamera, Vector3, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { grouped } from '../format.js';
import { HitMarker, SelectionMarker } from '../marker.js';
import { element, fillTable, type Progress, showError } from '../panel.js';
import type { Quality } from '../quality.js';
import { animate, compile, createScene, fitToCanvas, showBox } from '../scenery.js';
import { disposeModel } from './dispose-model.js';
import { type PeerHit, Peers } from './peers.js';
import type { Sample, Shown } from './samples.js';
import { Studio } from './studio.js';

/** Milliseconds between two updates of the figures. */
const REPORT_INTERVAL = 400;
/** Maximum number of objects whose trees are drawn. */
const MAX_TREES = 100;
/** Relative to the distance: hits that differ by less count as the same. */
const DISTANCE_TOLERANCE = 1e-4;

/** Maximum number of untracked parts for which the reason is shown. */
const MAX_UNTRACKED = 50;
/** Maximum number of vertices that are measured one by one; beyond that, the objects' boxes are used. */
const MAX_PRECISE_VERTICES = 200_000;
/** Maximum distance of the camera, in multiples of the distance that shows the whole model. */
const MAX_DISTANCE_RATIO = 4;
/** Near and far plane, in multiples of that distance. */
const [NEAR, FAR] = [0.01, 12];

/** Facts about the model that is shown. */
interface Facts {
  objects: number;
  triangles: number;
  points: number;
  /** In words; null if the model has no triangles. */
  closed: string | null;
  openEdges: number;
  buildMs: number;
  bytes: number;
}

/** Shows one model at a time: its facts, the hit under the pointer, and the results of other libraries on the main thread. */
export class ModelPage {
  /** `level` 0 shows no tree boxes. */
  readonly settings = { compare: false, move: !prefersReducedMotion(), level: 0, octree: false, bounds: false };
  readonly camera = new PerspectiveCamera(40, 1, 0.1, 100);
  readonly controls: OrbitControls;
  hit: SceneIntersection | null = null;
  /** Draws the worker's internal structures; null if none is requested. */
  helper: CollisionHelper | null = null;
  name = '';
  /** Null while a user's own model is shown. */
  sample: Sample | null = null;
  readonly #renderer: WebGLRenderer;
  readonly #service: CollisionService;
  readonly #progress: Progress;
  readonly #scene = createScene();
  readonly #marker = new HitMarker();
  readonly #outline = new SelectionMarker(0xffe14d);
  readonly #studio: Studio;
  #tracker: SceneTracker | null = null;
  #model: Shown | null = null;
  #mixer: AnimationMixer | null = null;
  #peers: Peers | null = null;
  #facts: Facts | null = null;
  #loading: AbortController | null = null;
  #pointer: { x: number; y: number } | null = null;
  /** The position of the last pick; the other libraries pick there, too. */
  #pickPosition: { x: number; y: number } | null = null;
  #comparison: Record<string, string> | null = null;
  #isStale = true;
  #latency = Number.NaN;
  #seconds = 0;
  #lastTime = 0;
  #lastReport = 0;

  constructor(renderer: WebGLRenderer, service: CollisionService, quality: Quality, progress: Progress) {
    this.#renderer = renderer;
    this.#service = service;
    this.#progress = progress;
    this.#studio = new Studio(renderer, this.#scene, quality);
    this.#scene.add(this.#studio.root, this.#marker.root, this.#outline.root);
    this.controls = new OrbitControls(this.camera, renderer.domElement);
    this.controls.addEventListener('change', () => this.#onCameraMove());
    const canvas = renderer.domElement;
    for (const type of ['pointermove', 'pointerdown'] as const) {
      canvas.addEventListener(type, ({ offsetX: x, offsetY: y, timeStamp }) => this.#pickAt({ x, y }, timeStamp));
    }
    canvas.addEventListener('pointerleave', ({ pointerType }) => {
      if (pointerType === 'mouse') this.#pickAt(null, 0);
    });
    addEventListener('resize', () => {
      fitToCanvas(renderer, this.camera);
      this.changed();
    });
    fitToCanvas(renderer, this.camera);
    this.#studio.light().then(this.changed, showError);
    animate(renderer, this.#scene, this.camera, (time: number) => this.#frame(time)).catch(showError);
  }

  /** Marks the picture as out of date. */
  readonly changed = (): void => {
    this.#isStale = true;
  };

  /** Shows another model once its trees are built. On failure, it reports the error and keeps the current model. */
  async show(
    load: (signal: AbortSignal, onProgress: (fraction: number) => void) => Promise<Shown>,
    sample: Sample | null = null,
  ): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const { signal } = loading;
    let newTracker: SceneTracker | null = null;
    element('error').hidden = true;
    try {
      this.#progress.begin('Reading the model…', () => loading.abort());
      // A reader does not always stop when it is aborted.
      const model = await untilAborted(
        load(signal, (fraction) => this.#progress.show('Reading the model…', fraction)),
        signal,
      );
      await compile(this.#renderer, model.object, this.camera, this.#scene);
      const { meshBytes } = this.#service.stats;
      const start = performance.now();
      // #region code
      newTracker = await trackScene(this.#service, model.object, {
        signal,
        updateMatrixWorld: true,
        onProgress: (fraction) => this.#progress.show('Building the trees in the worker…', fraction),
      });
      // #endregion
      if (!isTracked(model.object, newTracker)) {
        const [[object, error] = []] = newTracker.untracked;
        throw error === undefined
          ? new Error('nothing in it can be pointed at')
          : new Error(`${nameOf(object!)}: ${error.message}`);
      }
      const facts = {
        ...countsOf(model.object),
        ...closedOf(model.object, newTracker, this.#service),
        buildMs: performance.now() - start,
        bytes: this.#service.stats.meshBytes - meshBytes,
      };
      this.#replace(model, newTracker, facts);
      this.sample = sample;
      showOrigin(sample);
      newTracker = null;
    } catch (error) {
      if (!signal.aborted) showError(error);
    } finally {
      newTracker?.dispose();
      if (this.#loading === loading) this.#progress.end();
    }
  }

  #replace(model: Shown, tracker: SceneTracker, facts: Facts): void {
    this.helper?.dispose();
    this.helper = null;
    this.#tracker?.dispose();
    if (this.#model !== null) {
      this.#scene.remove(this.#model.object);
      disposeModel(this.#model.object);
    }
    this.#model = model;
    this.#tracker = tracker;
    this.#facts = facts;
    this.#peers = null;
    this.#seconds = 0;
    this.#mixer = model.animations.length === 0 ? null : new AnimationMixer(model.object);
    this.#mixer?.clipAction(model.animations[0]).play();
    this.name = model.name;
    this.#scene.add(model.object);
    const box = boxOf(model.object);
    fitToCanvas(this.#renderer, this.camera);
    showBox(this.#renderer, this.camera, box, new Vector3(-0.5, 0.45, 1));
    box.getCenter(this.controls.target);
    this.controls.maxDistance = MAX_DISTANCE_RATIO * this.controls.getDistance();
    this.controls.update();
    this.#onCameraMove();
    this.#studio.place(model.object, box);
    this.#show(null);
    this.showInsides();
    const reasons = [...tracker.untracked].map(([object, error]) => `${nameOf(object)}: ${error.message}`);
    const remainder = reasons.length > MAX_UNTRACKED ? [`and ${reasons.length - MAX_UNTRACKED} more`] : [];
    element('untracked').replaceChildren(
      ...[...reasons.slice(0, MAX_UNTRACKED), ...remainder].map((text) => item(text)),
    );
    element('untracked-part').hidden = reasons.length === 0;
    document.body.dataset.model = model.name;
  }

  /** Draws the worker's structures that the settings ask for. */
  showInsides(): void {
    this.changed();
    this.helper?.dispose();
    this.helper = null;
    const { level, octree, bounds } = this.settings;
    if (this.#tracker === null || this.#model === null || (level === 0 && !octree && !bounds)) return;
    const tracker = this.#tracker;
    const trees: Object3D[] = [];
    if (level > 0) {
      this.#model.object.traverse((each) => {
        if (trees.length < MAX_TREES && tracker.idsOf(each).length === 1) trees.push(each);
      });
    }
    const others = { contacts: false, hits: false, regions: false };
    // #region code
    this.helper = new CollisionHelper(tracker, { trees, levels: [level, level], octree, bounds, ...others });
    this.#scene.add(this.helper);
    // #endregion
  }

  /** The camera has moved. */
  #onCameraMove(): void {
    const distance = this.controls.getDistance();
    [this.camera.near, this.camera.far] = [NEAR * distance, FAR * distance];
    this.camera.updateProjectionMatrix();
    this.changed();
  }

  async #pickAt(pointer: { x: number; y: number } | null, time: number): Promise<void> {
    this.#pointer = pointer;
    if (pointer === null || this.#tracker === null) {
      this.#show(null);
      return;
    }
    try {
      // #region code
      const hit = await this.#tracker.pick(pointer.x, pointer.y, { latest: true });
      // #endregion
      this.#latency = performance.now() - time;
      if (this.#pointer === null) return;
      this.#pickPosition = pointer;
      this.#show(hit);
    } catch (error) {
      // It is no error if the model was replaced meanwhile.
      if (!(CollisionError.is(error) && error.code === 'DISPOSED')) showError(error);
    }
  }

  #show(hit: SceneIntersection | null): void {
    this.hit = hit;
    this.#comparison = null;
    this.#marker.show(hit);
    this.#outline.select(hit !== null && isRigid(hit.object) ? hit : null);
    this.#outline.update();
    this.changed();
    element('hit-name').textContent = hit === null ? 'nothing' : nameOf(hit.object);
    element('hit-detail').textContent = hit === null ? '\u00a0' : detailOf(hit);
  }

  /** Whether the model is moving, so that the worker's answer does not match the current picture and the others' results. */
  get #isMoving(): boolean {
    return this.settings.move && (this.#mixer !== null || this.#model?.animate !== undefined);
  }

  #frame(time: number): void {
    const seconds = Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    const isMoving = this.#isMoving;
    if (isMoving) {
      this.#seconds += seconds;
      this.#mixer?.update(seconds);
      this.#model?.animate?.(this.#seconds);
    }
    // The helper receives its data gradually.
    if (isMoving || this.#isStale || this.helper !== null) {
      this.#isStale = false;
      if (isMoving) this.#studio.refresh();
      this.#draw();
    }
    if (isMoving && this.#pointer !== null) this.#pickAt(this.#pointer, performance.now());
    if (time - this.#lastReport < REPORT_INTERVAL) return;
    this.#lastReport = time;
    this.#report();
  }

  #draw(): void {
    this.#outline.update();
    this.#renderer.render(this.#scene, this.camera);
    // #region code
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    this.#tracker?.update(this.camera, { width, height }).catch((error) => {
      if (!(CollisionError.is(error) && error.code === 'DISPOSED')) showError(error);
    });
    // #endregion
  }

  #report(): void {
    if (this.#facts === null) return;
    const { objects, triangles, points, closed, openEdges, buildMs, bytes } = this.#facts;
    if (this.settings.compare && this.#comparison === null) this.#comparison = this.#compare();
    const format = grouped;
    fillTable(element('figures'), {
      objects: format(objects),
      triangles: format(triangles),
      ...(points > 0 && { 'points and lines': format(points) }),
      ...(closed !== null && { closed }),
      ...(openEdges > 0 && { 'open edges': format(openEdges) }),
      'built in the worker in': `${format(Math.round(buildMs))} ms`,
      'memory of its trees': `${(bytes / 2 ** 20).toFixed(1)} MB`,
      'worker: a frame': `${this.#service.stats.ms.total.toFixed(2)} ms`,
      'mouse to answer': Number.isNaN(this.#latency) ? '–' : `${this.#latency.toFixed(1)} ms`,
      ...(this.settings.compare && this.#comparison),
    });
  }

  /** Picks at the same position with the other libraries, on the main thread. */
  #compare(): Record<string, string> {
    if (this.#pointer === null || this.#pickPosition === null || this.#model === null)
      return { 'on the main thread': 'point at it' };
    this.#peers ??= new Peers(this.#model.object);
    const { clientWidth, clientHeight } = this.#renderer.domElement;
    const [x, y] = [(2 * this.#pickPosition.x) / clientWidth - 1, 1 - (2 * this.#pickPosition.y) / clientHeight];
    const describe = ({ hit, ms }: PeerHit): string =>
      `${ms.toFixed(2)} ms${this.#isMoving ? '' : `, ${this.#isSameHit(hit) ? 'same' : 'another'} hit`}`;
    const bvh = this.#peers.meshBvh(x, y, this.camera);
    return {
      'three’s Raycaster': describe(this.#peers.raycaster(x, y, this.camera)),
      'three-mesh-bvh': bvh === null ? 'no tree of bones' : describe(bvh),
      ...(bvh !== null && { 'its trees, built here': `${grouped(this.#peers.buildMs)} ms` }),
    };
  }

  #isSameHit(other: { distance: number; object: Object3D } | null): boolean {
    if (this.hit === null || other === null) return this.hit === other;
    return Math.abs(this.hit.distance - other.distance) <= DISTANCE_TOLERANCE * other.distance;
  }
}

/** Returns whether any part of the model can be picked. */
function isTracked(root: Object3D, tracker: SceneTracker): boolean {
  let isFound = false;
  root.traverse((each) => {
    isFound ||= tracker.idsOf(each).length > 0;
  });
  return isFound;
}

function countsOf(root: Object3D): Pick<Facts, 'objects' | 'triangles' | 'points'> {
  const counts = { objects: 0, triangles: 0, points: 0 };
  root.traverse((each) => {
    const { geometry, count = 1 } = each as Mesh & { count?: number };
    const vertices = geometry?.index?.count ?? geometry?.attributes.position?.count ?? 0;
    if (vertices === 0) return;
    counts.objects += count;
    if ((each as Mesh).isMesh) counts.triangles += (vertices / 3) * count;
    else counts.points += vertices;
  });
  return counts;
}

/** Returns whether the model's meshes are closed, counting each mesh once. */
function closedOf(
  root: Object3D,
  tracker: SceneTracker,
  service: CollisionService,
): Pick<Facts, 'closed' | 'openEdges'> {
  const meshes = new Set<MeshId>();
  root.traverse((each) => {
    const ids = tracker.idsOf(each);
    // All instances of an InstancedMesh are of one mesh.
    const mesh = ids.length === 0 ? null : service.meshOf(ids[0]);
    if (mesh !== null) meshes.add(mesh);
  });
  const infos = [...meshes].map((mesh) => service.meshInfo(mesh)).filter(({ topology }) => topology === 'triangles');
  if (infos.length === 0) return { closed: null, openEdges: 0 };
  const closed = infos.filter((info) => info.closed).length;
  const openEdges = infos.reduce((sum, info) => sum + info.openEdges, 0);
  if (infos.length === 1) return { closed: closed === 1 ? 'yes' : 'no', openEdges };
  return { closed: `${grouped(closed)} of ${grouped(infos.length)} meshes`, openEdges };
}

/** Returns the model's bounds, computed from its vertices unless there are too many. */
function boxOf(root: Object3D): Box3 {
  let vertices = 0;
  root.traverse((each) => {
    const { geometry, count = 1 } = each as Mesh & { count?: number };
    vertices += count * (geometry?.attributes.position?.count ?? 0);
  });
  return new Box3().setFromObject(root, vertices <= MAX_PRECISE_VERTICES);
}

/** Returns whether the object's box is unaffected by bones and morph targets. */
function isRigid(object: Object3D): boolean {
  return !('skeleton' in object) && (object as Mesh).morphTargetInfluences === undefined;
}

/** Returns whether the user prefers reduced motion. */
function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Shows the origin of a sample; for a user's own model there is none to show. */
function showOrigin(sample: Sample | null): void {
  const link = document.createElement('a');
  link.href = sample?.from.url ?? '';
  link.textContent = sample?.from.source ?? '';
  element('licence').replaceChildren(...(sample === null ? [] : [link, `: ${sample.from.licence}`]));
}

function nameOf(object: Object3D): string {
  return object.name || object.parent?.name || object.type;
}

function detailOf({ distance, faceIndex, index, instanceId, bone, object }: SceneIntersection): string {
  const bones = (object as Object3D & { skeleton?: { bones: Object3D[] } }).skeleton?.bones;
  return [
    `distance ${distance.toPrecision(5)}`,
    ...(instanceId === undefined ? [] : [`instance ${instanceId}`]),
    ...(faceIndex === undefined || faceIndex === null ? [] : [`triangle ${faceIndex}`]),
    ...(index === undefined ? [] : [`point ${index}`]),
    ...(bone === undefined || bone < 0 ? [] : [`bone ${bones?.[bone]?.name || bone}`]),
  ].join(', ');
}

function item(text: string): HTMLLIElement {
  const listItem = document.createElement('li');
  listItem.textContent = text;
  return listItem;
}
