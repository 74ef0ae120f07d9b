// Valid glTF files that ended a run, or made it find nothing: missing images, no scene, optional compression. Without the package
// of extensions, instances were taken for one part although the file allows readers to ignore them.
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClashReport } from 'collision-worker/clash';
import { clashFiles } from 'collision-worker/clash/node';
import { BoxGeometry } from 'three';
import { afterAll, expect, test, vi } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { runCli, TemporaryFolder } from '../fixtures/clash-cli.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const { attributes, index } = new BoxGeometry();
const positions = Buffer.from((attributes.position.array as Float32Array).buffer);
const indices = Buffer.from(Uint16Array.from(index!.array).buffer);
const bytes = Buffer.concat([positions, indices]);

/** Two cubes that intersect. */
const cubes = {
  asset: { version: '2.0' },
  scene: 0,
  scenes: [{ nodes: [0, 1] }],
  nodes: [
    { mesh: 0, name: 'A' },
    { mesh: 0, name: 'B', translation: [0.5, 0.1, 0.2] },
  ] as object[],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 } as object] }],
  accessors: [
    { bufferView: 0, componentType: 5126, count: 24, type: 'VEC3' },
    { bufferView: 1, componentType: 5123, count: 36, type: 'SCALAR' },
  ],
  bufferViews: [
    { buffer: 0, byteLength: positions.length },
    { buffer: 0, byteOffset: positions.length, byteLength: indices.length },
  ],
  buffers: [{ byteLength: bytes.length, uri: `data:application/octet-stream;base64,${bytes.toString('base64')}` }],
};

function run(name: string, changed: object): Promise<ClashReport> {
  const path = folder.file(`${name}.gltf`);
  writeFileSync(path, JSON.stringify({ ...cubes, ...changed }));
  return clashFiles(path, null, [{ name: 'hard', kind: 'hard' }], { work: `${path}.work`, workers: 1 });
}

const DRACO = 'KHR_draco_mesh_compression';
const compressed = {
  extensionsUsed: [DRACO],
  meshes: [
    {
      primitives: [
        {
          attributes: { POSITION: 0 },
          indices: 1,
          extensions: { [DRACO]: { bufferView: 0, attributes: { POSITION: 0 } } },
        },
      ],
    },
  ],
};

test.each([
  ['picture', { images: [{ uri: 'none.png' }, { uri: 'https://example.invalid/none.png' }] }],
  ['scene', { scene: undefined, scenes: undefined }],
  ['compression', compressed],
])('no %s', async (name, changed) => {
  const warn = vi.spyOn(console, 'warn');
  const { clashes, unread } = await run(name, changed);
  expect(clashes.map(({ a, b }) => `${a.id} ${b.id}`)).toEqual(['A B']);
  expect(unread).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test('what must be decompressed is told, and what to do', async () => {
  const answer = run('must', { ...compressed, extensionsRequired: [DRACO] });
  await expect(answer).rejects.toMatchObject({
    code: 'BAD_DATA',
    message: expect.stringMatching(/KHR_draco_mesh_compression.*decompressed before by npx @gltf-transform\/cli copy/),
  });
});

test('instances are told without the package of extensions', async () => {
  const bare = folder.file('bare/collision-worker');
  const peers = join(bare, 'node_modules/@gltf-transform');
  mkdirSync(peers, { recursive: true });
  cpSync(join(root, 'dist'), join(bare, 'dist'), { recursive: true });
  copyFileSync(join(root, 'package.json'), join(bare, 'package.json'));
  symlinkSync(join(root, 'node_modules/@gltf-transform/core'), join(peers, 'core'));
  const name = 'EXT_mesh_gpu_instancing';
  const many = { mesh: 0, name: 'C', extensions: { [name]: { attributes: { TRANSLATION: 0 } } } };
  const file = { ...cubes, extensionsUsed: [name], nodes: [...cubes.nodes, many], scenes: [{ nodes: [0, 1, 2] }] };
  const [path, rules, out] = ['many.gltf', 'rules.json', 'out.json'].map((each) => folder.file(each));
  writeFileSync(path, JSON.stringify(file));
  writeFileSync(rules, JSON.stringify([{ name: 'hard', kind: 'hard' }]));
  const args = ['clash', path, '--rules', rules, '--out', out, '--workers', '1', '--quiet'];
  expect(await runCli(args, join(bare, 'dist/clash-cli.js'))).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^not read: C of a: .*\n$/),
  });
  const { clashes, unread } = JSON.parse(readFileSync(out, 'utf8')) as ClashReport;
  expect(clashes.map(({ a, b }) => `${a.id} ${b.id}`)).toEqual(['A B']);
  expect(unread).toMatchObject([{ id: 'C', reason: expect.stringContaining(name) }]);
});
