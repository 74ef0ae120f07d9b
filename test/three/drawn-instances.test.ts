// What a renderer is given instead of an InstancedMesh: the instances of a list, in their current state.
import {
  BoxGeometry,
  DataTexture,
  FloatType,
  InstancedBufferAttribute,
  InstancedMesh,
  MeshBasicMaterial,
  RedFormat,
} from 'three';
import { expect, test } from 'vitest';
import { DrawnInstances } from '../../src/client/three/culling/drawn-instances.js';
import { Random, SEED } from '../oracle/random.js';

const COUNT = 100;

const noise = (random: Random, length: number) => Float32Array.from({ length }, () => random.range(-1, 1));

function filled(random: Random, itemSize: number): InstancedBufferAttribute {
  return new InstancedBufferAttribute(noise(random, itemSize * COUNT), itemSize);
}

function morphs(random: Random, width: number): DataTexture {
  // The last instances have no row.
  return new DataTexture(noise(random, width * (COUNT - 10)), width, COUNT - 10, RedFormat, FloatType);
}

/** The items of a list. */
function itemsOf(array: ArrayLike<number>, size: number, list: number[]): number[] {
  return list.flatMap((i) => Array.from({ length: size }, (_, k) => array[size * i + k] ?? 0));
}

test(`has the matrices, colours and morphs of a list, as they are now, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const geometry = new BoxGeometry();
  geometry.morphAttributes.position = [geometry.attributes.position.clone()];
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial(), COUNT);
  const drawn = new DrawnInstances(mesh, null);
  let list: number[] = [];
  const versions = { matrices: -1, colours: -1, morphs: -1 };
  let stand = drawn.show({ numbers: new Uint32Array(), count: 0, matrices: null });
  const changes: (() => unknown)[] = [
    () => {
      list = Array.from({ length: random.integer(COUNT) }, () => random.integer(COUNT));
    },
    () => {
      list = list.toReversed();
    },
    () => Object.assign(mesh.instanceMatrix.copyArray(noise(random, 16 * COUNT)), { needsUpdate: true }),
    () =>
      mesh.instanceColor &&
      Object.assign(mesh.instanceColor.copyArray(noise(random, mesh.instanceColor.itemSize * COUNT)), {
        needsUpdate: true,
      }),
    () => {
      mesh.instanceMatrix = filled(random, 16);
    },
    () => {
      mesh.instanceColor = random.pick([null, filled(random, 3), filled(random, 4)]);
    },
    () => {
      mesh.morphTexture = random.pick([null, morphs(random, 3), morphs(random, 5)]);
    },
    () => drawn.dispose(),
    () => {}, // nothing
  ];
  for (let frame = 0; frame < 300; frame++) {
    const change = random.pick(changes);
    change();
    const isKnown = random.chance(0.2);
    const matrices = isKnown ? Float32Array.from(itemsOf(mesh.instanceMatrix.array, 16, list)) : null;
    const before = stand;
    // The array may be longer than the count.
    stand = drawn.show({ numbers: Uint32Array.from([...list, 3]), count: list.length, matrices });
    const { instanceMatrix, instanceColor, morphTexture } = stand;
    const { length } = list;
    expect(stand.count).toBe(length);
    expect(Array.from(instanceMatrix.array.subarray(0, 16 * length))).toEqual(
      itemsOf(mesh.instanceMatrix.array, 16, list),
    );
    expect(instanceColor === null).toBe(mesh.instanceColor === null);
    if (instanceColor !== null) {
      const { array, itemSize } = mesh.instanceColor!;
      expect(instanceColor.itemSize).toBe(itemSize);
      expect(Array.from(instanceColor.array.subarray(0, itemSize * length))).toEqual(itemsOf(array, itemSize, list));
    }
    expect(morphTexture === null).toBe((mesh.morphTexture ?? null) === null);
    if (morphTexture !== null) {
      const { data, width } = mesh.morphTexture!.image as { data: Float32Array; width: number };
      expect(Array.from((morphTexture.image.data as Float32Array).subarray(0, width * length))).toEqual(
        itemsOf(data, width, list),
      );
    }
    // Nothing is uploaded again that is there already, and of the rest no more than is drawn.
    const now = {
      matrices: instanceMatrix.version,
      colours: instanceColor?.version ?? -1,
      morphs: morphTexture?.version ?? -1,
    };
    if (change === changes.at(-1) && frame > 0) {
      expect(stand).toBe(before);
      expect(now).toEqual(versions);
    }
    expect(instanceMatrix.updateRanges).toEqual([{ start: 0, count: 16 * length }]);
    Object.assign(versions, now);
  }
});

test('it is made anew where there is no more room, and renderers hear of the old one once a render is over', async () => {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 1000);
  const drawn = new DrawnInstances(mesh, null);
  const show = (count: number) =>
    drawn.show({ numbers: Uint32Array.from({ length: count }, (_, i) => i), count, matrices: null });
  const first = show(10);
  let ends = 0;
  first.addEventListener('dispose', () => ends++);
  expect(show(64)).toBe(first);
  expect(show(3)).toBe(first);
  expect(ends).toBe(0);
  const second = show(65);
  expect(second).not.toBe(first);
  expect(ends).toBe(0);
  await null;
  expect(ends).toBe(1);
  expect(show(98)).toBe(second); // half as many again
  expect(show(99)).not.toBe(second);
  expect(show(1000).instanceMatrix.count).toBe(1000); // no more than the mesh has
});

test('it stands for the mesh, but for what is the mesh alone to do', () => {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 3);
  const child = new InstancedMesh(mesh.geometry, mesh.material, 1);
  mesh.add(child);
  mesh.castShadow = true;
  mesh.renderOrder = 5;
  const coarse = new BoxGeometry(2, 2, 2);
  const shown = { numbers: Uint32Array.of(1), count: 1, matrices: null };
  const [own, level] = [null, coarse].map((geometry) => new DrawnInstances(mesh, geometry).show(shown));
  expect([own.geometry, level.geometry]).toEqual([mesh.geometry, coarse]);
  expect(own).toMatchObject({ isInstancedMesh: true, frustumCulled: true, children: [], renderOrder: 5, id: mesh.id });
  expect(mesh).toMatchObject({ castShadow: true, count: 3, children: [child] });
  const hits: never[] = [];
  own.raycast({} as never, hits);
  expect(hits).toEqual([]);
  own.computeBoundingSphere();
  expect(mesh.boundingSphere).not.toBeNull();
});
