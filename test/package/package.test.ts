import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { toZ85 } from '../../scripts/z85.mjs';
import { VERSION } from '../../src/shared/version.js';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });
const textOf = (file: string) => readFileSync(join(root, 'dist', file), 'utf8');

function targetsOf(entry: string | Record<string, string>): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry);
}

/** What a file of dist imports, by name. */
function importsOf(file: string): string[] {
  const found = textOf(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g);
  return [...found].map(([, name = '']) => name);
}

describe('package', () => {
  test.each(Object.entries({ ...manifest.exports, ...manifest.imports }))('%s leads to files', (_, entry) => {
    for (const target of targetsOf(entry as string | Record<string, string>)) {
      expect(existsSync(join(root, target)), target).toBe(true);
    }
  });

  test('imports nothing but comlink, three and Node, and React where that is what it is for', () => {
    for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name) && name !== 'worker.js')) {
      const peers = /^(react\.js|types\/client\/react\/)/.test(file) ? 'three|react|@react-three/fiber' : 'three';
      const known = new RegExp(`^(\\.\\.?/|#host$|(comlink|${peers})(/|$)|node:)`);
      for (const name of importsOf(file)) expect(name, file).toMatch(known);
    }
  });

  test('has a worker in one file, with the core inside', () => {
    expect(importsOf('worker.js')).toEqual([]);
    const core = toZ85(readFileSync(join(root, 'build/core.wasm.gz')));
    expect(textOf('worker.js').includes(core)).toBe(true);
  });

  test('starts the worker by the line that bundlers know', () => {
    expect(textOf('host.js')).toMatch(
      /new Worker\(new URL\("\.\/worker\.js", import\.meta\.url\), \{\s*type: "module"/,
    );
  });

  test('has one CollisionError for all its entries', () => {
    const having = files.filter((name) => name.endsWith('.js') && name !== 'worker.js');
    expect(having.filter((name) => /CollisionError = class|class CollisionError/.test(textOf(name)))).toHaveLength(1);
  });

  test('has the version that its code says', () => {
    expect(VERSION).toBe(manifest.version);
  });

  test('maps its code to its sources', () => {
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      // Entries that hand on what is in shared chunks have no code of their own.
      if (
        textOf(file)
          .replace(/^(import|export) .*;$/gm, '')
          .trim() === ''
      )
        continue;
      expect(JSON.parse(textOf(`${file}.map`)).sourcesContent?.[0], file).toBeTruthy();
    }
  });
});
