// Parts of an IFC file: its products, by the library web-ifc. Coordinates are in metres with y up, as in glTF.

import { readFile } from 'node:fs/promises';
import { CollisionError, type MeshData } from 'collision-worker';
import { reasonOf } from '../../check.js';
import type { Properties } from '../../types.js';
import { loadPeer } from '../peer.js';
import { type ReadItem, unreadable } from './read-item.js';

type WebIfc = typeof import('web-ifc');
type IfcApi = InstanceType<WebIfc['IfcAPI']>;
/** A line of the file, as the library returns it: values are `{ value }`, references are line numbers. */
// biome-ignore lint/suspicious/noExplicitAny: what it has differs from type to type
type Line = any;

/**
 * Reads the products of a file that have a shape, except for openings, spaces and sites: id is the GlobalId, layer the name of
 * the presentation layer, and properties are the IFC type, the storey and all single values of property sets, its own and those
 * of its type, as 'Set.Name'. Throws BAD_DATA.
 */
export async function* readIfc(path: string): AsyncGenerator<ReadItem> {
  const library = await loadPeer('web-ifc', `reading ${path}`, () => import('web-ifc'));
  const api = new library.IfcAPI();
  await api.Init();
  api.SetLogLevel(library.LogLevel.LOG_LEVEL_OFF);
  const bytes = await readFile(path);
  let model = -1;
  try {
    // The library reads the beginning of a file that was cut off: the missing parts would go unnoticed.
    if (bytes.includes('#', bytes.lastIndexOf('ENDSEC'))) unreadable(path, 'IFC', 'it was cut off');
    let reason = 'it is none, or of an unknown version';
    try {
      model = api.OpenModel(bytes);
    } catch (cause) {
      reason += ` (${reasonOf(cause)})`;
    }
    if (model < 0) unreadable(path, 'IFC', reason);
    const products = new Products(api, library, model);
    if (products.ids.length === 0) unreadable(path, 'IFC', 'it has no products');
    for (const id of products.ids) yield products.read(id);
  } finally {
    if (model >= 0) api.CloseModel(model);
  }
}

class Products {
  readonly ids: readonly number[];
  readonly #api: IfcApi;
  readonly #library: WebIfc;
  readonly #model: number;
  readonly #layers = new Map<number, string>();
  /** What contains a product, or is made up of it: an assembly, a space, a storey. */
  readonly #wholes = new Map<number, number>();
  /** The names of storeys. */
  readonly #storeys = new Map<number, string>();
  /** The property sets of a product: first those of its type. */
  readonly #sets = new Map<number, number[]>();
  readonly #meshes = new Map<string, MeshData>();

  constructor(api: IfcApi, library: WebIfc, model: number) {
    this.#api = api;
    this.#library = library;
    this.#model = model;
    this.#readLayers();
    this.#readStoreys();
    // The values of a product's own sets replace those of its type.
    this.#readTypes();
    this.#readSets();
    const excluded = new Set(
      [library.IFCOPENINGELEMENT, library.IFCSPACE, library.IFCSITE].flatMap((type) => this.#idsOfType(type)),
    );
    this.ids = this.#idsOfType(library.IFCPRODUCT)
      .filter((id) => !excluded.has(id) && this.#isShown(id))
      .sort((a, b) => a - b);
  }

  read(product: number): ReadItem {
    let id = `#${product}`;
    let name = '';
    try {
      const line = this.#line(product);
      id = textOf(line.GlobalId) || id;
      name = textOf(line.Name) ?? '';
      const { mesh, matrix } = this.#shapeOf(product);
      const properties = this.#propertiesOf(product, line);
      return { part: { id, name, layer: this.#layerOf(line), properties, mesh, matrix } };
    } catch (error) {
      return { unread: { id, name, reason: reasonOf(error) } };
    }
  }

  #idsOfType(type: number): number[] {
    const lineIds = this.#api.GetLineIDsWithType(this.#model, type, true);
    return Array.from({ length: lineIds.size() }, (_, i) => lineIds.get(i));
  }

  #line(id: number): Line {
    const line = this.#api.GetLine(this.#model, id);
    if (!line) throw new CollisionError('BAD_DATA', `line #${id} cannot be read`);
    return line;
  }

  /** A line that cannot be read counts as shown, so that the report lists it. */
  #isShown(id: number): boolean {
    try {
      return this.#line(id).Representation !== null;
    } catch {
      return true;
    }
  }

  /** Skips relations that cannot be read: parts are read without them. */
  #forEachLine(type: number, read: (line: Line) => void): void {
    for (const id of this.#idsOfType(type)) {
      try {
        read(this.#line(id));
      } catch {}
    }
  }

  #readLayers(): void {
    this.#forEachLine(this.#library.IFCPRESENTATIONLAYERASSIGNMENT, ({ Name, AssignedItems }) => {
      for (const item of AssignedItems) this.#layers.set(item.value, textOf(Name) ?? '');
    });
  }

  #readStoreys(): void {
    const { IFCBUILDINGSTOREY, IFCRELAGGREGATES, IFCRELCONTAINEDINSPATIALSTRUCTURE } = this.#library;
    this.#forEachLine(IFCBUILDINGSTOREY, ({ expressID, Name }) => this.#storeys.set(expressID, textOf(Name) ?? ''));
    this.#forEachLine(IFCRELAGGREGATES, ({ RelatingObject, RelatedObjects }) => {
      for (const { value } of RelatedObjects) this.#wholes.set(value, RelatingObject.value);
    });
    this.#forEachLine(IFCRELCONTAINEDINSPATIALSTRUCTURE, ({ RelatingStructure, RelatedElements }) => {
      for (const { value } of RelatedElements) this.#wholes.set(value, RelatingStructure.value);
    });
  }

  #readSets(): void {
    this.#forEachLine(this.#library.IFCRELDEFINESBYPROPERTIES, ({ RelatingPropertyDefinition, RelatedObjects }) => {
      for (const { value } of RelatedObjects) {
        const sets = this.#sets.get(value);
        if (sets) sets.push(RelatingPropertyDefinition.value);
        else this.#sets.set(value, [RelatingPropertyDefinition.value]);
      }
    });
  }

  /** Gives the sets of a type to all of its products. */
  #readTypes(): void {
    this.#forEachLine(this.#library.IFCRELDEFINESBYTYPE, ({ RelatingType, RelatedObjects }) => {
      const sets: Line[] = this.#line(RelatingType.value).HasPropertySets ?? [];
      for (const { value } of RelatedObjects)
        this.#sets.set(
          value,
          sets.map((set) => set.value),
        );
    });
  }

  /** Returns the name of the storey that a product is on, perhaps as a part of an assembly, or in a space. */
  #storeyOf(product: number): string | undefined {
    const visited = new Set<number>();
    for (let whole = this.#wholes.get(product); whole !== undefined; whole = this.#wholes.get(whole)) {
      const name = this.#storeys.get(whole);
      if (name !== undefined || visited.has(whole)) return name;
      visited.add(whole);
    }
    return undefined;
  }

  /** A layer is assigned to representations, or to their items. */
  #layerOf(line: Line): string {
    try {
      for (const { value } of this.#line(line.Representation.value).Representations) {
        const layer = this.#layers.get(value);
        if (layer !== undefined) return layer;
        for (const item of this.#line(value).Items ?? []) {
          const ofItem = this.#layers.get(item.value);
          if (ofItem !== undefined) return ofItem;
        }
      }
    } catch {}
    return '';
  }

  #propertiesOf(product: number, line: Line): Properties {
    const properties: Record<string, string | number | boolean> = {
      type: this.#api.GetNameFromTypeCode(this.#api.GetLineType(this.#model, product)),
    };
    const storey = this.#storeyOf(product);
    if (storey !== undefined) properties.storey = storey;
    for (const key of ['ObjectType', 'Tag', 'PredefinedType', 'Description']) {
      const value = line[key]?.value;
      if (typeof value === 'string' || typeof value === 'number') properties[key] = value;
    }
    for (const set of this.#sets.get(product) ?? []) {
      try {
        const { Name, HasProperties = [] } = this.#line(set);
        for (const each of HasProperties) {
          const { Name: name, NominalValue } = this.#line(each.value);
          const value = NominalValue?.value;
          if (value !== null && ['string', 'number', 'boolean'].includes(typeof value)) {
            properties[`${textOf(Name)}.${textOf(name)}`] = value;
          }
        }
      } catch {}
    }
    return properties;
  }

  /** A single geometry is shared by all products that place it; several are joined, in the space of the first. */
  #shapeOf(product: number): { mesh: MeshData; matrix: number[] } {
    const flatMesh = this.#api.GetFlatMesh(this.#model, product);
    const count = flatMesh.geometries.size();
    const placedGeometries = Array.from({ length: count }, (_, i) => flatMesh.geometries.get(i));
    const shapes = placedGeometries.map(({ geometryExpressID, flatTransformation }) => ({
      geometry: geometryExpressID,
      matrix: Array.from(flatTransformation),
    }));
    if (shapes.length === 0) throw new CollisionError('BAD_DATA', 'web-ifc makes no geometry of its representation');
    const [{ matrix }] = shapes;
    if (shapes.length === 1) return { mesh: this.#meshOf(shapes[0].geometry), matrix };
    return {
      mesh: joinMeshes(shapes.map(({ geometry, matrix }) => ({ mesh: this.#meshOf(geometry), matrix }))),
      matrix,
    };
  }

  #meshOf(geometry: number): MeshData {
    const key = String(geometry);
    const cached = this.#meshes.get(key);
    if (cached) return cached;
    const data = this.#api.GetGeometry(this.#model, geometry);
    // Six numbers per vertex: its position and its normal.
    const vertices = this.#api.GetVertexArray(data.GetVertexData(), data.GetVertexDataSize());
    const indices = this.#api.GetIndexArray(data.GetIndexData(), data.GetIndexDataSize()).slice();
    const positions = new Float32Array(vertices.length / 2);
    for (let i = 0; i < positions.length / 3; i++) positions.set(vertices.subarray(6 * i, 6 * i + 3), 3 * i);
    data.delete();
    if (indices.length === 0) throw new CollisionError('BAD_DATA', 'web-ifc makes no triangles of its representation');
    const mesh = { positions, indices };
    this.#meshes.set(key, mesh);
    return mesh;
  }
}

function textOf(value: { value?: unknown } | null | undefined): string | undefined {
  return typeof value?.value === 'string' ? value.value : undefined;
}

/** Joins meshes, each under its own matrix, into one under the matrix of the first. */
function joinMeshes(shapes: readonly { mesh: MeshData; matrix: readonly number[] }[]): MeshData {
  const inverse = invert(shapes[0].matrix);
  const positions: number[] = [];
  const indices: number[] = [];
  for (const { mesh, matrix } of shapes) {
    const first = positions.length / 3;
    const toFirst = multiply(inverse, matrix);
    for (let i = 0; i < mesh.positions.length; i += 3) {
      const [x, y, z] = mesh.positions.subarray(i, i + 3);
      for (let row = 0; row < 3; row++)
        positions.push(toFirst[row] * x + toFirst[4 + row] * y + toFirst[8 + row] * z + toFirst[12 + row]);
    }
    for (const index of mesh.indices!) indices.push(first + index);
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

function multiply(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: 16 }, (_, i) => {
    const [column, row] = [i >> 2, i & 3];
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
    return sum;
  });
}

/** Inverts an affine matrix, by the cofactors of its linear part. */
function invert(m: readonly number[]): number[] {
  const [a, b, c, d, e, f, g, h, i] = [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]];
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const rows = [
    [e * i - f * h, c * h - b * i, b * f - c * e],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ].map((row) => row.map((each) => each / determinant));
  const [x, y, z] = rows.map((row) => -(row[0] * m[12] + row[1] * m[13] + row[2] * m[14]));
  return [0, 1, 2].flatMap((column) => [rows[0][column], rows[1][column], rows[2][column], 0]).concat([x, y, z, 1]);
}
