// inspect(): what it reports of trees, cells and bounds, against
// the triangles, the matrices and the frames themselves.
import { type CollisionService, createCollisionService, type InspectedTree, type ObjectId } from 'collision-worker';
import { Box3, Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { KillableService } from '../../fixtures/mortal.js';
import { PLACES } from '../../fixtures/twin.js';
import { bumpyBall } from '../../oracle/lumps.js';
import { boxMesh, icosphere, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { deformedPositions, poseOf, poseRandomly, randomRig, roundBones } from '../../oracle/rigs.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** How far a point is from the centre of a box, in half axes: 1 on its faces. */
function reachIn(boxes: Float64Array, i: number, point: Vector3): number {
  const at = boxes.subarray(12 * i, 12 * i + 12);
  const frame = new Matrix4().set(at[0], at[3], at[6], 0, at[1], at[4], at[7], 0, at[2], at[5], at[8], 0, 0, 0, 0, 1);
  // The centre is subtracted first, since far away the digits of both would be lost.
  const local = point
    .clone()
    .sub(new Vector3(at[9], at[10], at[11]))
    .applyMatrix4(frame.invert());
  return Math.max(Math.abs(local.x), Math.abs(local.y), Math.abs(local.z));
}

/** The error of this test's arithmetic, relative to a box: positions far away have 2⁻³³ of a unit. */
const DOUBT = 1e-5;

/** Checks that every element is in one leaf, and each of its corners in the box of that leaf and of all ancestors. */
function checkTree(tree: InspectedTree, elements: number, cornersOf: (element: number) => Vector3[]): void {
  const leafOf = new Map<number, number>();
  for (let box = 0; box < tree.levels.length; box++) {
    const parent = tree.parents[box];
    expect(parent).toBeLessThan(box);
    if (parent >= 0) expect(tree.levels[box]).toBe(tree.levels[parent] + 1);
    else expect(tree.levels[box]).toBe(0);
    for (let k = tree.leafStart[box]; k < tree.leafStart[box + 1]; k++) {
      expect(leafOf.has(tree.leafElements[k])).toBe(false);
      leafOf.set(tree.leafElements[k], box);
    }
  }
  expect(leafOf.size).toBe(elements);
  expect(tree.elements).toBe(elements);
  let worst = 0;
  for (const [element, leaf] of leafOf) {
    for (const corner of cornersOf(element)) {
      for (let box = leaf; box >= 0; box = tree.parents[box]) {
        worst = Math.max(worst, reachIn(tree.boxes, box, corner));
      }
    }
  }
  expect(worst).toBeLessThan(1 + DOUBT);
  expect(worst).toBeGreaterThan(0.9); // they are no larger than necessary
  expect(tree.cut).toBe(false);
  expect(Math.max(...tree.levels)).toBe(tree.depth);
  expect(tree.levels).toEqual(tree.levels.slice().sort());
}

const cornersUnder = (positions: ArrayLike<number>, indices: ArrayLike<number>, size: number, matrix: Matrix4) => {
  return (element: number) =>
    Array.from({ length: size }, (_, k) =>
      new Vector3().fromArray(positions as number[], 3 * indices[size * element + k]).applyMatrix4(matrix),
    );
};

describe.each(PLACES)(`trees, %s, seed ${SEED}`, (_, place) => {
  const random = new Random(SEED);

  test('hold their triangles, level by level', async () => {
    const meshes: Triangles[] = [
      bumpyBall(random, 9, 0.2),
      icosphere(1, 6),
      boxMesh(1, 2, 3),
      bumpyBall(random, 3, 0.9),
    ];
    for (const triangles of meshes) {
      const matrix = random.placement(random.point(5).add(place), { low: 0.2, high: 3, mirrored: 0.3, sheared: 0.3 });
      const mesh = await service.addMesh({ ...triangles, positions: triangles.positions.slice() });
      const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
      const { trees } = await service.inspect({ objects: [id] });
      expect(trees.length).toBe(1);
      const [tree] = trees;
      const count = triangles.indices.length / 3;
      checkTree(tree, count, cornersUnder(triangles.positions, triangles.indices, 3, matrix));
      expect(tree).toMatchObject({ object: id, topology: 'triangles', poseBytes: 0 });
      expect(tree.bytes).toBe(service.meshInfo(mesh).bytes);
      expect(tree.nodes).toBe(1 + tree.levels.length - 1 - tree.leaves);
    }
  });

  test.each(['points', 'lines'] as const)('hold their %s', async (topology) => {
    const positions = Float32Array.from({ length: 900 }, () => random.range(-3, 3));
    const size = topology === 'points' ? 1 : 2;
    const indices = Uint32Array.from({ length: size * 200 }, () => random.integer(300));
    const matrix = random.placement(place.clone(), { low: 0.2, high: 3 });
    const mesh = await service.addMesh({ positions: positions.slice(), indices: indices.slice(), topology });
    const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
    const [tree] = (await service.inspect({ objects: [id] })).trees;
    checkTree(tree, 200, cornersUnder(positions, indices, size, matrix));
    expect(tree.topology).toBe(topology);
  });

  test('follow a pose', async () => {
    for (const options of [{ bones: 5 }, { bones: 0, targets: 2 }, { bones: 3, targets: 1 }]) {
      const rig = randomRig(random, options, random.point(2).add(place));
      poseRandomly(random, rig);
      roundBones(rig);
      const mesh = await service.addMesh(rig.data);
      const matrix = rig.mesh.matrixWorld;
      const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
      const [atRest] = (await service.inspect({ objects: [id] })).trees;
      service.setPose(id, poseOf(rig));
      const { frame } = await service.update();
      const [tree] = (await service.inspect({ objects: [id] })).trees;
      expect(tree.frame).toBe(frame);
      expect(tree.boxes).not.toEqual(atRest.boxes);
      const indices = rig.data.indices!;
      checkTree(tree, indices.length / 3, cornersUnder(deformedPositions(rig), indices, 3, matrix));
      expect(tree.poseBytes).toBeGreaterThan(0);
    }
  });

  test('are one box of other shapes', async () => {
    const position = random.point(3).add(place);
    const matrix = new Matrix4().setPosition(position);
    const id = service.addObject({ shape: { type: 'box', halfExtents: [1, 2, 3] }, matrix: matrix.elements });
    const [tree] = (await service.inspect({ objects: [id] })).trees;
    expect([...tree.boxes]).toEqual([1, 0, 0, 0, 2, 0, 0, 0, 3, ...position.toArray()]);
    expect(tree).toMatchObject({ topology: null, nodes: 0, leaves: 0, depth: 0, elements: 0, bytes: 0, cut: false });
  });

  test('are cut by levels and by number', async () => {
    const mesh = await service.addMesh(icosphere(1, 12));
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    const [all] = (await service.inspect({ objects: [id] })).trees;
    for (let from = 0; from <= all.depth + 1; from++) {
      for (let to = from; to <= all.depth + 1; to++) {
        const [tree] = (await service.inspect({ objects: [id], levels: [from, to] })).trees;
        const first = all.levels.findIndex((level) => level >= from);
        const start = first < 0 ? all.levels.length : first;
        const count = all.levels.filter((level) => level >= from && level <= to).length;
        expect(tree.boxes).toEqual(all.boxes.slice(12 * start, 12 * (start + count)));
        expect([...tree.parents]).toEqual(
          Array.from(all.parents.slice(start, start + count), (parent) => Math.max(parent - start, -1)),
        );
        expect([tree.cut, tree.depth, tree.nodes]).toEqual([false, all.depth, all.nodes]);
      }
    }
    for (const maxBoxes of [1, 2, 17, all.levels.length - 1]) {
      const [tree] = (await service.inspect({ objects: [id], maxBoxes })).trees;
      expect([tree.cut, tree.levels.length]).toEqual([true, maxBoxes]);
      expect(tree.boxes).toEqual(all.boxes.slice(0, 12 * maxBoxes));
    }
    const [whole] = (await service.inspect({ objects: [id], maxBoxes: all.levels.length })).trees;
    expect(whole.cut).toBe(false);
  });
});

describe.each(PLACES)(`cells and bounds, %s, seed ${SEED}`, (_, place) => {
  const random = new Random(SEED);
  const ids: ObjectId[] = [];
  const boxes = new Map<ObjectId, { box: Box3; matrix: Matrix4; isStatic: boolean }>();

  beforeEach(async () => {
    ids.length = 0;
    boxes.clear();
    for (let i = 0; i < 900; i++) {
      const matrix = random.placement(random.point(random.pick([3, 40])).add(place), { low: 0.05, high: 4 });
      const isStatic = i % 3 === 0;
      const id = service.addObject({
        shape: { type: 'box', halfExtents: [1, 1, 1] },
        matrix: matrix.elements,
        motion: isStatic ? 'static' : 'moving',
        contacts: i % 2 === 0 ? 'none' : 'any',
        cullable: i % 7 !== 0,
      });
      const box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)).applyMatrix4(matrix);
      boxes.set(id, { box, matrix, isStatic });
      ids.push(id);
    }
    await service.update();
    // Holes in the octrees.
    for (const id of ids.splice(0, 150)) {
      service.removeObject(id);
      boxes.delete(id);
    }
    await service.update();
  });

  test('count every object once, and hold it', async () => {
    const { cells, ...counts } = await service.inspect({ octree: true });
    const { levels, parents, counts: own, trees, boxes: frames, cut } = cells!;
    expect(cut).toBe(false);
    const sums = [0, 0, 0];
    trees.forEach((tree, i) => {
      sums[tree] += own[i];
    });
    const stillOnes = ids.filter((id) => boxes.get(id)!.isStatic).length;
    expect(sums[0]).toBe(ids.length - stillOnes);
    expect(sums[1] + sums[2]).toBe(stillOnes);
    expect(counts).toMatchObject({
      objects: ids.length,
      moving: sums[0],
      static: stillOnes,
      passive: sums[2],
      bounds: null,
      trees: [],
    });
    expect(counts.cellCount).toBeGreaterThanOrEqual(levels.length);
    expect(levels.length).toBeGreaterThan(20);
    const boxOf = (i: number) => {
      const half = new Vector3(frames[12 * i], frames[12 * i + 4], frames[12 * i + 8]);
      const centre = new Vector3().fromArray(frames, 12 * i + 9);
      return new Box3(centre.clone().sub(half), centre.add(half)).expandByScalar(1e-3);
    };
    const held = Array.from(levels, (_, i) => boxOf(i));
    levels.forEach((level, i) => {
      const parent = parents[i];
      expect(level).toBe(parent < 0 ? 0 : levels[parent] + 1);
      if (parent < 0) return;
      expect(trees[parent]).toBe(trees[i]);
      expect(held[parent].clone().expandByScalar(1e-3).containsBox(held[i])).toBe(true);
    });
    // At least as many objects as are in a cell and its descendants lie in its bounds.
    const below = Array.from(own);
    for (let i = below.length - 1; i >= 0; i--) if (parents[i] >= 0) below[parents[i]] += below[i];
    held.forEach((box, i) => {
      let inside = 0;
      for (const each of boxes.values()) if (box.containsBox(each.box)) inside++;
      expect(inside).toBeGreaterThanOrEqual(below[i]);
    });
  });

  test('are those of all objects, as views see them', async () => {
    let occludedCount = 0;
    for (let i = 0; i < 8; i++) {
      const camera = new PerspectiveCamera(random.range(20, 90), 1.5, 0.5, random.range(20, 200));
      camera.position.copy(random.point(30).add(place));
      camera.lookAt(random.point(10).add(place));
      camera.updateMatrixWorld();
      const { projectionMatrix, matrixWorldInverse } = camera;
      const view = { projection: projectionMatrix.elements, view: matrixWorldInverse.elements };
      service.setView({ ...view, viewport: { width: 300, height: 200 } });
      service.setView({ ...view, viewport: { width: 300, height: 200 }, minPixels: 30 }, 'coarse');
      service.setView({ ...view, viewport: { width: 300, height: 200 }, occlusion: true }, 'hiding');
      const { views } = await service.update();
      const { bounds } = await service.inspect({ bounds: true, views: ['main', 'coarse', 'hiding'] });
      expect([...bounds!.ids]).toEqual(ids);
      for (const [k, name] of ['main', 'coarse', 'hiding'].entries()) {
        const { ids: seen, inside, occluded } = views.get(name)!;
        const states = new Map(Array.from(seen, (id, at) => [id, at < inside ? 2 : 1]));
        for (const id of occluded) states.set(id, 3);
        occludedCount += occluded.length;
        expect([...bounds!.states[k]]).toEqual(ids.map((id) => states.get(id) ?? 0));
      }
    }
    expect(occludedCount).toBeGreaterThan(0);
    const { bounds } = await service.inspect({ bounds: true });
    expect(bounds!.states).toEqual([]);
    ids.forEach((id, i) => {
      const { matrix, isStatic } = boxes.get(id)!;
      const e = matrix.elements;
      expect([...bounds!.boxes.subarray(12 * i, 12 * i + 12)]).toEqual(
        [e[0], e[1], e[2], e[4], e[5], e[6], e[8], e[9], e[10], e[12], e[13], e[14]].map((each) =>
          expect.closeTo(each, 9),
        ),
      );
      expect(bounds!.static[i]).toBe(isStatic ? 1 : 0);
    });
  });

  test('are cut by number', async () => {
    const all = await service.inspect({ octree: true, bounds: true });
    const some = await service.inspect({ octree: true, bounds: true, maxBoxes: 10 });
    for (const part of ['cells', 'bounds'] as const) {
      expect(some[part]!.cut).toBe(true);
      expect(some[part]!.boxes.length).toBe(120);
      expect(all[part]!.cut).toBe(false);
    }
    expect(some.bounds!.boxes).toEqual(all.bounds!.boxes.slice(0, 120));
    expect(some.objects).toBe(all.objects);
  });

  test('have lines near the origin that is asked for', async () => {
    const origin = place.clone().add(new Vector3(1, 2, 3));
    const { bounds, origin: told } = await service.inspect({ bounds: true, lines: true, origin: origin.toArray() });
    expect(told).toEqual(origin.toArray());
    const { boxes: frames, lines } = bounds!;
    expect(lines!.length).toBe(6 * frames.length);
    for (let i = 0; i < frames.length / 12; i++) {
      const ends = new Map<string, number>();
      const frame = frames.subarray(12 * i, 12 * i + 12);
      for (let at = 72 * i; at < 72 * i + 72; at += 3) {
        const end = new Vector3().fromArray(lines!, at);
        ends.set(end.toArray().join(), (ends.get(end.toArray().join()) ?? 0) + 1);
        const offset = end.add(origin).sub(new Vector3().fromArray(frame, 9));
        const reach = reachIn(Float64Array.of(...frame.subarray(0, 9), 0, 0, 0), 0, offset);
        expect(Math.abs(reach - 1)).toBeLessThan(1e-3);
      }
      expect([...ends.values()]).toEqual(Array(8).fill(3)); // three edges meet in each corner
    }
  });
});

describe('inspect', () => {
  const cube = { shape: { type: 'box', halfExtents: [1, 1, 1] } } as const;

  test('says what sleeps: what may move, and did not in the last frame or since', async () => {
    const [resting, moving, fixed] = [service.addObject(cube), service.addObject(cube), service.addObject(cube)];
    service.removeObject(fixed);
    const isStatic = service.addObject({ ...cube, motion: 'static' });
    const place = (id: ObjectId, x: number): void =>
      service.setTransform(id, new Matrix4().setPosition(x, 0, 0).elements);
    const asleep = async (): Promise<ObjectId[]> => {
      const { bounds } = await service.inspect({ bounds: true });
      return Array.from(bounds!.ids).filter((_, i) => bounds!.asleep[i] === 1);
    };
    expect(await asleep()).toEqual([]); // they have been added, and no frame has seen them
    await service.update();
    expect(await asleep()).toEqual([]); // this frame has
    await service.update();
    expect(await asleep()).toEqual([resting, moving]);
    for (let i = 0; i < 3; i++) {
      place(moving, i + 1);
      await service.update();
      expect(await asleep()).toEqual([resting]);
    }
    const late = service.addObject(cube);
    await service.update();
    expect(await asleep()).toEqual([resting, moving]);
    await service.update();
    expect(await asleep()).toEqual([resting, moving, late].sort((a, b) => a - b));
    place(late, 9);
    place(isStatic, 4); // it is none of the sleeping ones
    await service.update();
    expect(await asleep()).toEqual([resting, moving]);
    // More objects than one word of bits has, and than there was room for.
    const many = Array.from({ length: 500 }, () => service.addObject(cube));
    await service.update();
    place(many[77], 5);
    await service.update();
    expect(await asleep()).toEqual(
      [resting, moving, late, ...many].filter((id) => id !== many[77]).sort((a, b) => a - b),
    );
  });

  test('of a large tree lets picks and frames pass, and lists it as it was', async () => {
    const sphere = icosphere(1, 70); // 98,000 triangles
    const mesh = await service.addMesh({ ...sphere, positions: sphere.positions.slice() });
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    const other = service.addObject(cube);
    await service.update();
    const options = { objects: [id], lines: true, maxBoxes: 1_048_576 };
    const [alone] = (await service.inspect(options)).trees;
    const moved = sphere.positions.map((each) => 3 * each);
    expect(alone.levels.length).toBeGreaterThan(25_000);
    let isListed = false;
    const listing = service.inspect(options).finally(() => {
      isListed = true;
    });
    let answers = 0;
    let moving: Promise<void> | undefined;
    while (!isListed) {
      service.setTransform(other, new Matrix4().setPosition(answers, 0, 5).elements);
      await Promise.all([service.update(), service.raycast({ origin: [0, 0, -9], direction: [0, 0, 1] })]);
      answers++;
      // Its vertices move, and it is removed, while it is being listed.
      if (answers === 1) moving = service.updateMesh(mesh, moved);
      if (answers === 3) service.removeObject(id);
    }
    await moving;
    expect(answers).toBeGreaterThan(3);
    const [tree] = (await listing).trees;
    for (const key of ['boxes', 'lines', 'levels', 'parents', 'leafStart', 'leafElements'] as const) {
      const [bytes, expected] = [tree, alone].map((each) => Buffer.from(each[key]!.buffer));
      expect(bytes.equals(expected), key).toBe(true);
    }
    expect([tree.depth, tree.elements, tree.cut]).toEqual([alone.depth, alone.elements, false]);
  });

  test('of an empty scene is empty', async () => {
    const { cells, bounds, objects, cellCount } = await service.inspect({ octree: true, bounds: true });
    expect([cells!.boxes.length, bounds!.boxes.length, objects, cellCount]).toEqual([0, 0, 0, 0]);
    expect((await service.inspect()).cells).toBeNull();
  });

  test('keeps no memory of what it has listed', async () => {
    const mesh = await service.addMesh(icosphere(1, 30));
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    const { usedBytes } = service.stats;
    for (let i = 0; i < 5; i++) await service.inspect({ objects: [id, id], octree: true, bounds: true });
    await service.update();
    expect(service.stats.usedBytes).toBe(usedBytes);
  });

  test('of an object that is gone is an error, and of one that goes meanwhile leaves that out', async () => {
    const [gone, going, staying] = [service.addObject(cube), service.addObject(cube), service.addObject(cube)];
    service.removeObject(gone);
    await expect(service.inspect({ objects: [gone] })).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
    const mesh = await service.addMesh(icosphere(1, 60));
    const large = service.addObject({ shape: { type: 'mesh', mesh } });
    const objects = [...Array(8).fill(large), going, staying];
    const answer = service.inspect({ objects, lines: true });
    service.removeObject(going);
    const { trees } = await answer;
    const listed = trees.map(({ object }) => object);
    expect(listed.filter((id) => id !== going)).toEqual(objects.filter((id) => id !== going));
    await service.update();
    await expect(service.inspect({ objects: [going] })).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
  });

  test('ends with its signal, and others go on', async () => {
    const id = service.addObject(cube);
    const controller = new AbortController();
    const answer = service.inspect({ objects: [id], signal: controller.signal });
    const other = service.inspect({ objects: [id] });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(service.inspect({ signal: controller.signal })).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await other).trees.length).toBe(1);
  });

  test('is answered by the next worker', async () => {
    const mortal = await KillableService.create();
    const id = mortal.service.addObject(cube);
    await mortal.service.update();
    const before = await mortal.service.inspect({ objects: [id], bounds: true });
    await mortal.kill();
    const after = await mortal.service.inspect({ objects: [id], bounds: true });
    expect(after.trees[0].boxes).toEqual(before.trees[0].boxes);
    expect(after.bounds!.ids).toEqual(before.bounds!.ids);
    mortal.service.dispose();
    await expect(mortal.service.inspect()).rejects.toMatchObject({ code: 'DISPOSED' });
  });
});
