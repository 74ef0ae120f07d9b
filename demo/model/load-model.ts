import {
  type AnimationClip,
  BufferGeometry,
  LoadingManager,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Points,
  PointsMaterial,
  type WebGLRenderer,
} from 'three';
import basisTranscoder from 'three/addons/libs/basis/basis_transcoder.js?url';
import basisBinary from 'three/addons/libs/basis/basis_transcoder.wasm?url';
import dracoDecoder from 'three/addons/libs/draco/gltf/draco_decoder.wasm?url';
import dracoWrapper from 'three/addons/libs/draco/gltf/draco_wasm_wrapper.js?url';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { DRACOLoader } from 'three/addons/loaders/DRACOLoader.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { KTX2Loader } from 'three/addons/loaders/KTX2Loader.js';
import { MTLLoader } from 'three/addons/loaders/MTLLoader.js';
import { OBJLoader } from 'three/addons/loaders/OBJLoader.js';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';

export interface Model {
  readonly name: string;
  readonly object: Object3D;
  readonly animations: readonly AnimationClip[];
}

const EXTENSIONS = ['glb', 'gltf', 'obj', 'stl', 'ply'];
const GRAY = 0xb4bfd0;
/** The files that three's decoders request, by their addresses: they are not files of the model. */
const DECODERS = new Map([
  [dracoWrapper, dracoWrapper],
  [dracoDecoder, dracoDecoder],
  ['basis:basis_transcoder.js', basisTranscoder],
  ['basis:basis_transcoder.wasm', basisBinary],
]);

/**
 * The texture formats that the graphics card supports, as KTX2Loader lists them. Querying them waits for all pending drawing, so
 * it is done once.
 */
let textureFormats: KTX2Loader['workerConfig'];

/** Queries the supported texture formats while nothing is being drawn. */
export function prepareLoading(renderer: WebGLRenderer): void {
  textureFormats = new KTX2Loader().detectSupport(renderer).workerConfig;
}

/**
 * Reads a model from dropped files: one is the model, the others are files that it references, such as the buffers and textures
 * of a glTF; these may also be below `base`, an address. Rejects with an Error that explains the failure.
 */
export async function loadModel(files: readonly File[], base = ''): Promise<Model> {
  const modelFile = files.find(({ name }) => EXTENSIONS.includes(extensionOf(name)));
  if (modelFile === undefined) {
    const names = files.map(({ name }) => name).join(', ');
    throw new Error(`${names || 'nothing'}: expected a model, ${EXTENSIONS.map((kind) => `.${kind}`).join(', ')}`);
  }
  if (modelFile.size === 0) throw new Error(`${modelFile.name} is empty`);
  const companions = new CompanionFiles(files, base);
  try {
    const model = { name: modelFile.name, ...(await readModel(modelFile, companions, base)) };
    await companions.loaded;
    if (!hasGeometry(model.object)) throw new Error('nothing in it is drawn');
    return model;
  } catch (error) {
    const missing = companions.missing.length === 0 ? '' : `; it needs ${companions.missing.join(', ')} beside it`;
    throw new Error(`${modelFile.name} could not be read: ${messageOf(error)}${missing}`, { cause: error });
  } finally {
    companions.dispose();
  }
}

/** Fetches a model, and the files that it references, from this site. */
export async function fetchModel(
  address: string,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Model> {
  const url = URL.parse(address, location.href);
  if (url === null) throw new Error(`'${address}' is no address`);
  if (url.origin !== location.origin) throw new Error(`${url} is of another site, expected one of ${location.origin}`);
  const name = decodeURIComponent(url.pathname.split('/').at(-1)!);
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url.pathname} could not be loaded: ${response.status} ${response.statusText}`);
  if (response.headers.get('Content-Type')?.startsWith('text/html')) {
    throw new Error(`${url.pathname} is a page, expected a model`);
  }
  return loadModel([new File(await bytesOf(response, onProgress), name)], new URL('.', url).href);
}

async function bytesOf(response: Response, onProgress: (fraction: number) => void): Promise<BlobPart[]> {
  const size = Number(response.headers.get('Content-Length'));
  const reader = response.body!.getReader();
  const parts: BlobPart[] = [];
  let receivedBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
    receivedBytes += value.length;
    // A response that was compressed in transit is longer than its stated size.
    if (size > 0) onProgress(Math.min(1, receivedBytes / size));
  }
}

async function readModel(
  file: File,
  { manager, materials }: CompanionFiles,
  base: string,
): Promise<Omit<Model, 'name'>> {
  const noAnimations: readonly AnimationClip[] = [];
  switch (extensionOf(file.name)) {
    case 'obj': {
      const loader = new OBJLoader(manager);
      if (materials !== undefined) {
        const creator = new MTLLoader(manager).parse(await materials.text(), base);
        creator.preload();
        loader.setMaterials(creator);
      }
      return { object: loader.parse(await file.text()), animations: noAnimations };
    }
    case 'stl':
      return { object: meshOf(new STLLoader(manager).parse(await file.arrayBuffer())), animations: noAnimations };
    case 'ply': {
      const geometry = new PLYLoader(manager).parse(await file.arrayBuffer());
      return { object: geometry.index === null ? pointsOf(geometry) : meshOf(geometry), animations: noAnimations };
    }
    default: {
      const draco = new DRACOLoader(manager).setDecoderPath({ js: dracoWrapper, wasm: dracoDecoder });
      const ktx2 = new KTX2Loader(manager).setTranscoderPath('basis:');
      ktx2.workerConfig = textureFormats;
      const loader = new GLTFLoader(manager)
        .setDRACOLoader(draco)
        .setKTX2Loader(ktx2)
        .setMeshoptDecoder(MeshoptDecoder);
      try {
        const { scene, animations } = await loader.parseAsync(await file.arrayBuffer(), base);
        return { object: scene, animations };
      } finally {
        draco.dispose();
        ktx2.dispose();
      }
    }
  }
}

/** Finds the files that a model references among those that came with it. */
class CompanionFiles {
  readonly manager = new LoadingManager();
  readonly missing: string[] = [];
  readonly materials: File | undefined;
  /** Resolves when the textures of an OBJ have loaded: they arrive after the model. */
  loaded: Promise<void> = Promise.resolve();
  readonly #urls = new Map<string, string>();

  constructor(files: readonly File[], base: string) {
    this.materials = files.find(({ name }) => extensionOf(name) === 'mtl');
    for (const file of files) this.#urls.set(file.name, URL.createObjectURL(file));
    this.manager.setURLModifier((url) => {
      if (/^(data|blob):/.test(url)) return url;
      const name = decodeURIComponent(url).split(/[\\/]/).at(-1)!;
      const localUrl = DECODERS.get(url) ?? this.#urls.get(name);
      if (localUrl !== undefined) return localUrl;
      if (base !== '') return url;
      this.missing.push(name);
      return 'data:,';
    });
    this.manager.onStart = () => {
      this.loaded = new Promise((resolve) => {
        this.manager.onLoad = resolve;
      });
    };
  }

  dispose(): void {
    for (const url of this.#urls.values()) URL.revokeObjectURL(url);
  }
}

function meshOf(geometry: BufferGeometry): Mesh {
  if (geometry.attributes.normal === undefined) geometry.computeVertexNormals();
  const vertexColors = geometry.attributes.color !== undefined;
  return new Mesh(
    geometry,
    new MeshStandardMaterial({ color: vertexColors ? 0xffffff : GRAY, vertexColors, roughness: 0.6 }),
  );
}

function pointsOf(geometry: BufferGeometry): Points {
  const vertexColors = geometry.attributes.color !== undefined;
  return new Points(
    geometry,
    new PointsMaterial({ color: vertexColors ? 0xffffff : GRAY, vertexColors, size: 2, sizeAttenuation: false }),
  );
}

function hasGeometry(object: Object3D): boolean {
  let isFound = false;
  object.traverse((each) => {
    const { geometry } = each as Mesh;
    isFound ||= geometry instanceof BufferGeometry && (geometry.attributes.position?.count ?? 0) > 0;
  });
  return isFound;
}

function extensionOf(name: string): string {
  return name.split('.').at(-1)!.toLowerCase();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
