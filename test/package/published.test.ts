// The verdicts of tools that check packages before they are published, on the packed package.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, Package, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('publint has nothing to say', async () => {
  const { messages } = await publint({ pkgDir: root, strict: true, pack: 'npm' });
  expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([]);
});

test('are-the-types-wrong finds nothing', async () => {
  const files: Record<string, Uint8Array | string> = {};
  const name = (path: string) => `/node_modules/${manifest.name}/${path}`;
  for (const path of ['package.json', ...readdirSync(join(root, 'dist')).map((file) => `dist/${file}`)]) {
    files[name(path)] = readFileSync(join(root, path), 'utf8');
  }
  const result = await checkPackage(new Package(files, manifest.name, manifest.version));
  const problems = (result.types ? result.problems : [{ kind: 'NoTypes' } as unknown as Problem]).filter(
    // Every Node version that the package supports can require modules.
    ({ kind }) => kind !== 'CJSResolvesToESM',
  );
  expect(problems).toEqual([]);
});
