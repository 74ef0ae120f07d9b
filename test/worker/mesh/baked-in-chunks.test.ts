// A baked mesh of many chunks, which is checked while they arrive: every verdict is that of a slow check of the whole.
import { expect, test } from 'vitest';
import { BakedSource } from '../../../src/shared/baked-source.js';
import * as layout from '../../../src/shared/layout.js';
import { bake, startCore } from '../../fixtures/core.js';
import { BakedMesh } from '../../oracle/baked.js';
import { icosphere, soup } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { isTreeValid } from '../../oracle/sound-tree.js';

const ROUNDS = Number(process.env.ROUNDS ?? 40);
/** Bytes that arrive at a time: no multiple of what is copied and checked at a time. */
const COMING_BYTES = 50_000;
const HOSTILE = [0, 1, 0x7f800000, 0x7fc00000, 0x7fffffff, 0x80000000, 0xffffffff, 0x40000000, 0x40000001, 0x3f800000];
const MESHES = { 'a ball': icosphere(1, 30), 'a soup': soup(new Random(SEED), 15_000, 0.1, 1) };

test.each(Object.entries(MESHES))(`${ROUNDS} forgeries of %s, seed ${SEED}`, async (_, triangles) => {
  const random = new Random(SEED);
  const core = await startCore();
  const original = bake(core, triangles);
  const end = new BakedMesh(original).word(layout.MESH_DIPOLES);
  const counts = { refused: 0, loaded: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const mesh = new BakedMesh(original);
    const nodesEnd = mesh.word(layout.MESH_BLOCKS);
    for (let change = 1 + random.integer(3); change > 0; change--) {
      // Half of the changes are in the nodes, which are few.
      const at = layout.MESH_HEADER_BYTES + 4 * random.integer(((random.chance(0.5) ? nodesEnd : end) - 256) / 4);
      const word = mesh.word(at);
      const other = random.pick([random.pick(HOSTILE), word ^ (1 << random.integer(32)), word + random.integer(3) - 1]);
      mesh.setWord(at, other >>> 0);
    }
    const isSound = isTreeValid(mesh.seal());
    const load = () => {
      const loading = core.beginLoad(mesh.buffer);
      const budget = random.pick([0, 1, Number.POSITIVE_INFINITY]);
      while (!loading.step(budget));
      core.freeMesh(loading.finish());
    };
    // The same while its bytes still arrive, some at a time.
    const loadComing = () => {
      const source = new BakedSource(mesh.buffer.byteLength, [], COMING_BYTES);
      const loading = core.beginLoad(source);
      for (let at = 0; !loading.step(random.pick([0, 1, Number.POSITIVE_INFINITY])); ) {
        const isDry = loading.isWaiting();
        expect(isDry && at >= source.bytes).toBe(false);
        for (let more = random.integer(3) + Number(isDry); more > 0 && at < source.bytes; more--, at += COMING_BYTES) {
          source.buffers.push(mesh.buffer.slice(at, at + COMING_BYTES));
        }
      }
      core.freeMesh(loading.finish());
    };
    for (const each of [load, loadComing]) {
      if (isSound) expect(each, `round ${round}`).not.toThrow();
      else expect(each, `round ${round}`).toThrow(expect.objectContaining({ code: 'BAD_DATA' }));
    }
    counts[isSound ? 'loaded' : 'refused']++;
    // Without the forger's last step, any change is detected.
    const damaged = new BakedMesh(mesh.buffer).setWord(
      layout.MESH_CHECKSUM,
      new BakedMesh(original).word(layout.MESH_CHECKSUM),
    );
    if (damaged.word(layout.MESH_CHECKSUM) === mesh.word(layout.MESH_CHECKSUM)) continue;
    expect(() => core.loadMesh(damaged.buffer), `round ${round}`).toThrow(/checksum/);
  }
  expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(ROUNDS / 10);
});
