// What three draws of a geometry, element by element, for any primitive,
// groups, draw range and kind of arrays; and which of its changes are noticed.
import {
  BufferAttribute,
  BufferGeometry,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  type SkinnedMesh,
} from 'three';
import { describe, expect, test } from 'vitest';
import {
  areSameDeformers,
  copyDeform,
  type Deformers,
  DeformVersion,
  deformersOf,
  isDeformedBy,
  RIGID,
} from '../../src/client/three/geometry/deformers.js';
import {
  copyMeshData,
  copyPositions,
  copySizeOf,
  findTriangle,
  hasFacesInOrder,
  meshDataOfRuns,
  type Primitive,
  positionsOfRuns,
  runsOf,
  vertexRange,
} from '../../src/client/three/geometry/geometry.js';
import { GeometryVersion, versionOf } from '../../src/client/three/geometry/geometry-version.js';
import type { MeshDeform } from '../../src/shared/protocol.js';
import type { MeshData } from '../../src/shared/types.js';
import { Random, SEED } from '../oracle/random.js';

const PRIMITIVES: Primitive[] = ['triangles', 'points', 'segments', 'strip', 'loop'];

/** Runs a generator; returns its result, and its number of steps. */
function run<T>(work: Generator<void, T>): { value: T; steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next();
    if (done) return { value, steps };
  }
}

function randomGeometry(random: Random, count: number, indexCount: number): BufferGeometry {
  const geometry = new BufferGeometry();
  const numbers = Float32Array.from({ length: 4 * count }, (_, i) => i + 1);
  const position = random.pick([
    () => new BufferAttribute(numbers.slice(0, 3 * count), 3),
    () => new BufferAttribute(numbers, 4),
    () => new BufferAttribute(new Int16Array(numbers.slice(0, 3 * count)), 3),
    () => new InterleavedBufferAttribute(new InterleavedBuffer(numbers, 4), 3, 1),
  ])();
  geometry.setAttribute('position', position as BufferAttribute);
  if (indexCount > 0) {
    const Kind = random.pick([Uint32Array, Uint16Array, Uint8Array]);
    const indices = new Kind(indexCount);
    for (let i = 0; i < indexCount; i++) indices[i] = random.integer(Math.min(count, 250));
    geometry.setIndex(new BufferAttribute(indices, 1));
  }
  return geometry;
}

/** The vertices of each element that three draws, as positions. */
function elementsOf(geometry: BufferGeometry, groups: number[] | null, primitive: Primitive): number[][][] {
  const { index, drawRange } = geometry;
  const position = geometry.getAttribute('position');
  const count = index === null ? position.count : index.count;
  const ranges = groups === null ? [{ start: 0, count }] : groups.flatMap((i) => geometry.groups[i] ?? []);
  return ranges.flatMap((range) => {
    const first = Math.max(range.start, drawRange.start);
    const end = Math.min(range.start + range.count, drawRange.start + drawRange.count, count);
    const vertices: number[][] = [];
    for (let i = first; i < end; i++) {
      const vertex = index === null ? i : index.getX(i);
      vertices.push([position.getX(vertex), position.getY(vertex), position.getZ(vertex)]);
    }
    if (primitive === 'points') return vertices.map((vertex) => [vertex]);
    if (primitive === 'strip') return vertices.slice(1).map((vertex, i) => [vertices[i], vertex]);
    if (primitive === 'loop') return vertices.map((vertex, i) => [vertex, vertices[(i + 1) % vertices.length]]);
    const size = primitive === 'triangles' ? 3 : 2;
    return Array.from({ length: Math.floor(vertices.length / size) }, (_, i) =>
      vertices.slice(size * i, size * i + size),
    );
  });
}

/** The same, of the data that is handed over. */
function elementsIn({ positions, indices, topology = 'triangles' }: MeshData): number[][][] {
  const size = { triangles: 3, lines: 2, points: 1 }[topology];
  const order = indices ?? Array.from({ length: positions.length / 3 }, (_, i) => i);
  const corner = (i: number) => Array.from(positions.subarray(3 * order[i], 3 * order[i] + 3));
  return Array.from({ length: order.length / size }, (_, i) =>
    Array.from({ length: size }, (_, k) => corner(size * i + k)),
  );
}

test(`what is handed over is what three draws, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 300; round++) {
    const count = 3 + random.integer(30);
    const geometry = randomGeometry(random, count, random.chance(0.5) ? 1 + random.integer(40) : 0);
    const drawn = geometry.index === null ? count : geometry.index.count;
    if (random.chance(0.5))
      geometry.setDrawRange(random.integer(4), random.pick([Infinity, random.integer(drawn + 5)]));
    const primitive = random.pick(PRIMITIVES);
    let groups: number[] | null = null;
    if (primitive === 'triangles' && random.chance(0.6)) {
      for (let i = 0; i < 4; i++) geometry.addGroup(random.integer(drawn), 3 * random.integer(5), i + 5);
      groups = random.pick([[0], [3, 1], [0, 1, 2, 3], [2, 9]]);
    }
    const expected = elementsOf(geometry, groups, primitive);
    const runs = runsOf(geometry, groups, primitive);
    const sum = runs.reduce((length, { start, end }) => length + end - start, 0);
    // A strip of one vertex and a loop of one differ: the strip is no line, the loop is a line without a length.
    if (expected.length === 0) {
      expect(runs).toEqual([]);
      expect(() => meshDataOfRuns(geometry, runs, primitive)).toThrow(
        /^meshDataFromGeometry: of BufferGeometry \d+ with \d+ (vertices|indices), nothing lies in the draw range \(\d+, (\d+|Infinity)\) and the groups; expected a (triangle|point|line)$/,
      );
      continue;
    }
    if (primitive === 'triangles') expect(sum).toBe(3 * expected.length);
    for (const { materialIndex } of runs) expect(materialIndex >= 5).toBe(groups !== null);
    const data = meshDataOfRuns(geometry, runs, primitive);
    const { value: copied, steps } = run(copyMeshData(geometry, runs, primitive));
    expect(elementsIn(data)).toEqual(expected);
    expect(elementsIn(copied)).toEqual(expected);
    expect(copied.topology ?? 'triangles').toBe(data.topology ?? 'triangles');
    expect(copied.positions.buffer).not.toBe((geometry.getAttribute('position') as BufferAttribute).array?.buffer);
    const numbers = copied.positions.length + (copied.indices?.length ?? 0);
    const { first, end, isRange } = vertexRange(geometry, runs);
    // The drawn part of a range is less than the whole, whose size counts.
    expect(copySizeOf(geometry, runs, primitive)).toBe(isRange ? numbers + 3 * (count - end + first) : numbers);
    expect(isRange).toBe(geometry.index === null && runs.length === 1);
    expect(Array.from(positionsOfRuns(geometry, runs))).toEqual(Array.from(copied.positions));
    expect(Array.from(copyPositions(geometry, first, end))).toEqual(Array.from(copied.positions));
    expect(steps).toBe(1 + (isRange && primitive !== 'strip' && primitive !== 'loop' ? 0 : runs.length));
    expect(copied.indices instanceof Uint16Array).toBe(
      copied.indices !== undefined && geometry.index?.array instanceof Uint16Array,
    );
    if (primitive !== 'triangles') continue;
    expected.forEach((_, triangle) => {
      const { start, materialIndex } = findTriangle(runs, triangle);
      const corner = geometry.index === null ? start : geometry.index.getX(start);
      expect(geometry.getAttribute('position').getX(corner)).toBe(expected[triangle][0][0]);
      expect(runs.some((each) => each.materialIndex === materialIndex && each.start <= start && start < each.end)).toBe(
        true,
      );
    });
    expect(() => findTriangle(runs, expected.length)).toThrow(`triangle ${expected.length} of ${expected.length}`);
    const isInOrder = runs.length === 1 && Math.floor(runs[0].start / 3) === 0;
    expect(hasFacesInOrder(runs)).toBe(isInOrder);
  }
});

test('a long one is copied in steps of 16,384', () => {
  const random = new Random(SEED);
  for (const indexed of [0, 70_002]) {
    for (const primitive of PRIMITIVES) {
      const geometry = randomGeometry(random, 40_002, indexed);
      const runs = runsOf(geometry, null, primitive);
      const { value, steps } = run(copyMeshData(geometry, runs, primitive));
      const hasIndices = indexed > 0 || primitive === 'strip' || primitive === 'loop';
      expect(steps).toBe(3 + (hasIndices ? Math.ceil((indexed || 40_002) / 16_384) : 0));
      expect(value.positions).toEqual(copyPositions(geometry, 0, 40_002));
      if (hasIndices)
        expect(Array.from(value.indices!)).toEqual(Array.from(meshDataOfRuns(geometry, runs, primitive).indices!));
    }
  }
  const grouped = randomGeometry(random, 40_002, 0);
  grouped.addGroup(0, 20_001, 0);
  grouped.addGroup(20_001, 20_001, 1);
  const runs = runsOf(grouped, [1, 0]);
  const { value, steps } = run(copyMeshData(grouped, runs));
  expect(steps).toBe(3 + 4);
  expect(Array.from(value.indices!)).toEqual(
    Array.from({ length: 40_002 }, (_, i) => (i < 20_001 ? i + 20_001 : i - 20_001)),
  );
});

test('a range of vertices that is not there is refused', () => {
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(9), 3));
  geometry.name = 'three';
  expect(copyPositions(geometry, 3, 3).length).toBe(0);
  for (const [first, end] of [
    [-1, 2],
    [2, 1],
    [0, 4],
    [Number.NaN, 2],
  ]) {
    expect(() => copyPositions(geometry, first, end)).toThrow(
      `BufferGeometry "three": the range of vertices is [${first}, ${end}], expected one of 3`,
    );
  }
  geometry.setDrawRange(0.5, 3);
  expect(() => runsOf(geometry, null)).toThrow('the start of the draw range is 0.5, expected an integer');
});

describe('a change is noticed', () => {
  const make = () => {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(18), 3));
    geometry.setAttribute('skinIndex', new BufferAttribute(new Uint8Array(24), 4));
    geometry.setAttribute('skinWeight', new BufferAttribute(new Float32Array(24), 4));
    geometry.morphAttributes.position = [0, 1].map(() => new BufferAttribute(new Float32Array(18), 3));
    geometry.setIndex([0, 1, 2, 3, 4, 5]);
    geometry.addGroup(0, 3, 0);
    geometry.addGroup(3, 3, 1);
    return geometry;
  };
  type Change = (geometry: BufferGeometry) => void;
  /** Whether the triangles change; the others only move vertices. */
  const changes: [string, boolean, Change][] = [
    [
      'a version of positions',
      false,
      (g) => {
        g.attributes.position.needsUpdate = true;
      },
    ],
    ['other positions', false, (g) => g.setAttribute('position', new BufferAttribute(new Float32Array(18), 3))],
    ['fewer positions', true, (g) => g.setAttribute('position', new BufferAttribute(new Float32Array(15), 3))],
    ['no positions', true, (g) => g.deleteAttribute('position')],
    [
      'a version of indices',
      true,
      (g) => {
        g.index!.needsUpdate = true;
      },
    ],
    ['other indices', true, (g) => g.setIndex([0, 1, 2, 3, 4, 5])],
    ['no indices', true, (g) => g.setIndex(null)],
    ['where drawing begins', true, (g) => g.setDrawRange(3, g.drawRange.count)],
    ['how much is drawn', true, (g) => g.setDrawRange(0, 3)],
    ['a group more', true, (g) => g.addGroup(0, 3, 2)],
    ['a group less', true, (g) => void g.groups.pop()],
    [
      'where a group begins',
      true,
      (g) => {
        g.groups[1].start = 0;
      },
    ],
    [
      'how long a group is',
      true,
      (g) => {
        g.groups[1].count = 2;
      },
    ],
    [
      'the material of a group',
      true,
      (g) => {
        g.groups[1].materialIndex = 0;
      },
    ],
  ];
  test.each(changes)('of a geometry: %s', (_, isOther, change) => {
    const geometry = make();
    const version = new GeometryVersion();
    expect(version.equals(geometry)).toBe(false);
    version.copy(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([true, true]);
    change(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([false, !isOther]);
    version.copy(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([true, true]);
  });

  test('of a group without a material, and of interleaved positions by those of their buffer', () => {
    const geometry = make();
    delete geometry.groups[0].materialIndex;
    const buffer = new InterleavedBuffer(new Float32Array(24), 4);
    const attribute = new InterleavedBufferAttribute(buffer, 3, 0);
    geometry.setAttribute('position', attribute);
    const version = new GeometryVersion();
    version.copy(geometry);
    geometry.groups[0].materialIndex = 0;
    expect(version.equals(geometry)).toBe(true);
    buffer.needsUpdate = true;
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([false, true]);
    expect([versionOf(attribute), versionOf(undefined)]).toEqual([1, 0]);
  });

  const BOTH: Deformers = { bones: 2, isMorphed: true };
  const deforming: [string, Deformers[], Change][] = [
    [
      'a version of bones',
      [BOTH, { bones: 2, isMorphed: false }],
      (g) => {
        g.attributes.skinIndex.needsUpdate = true;
      },
    ],
    [
      'a version of weights',
      [BOTH, { bones: 2, isMorphed: false }],
      (g) => {
        g.attributes.skinWeight.needsUpdate = true;
      },
    ],
    [
      'other weights',
      [BOTH, { bones: 2, isMorphed: false }],
      (g) => {
        g.attributes.skinWeight = g.attributes.skinWeight.clone();
      },
    ],
    ['no bones', [BOTH, { bones: 2, isMorphed: false }], (g) => g.deleteAttribute('skinIndex')],
    [
      'a version of the last target',
      [BOTH, { bones: 0, isMorphed: true }],
      (g) => {
        g.morphAttributes.position![1].needsUpdate = true;
      },
    ],
    [
      'another target',
      [BOTH, { bones: 0, isMorphed: true }],
      (g) => {
        g.morphAttributes.position![0] = g.morphAttributes.position![0].clone();
      },
    ],
    ['a target less', [BOTH, { bones: 0, isMorphed: true }], (g) => void g.morphAttributes.position!.pop()],
    [
      'relative ones',
      [BOTH, { bones: 0, isMorphed: true }, { bones: 2, isMorphed: false }],
      (g) => {
        g.morphTargetsRelative = true;
      },
    ],
  ];
  test.each(deforming)('of what moves vertices: %s', (_, noticing, change) => {
    for (const deformers of [BOTH, { bones: 2, isMorphed: false }, { bones: 0, isMorphed: true }, RIGID]) {
      const geometry = make();
      const version = new DeformVersion();
      if (deformers !== RIGID) expect(version.equals(geometry, deformers)).toBe(false);
      version.copy(geometry, deformers);
      expect(version.equals(geometry, deformers)).toBe(true);
      change(geometry);
      const isNoticed = noticing.some((each) => areSameDeformers(each, deformers));
      expect(version.equals(geometry, deformers), JSON.stringify(deformers)).toBe(!isNoticed);
      version.copy(geometry, deformers);
      expect(version.equals(geometry, deformers)).toBe(true);
    }
  });

  test('of what an object has beside its geometry', () => {
    const mesh = new Mesh(make()) as unknown as SkinnedMesh;
    const set = (own: object) => Object.assign(mesh, own) as unknown as Mesh;
    mesh.morphTargetInfluences = undefined as never;
    expect(deformersOf(set({}))).toBe(RIGID);
    const states: [object, Deformers][] = [
      [{ morphTargetInfluences: [0, 0] }, { bones: 0, isMorphed: true }],
      [
        { isSkinnedMesh: true, skeleton: { bones: [{}, {}] } },
        { bones: 2, isMorphed: true },
      ],
      [{ skeleton: { bones: [] } }, { bones: -1, isMorphed: true }],
      [{ skeleton: undefined }, { bones: -1, isMorphed: true }],
      [
        { isInstancedMesh: true, morphTexture: null },
        { bones: -1, isMorphed: false },
      ],
      [{ morphTexture: {} }, { bones: -1, isMorphed: true }],
      [{ isSkinnedMesh: false }, { bones: 0, isMorphed: true }],
      [{ geometry: new BufferGeometry() }, RIGID],
      [{ geometry: { morphAttributes: { position: 3 } } }, { bones: 0, isMorphed: true }],
      [{ geometry: { morphAttributes: { position: [] } } }, RIGID],
      // A value that is no array counts as having targets, and the build reports the error, whatever its length is.
      [{ geometry: { morphAttributes: { position: { length: 0 } } } }, { bones: 0, isMorphed: true }],
      [{ geometry: null }, RIGID],
    ];
    for (const [own, expected] of states) {
      const before = deformersOf(mesh as unknown as Mesh);
      expect(deformersOf(set(own))).toEqual(expected);
      expect(isDeformedBy(mesh as unknown as Mesh, expected)).toBe(true);
      expect(isDeformedBy(mesh as unknown as Mesh, before)).toBe(areSameDeformers(before, expected));
    }
  });
});

test('a list of more morph targets than there may be is not gone through', () => {
  const geometry = new BufferGeometry();
  const deformers = { bones: 0, isMorphed: true };
  let reads = 0;
  const targets = new Proxy([], {
    get(array, key) {
      if (key !== 'length') reads++;
      return key === 'length' ? 65_537 : Reflect.get(array, key);
    },
  });
  geometry.morphAttributes.position = targets;
  const mesh = Object.assign(new Mesh(), { geometry, morphTargetInfluences: [] });
  expect(deformersOf(mesh)).toEqual(deformers);
  const version = new DeformVersion();
  version.copy(geometry, deformers);
  expect(version.equals(geometry, deformers)).toBe(true);
  expect(reads).toBe(0);
});

describe('what moves vertices', () => {
  const geometryOf = (count: number) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * count), 3));
    const bones = Uint16Array.from({ length: 4 * count }, (_, i) => i % 3);
    const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 5) / 8);
    geometry.setAttribute('skinIndex', new BufferAttribute(bones, 4));
    geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
    const target = (factor: number) =>
      new BufferAttribute(
        Float32Array.from({ length: 3 * count }, (_, i) => factor * i),
        3,
      );
    geometry.morphAttributes.position = [target(1), target(-2)];
    return geometry;
  };
  const copy = (geometry: BufferGeometry, deformers: Deformers): { value: MeshDeform; steps: number } =>
    run(copyDeform(geometry, runsOf(geometry, null), deformers));

  test('is copied for the vertices that are drawn, in steps', () => {
    for (const [first, count, whole] of [
      [0, 40_002, 40_002],
      [33, 9, 60],
    ]) {
      const geometry = geometryOf(whole);
      geometry.setDrawRange(first, count);
      const { value, steps } = copy(geometry, { bones: 3, isMorphed: true });
      expect(steps).toBe(count > 16_384 ? 2 + 2 * 3 : 2);
      const { bones, weights, boneCount } = value.skin!;
      expect(boneCount).toBe(3);
      expect(weights.length).toBe(4 * count);
      const isRight = Array.from(weights).every((weight, i) => {
        const at = 4 * first + i;
        return weight === (at % 5) / 8 && bones[i] === (weight === 0 ? 0 : at % 3);
      });
      expect(isRight).toBe(true);
      expect(value.morphs!.relative).toBe(false);
      value.morphs!.targets.forEach((target, k) => {
        expect(target.length).toBe(3 * count);
        expect(target.every((value, i) => value === Math.fround([1, -2][k] * (3 * first + i)))).toBe(true);
      });
    }
    const geometry = geometryOf(6);
    geometry.morphTargetsRelative = true;
    expect(copy(geometry, { bones: 0, isMorphed: true }).value).toMatchObject({ morphs: { relative: true } });
    expect(copy(geometry, { bones: 0, isMorphed: true }).value.skin).toBeUndefined();
    expect(copy(geometry, { bones: 3, isMorphed: false }).value.morphs).toBeUndefined();
    expect(copy(geometry, RIGID).value).toEqual({});
  });

  test('that does not fit is refused by name', () => {
    const attribute = (count: number, size: number) => new BufferAttribute(new Float32Array(count * size), size);
    const fails: [string, (geometry: BufferGeometry) => void, number][] = [
      [
        'skinIndex of BufferGeometry "six" is "none", expected 6 of item size 4',
        (g) => g.deleteAttribute('skinIndex'),
        3,
      ],
      [
        'skinWeight of BufferGeometry "six" is "5 of item size 4", expected',
        (g) => g.setAttribute('skinWeight', attribute(5, 4)),
        3,
      ],
      [
        'skinWeight of BufferGeometry "six" is "6 of item size 3", expected',
        (g) => g.setAttribute('skinWeight', attribute(6, 3)),
        3,
      ],
      [
        'morphAttributes.position[1] of BufferGeometry "six" is "5 of',
        (g) => {
          g.morphAttributes.position![1] = attribute(5, 3);
        },
        3,
      ],
      ['the skeleton is undefined, expected one with bones (see bind)', () => {}, -1],
      ['skinIndex of vertex 0 in BufferGeometry "six" is 2, expected one of the skeleton\'s 2 bones', () => {}, 2],
      [
        'skinIndex of vertex 4 in BufferGeometry "six" is 0.5, expected',
        (g) => {
          g.setAttribute('skinIndex', attribute(6, 4));
          (g.attributes.skinIndex as BufferAttribute).setY(4, 0.5);
        },
        3,
      ],
      [
        'skinIndex of vertex 4 in BufferGeometry "six" is -1, expected',
        (g) => {
          g.setAttribute('skinIndex', attribute(6, 4));
          (g.attributes.skinIndex as BufferAttribute).setW(4, -1);
        },
        3,
      ],
    ];
    for (const [message, change, bones] of fails) {
      const geometry = geometryOf(6);
      geometry.name = 'six';
      change(geometry);
      expect(() => copy(geometry, { bones, isMorphed: true }), message).toThrow(message);
    }
    // Bones of no weight may be any.
    const geometry = geometryOf(6);
    geometry.attributes.skinWeight.array.fill(0);
    expect(copy(geometry, { bones: 1, isMorphed: false }).value.skin!.bones).toEqual(new Uint16Array(24));
  });
});
