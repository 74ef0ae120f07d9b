import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  type Intersection,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type Plane,
  Vector3,
} from 'three';
import { IS_LIGHT } from '../scenery.js';
import type { BuildingPart, Layer } from './building.js';
import { FLOOR_HEIGHT, PLAN } from './measures.js';

const COLORS: Record<Layer, number> = {
  slabs: 0xa9b0ba,
  columns: 0x98a2af,
  beams: 0x6f83a3,
  facade: 0x7d8797,
  walls: 0xd8d2c4,
  stairs: 0xb9a88f,
  furniture: 0xa9855c,
  ducts: 0x4fb0c4,
  pipes: 0xd05a52,
  trays: 0x9a78cf,
  lights: 0xf2ecd2,
};
export const LAYERS = Object.keys(COLORS) as Layer[];
/** The windows are see-through. */
const GLASS = { name: 'panes', color: IS_LIGHT ? 0x6f9dc9 : 0x86b6e6, opacity: 0.28 };
/** Metres from the ground plan to the outside of the facade, and the height above the last slab. */
const FACADE = { out: 0.45, above: 0.85 };
const [HOVER_COLOR, CLASH_COLOR] = [0xffe14d, 0xff9a4a];

/** The parts of a building as InstancedMeshes: one for each geometry of each layer. */
export class BuildingModel {
  readonly root = new Group();
  readonly parts: readonly BuildingPart[];
  readonly box: Box3;
  readonly triangles: number;
  /** Drawn over the part under the pointer. */
  readonly mark = createMark(HOVER_COLOR);
  /** Drawn over two parts that clash. */
  readonly clashMarks = [createMark(CLASH_COLOR), createMark(CLASH_COLOR)];
  readonly #materials: MeshLambertMaterial[] = [];
  readonly #partsOf = new Map<InstancedMesh, BuildingPart[]>();
  readonly #instanceOf = new Map<BuildingPart, { mesh: InstancedMesh; instance: number }>();

  constructor(parts: readonly BuildingPart[]) {
    this.parts = parts;
    const floors = 1 + parts.reduce((highest, { floor }) => Math.max(highest, floor), 0);
    const { out, above } = FACADE;
    this.box = new Box3(
      new Vector3(-out, 0, -out),
      new Vector3(PLAN.x + out, floors * FLOOR_HEIGHT + above, PLAN.z + out),
    );
    this.triangles = parts.reduce((sum, { geometry }) => sum + geometry.indices.length / 3, 0);
    for (const layer of LAYERS) this.#addLayer(layer);
  }

  /** Clips everything that is not above the plane: it is neither drawn nor picked. null for no clipping. */
  cut(plane: Plane | null): void {
    for (const material of this.#materials) material.clippingPlanes = plane === null ? null : [plane];
    for (const mark of [this.mark, ...this.clashMarks]) mark.material.clippingPlanes = plane === null ? null : [plane];
  }

  show(layer: Layer, isShown: boolean): void {
    for (const mesh of this.root.children) if (mesh.name === layer) mesh.visible = isShown;
  }

  partOf({ object, instanceId }: Pick<Intersection, 'object' | 'instanceId'>): BuildingPart {
    return this.#partsOf.get(object as InstancedMesh)![instanceId!];
  }

  /** Highlights a part; null for none. */
  light(part: BuildingPart | null): void {
    this.#showMark(this.mark, part);
  }

  /** Marks the two parts that clash, by their ids. */
  showClash(ids: readonly string[]): void {
    this.clashMarks.forEach((mark, i) => {
      this.#showMark(mark, this.parts.find(({ id }) => id === ids[i]) ?? null);
    });
  }

  #showMark(mark: Mark, part: BuildingPart | null): void {
    mark.visible = part !== null;
    if (part === null) return;
    mark.geometry = this.#instanceOf.get(part)!.mesh.geometry;
    mark.matrix.fromArray(part.matrix);
  }

  /** Returns the box of a part in world space. */
  boxOf({ geometry, matrix }: BuildingPart): Box3 {
    const box = new Box3().setFromArray(geometry.positions as unknown as number[]);
    return box.applyMatrix4(new Matrix4().fromArray(matrix));
  }

  #addLayer(layer: Layer): void {
    const partsBySolid = new Map<BuildingPart['geometry'], BuildingPart[]>();
    for (const part of this.parts) {
      if (part.layer !== layer) continue;
      if (!partsBySolid.has(part.geometry)) partsBySolid.set(part.geometry, []);
      partsBySolid.get(part.geometry)!.push(part);
    }
    const opaque = this.#material({ color: COLORS[layer] });
    for (const [solid, parts] of partsBySolid) {
      const { color, opacity } = GLASS;
      const isGlass = solid.name === GLASS.name;
      const material = isGlass ? this.#material({ color, opacity, transparent: true, depthWrite: false }) : opaque;
      const geometry = new BufferGeometry()
        .setAttribute('position', new BufferAttribute(solid.positions, 3))
        .setIndex(new BufferAttribute(solid.indices, 1));
      const mesh = new InstancedMesh(geometry, material, parts.length);
      mesh.name = layer;
      parts.forEach((part, instance) => {
        mesh.instanceMatrix.array.set(part.matrix, 16 * instance);
        this.#instanceOf.set(part, { mesh, instance });
      });
      this.#partsOf.set(mesh, parts);
      this.root.add(mesh);
    }
  }

  #material(options: ConstructorParameters<typeof MeshLambertMaterial>[0]): MeshLambertMaterial {
    const material = new MeshLambertMaterial({ ...options, flatShading: true, side: DoubleSide });
    this.#materials.push(material);
    return material;
  }
}

type Mark = Mesh<BufferGeometry, MeshBasicMaterial>;

function createMark(color: number): Mark {
  const material = new MeshBasicMaterial({ color, transparent: true, opacity: 0.75 });
  // The mark has exactly the faces of its part, and lies in front of them.
  Object.assign(material, { polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
  const mark = new Mesh(new BufferGeometry(), material);
  mark.matrixAutoUpdate = false;
  mark.visible = false;
  return mark;
}
