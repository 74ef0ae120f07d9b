// docs/ cannot rot: its picture is that of the source, and what its text names is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { picture } from '../../scripts/architecture.mjs';
import { root } from '../../scripts/run.mjs';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('the picture of the architecture is that of the source (npm run docs)', async () => {
  expect(read('docs/architecture.svg')).toBe(await picture());
});

describe.each(readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')))('docs/%s', (name) => {
  const text = read(`docs/${name}`);

  test('names files and folders that are there', () => {
    const named = [...text.matchAll(/`((?:client|worker|core|shared|src|test|demo|scripts)\/[\w./-]*)`/g)];
    const paths = named.map(([, path]) => path);
    if (name === 'architecture.md') expect(paths.length).toBeGreaterThan(0);
    const places = (path: string) => [path, `src/${path}`, `src/worker/${path}`].map((each) => join(root, each));
    expect(paths.filter((path) => !places(path).some(existsSync))).toEqual([]);
  });

  test('names commands that there are', () => {
    const commands = [...text.matchAll(/`npm run (\w[\w:]*)/g)].map(([, command]) => command);
    expect(commands.filter((command) => !(command in manifest.scripts))).toEqual([]);
  });
});
