// Parts of a GLB or glTF file: its nodes with triangles, by the library glTF-Transform.

import { open } from 'node:fs/promises';
import type { Mesh, Node, NodeIO, Primitive, Root } from '@gltf-transform/core';
import { CollisionError, type MeshData } from 'collision-worker';
import { reasonOf } from '../../check.js';
import type { Properties } from '../../types.js';
import { loadPeer } from '../peer.js';
import { type ReadItem, unreadable } from './read-item.js';

// Modes of primitives, as in WebGL.
const TRIANGLES = 4;
const TRIANGLE_STRIP = 5;
const TRIANGLE_FAN = 6;

/** Keys of a node's extras that may be its id, from the tools that write them. */
const ID_KEYS = ['id', 'GlobalId', 'globalId', 'guid', 'ifcGuid'];

/**
 * Reads the parts of a file. Nodes that share a mesh share a part's mesh. A part's id is one of its extras, or the path of
 * names that leads to it; its layer is an extra, or its parent's name. Throws BAD_DATA for a file that cannot be read.
 */
export async function* readGltf(path: string): AsyncGenerator<ReadItem> {
  const core = await loadPeer('@gltf-transform/core', `reading ${path}`, () => import('@gltf-transform/core'));
  const io = new core.NodeIO();
  // Textures do not matter: files are accepted without their images. The first versions of 4 have no such method.
  io.setStrictResources?.(false).setLogger(new core.Logger(core.Logger.Verbosity.SILENT));
  await registerExtensions(io);
  await checkContainer(path);
  const { root, instanced } = await readDocument(io, path).catch((cause: unknown) => {
    unreadable(path, 'glTF', `${reasonOf(cause)}${adviceFor(cause)}`, cause);
  });
  const scene = root.getDefaultScene() ?? root.listScenes()[0];
  // A file without scenes is a library of nodes.
  const nodes = scene?.listChildren() ?? root.listNodes().filter((node) => node.getParentNode() === null);
  const state: ReadState = { ids: new Set(), numbers: new Map(), meshes: new Map(), instanced };
  yield* readNodes(nodes, state);
}

/** The state while the nodes of a file are read. */
interface ReadState {
  readonly ids: Set<string>;
  /** The last number of each name that is used several times. */
  readonly numbers: Map<string, number>;
  readonly meshes: Map<Mesh, MeshData>;
  /** Nodes that have instances. */
  readonly instanced: ReadonlySet<Node>;
}

const INSTANCING = 'EXT_mesh_gpu_instancing';
/** The library's name of the buffer that is in a GLB file itself. */
const GLB_BUFFER = '@glb.bin';

/**
 * Reads a document, and finds which of its nodes have instances, which the library does not report without its extensions. The
 * library also reads a short buffer beyond its end, where other bytes may be: this is checked here.
 */
async function readDocument(io: NodeIO, path: string): Promise<{ root: Root; instanced: Set<Node> }> {
  const file = await io.readAsJSON(path);
  const { nodes = [], buffers = [] } = file.json;
  for (const [i, { uri = GLB_BUFFER, byteLength, extensions }] of buffers.entries()) {
    // A buffer that a decoder fills may have no bytes.
    const bytes = extensions ? byteLength : (file.resources[uri]?.byteLength ?? 0);
    if (bytes < byteLength) throw new Error(`buffer ${i} has ${bytes} of ${byteLength} bytes`);
  }
  const root = (await io.readJSON(file)).getRoot();
  const instanced = root.listNodes().filter((_, i) => nodes[i]?.extensions?.[INSTANCING] !== undefined);
  return { root, instanced: new Set(instanced) };
}

/** The first word of a GLB file, 'glTF'; the version and the file's length in bytes follow. */
const MAGIC = 0x46546c67;
const HEADER_BYTES = 12;

/** Throws a clear error for a .glb file that was cut off or is not one: the library's own messages are about array lengths. */
async function checkContainer(path: string): Promise<void> {
  if (!path.toLowerCase().endsWith('.glb')) return;
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const header = new DataView(new ArrayBuffer(HEADER_BYTES));
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    if (bytesRead >= 4 && header.getUint32(0, true) !== MAGIC)
      unreadable(path, 'glTF', 'it does not begin as a GLB file');
    if (bytesRead < HEADER_BYTES) unreadable(path, 'glTF', `it was cut off, as it has ${size} bytes`);
    const version = header.getUint32(4, true);
    if (version !== 2) unreadable(path, 'glTF', `it is of version ${version}, expected 2`);
    const length = header.getUint32(8, true);
    if (size < length) unreadable(path, 'glTF', `it was cut off, as it has ${size} of ${length} bytes`);
  } finally {
    await file.close();
  }
}

/**
 * Registers all extensions but compression. Without their package, the library itself rejects files that need one. It always
 * rejects compressed files, since there is no decoder: if compression is optional, the file has the data uncompressed, too.
 */
async function registerExtensions(io: NodeIO): Promise<void> {
  try {
    const { ALL_EXTENSIONS } = await import('@gltf-transform/extensions');
    io.registerExtensions(ALL_EXTENSIONS.filter(({ EXTENSION_NAME: name }) => !name.endsWith('_compression')));
  } catch {}
}

function adviceFor(cause: unknown): string {
  return /extension|dependency/i.test(reasonOf(cause))
    ? '; files with extensions need npm install @gltf-transform/extensions, compressed ones are decompressed before by ' +
        'npx @gltf-transform/cli copy'
    : '';
}

/** Reads nodes and their descendants, a node before its children. Not recursive: chains may be deeper than the stack. */
function* readNodes(roots: readonly Node[], state: ReadState): Generator<ReadItem> {
  const stack = roots.map((node) => ({ node, path: '', parent: '' })).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, path, parent } = next;
    // Some files have numbers or null for names.
    const name = String(node.getName() ?? '');
    const nodePath = `${path}/${name}`;
    const mesh = node.getMesh();
    if (mesh) yield readPart(node, mesh, uniqueId(idOf(node) ?? nodePath.slice(1), state), name, parent, state);
    for (const child of node.listChildren().reverse()) stack.push({ node: child, path: nodePath, parent: name });
  }
}

function readPart(
  node: Node,
  mesh: Mesh,
  id: string,
  name: string,
  parent: string,
  { meshes, instanced }: ReadState,
): ReadItem {
  try {
    if (instanced.has(node)) {
      throw new CollisionError('UNSUPPORTED', `it has instances (${INSTANCING}), which are not read`);
    }
    const data = meshes.get(mesh) ?? meshDataOf(mesh);
    meshes.set(mesh, data);
    const properties = propertiesOf(node);
    const layer = typeof properties.layer === 'string' ? properties.layer : parent;
    return { part: { id, name, layer, properties, mesh: data, matrix: [...node.getWorldMatrix()] } };
  } catch (error) {
    return { unread: { id, name, reason: reasonOf(error) } };
  }
}

function idOf(node: Node): string | undefined {
  const extras = node.getExtras();
  for (const key of ID_KEYS) {
    const value = extras[key];
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') return String(value);
  }
  return undefined;
}

/** Appends a number to an id from its second use on. */
function uniqueId(preferredId: string, { ids, numbers }: ReadState): string {
  const baseId = preferredId === '' ? 'unnamed' : preferredId;
  let id = baseId;
  let number = numbers.get(baseId) ?? 1;
  while (ids.has(id)) id = `${baseId}#${++number}`;
  numbers.set(baseId, number);
  ids.add(id);
  return id;
}

function propertiesOf(node: Node): Properties {
  const values = Object.entries(node.getExtras()).filter(([, value]) => {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  });
  return Object.fromEntries(values) as Properties;
}

/**
 * Joins the triangles of all primitives, with only the vertices that these use: exporters write the vertices of many primitives, or
 * of all meshes, into one array.
 */
function meshDataOf(mesh: Mesh): MeshData {
  const positions: number[] = [];
  const indices: number[] = [];
  const vertex: number[] = [];
  for (const primitive of mesh.listPrimitives()) {
    const attribute = primitive.getAttribute('POSITION');
    if (!attribute) continue;
    const count = attribute.getCount();
    const indexByVertex = new Map<number, number>();
    for (const corner of cornersOf(primitive, count)) {
      if (corner >= count) throw new CollisionError('BAD_DATA', `index ${corner} is not one of its ${count} vertices`);
      let index = indexByVertex.get(corner);
      if (index === undefined) {
        index = positions.length / 3;
        indexByVertex.set(corner, index);
        attribute.getElement(corner, vertex);
        positions.push(vertex[0], vertex[1], vertex[2]);
      }
      indices.push(index);
    }
  }
  if (indices.length === 0) throw new CollisionError('BAD_DATA', 'it has no triangles');
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

/** Lists the corners of a primitive's triangles, three each. */
function cornersOf(primitive: Primitive, count: number): number[] {
  const array = primitive.getIndices()?.getArray();
  const vertexIndices: number[] = array ? Array.from(array) : Array.from({ length: count }, (_, i) => i);
  const mode = primitive.getMode();
  if (mode === TRIANGLES) return vertexIndices;
  const corners: number[] = [];
  if (mode === TRIANGLE_STRIP) {
    // Every second triangle has the opposite winding.
    for (let i = 2; i < vertexIndices.length; i++)
      corners.push(vertexIndices[i - 2 + (i & 1)], vertexIndices[i - 1 - (i & 1)], vertexIndices[i]);
  } else if (mode === TRIANGLE_FAN) {
    for (let i = 2; i < vertexIndices.length; i++)
      corners.push(vertexIndices[0], vertexIndices[i - 1], vertexIndices[i]);
  }
  return corners;
}
