import {
  type AnimationClip,
  BufferGeometry,
  FileLoader,
  LoadingManager,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Points,
  PointsMaterial,
} from 'three';
import dracoDecoder from 'three/addons/libs/draco/gltf/draco_decoder.wasm?url';
import dracoWrapper from 'three/addons/libs/draco/gltf/draco_wasm_wrapper.js?url';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { DRACOLoader } from 'three/addons/loaders/DRACOLoader.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { OBJLoader } from 'three/addons/loaders/OBJLoader.js';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';

export interface Model {
  readonly name: string;
  readonly object: Object3D;
  readonly animations: readonly AnimationClip[];
}

const KINDS = ['glb', 'gltf', 'obj', 'stl', 'ply'];
const GRAY = 0xb4bfd0;
const DRACO: Record<string, string> = {
  'draco_wasm_wrapper.js': dracoWrapper,
  'draco_decoder.wasm': dracoDecoder,
};

/**
 * Reads a model from files as they were dropped: one that is a model, and beside it what that names, as a glTF its buffers
 * and textures. Rejects with an Error that says what is wrong.
 */
export async function loadModel(files: readonly File[]): Promise<Model> {
  const main = files.find(({ name }) => KINDS.includes(kindOf(name)));
  if (main === undefined) {
    const names = files.map(({ name }) => name).join(', ');
    throw new Error(`${names || 'nothing'}: expected a model, ${KINDS.map((kind) => `.${kind}`).join(', ')}`);
  }
  if (main.size === 0) throw new Error(`${main.name} is empty`);
  const beside = new BesideFiles(files);
  try {
    const model = { name: main.name, ...(await read(main, beside.manager)) };
    if (!hasSomething(model.object)) throw new Error('nothing in it is drawn');
    return model;
  } catch (error) {
    const missing = beside.missing.length === 0 ? '' : `; it needs ${beside.missing.join(', ')} beside it`;
    throw new Error(`${main.name} could not be read: ${messageOf(error)}${missing}`, { cause: error });
  } finally {
    beside.dispose();
  }
}

async function read(file: File, manager: LoadingManager): Promise<Omit<Model, 'name'>> {
  const none: readonly AnimationClip[] = [];
  switch (kindOf(file.name)) {
    case 'obj':
      return { object: new OBJLoader(manager).parse(await file.text()), animations: none };
    case 'stl':
      return { object: meshOf(new STLLoader(manager).parse(await file.arrayBuffer())), animations: none };
    case 'ply': {
      const geometry = new PLYLoader(manager).parse(await file.arrayBuffer());
      return { object: geometry.index === null ? pointsOf(geometry) : meshOf(geometry), animations: none };
    }
    default: {
      const draco = new DRACOLoader(manager);
      const loader = new GLTFLoader(manager).setDRACOLoader(draco).setMeshoptDecoder(MeshoptDecoder);
      try {
        const { scene, animations } = await loader.parseAsync(await file.arrayBuffer(), '');
        return { object: scene, animations };
      } finally {
        draco.dispose();
      }
    }
  }
}

/** Finds what a model names among the files that came with it. */
class BesideFiles {
  readonly manager = new LoadingManager();
  readonly missing: string[] = [];
  readonly #urls = new Map<string, string>();

  constructor(files: readonly File[]) {
    for (const file of files) this.#urls.set(file.name, URL.createObjectURL(file));
    this.manager.setURLModifier((url) => {
      if (/^(data|blob):/.test(url)) return url;
      const name = decodeURIComponent(url).split(/[\\/]/).at(-1)!;
      const found = DRACO[name] ?? this.#urls.get(name);
      if (found === undefined) this.missing.push(name);
      return found ?? 'data:,';
    });
    // Otherwise three keeps what an earlier file of the same name had.
    new FileLoader(this.manager).setResponseType('text');
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

function hasSomething(object: Object3D): boolean {
  let has = false;
  object.traverse((each) => {
    const { geometry } = each as Mesh;
    has ||= geometry instanceof BufferGeometry && (geometry.attributes.position?.count ?? 0) > 0;
  });
  return has;
}

function kindOf(name: string): string {
  return name.split('.').at(-1)!.toLowerCase();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
