// A building of 50,000 parts, each with a mesh of its own, more than ten million triangles in all, with 4 GB. It takes minutes:
// LARGE=1 npx vitest run --project node test/clash/large.test.ts
import { readFileSync, writeFileSync } from 'node:fs';
import type { ClashReport } from 'collision-worker/clash';
import { afterAll, expect, test } from 'vitest';
import { type BuildingPart, building } from '../fixtures/building.js';
import { startCli, TemporaryFolder } from '../fixtures/clash-cli.js';
import { Glb } from '../fixtures/glb.js';

const PARTS = Number(process.env.PARTS ?? 50_000);
/** Sides of round shapes: so many that the parts have about 214 triangles each. */
const SEGMENTS = 32;
const GIGABYTE = 2 ** 30;
const LOOK_EVERY = 200;

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

test.runIf(process.env.LARGE === '1')(`${PARTS} parts with 4 GB`, { timeout: 3_600_000 }, async () => {
  const parts = building({ parts: PARTS, segments: SEGMENTS });
  const triangles = parts.reduce((sum, { mesh }) => sum + mesh.indices.length / 3, 0);
  expect(triangles).toBeGreaterThan(200 * PARTS);
  const model = folder.file('model.glb');
  writeFileSync(model, glbOf(parts));
  const rules = folder.file('rules.json');
  writeFileSync(rules, JSON.stringify([{ name: 'hard', kind: 'hard' }]));
  const out = folder.file('report.json');
  const begin = performance.now();
  const options = ['--rules', rules, '--out', out, '--memory', '4G', '--workers', '2', '--quiet'];
  const { child, ended } = startCli(['clash', model, ...options]);
  // The threads are in the same process.
  let peak = 0;
  const looking = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid!));
  }, LOOK_EVERY);
  const { code, stderr } = await ended.finally(() => clearInterval(looking));
  expect(code, stderr).toBe(0);
  const report: ClashReport = JSON.parse(readFileSync(out, 'utf8'));
  const seconds = (performance.now() - begin) / 1000;
  console.log(
    `${PARTS} parts, ${triangles} triangles: ${report.clashes.length} clashes, ` +
      `${(peak / GIGABYTE).toFixed(2)} GB at most, ${seconds.toFixed(0)} s`,
  );
  expect(report.parts.a).toBe(PARTS);
  expect(report.unread).toEqual([]);
  expect(report.clashes.length).toBeGreaterThan(PARTS / 10);
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(4 * GIGABYTE);
});

/** The peak memory of a process in bytes; 0 if it has ended. */
function peakOf(pid: number): number {
  try {
    return 1024 * Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Each part's mesh is slightly larger than that of the previous part, so that no two are the same. */
function glbOf(parts: readonly BuildingPart[]): Buffer {
  const glb = new Glb();
  const meshes: object[] = [];
  const nodes: object[] = [];
  parts.forEach(({ id, name, layer, mesh, matrix }, i) => {
    const positions = mesh.positions.map((each) => each * (1 + 1e-7 * i));
    const attributes = { POSITION: glb.add(positions, 'VEC3', true) };
    meshes.push({ primitives: [{ attributes, indices: glb.add(mesh.indices, 'SCALAR') }] });
    nodes.push({ mesh: i, name, matrix, extras: { id, layer } });
  });
  Object.assign(glb.json, { meshes, nodes });
  return glb.write();
}
