// Skinned and morphed meshes with a clearance, and the boxes of bones:
// which pairs are nearer than that, against distances in float64.
import { type CollisionService, type ContactDetail, createCollisionService, type ObjectId } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { boneBoxes } from '../../oracle/bone-boxes.js';
import { minimumDistance, type Part } from '../../oracle/distances.js';
import type { Corners } from '../../oracle/exact.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { deformedPositions, poseOf, poseRandomly, type Rig, type RigOptions, randomRig } from '../../oracle/rigs.js';
import { bodiesOf, randomSolid } from '../../oracle/shapes.js';
import { cubeBody, triangleBody } from '../../oracle/solids.js';

const KINDS: [string, RigOptions, ContactDetail][] = [
  ['three bones', { bones: 3 }, 'manifold'],
  ['twenty bones and morph targets', { bones: 20, targets: 2 }, 'any'],
  ['morph targets alone', { bones: 0, targets: 2 }, 'manifold'],
  ['three bones', { bones: 3 }, 'bones'],
  ['twenty bones', { bones: 20 }, 'bones'],
];
const FRAMES = 4;
/** The float32 rounding error of moved vertices. */
const DOUBT = 1e-4;

interface Thing {
  id: ObjectId;
  clearance: number;
  rig?: Rig;
  parts(): readonly Part[];
}

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

/** The triangles of a rig where three has them. */
function trianglesOf(rig: Rig): Part[] {
  const positions = deformedPositions(rig);
  const indices = rig.data.indices as Uint32Array;
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(rig.mesh.matrixWorld);
  return Array.from({ length: indices.length / 3 }, (_, t) => {
    const corners: Corners = [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)];
    return { body: triangleBody(...corners), corners };
  });
}

describe(`who is nearer than the sum of clearances, seed ${SEED}`, { timeout: 240_000 }, () => {
  test.each(KINDS)(`%s, contacts of kind $2`, async (_, options, contacts) => {
    const random = new Random(SEED);
    const isBones = contacts === 'bones';
    const clearanceOf = () => (random.chance(0.2) ? 0 : random.range(0.05, 0.6));
    const things: Thing[] = [];
    for (let i = 0; i < 3; i++) {
      const rig = randomRig(random, { ...options, triangles: icosphere(0.8, 2) }, random.point(2));
      const mesh = await service.addMesh(rig.data);
      const clearance = clearanceOf();
      const matrix = rig.mesh.matrixWorld.elements;
      const id = service.addObject({ shape: { type: 'mesh', mesh }, matrix, contacts, clearance });
      // Where the orientation of a bone's box is ambiguous, its distance is unspecified.
      const boxes = () => boneBoxes(rig).map(({ matrix: box }): Part => ({ body: cubeBody(box) }));
      things.push({ id, clearance, rig, parts: () => (isBones ? boxes() : trianglesOf(rig)) });
    }
    for (let i = 0; i < 5; i++) {
      const shape = randomSolid(random);
      const clearance = clearanceOf();
      const matrix = random.placement(random.point(3), { low: 0.5, high: 1 });
      const id = service.addObject({ shape, matrix: matrix.elements, contacts, clearance });
      const parts = bodiesOf({ shape }, new Matrix4().copy(matrix)).map((body): Part => ({ body }));
      things.push({ id, clearance, parts: () => parts });
    }
    const seen = { apart: 0, met: 0, not: 0 };
    // In some scenes few are apart.
    for (let frame = 0; frame < FRAMES || (Math.min(seen.apart, seen.not) === 0 && frame < 20 * FRAMES); frame++) {
      for (const { id, rig } of things) {
        if (!rig) continue;
        poseRandomly(random, rig);
        service.setPose(id, poseOf(rig));
      }
      const result = await service.update();
      expect(result.rejected).toHaveLength(0);
      const found = new Set(Array.from(result.contacts.a, (a, i) => `${a} ${result.contacts.b[i]}`));
      for (const [i, a] of things.entries()) {
        for (const b of things.slice(i + 1)) {
          if (!a.rig && !b.rig) continue;
          if (isBones && [a, b].some(({ rig }) => rig && boneBoxes(rig).some(({ isAmbiguous }) => isAmbiguous)))
            continue;
          const reach = a.clearance + b.clearance;
          const distance = minimumDistance(a.parts(), b.parts(), reach + 1);
          const name = `frame ${frame}, ${a.id} and ${b.id}: ${distance} of ${reach}`;
          const [low, high] = a.id < b.id ? [a.id, b.id] : [b.id, a.id];
          const isFound = found.has(`${low} ${high}`);
          if (distance > reach + DOUBT) expect(isFound, name).toBe(false);
          else if (distance < reach - DOUBT) expect(isFound, name).toBe(true);
          seen[!isFound ? 'not' : distance > DOUBT ? 'apart' : 'met']++;
          const report = await service.contact(a.id, b.id, { detail: contacts as 'any' });
          expect(report !== null, `${name}, by the query`).toBe(isFound);
        }
      }
    }
    expect(Math.min(seen.apart, seen.not), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});
