// Exact results of skins and morph targets: hits, contacts and bounds of poses are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { UNBOUND } from '../../../src/client/skin/pose-table.js';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { bake, deformOf } from '../../fixtures/core.js';
import {
  Answers,
  block,
  ExactRandom,
  frameAnswer,
  randomPrimitive,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { lumpyBall, ring } from '../../fixtures/exact-meshes.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, merged, soup, type Triangles } from '../../oracle/meshes.js';

interface Kind {
  bones: number;
  targets?: number;
  relative?: boolean;
  anyWeights?: boolean;
}

const KINDS: [string, Kind][] = [
  ['one bone', { bones: 1 }],
  ['four bones', { bones: 4 }],
  ['sixty bones', { bones: 60 }],
  ['bones beyond a byte', { bones: 300 }],
  ['weights of any sum', { bones: 8, anyWeights: true }],
  ['morph targets', { bones: 0, targets: 3, relative: true }],
  ['morph targets instead of vertices', { bones: 0, targets: 2 }],
  ['bones and morph targets', { bones: 5, targets: 2, relative: true }],
];

function rig(random: ExactRandom, { positions, indices }: Triangles, kind: Kind): MeshData {
  const { bones: boneCount, targets = 0, relative = false, anyWeights = false } = kind;
  const data: MeshData = { positions, indices };
  const vertices = positions.length / 3;
  if (targets > 0) {
    const change = () =>
      relative ? positions.map(() => random.range(-0.2, 0.2)) : positions.map((x) => x * random.range(0.8, 1.3));
    data.morphs = { targets: Array.from({ length: targets }, change), relative };
  }
  if (boneCount > 0) {
    const bones = new Uint16Array(4 * vertices);
    const weights = new Float32Array(4 * vertices);
    for (let vertex = 0; vertex < vertices; vertex++) {
      const own = Math.floor(((positions[3 * vertex]! + 1.5) / 3.01) * boneCount);
      const some = Array.from({ length: 4 }, () => (random.chance(0.3) ? random.next() : 0));
      some[0] = random.chance(0.1) && anyWeights ? 0 : 1;
      const sum = anyWeights ? 1 : some.reduce((a, b) => a + b);
      for (let k = 0; k < 4; k++) {
        bones[4 * vertex + k] = Math.min(boneCount - 1, Math.max(0, own + ((k * (k % 2 ? 1 : -1)) % boneCount)));
        weights[4 * vertex + k] = some[k]! / sum;
      }
    }
    data.skin = { bones: boneCount <= 256 ? Uint8Array.from(bones) : bones, weights, boneCount };
  }
  return data;
}

function matrices(random: ExactRandom, count: number, much: number): Float32Array {
  const all = new Float32Array(16 * count);
  for (let bone = 0; bone < count; bone++) {
    const turn = random.rotation();
    turn.set(much * turn.x, much * turn.y, much * turn.z, 1).normalize();
    const size = 1 + much * random.range(-0.3, 0.3);
    all.set(new Matrix4().compose(random.point(0.3 * much), turn, new Vector3(size, size, 1)).elements, 16 * bone);
  }
  return all;
}

describe.each(PLACES)('%s', (_, place) => {
  test.each(KINDS)('%s', async (_, kind) => {
    const random = new ExactRandom(101);
    const answers = new Answers();
    const world = await World.create(place);
    const { core } = world;
    const bodies = [
      lumpyBall(random, 4, 0.3),
      ring(1, 0.4, 12, 6),
      merged([boxMesh(2, 1, 1), soup(random, 40, 0.3, 1)]),
    ];
    const meshes = bodies.map((body) => core.loadMesh(bake(core, rig(random, body, kind))));
    answers.add(
      'baked',
      meshes.map((mesh) => [core.bakeMesh(mesh), core.meshInfo(mesh), deformOf(core, mesh)]),
    );
    const details = [layout.CONTACTS_BONES, layout.CONTACTS_BONES, layout.CONTACTS_MANIFOLD, layout.CONTACTS_FULL];
    const ids = meshes.flatMap((mesh) =>
      [surface(mesh), solid(mesh)].map((described, i) =>
        world.add(
          described,
          random.placement(random.point(1.5), { low: 0.7, high: 1.4, mirrored: 0.2, sheared: 0.2 }),
          {
            contacts: details[i + random.integer(3)]!,
            ...(i === 0 && { flags: described.flags | layout.FLAG_CLEARANCE, clearance: 0.1 }),
          },
        ),
      ),
    );
    const ground = world.mesh(icosphere(1, 2));
    for (let i = 0; i < 6; i++) {
      const described = i % 2 === 0 ? surface(ground) : randomPrimitive(random);
      world.add(described, random.placement(random.point(2)), { contacts: layout.CONTACTS_ANY });
    }
    for (let frame = 0; frame < 4; frame++) {
      for (const [i, id] of ids.entries()) {
        if (frame === 1 && i % 2 === 0) continue;
        const much = [0.2, 0.5, 1, 0][(frame + i) % 4]!;
        const bind = random.placement(random.point(0.2));
        const binds = i % 3 === 0 ? UNBOUND : Float64Array.of(...bind.elements, ...bind.clone().invert().elements);
        const bones = kind.bones > 0 ? matrices(random, kind.bones, much) : undefined;
        if (frame === 3 && bones && i === 1) bones.fill(0, 0, 11);
        if (frame === 3 && bones && i === 2) bones[5] = Number.NaN;
        world.pose(id, {
          bones,
          binds,
          morphs: Array.from({ length: kind.targets ?? 0 }, () => random.range(-0.5, 1.2)),
        });
        if (frame === 2) world.move(id, random.placement(random.point(1.5)));
      }
      answers.add('frames', frameAnswer(world.frame()));
      for (let i = 0; i < 40; i++) {
        const from = random.direction().multiplyScalar(5);
        const ray = { origin: world.point(from), direction: random.point(1.5).sub(from).toArray() };
        for (const precision of [layout.PRECISION_OBB, layout.PRECISION_MESH]) {
          answers.add('hits', core.rays.raycast(ray, { ...ALL_FILTER, precision }));
          if (i % 4 === 0) answers.add('all hits', runToEnd(core.rays.raycastAll(ray, { ...ALL_FILTER, precision })));
        }
        if (i % 4 === 1) {
          const point = world.point(random.point(2));
          answers.add('closest', runToEnd(core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER)));
          answers.add('around', runToEnd(core.volumes.containing(point, ALL_FILTER)));
          const query = { ...block([0.3, 0.3, 0.3]), matrix: world.there(random.placement(random.point(1.5))) };
          answers.add('meets', runToEnd(core.volumes.overlap(query, ALL_FILTER)));
          const motion = { way: random.point(3).toArray(), rotation: [0, 0, 0, 1] as const, tolerance: 0 };
          answers.add('swept', core.sweeps.sweepAll(query, motion, ALL_FILTER));
        }
      }
      for (let i = 0; i + 1 < ids.length; i++) {
        for (const detail of [layout.CONTACTS_BONES, layout.CONTACTS_MANIFOLD]) {
          answers.add('contacts', core.pairs.contact(ids[i]!, ids[i + 1]!, detail));
        }
        answers.add(
          'distances',
          core.pairs.beginDistance(ids[i]!, ids[i + 1]!, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
        );
      }
      const eye = {
        at: new Vector3(...world.point(new Vector3(0, 1, 6))),
        to: new Vector3(...world.point(new Vector3())),
      };
      const { record } = viewRecord(viewFrom(frame, eye, random));
      for (const precision of [1, 2, 3, 4])
        answers.add('seen', runToEnd(core.volumes.frustum(record, { ...ALL_FILTER, precision })));
      answers.add('in sight', runToEnd(core.rays.sees(record, Uint32Array.from(ids), ALL_FILTER)));
      expect(core.check()).toBeNull();
    }
    // Vertices move underneath the pose.
    for (const [i, mesh] of meshes.entries()) {
      const moved = bodies[i]!.positions.map((x, k) => x * (1 + 0.1 * (k % 3)));
      answers.add('moved', [core.refitMesh(mesh, moved), core.bakeMesh(mesh)]);
    }
    answers.add('frames', frameAnswer(world.frame()));
    answers.check();
    expect(core.check()).toBeNull();
  });
});

test('objects keep their poses where they get other meshes, larger and smaller ones', async () => {
  const random = new ExactRandom(77);
  const answers = new Answers();
  const world = await World.create();
  const kind = { bones: 4 };
  const meshes = [2, 9, 4, 14].map((detail) => world.mesh(rig(random, icosphere(1, detail), kind)));
  const places = Array.from({ length: 6 }, (_, i) => new Matrix4().setPosition(3 * i, 0, 0));
  const ids = places.map((place) => world.add(surface(meshes[0]!), place));
  const look = () => {
    answers.add('frames', frameAnswer(world.frame()));
    for (let i = 0; i < 60; i++) {
      const at = new Vector3(3 * (i % 6), 0, 0);
      const from = random.direction().multiplyScalar(4).add(at);
      const direction = at.add(random.point(0.5)).sub(from).toArray();
      answers.add('hits', world.core.rays.raycast({ origin: from.toArray(), direction }, ALL_FILTER));
    }
    expect(world.core.check()).toBeNull();
  };
  for (const id of ids) world.pose(id, { bones: matrices(random, 4, 0.3), binds: UNBOUND, morphs: [] });
  look();
  const used: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (const mesh of [...meshes.slice(1), meshes[0]!]) {
      for (const [i, id] of ids.entries()) if (i % 2 === 0) world.put(id, surface(mesh), places[i]!);
      look();
    }
    used.push(world.core.usedBytes);
  }
  expect(used[2]).toBe(used[1]);
  answers.check();
});
