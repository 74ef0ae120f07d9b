// When the pose of a Mesh is sent, what is sent, and what is wrong with it.
import { Bone, BufferGeometry, type DataTexture, Matrix4, Mesh, Skeleton, SkinnedMesh } from 'three';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { CollisionService } from '../../src/client/service.js';
import type { CheckedPose } from '../../src/client/skin/pose-table.js';
import type { BuiltMesh } from '../../src/client/three/geometry/shared-mesh.js';
import { MeshPose, SkeletonTable } from '../../src/client/three/track/mesh-pose.js';

interface Sent {
  id: number;
  bones: number[] | undefined;
  binds: number[];
  morphs: number[];
}
const sent: Sent[] = [];
const service = {
  poseObject: (id: number, { bones, binds, morphs }: CheckedPose) =>
    sent.push({ id, bones: bones && Array.from(bones), binds: Array.from(binds), morphs: Array.from(morphs) }),
} as unknown as CollisionService;
const built = (bones: number, morphs: number) => ({ id: 1, bones, morphs }) as BuiltMesh;
const IDENTITY = new Matrix4().elements;
const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0);

beforeEach(() => {
  sent.length = 0;
});

function skinned(count: number) {
  const bones = Array.from({ length: count }, (_, i) => Object.assign(new Bone(), { name: `bone ${i}` }));
  const skeleton = new Skeleton(
    bones,
    bones.map(() => new Matrix4()),
  );
  const mesh = new SkinnedMesh(new BufferGeometry());
  mesh.bind(skeleton, new Matrix4());
  const move = (bone: number, x: number) => bones[bone].matrixWorld.copy(at(x));
  return { mesh, skeleton, bones, move };
}

describe('a skeleton', () => {
  test('is read once a frame, and its version is another where a number is', () => {
    const { skeleton, move } = skinned(2);
    const table = new SkeletonTable(true);
    const update = vi.spyOn(skeleton, 'update');
    table.beginFrame();
    const read = table.read(skeleton);
    const { version } = read;
    expect([read.numbers.length, read.isFinite, update.mock.calls.length]).toEqual([32, true, 1]);
    move(1, 3);
    expect([table.read(skeleton), read.version, read.numbers[28], update.mock.calls.length]).toEqual([
      read,
      version,
      0,
      1,
    ]);
    table.beginFrame();
    table.read(skeleton);
    expect([read.version, read.numbers[28], update.mock.calls.length]).toEqual([version + 1, 3, 2]);
    table.beginFrame();
    table.read(skeleton);
    expect([read.version, update.mock.calls.length]).toEqual([version + 1, 3]);
    for (let i = 0; i < 32; i++) {
      table.beginFrame();
      skeleton.update = () => {};
      skeleton.boneMatrices![i] = i % 2 ? Number.NaN : Number.POSITIVE_INFINITY;
      expect([table.read(skeleton).isFinite, read.version]).toEqual([false, version + 2 + 2 * i]);
      table.beginFrame();
      expect([table.read(skeleton).version, read.isFinite]).toEqual([version + 2 + 2 * i, false]);
      table.beginFrame();
      skeleton.boneMatrices![i] = 1;
      expect([table.read(skeleton).isFinite, read.version]).toEqual([true, version + 3 + 2 * i]);
    }
  });

  test('is read as a renderer has left it, and computed where none has', () => {
    const { skeleton, move } = skinned(1);
    const table = new SkeletonTable(false);
    const update = vi.spyOn(skeleton, 'update');
    const frame = () => {
      table.beginFrame();
      return table.read(skeleton).numbers[12];
    };
    move(0, 1);
    expect([frame(), update.mock.calls.length]).toEqual([1, 1]);
    // A renderer makes a texture of it, whose version changes with each update.
    skeleton.boneTexture = { version: 0 } as DataTexture;
    skeleton.boneMatrices![12] = 5;
    move(0, 2);
    expect([frame(), update.mock.calls.length]).toEqual([2, 2]); // it was not known yet
    const { version } = skeleton.boneTexture;
    skeleton.boneMatrices![12] = 7;
    skeleton.boneTexture = { version: version + 1 } as DataTexture;
    expect([frame(), update.mock.calls.length]).toEqual([7, 2]);
    move(0, 3);
    expect([frame(), update.mock.calls.length]).toEqual([3, 3]); // it was not drawn since
    const always = new SkeletonTable(true);
    for (let i = 4; i < 6; i++) {
      always.beginFrame();
      skeleton.boneTexture = { version: version + i } as DataTexture;
      move(0, i);
      expect([always.read(skeleton).numbers[12], update.mock.calls.length]).toEqual([i, i]);
    }
  });

  test('of more bones than numbers is not finite where there are none', () => {
    const { skeleton } = skinned(2);
    const table = new SkeletonTable(false);
    table.beginFrame();
    skeleton.update = () => {};
    skeleton.boneMatrices = new Float32Array(16).fill(1);
    const read = table.read(skeleton);
    expect([read.numbers.length, read.isFinite, read.numbers[15], read.numbers[16]]).toEqual([
      32,
      false,
      1,
      Number.NaN,
    ]);
  });
});

describe('a pose', () => {
  test('of bones is sent where anything of it is another', () => {
    const { mesh, skeleton, move } = skinned(2);
    const table = new SkeletonTable(true);
    const pose = new MeshPose(service, table);
    let standing = built(2, 0);
    let id = 7;
    const frame = (): Sent | undefined => {
      table.beginFrame();
      pose.send(mesh, standing, id);
      expect(sent.length).toBeLessThan(2);
      return sent.pop();
    };
    expect(frame()).toEqual({
      id: 7,
      bones: [...IDENTITY, ...IDENTITY],
      binds: [...IDENTITY, ...IDENTITY],
      morphs: [],
    });
    expect(frame()).toBeUndefined();
    move(0, 4);
    expect(frame()!.bones![12]).toBe(4);
    expect(frame()).toBeUndefined();
    for (let i = 0; i < 16; i++) {
      if (i % 4 === 3) continue;
      mesh.bindMatrix.elements[i] += 1;
      expect(frame()!.binds[i]).toBe(IDENTITY[i] + 1);
      mesh.bindMatrixInverse.elements[i] += 2;
      expect(frame()!.binds[16 + i]).toBe(IDENTITY[i] + 2);
      expect(frame()).toBeUndefined();
    }
    id = 8;
    expect(frame()!.id).toBe(8);
    standing = built(2, 0);
    expect(frame()).toBeDefined();
    mesh.skeleton = new Skeleton(skeleton.bones, skeleton.boneInverses);
    expect(frame()).toBeDefined();
    expect(frame()).toBeUndefined();
    // To a mesh for fewer or more bones nothing is sent: another one is built.
    for (const count of [1, 3]) {
      pose.send(mesh, built(count, 0), id);
      expect(sent).toEqual([]);
    }
  });

  test('of morph targets is sent as float32, with zeros for those that are not there', () => {
    const mesh = new Mesh(new BufferGeometry());
    const pose = new MeshPose(service, new SkeletonTable(true));
    const standing = built(0, 2);
    const frame = (influences: unknown, of = standing): Sent | undefined => {
      mesh.morphTargetInfluences = influences as number[];
      pose.send(mesh, of, 3);
      return sent.pop();
    };
    expect(frame([0.1])).toEqual({
      id: 3,
      bones: undefined,
      binds: [...IDENTITY, ...IDENTITY],
      morphs: [Math.fround(0.1), 0],
    });
    expect(frame([0.1, 0])).toBeUndefined();
    expect(frame([Math.fround(0.1), 0])).toBeUndefined();
    expect(frame([0.1, 0.5])!.morphs[1]).toBe(0.5);
    expect(frame(undefined)!.morphs).toEqual([0, 0]);
    expect(frame([0, 0, 9])).toBeUndefined();
    const more = built(0, 3);
    expect(frame([0, 0, 9], more)!.morphs).toEqual([0, 0, 9]);
    expect(frame([0, 0, 9], built(0, 0))!.morphs).toEqual([]);
    expect(pose.fault).toBeNull();
  });

  test('that is none is said, and not sent until it is one', () => {
    const { mesh, skeleton, move } = skinned(3);
    mesh.morphTargetInfluences = [0, 0];
    const table = new SkeletonTable(true);
    const pose = new MeshPose(service, table);
    const standing = built(3, 2);
    const frame = (): number => {
      table.beginFrame();
      pose.send(mesh, standing, 1);
      return sent.splice(0).length;
    };
    expect([frame(), pose.fault]).toEqual([1, null]);
    mesh.morphTargetInfluences[1] = Number.NaN;
    expect(frame()).toBe(0);
    expect(pose.fault).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'its pose: morphTargetInfluences[1] is NaN, expected a finite number of float32',
    });
    mesh.morphTargetInfluences[1] = 1e39;
    expect(frame()).toBe(0);
    expect(pose.fault!.message).toContain('morphTargetInfluences[1] is Infinity');
    mesh.morphTargetInfluences[1] = 0;
    expect([frame(), pose.fault]).toEqual([1, null]);
    for (const [name, i, value] of [
      ['bindMatrix', 0, Number.NaN],
      ['bindMatrix', 3, 1],
      ['bindMatrixInverse', 14, Infinity],
      ['bindMatrixInverse', 15, 2],
    ] as const) {
      const before = mesh[name].elements[i];
      mesh[name].elements[i] = value;
      expect(frame()).toBe(0);
      expect(pose.fault!.message).toBe(
        `its pose: the ${name} is not affine, expected finite numbers over a row of 0, 0, 0, 1`,
      );
      mesh[name].elements[i] = before;
      expect([frame(), pose.fault]).toEqual([1, null]);
    }
    // The frame itself lists bones that are not finite.
    move(1, Number.NaN);
    expect(frame()).toBe(1);
    expect(pose.fault!.message).toBe(
      'its pose: the matrix of bone 1 ("bone 1") is not finite, expected 16 finite numbers',
    );
    move(1, 0);
    expect([frame(), pose.fault]).toEqual([1, null]);
    expect(skeleton.bones.length).toBe(3);
  });
});
