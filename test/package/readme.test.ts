// README.md's code cannot rot: every ```ts and ```js block compiles against the types that ship. What follows the
// language says more: `run` also runs the block in Node, `continued` puts it after the block above it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformWithOxc } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { faultsSection } from '../chaos/readme.js';
import { readmeWith } from '../fixtures/readme-section.js';

interface Block {
  name: string;
  language: string;
  flags: string[];
  code: string;
}

const folder = join(root, 'build/readme');
const blocks = blocksOf(readFileSync(join(root, 'README.md'), 'utf8'));

function blocksOf(markdown: string): Block[] {
  const found: Block[] = [];
  for (const [, language = '', info = '', code = ''] of markdown.matchAll(/^```(ts|js)\b(.*)\n([\s\S]*?)^```$/gm)) {
    const flags = info.trim().split(/\s+/);
    const before = flags.includes('continued') ? (found.at(-1)?.code ?? '') : '';
    found.push({ name: `block-${found.length + 1}`, language, flags, code: before + code });
  }
  return found;
}

function node(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, output: stdout + stderr };
}

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tsconfig = {
    extends: '../../tsconfig.json',
    // Without the sources' paths the package's own name leads through its exports to dist/types.
    compilerOptions: { paths: {}, types: ['node'], checkJs: true, noUnusedLocals: false, noUnusedParameters: false },
    include: ['*.ts', '*.js'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  // `export {}` makes a module of a block that imports nothing.
  for (const { name, language, code } of blocks) {
    writeFileSync(join(folder, `${name}.${language}`), `${code}\nexport {};\n`);
  }
});

describe('README.md', () => {
  test('has code', () => {
    expect(blocks.length).toBeGreaterThan(0);
  });

  test('says what chaos and soak came to', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    expect(readme).toBe(readmeWith(readme, 'faults', faultsSection(root)));
  });

  test('compiles', () => {
    expect(node(join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json')).toEqual({
      status: 0,
      output: '',
    });
  });

  test.each(blocks.filter(({ flags }) => flags.includes('run')))('$name runs', async ({ name, language, code }) => {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, (await transformWithOxc(code, `${name}.${language}`)).code);
    const { status, output } = node(file);
    expect(status, output).toBe(0);
  });
});
