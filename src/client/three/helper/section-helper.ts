import {
  BufferAttribute,
  BufferGeometry,
  type ColorRepresentation,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  type Plane,
} from 'three';
import { checkBoolean, checkFinite, guardRead, readOptions, throwInvalid } from '../../check/validate.js';
import type { SceneSection, SceneSectionOptions } from '../query/scene-section.js';
import type { SceneTracker } from '../scene-tracker.js';
import { SceneHelper } from './scene-helper.js';

export interface SectionHelperOptions extends Omit<SceneSectionOptions, 'signal' | 'caps'> {
  /** Whether the cut is filled. Default true. */
  caps?: boolean;
  /** The colour of the outlines; default black. */
  color?: ColorRepresentation;
  /** The colour of the caps; default a light red. */
  capColor?: ColorRepresentation;
  /**
   * How far in front of the plane the section is drawn, in world units: use a little if the renderer clips with the plane itself,
   * which would cut into the section by rounding. Default 0.
   */
  offset?: number;
}

const QUERY_KEYS = ['layers', 'ignore', 'precision', 'weld', 'roundPoints'] as const;
const KEYS: readonly string[] = [...QUERY_KEYS, 'caps', 'color', 'capColor', 'offset'];

/**
 * Draws where a plane cuts the scene: outlines, and caps over the cut. The plane is used by reference, and may be moved at any
 * time: for example that of a material's `clippingPlanes`. The tracker ignores the helper, and nothing hits it.
 *
 * ```ts
 * const plane = new Plane(new Vector3(0, -1, 0), 1.2);
 * material.clippingPlanes = [plane];
 * scene.add(new SectionHelper(tracker, plane));
 * ```
 *
 * It asks after each frame that is answered, at most one question at a time; the worker cuts and triangulates. While it is not
 * `visible`, or after it is disposed of, it asks for nothing. Add it to the scene itself, or to an object without a transform.
 * Errors are reported once in the console.
 *
 * `outlines` and `caps` are three's own objects, with materials that may be changed: set `helper.caps.material.clippingPlanes` to
 * the other planes that cut the scene.
 */
export class SectionHelper extends SceneHelper {
  readonly outlines: LineSegments<BufferGeometry, LineBasicMaterial>;
  readonly caps: Mesh<BufferGeometry, MeshBasicMaterial>;
  /** The section that is drawn; null before the first answer. */
  section: SceneSection | null = null;
  readonly #plane: Plane;
  readonly #query: SceneSectionOptions;
  readonly #offset: number;

  /** Throws INVALID_ARGUMENT, and DISPOSED if the tracker is disposed. */
  constructor(tracker: SceneTracker, plane: Plane, options: SectionHelperOptions = {}) {
    const operation = 'SectionHelper';
    const given = readOptions(operation, 'options', options, KEYS);
    const { caps = true, color = 0x000000, capColor = 0xe8a090, offset = 0 } = given;
    checkBoolean(operation, 'caps', caps);
    checkFinite(operation, 'offset', offset);
    guardRead(operation, 'plane', () => {
      if (plane?.normal === undefined) throwInvalid(operation, 'plane', plane, "three's Plane");
    });
    // Materials are made before the tracker knows of the helper: a colour that cannot be read leaves nothing behind.
    const lineMaterial = guardRead(operation, 'color', () => new LineBasicMaterial({ color }));
    const fillMaterial = guardRead(
      operation,
      'capColor',
      () => new MeshBasicMaterial({ color: capColor, side: DoubleSide }),
    );
    super(operation, tracker);
    this.#offset = offset;
    this.#plane = plane;
    const queryEntries = QUERY_KEYS.filter((key) => given[key] !== undefined).map((key) => [key, given[key]]);
    this.#query = { ...Object.fromEntries(queryEntries), caps };
    this.outlines = new LineSegments(new BufferGeometry(), lineMaterial);
    // The plane's normal points into the part that is kept; whoever looks at the cut sees it from behind.
    this.caps = new Mesh(new BufferGeometry(), fillMaterial);
    this.caps.material.polygonOffset = true; // behind its outlines
    this.caps.material.polygonOffsetFactor = 1;
    this.caps.material.polygonOffsetUnits = 1;
    for (const each of [this.caps, this.outlines]) {
      each.raycast = () => {};
      each.frustumCulled = false; // its bounds would be computed with every section
      each.visible = false;
      this.add(each);
    }
  }

  /** @internal */
  answered(): void {
    const { normal, constant } = this.#plane;
    const plane = [normal.x, normal.y, normal.z, constant];
    void this.ask(
      (signal) => this.tracker.section(plane, { ...this.#query, signal }),
      (section) => this.#show(section),
    );
  }

  protected release(): void {
    for (const { geometry, material } of [this.outlines, this.caps]) {
      geometry.dispose();
      material.dispose();
    }
  }

  /** Takes over a section, relative to one of its points, near which float32 is precise enough. */
  #show(section: SceneSection): void {
    this.section = section;
    const { starts, closed, points, caps } = section;
    const { normal } = this.#plane;
    const normalFactor = this.#offset / normal.length();
    const [x = 0, y = 0, z = 0] = points;
    this.outlines.position.set(x, y, z).addScaledVector(normal, normalFactor);
    this.caps.position.copy(this.outlines.position);
    const positions = new Float32Array(points.length);
    for (let i = 0; i < positions.length; i += 3) {
      positions[i] = points[i] - x;
      positions[i + 1] = points[i + 1] - y;
      positions[i + 2] = points[i + 2] - z;
    }
    const lineIndices = new Uint32Array(2 * (positions.length / 3));
    let count = 0;
    for (let outline = 0; outline < closed.length; outline++) {
      const last = starts[outline + 1] - 1;
      for (let i = starts[outline]; i < last; i++) {
        lineIndices[count++] = i;
        lineIndices[count++] = i + 1;
      }
      if (!closed[outline]) continue;
      lineIndices[count++] = last;
      lineIndices[count++] = starts[outline];
    }
    const position = new BufferAttribute(positions, 3);
    setGeometry(this.outlines, position, lineIndices.subarray(0, count));
    setGeometry(this.caps, position, caps);
  }
}

function setGeometry(target: LineSegments | Mesh, position: BufferAttribute, indices: Uint32Array): void {
  target.geometry.dispose();
  target.geometry = new BufferGeometry().setAttribute('position', position);
  target.geometry.setIndex(new BufferAttribute(indices, 1));
  target.visible = indices.length > 0;
}
