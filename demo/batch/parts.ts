import { BatchedMesh, Box3, Color, Matrix4, MeshLambertMaterial, Quaternion, Vector3 } from 'three';
import { nextTurn } from '../next-turn.js';
import { mulberry32 } from '../random.js';
import { createKinds } from './kinds.js';

const HIGHLIGHT_COLOR = new Color(0xffe14d);
/** The parts drift around a torus: its radius, and that of its cross section. */
const RING_RADIUS = 11;
const SECTION_RADIUS = 3.4;
/** Half the size of a box that is as wide in the picture as the torus, which has no corners. */
const HALF_SIZE = 11.8;
/** Number of parts that are made before yielding to the page. */
const PARTS_PER_BATCH = 1000;

/** How a part moves: its angles around the torus and around the cross section, and its speeds (radians per second). */
interface Drift {
  angle: number;
  speed: number;
  depth: number;
  turn: number;
  turning: number;
  axis: Vector3;
  size: number;
}

/** Thousands of machine parts in one BatchedMesh. A part's number is its `batchId`. */
export class Parts {
  readonly mesh: BatchedMesh;
  readonly box = new Box3(
    new Vector3(-HALF_SIZE, -SECTION_RADIUS, -HALF_SIZE),
    new Vector3(HALF_SIZE, SECTION_RADIUS, HALF_SIZE),
  );
  readonly kinds: readonly string[];
  /** Numbers of the parts that were removed. */
  readonly out = new Set<number>();
  readonly #geometries: readonly number[];
  readonly #kindOf: number[] = [];
  readonly #colors: Color[] = [];
  readonly #drifts: Drift[] = [];
  readonly #random = mulberry32(5);
  /** The only kind that is shown; '' for all. */
  #shownKind = '';
  #highlightedPart = -1;

  /** Makes the parts in batches and yields to the page in between. */
  static async create(count: number, segments: number): Promise<Parts> {
    const kinds = createKinds(segments);
    await nextTurn();
    const parts = new Parts(count, kinds);
    for (const _ of parts.#add(kinds)) await nextTurn();
    return parts;
  }

  private constructor(count: number, kinds: ReturnType<typeof createKinds>) {
    this.kinds = kinds.map(({ name }) => name);
    const vertices = kinds.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
    this.mesh = new BatchedMesh(count, vertices, 0, new MeshLambertMaterial());
    this.mesh.name = 'parts';
    this.mesh.frustumCulled = this.mesh.perObjectFrustumCulled = this.mesh.sortObjects = false; // every part is always in the picture
    this.#geometries = kinds.map(({ geometry }) => this.mesh.addGeometry(geometry));
  }

  *#add(kinds: ReturnType<typeof createKinds>): Generator<void> {
    for (let part = 0; part < this.mesh.maxInstanceCount; part++) {
      const kind = Math.floor(kinds.length * this.#random());
      const color = new Color(kinds[kind].color).offsetHSL(0, 0, 0.12 * (this.#random() - 0.5));
      this.#kindOf.push(kind);
      this.#colors.push(color);
      this.#drifts.push(driftOf(this.#random));
      this.mesh.addInstance(this.#geometries[kind]);
      this.mesh.setColorAt(part, color);
      if (part % PARTS_PER_BATCH === PARTS_PER_BATCH - 1) yield;
    }
    this.pose(0);
  }

  get count(): number {
    return this.#drifts.length;
  }

  get shown(): number {
    return this.#kindOf.filter((_, part) => this.#isShown(part)).length;
  }

  nameOf(part: number): string {
    return `${this.kinds[this.#kindOf[part]]} ${part}`;
  }

  pose(seconds: number): void {
    this.#drifts.forEach(({ angle, speed, depth, turn, turning, axis, size }, part) => {
      const ringAngle = angle + speed * seconds;
      const sectionAngle = turn + 0.6 * speed * seconds;
      const radius = RING_RADIUS + depth * Math.cos(sectionAngle);
      POSITION.set(radius * Math.cos(ringAngle), depth * Math.sin(sectionAngle), radius * Math.sin(ringAngle));
      MATRIX.compose(POSITION, ROTATION.setFromAxisAngle(axis, turning * seconds + 7 * turn), SCALE.setScalar(size));
      this.mesh.setMatrixAt(part, MATRIX);
    });
  }

  /** Highlights a part; -1 for none. */
  light(part: number): void {
    if (part === this.#highlightedPart) return;
    if (this.#highlightedPart >= 0) this.mesh.setColorAt(this.#highlightedPart, this.#colors[this.#highlightedPart]);
    if (part >= 0) this.mesh.setColorAt(part, HIGHLIGHT_COLOR);
    this.#highlightedPart = part;
  }

  takeOut(part: number): void {
    this.out.add(part);
    this.#show(part);
  }

  putBack(): void {
    this.out.clear();
    this.#showAll();
  }

  /** Shows one kind only; '' for all. */
  showOnly(kind: string): void {
    this.#shownKind = kind;
    this.#showAll();
  }

  #showAll(): void {
    for (let part = 0; part < this.count; part++) this.#show(part);
  }

  #show(part: number): void {
    this.mesh.setVisibleAt(part, this.#isShown(part));
  }

  #isShown(part: number): boolean {
    return !this.out.has(part) && (this.#shownKind === '' || this.kinds[this.#kindOf[part]] === this.#shownKind);
  }
}

const MATRIX = new Matrix4();
const POSITION = new Vector3();
const ROTATION = new Quaternion();
const SCALE = new Vector3();

function driftOf(random: () => number): Drift {
  return {
    angle: 2 * Math.PI * random(),
    speed: 0.05 + 0.08 * random(),
    depth: SECTION_RADIUS * Math.sqrt(random()),
    turn: 2 * Math.PI * random(),
    turning: 0.3 + random(),
    axis: new Vector3(random() - 0.5, random() - 0.5, random() - 0.5).normalize(),
    size: 0.5 + 0.5 * random(),
  };
}
