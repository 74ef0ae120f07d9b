import type { BoxCheck, CollisionService, Hit, MeshId, NamedBox, ObjectId } from 'collision-worker';
import { viewFromCamera } from 'collision-worker/three';
import {
  type BufferGeometry,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  type Quaternion,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import { grouped } from '../format.js';
import { nextTurn } from '../next-turn.js';
import { Panel, showError } from '../panel.js';
import { animate, createScene, fitToCanvas, showBox } from '../scenery.js';
import { type BoxEditor, BoxList, type Mode } from './box-list.js';
import { BoxShape } from './box-shape.js';

/** CSS pixels that the pointer may move during a click. */
const MAX_CLICK_DISTANCE = 5;
/** Step of an arrow key, in sizes of the dragon, and radians; a fifth of it with Shift. */
const MOVE_STEP = 0.02;
const TURN_STEP = 0.05;
const KEY_DIRECTIONS: Record<string, readonly [x: number, y: number, z: number]> = {
  ArrowLeft: [-1, 0, 0],
  ArrowRight: [1, 0, 0],
  PageUp: [0, 1, 0],
  PageDown: [0, -1, 0],
  ArrowUp: [0, 0, -1],
  ArrowDown: [0, 0, 1],
};
const KEY_MODES: Record<string, Mode> = { m: 'translate', t: 'rotate', s: 'scale' };

interface Dragon {
  readonly mesh: MeshId;
  readonly object: ObjectId;
}

/** A mesh with the boxes that stand in for it, which are edited by hand. */
export class BoxesPage implements BoxEditor {
  readonly camera: PerspectiveCamera;
  readonly shapes: BoxShape[] = [];
  /** The worker's check of the current boxes; null while it is running. */
  check: BoxCheck | null = null;
  selected: BoxShape | null = null;
  hit: Hit | null = null;
  readonly #renderer: WebGLRenderer;
  readonly #service: CollisionService;
  readonly #mesh: MeshId;
  readonly #object: ObjectId;
  readonly #model: Mesh;
  readonly #size: number;
  readonly #scene = createScene();
  readonly #controls: OrbitControls;
  readonly #gizmo: TransformControls;
  readonly #list: BoxList;
  readonly #panel = new Panel();
  #isStale = true;
  #areBoxesStale = false;
  #isChecking = false;
  #checkMs = Number.NaN;

  /** Creates the gizmo first, which takes longer than all the rest; then yields to the page. */
  static async create(
    renderer: WebGLRenderer,
    geometry: BufferGeometry,
    service: CollisionService,
    dragon: Dragon,
  ): Promise<BoxesPage> {
    const camera = new PerspectiveCamera(36, 1, 0.01, 100);
    const gizmo = new TransformControls(camera, renderer.domElement);
    await nextTurn();
    return new BoxesPage(renderer, geometry, service, dragon, camera, gizmo);
  }

  private constructor(
    renderer: WebGLRenderer,
    geometry: BufferGeometry,
    service: CollisionService,
    { mesh, object }: Dragon,
    camera: PerspectiveCamera,
    gizmo: TransformControls,
  ) {
    this.camera = camera;
    this.#gizmo = gizmo;
    this.#renderer = renderer;
    this.#service = service;
    this.#mesh = mesh;
    this.#object = object;
    const canvas = renderer.domElement;
    const box = geometry.boundingBox!;
    this.#size = box.getSize(new Vector3()).length();
    this.#model = new Mesh(geometry, new MeshStandardMaterial({ color: 0x5fae97, roughness: 0.6 }));
    this.#scene.add(this.#model);
    this.#controls = new OrbitControls(this.camera, canvas);
    box.getCenter(this.#controls.target);
    fitToCanvas(renderer, this.camera);
    showBox(renderer, this.camera, box.clone().expandByScalar(0.06 * this.#size), new Vector3(-0.5, 0.45, 1));
    this.#controls.update();
    this.#controls.addEventListener('change', this.changed);

    this.#gizmo.setSpace('local');
    this.#gizmo.addEventListener('change', this.changed);
    this.#gizmo.addEventListener('objectChange', () => this.#onEdit());
    this.#gizmo.addEventListener('dragging-changed', ({ value }) => {
      this.#controls.enabled = value !== true;
    });
    this.#scene.add(this.#gizmo.getHelper());
    this.#list = new BoxList(this);
    this.#listen(canvas);
    addEventListener('resize', () => {
      fitToCanvas(renderer, this.camera);
      this.changed();
    });
    animate(renderer, this.#scene, this.camera, () => this.#frame()).catch(showError);
  }

  readonly changed = (): void => {
    this.#isStale = true;
  };

  get showsModel(): boolean {
    return this.#model.visible;
  }

  set showsModel(isShown: boolean) {
    this.#model.visible = isShown;
    this.changed();
  }

  get mode(): Mode {
    return this.#gizmo.mode as Mode;
  }

  set mode(mode: Mode) {
    this.#gizmo.setMode(mode);
    this.#list.show();
  }

  /** The handle under the pointer; null if none. */
  get hovered(): string | null {
    return this.#gizmo.axis;
  }

  get boxes(): NamedBox[] {
    return this.shapes.map((shape) => shape.toBox());
  }

  /** Takes the boxes of one level of the mesh's tree. */
  async loadTreeBoxes(level: number): Promise<void> {
    // #region code
    const boxes = await this.#service.meshBoxes(this.#mesh, { level });
    // #endregion
    for (const shape of [...this.shapes]) this.#removeShape(shape);
    for (const [i, box] of boxes.entries()) this.#addShape(new BoxShape(box, i));
    this.select(null);
    this.#onEdit();
  }

  /** Adds a box in the middle of the mesh. */
  add(): void {
    const names = new Set(this.shapes.map(({ name }) => name));
    let boxNumber = this.shapes.length + 1;
    while (names.has(`box ${boxNumber}`)) boxNumber++;
    const half = 0.08 * this.#size;
    const center = this.#controls.target.toArray();
    const shape = new BoxShape({ name: `box ${boxNumber}`, center, halfExtents: [half, half, half] }, boxNumber - 1);
    this.#addShape(shape);
    this.select(shape);
    this.#onEdit();
  }

  removeSelected(): void {
    // An object must have at least one box; without any it would use its bounds again.
    if (this.selected === null || this.shapes.length < 2) return;
    this.#removeShape(this.selected);
    this.select(null);
    this.#onEdit();
  }

  rename(name: string): boolean {
    const isTaken = this.shapes.some((shape) => shape !== this.selected && shape.name === name);
    if (this.selected === null || name === '' || isTaken) return false;
    this.selected.name = name;
    this.#onEdit();
    return true;
  }

  select(shape: BoxShape | null): void {
    this.selected = shape;
    if (shape === null) this.#gizmo.detach();
    else this.#gizmo.attach(shape);
    this.#light();
    this.#list.show();
  }

  /** Writes the boxes into the baked mesh, and offers it as a download. */
  async save(): Promise<void> {
    // #region code
    const baked = await this.#service.bakeMesh(this.#mesh, { boxes: this.boxes });
    // #endregion
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([baked]));
    link.download = 'dragon.mesh';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }

  #addShape(shape: BoxShape): void {
    this.shapes.push(shape);
    this.#scene.add(shape);
  }

  #removeShape(shape: BoxShape): void {
    this.shapes.splice(this.shapes.indexOf(shape), 1);
    this.#scene.remove(shape);
    shape.disposeResources();
  }

  #onEdit(): void {
    this.#areBoxesStale = true;
    this.check = null;
    this.#list.show();
    this.changed();
  }

  #listen(canvas: HTMLCanvasElement): void {
    let pressed: { x: number; y: number; isFree: boolean } | null = null;
    canvas.addEventListener('pointerdown', ({ offsetX: x, offsetY: y }) => {
      pressed = { x, y, isFree: !this.#gizmo.dragging && this.#gizmo.axis === null };
    });
    canvas.addEventListener('pointerup', async ({ offsetX: x, offsetY: y }) => {
      const isClick = pressed?.isFree === true && Math.hypot(x - pressed.x, y - pressed.y) < MAX_CLICK_DISTANCE;
      pressed = null;
      if (isClick) await this.#pickAt(x, y).then((hit) => this.select(this.#shapeOf(hit)), showError);
    });
    canvas.addEventListener('pointermove', ({ offsetX: x, offsetY: y, buttons }) => {
      if (buttons === 0) this.#pickAt(x, y).catch(showError);
    });
    canvas.addEventListener('keydown', (event) => {
      if (this.#onKey(event)) event.preventDefault();
    });
  }

  async #pickAt(x: number, y: number): Promise<Hit | null> {
    // #region code
    const hit = await this.#service.pick(x, y, { precision: 'obb', latest: true });
    // #endregion
    this.hit = hit;
    this.#panel.showName(hit?.box ?? null, hit === null ? '' : `distance ${hit.distance.toFixed(3)}`);
    this.#light();
    return hit;
  }

  #shapeOf(hit: Hit | null): BoxShape | null {
    return this.shapes.find(({ name }) => name === hit?.box) ?? null;
  }

  #light(): void {
    const hovered = this.#shapeOf(this.hit);
    for (const shape of this.shapes) shape.light(shape === this.selected, shape === hovered);
    this.changed();
  }

  /** Selects a mode by a key. Returns whether the key is one of ours. */
  #onKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    if (ctrlKey || metaKey || altKey || !(key in KEY_MODES)) return false;
    this.mode = KEY_MODES[key];
    return true;
  }

  /** Moves, rotates or scales a box by a key. Returns whether the key is one of ours. */
  nudge(shape: BoxShape, event: KeyboardEvent): boolean {
    if (this.#onKey(event)) return true;
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    const axis = KEY_DIRECTIONS[key];
    if (axis === undefined || ctrlKey || metaKey || altKey) return false;
    if (shape !== this.selected) this.select(shape);
    const { position, scale } = shape;
    const factor = shiftKey ? 0.2 : 1;
    const direction = new Vector3(...axis);
    if (this.mode === 'translate') position.addScaledVector(direction, MOVE_STEP * factor * this.#size);
    else if (this.mode === 'rotate') rotate(shape.quaternion, direction, TURN_STEP * factor);
    // The up and down keys scale like the right and left keys.
    else
      scale.multiply(
        direction
          .setZ(-direction.z)
          .multiplyScalar(2 * MOVE_STEP * factor)
          .addScalar(1),
      );
    this.#onEdit();
    return true;
  }

  #frame(): void {
    if (this.#areBoxesStale) this.#sendBoxes();
    if (!this.#isStale) return;
    this.#isStale = false;
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    this.#renderer.render(this.#scene, this.camera);
    this.#service.setView(viewFromCamera(this.camera, { width, height }));
    this.#service.update().catch(showError);
  }

  /** Sends the current boxes to the worker, which checks whether they enclose the mesh; one check at a time. */
  #sendBoxes(): void {
    const { boxes } = this;
    // #region code
    this.#service.setObject(this.#object, { boxes });
    // #endregion
    if (this.#isChecking) return;
    this.#areBoxesStale = false;
    this.#checkBoxes(boxes).catch(showError);
  }

  async #checkBoxes(boxes: NamedBox[]): Promise<void> {
    this.#isChecking = true;
    const start = performance.now();
    // #region code
    const check = await this.#service.checkBoxes(this.#mesh, boxes);
    // #endregion
    this.#checkMs = performance.now() - start;
    this.#isChecking = false;
    if (!this.#areBoxesStale) this.check = check;
    this.#list.showCheck(check, check.farthest / this.#size);
    this.#panel.showFigures({
      boxes: String(boxes.length),
      triangles: grouped(this.#service.meshInfo(this.#mesh).triangles),
      'the check': `${this.#checkMs.toFixed(1)} ms`,
    });
  }
}

function rotate(quaternion: Quaternion, axis: Vector3, angle: number): void {
  quaternion.multiply(quaternion.clone().setFromAxisAngle(axis, angle)).normalize();
}
