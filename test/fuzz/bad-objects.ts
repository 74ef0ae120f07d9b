// Invalid scene objects, and valid ones that become invalid.
import {
  BatchedMesh,
  Bone,
  BufferAttribute,
  BufferGeometry,
  Group,
  InstancedMesh,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Line,
  LineLoop,
  LOD,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Points,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Sprite,
} from 'three';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { HOSTILE_VALUES } from './hostile.js';

/** A scene object, and the change that makes it invalid; without a change it is invalid from the start. */
export interface BadObject {
  readonly what: string;
  make(): Object3D;
  change?(object: Object3D): void;
}

const withGeometry = <T extends Object3D>(object: T, geometry: unknown): T => Object.assign(object, { geometry });
const GEOMETRY_KINDS: Record<string, (geometry: unknown) => Object3D> = {
  Points: (geometry) => withGeometry(new Points(), geometry),
  Line: (geometry) => withGeometry(new Line(), geometry),
  LineLoop: (geometry) => withGeometry(new LineLoop(), geometry),
  'a skinned Mesh': (geometry) => withGeometry(createSkinnedMesh(), geometry),
  'a level of a LOD': (geometry) => new LOD().addLevel(withGeometry(new Mesh(), geometry)),
  'a skinned level of a LOD': (geometry) => new LOD().addLevel(withGeometry(createSkinnedMesh(), geometry)),
};
/** Invalid parts other than the geometry. */
const PART_KINDS: Record<string, (part: unknown) => Object3D> = {
  'a skeleton': (skeleton) => Object.assign(createSkinnedMesh(), { skeleton }),
  'a bind matrix': (bindMatrix) => Object.assign(createSkinnedMesh(), { bindMatrix, bindMode: 'detached' }),
  'bone matrices': (boneMatrices) => {
    const result = createSkinnedMesh();
    Object.assign(result.skeleton, { boneMatrices, update() {} });
    return result;
  },
  influences: (morphTargetInfluences) => {
    const result = new Mesh(new SphereGeometry());
    result.geometry.morphAttributes.position = [result.geometry.attributes.position as BufferAttribute];
    return Object.assign(result, { morphTargetInfluences });
  },
  'morph targets': (position) => {
    const result = new Mesh(new SphereGeometry());
    return Object.assign(result, {
      geometry: Object.assign(result.geometry, { morphAttributes: { position } }),
      morphTargetInfluences: [1],
    });
  },
  'weights of a skin': (skinWeight) => {
    const result = createSkinnedMesh();
    Object.assign(result.geometry.attributes, { skinWeight });
    return result;
  },
  'a level of a LOD': (object) => {
    const result = new LOD();
    result.levels.push({ object: object as never, distance: 0, hysteresis: 0 });
    return result;
  },
  'the material of a Sprite': (material) => Object.assign(new Sprite(), { material }),
};

/** Valid objects, and the paths of their properties that become invalid. */
const MUTABLE_OBJECTS: Record<string, { make: () => Object3D; paths: readonly string[] }> = {
  'a Mesh': {
    make: () => new Mesh(new SphereGeometry(1, 6, 5)),
    paths: [
      ...['geometry', 'material', 'matrixWorld', 'matrixWorld.elements', 'layers', 'visible', 'children', 'name'],
      ...['geometry.attributes', 'geometry.attributes.position', 'geometry.index', 'geometry.drawRange'],
      ...['geometry.groups', 'geometry.morphAttributes', 'material.side', 'material.visible', 'parent'],
      ...['material.clippingPlanes', 'updateWorldMatrix', 'morphTargetInfluences', 'isMesh', 'frustumCulled'],
      ...['material.depthFunc', 'geometry.boundingSphere', 'geometry.drawRange.start'],
    ],
  },
  'a Group': {
    make: () => new Group().add(new Mesh(new SphereGeometry(1, 6, 5))),
    paths: ['children', 'visible', 'matrixWorld', 'parent', 'children.0'],
  },
  'a Mesh of many materials': {
    make: () => {
      const materials = [0, 1].map(() => new MeshBasicMaterial());
      const result = new Mesh<BufferGeometry, MeshBasicMaterial[]>(new SphereGeometry(1, 6, 5), materials);
      result.geometry.addGroup(0, 9, 0);
      result.geometry.addGroup(9, 9, 1);
      return result;
    },
    paths: ['material', 'material.1', 'material.1.side', 'geometry.groups', 'geometry.groups.0'],
  },
  'an InstancedMesh': {
    make: () => new InstancedMesh(new SphereGeometry(1, 6, 5), new MeshBasicMaterial(), 3),
    paths: [
      ...['instanceMatrix', 'instanceMatrix.array', 'instanceMatrix.version', 'instanceMatrix.count', 'count'],
      ...['geometry', 'matrixWorld', 'morphTexture', 'layers', 'material', 'children', 'frustumCulled'],
      ...['geometry.attributes', 'geometry.attributes.position', 'boundingSphere', 'instanceColor', 'visible'],
      ...['instanceMatrix.itemSize', 'material.depthTest', 'geometry.morphAttributes'],
    ],
  },
  'a SkinnedMesh': {
    make: createSkinnedMesh,
    paths: [
      ...['skeleton', 'skeleton.bones', 'skeleton.boneMatrices', 'skeleton.update', 'skeleton.boneTexture'],
      ...['bindMatrix', 'bindMatrixInverse', 'geometry.attributes.skinWeight', 'visible', 'bindMatrix.elements'],
    ],
  },
  'a Mesh with morph targets': {
    make: () => {
      const result = new Mesh(new SphereGeometry(1, 6, 5));
      result.geometry.morphAttributes.position = [result.geometry.attributes.position as BufferAttribute];
      result.updateMorphTargets();
      return result;
    },
    paths: [
      ...['morphTargetInfluences', 'morphTargetInfluences.0', 'geometry.morphAttributes.position'],
      ...['geometry.morphAttributes.position.0', 'geometry.morphTargetsRelative'],
    ],
  },
  'a Line': { make: () => new Line(new SphereGeometry(1, 6, 5)), paths: ['geometry', 'material', 'matrixWorld'] },
  'a Sprite': {
    make: () => new Sprite(),
    paths: ['material', 'center', 'matrixWorld', 'material.rotation', 'layers'],
  },
  'a LineSegments2': {
    make: () => new LineSegments2(new LineSegmentsGeometry().setPositions([0, 0, 0, 1, 1, 1])),
    paths: [
      ...['geometry', 'geometry.attributes', 'geometry.instanceCount', 'geometry.attributes.instanceStart'],
      ...['material', 'material.linewidth', 'matrixWorld'],
    ],
  },
  'a LOD': {
    make: () => {
      const result = new LOD().addLevel(new Mesh(new SphereGeometry(1, 6, 5)));
      return result.addLevel(new Mesh(new SphereGeometry(1, 4, 3)), 10);
    },
    paths: [
      ...['levels.0', 'levels.1.object', 'levels.0.object.geometry', 'levels.1.object.material', 'update'],
      ...['autoUpdate', 'matrixWorld', 'children', 'levels.0.object.children', 'levels.0.object.visible'],
    ],
  },
  'a BatchedMesh': {
    make: () => {
      const result = new BatchedMesh(4, 1000, 2000, new MeshBasicMaterial());
      result.addInstance(result.addGeometry(new SphereGeometry(1, 6, 5)));
      return result;
    },
    paths: [
      ...['geometry', 'material', 'matrixWorld', '_matricesTexture', '_instanceInfo', '_geometryInfo', 'layers'],
      ...['_instanceInfo.0', '_geometryInfo.0', '_multiDrawStarts', '_indirectTexture', '_visibilityChanged'],
      ...[
        'customSort',
        'sortObjects',
        'perObjectFrustumCulled',
        'frustumCulled',
        'boundingSphere',
        'material.transparent',
      ],
    ],
  },
};

function createSkinnedMesh(): SkinnedMesh {
  const geometry = new SphereGeometry(1, 6, 5);
  const { count } = geometry.attributes.position;
  geometry.setAttribute('skinIndex', new BufferAttribute(new Uint8Array(4 * count), 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(new Float32Array(4 * count).fill(0.25), 4));
  const result = new SkinnedMesh(geometry);
  result.bind(new Skeleton([new Bone()]));
  return result;
}

function throwError(): never {
  throw new Error('a getter of the caller');
}

const floats = (value: number) => new Float32Array(18).fill(value);
const withPosition = (position: unknown) => Object.assign(new BufferGeometry(), { attributes: { position } });
export const GEOMETRIES: Record<string, () => unknown> = {
  'without position': () => new BufferGeometry(),
  'of NaN': () => withPosition(new BufferAttribute(floats(Number.NaN), 3)),
  'of infinite numbers': () => withPosition(new BufferAttribute(floats(Number.POSITIVE_INFINITY), 3)),
  'of more positions than there are': () =>
    withPosition(Object.assign(new BufferAttribute(floats(1), 3), { count: 2 ** 28 })),
  'of 2^32 positions': () => withPosition({ array: [], itemSize: 3, count: 2 ** 32, getX: () => 0 }),
  'of two numbers each': () => withPosition(new BufferAttribute(floats(1), 2)),
  'interleaved out of bounds': () =>
    withPosition(new InterleavedBufferAttribute(new InterleavedBuffer(floats(1), 6), 3, 5)),
  'with an index out of bounds': () => new SphereGeometry().setIndex([0, 1, 2 ** 31]),
  'with an index of NaN': () =>
    Object.assign(new SphereGeometry(), {
      index: new BufferAttribute(new Float64Array(3).fill(Number.NaN) as never, 1),
    }),
  'with a draw range of NaN': () => Object.assign(new SphereGeometry(), { drawRange: { start: Number.NaN, count: 3 } }),
  'with half a draw range': () => Object.assign(new SphereGeometry(), { drawRange: { start: 0.5, count: 3 } }),
  'with a negative draw range': () => Object.assign(new SphereGeometry(), { drawRange: { start: -9, count: 3 } }),
  ...HOSTILE_VALUES,
};

/** Objects that are invalid from the start. */
export const BAD_OBJECTS: readonly BadObject[] = [
  ...Object.entries(GEOMETRIES).map(([what, make]) => ({
    what: `a Mesh of geometry ${what}`,
    make: () => withGeometry(new Mesh(), make()),
  })),
  ...Object.entries(GEOMETRIES).flatMap(([what, make]) =>
    Object.entries(GEOMETRY_KINDS).map(([kind, makeKind]) => ({
      what: `${kind} of geometry ${what}`,
      make: () => makeKind(make()),
    })),
  ),
  ...Object.entries(HOSTILE_VALUES).flatMap(([what, make]) =>
    Object.entries(PART_KINDS).map(([part, makePart]) => ({
      what: `${part} that is ${what}`,
      make: () => makePart(make()),
    })),
  ),
  { what: 'material null', make: () => Object.assign(new Mesh(), { material: null }) },
  { what: 'matrix of NaN', make: () => new Mesh(new SphereGeometry()).translateX(Number.NaN) },
];

/** Replaces a property, whatever its value is. */
type Replace = (owner: object, name: string) => void;

const REPLACEMENTS: [string, Replace][] = [
  ...Object.entries(HOSTILE_VALUES)
    // three itself iterates over endless values.
    .filter(([what]) => !/endless|spin|longest|huge/.test(what))
    .map(([what, make]): [string, Replace] => [
      what,
      (owner, name) => Object.defineProperty(owner, name, { value: make(), writable: true, configurable: true }),
    ]),
  [
    'a getter that throws',
    (owner, name) => Object.defineProperty(owner, name, { get: throwError, configurable: true }),
  ],
  ['read-only', (owner, name) => Object.defineProperty(owner, name, { value: owner[name as never], writable: false })],
  // A view with elements cannot be frozen.
  [
    'frozen',
    (owner, name) =>
      (ArrayBuffer.isView(owner[name as never]) ? Object.preventExtensions : Object.freeze)(owner[name as never]),
  ],
];

/** Objects that become invalid. */
export const SPOILED_OBJECTS: readonly BadObject[] = Object.entries(MUTABLE_OBJECTS).flatMap(
  ([kind, { make, paths }]) =>
    paths.flatMap((path) =>
      REPLACEMENTS.map(([what, replace]) => ({
        what: `${kind} with ${path} that is ${what}`,
        make,
        change(object: Object3D): void {
          const keys = path.split('.');
          const name = keys.pop()!;
          const owner = keys.reduce<object>((each, key) => each[key as never], object);
          replace(owner, name);
        },
      })),
    ),
);
