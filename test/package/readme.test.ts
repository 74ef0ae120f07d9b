// The code of README.md and of docs/ cannot rot: every ```ts, ```tsx and ```js block
// compiles against the types that ship. Words after the language add to that: `run` also
// runs the block in Node, where it must print the numbers in the comments behind its `console.log`;
// `continued` appends it to the previous block of that language.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clash } from 'collision-worker/clash';
import { transformWithOxc } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { shortTableOf } from '../bench/report/readme.js';
import { faultsSection } from '../chaos/readme.js';
import { readmeWith } from '../fixtures/readme-section.js';

interface Block {
  name: string;
  language: string;
  flags: string[];
  code: string;
}

const folder = join(root, 'build/readme');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const blocks = ['README.md', ...pages.map((name) => `docs/${name}`)].flatMap((path) => blocksOf(path, read(path)));

function blocksOf(path: string, markdown: string): Block[] {
  const page = path.replace(/^.*\/|\.md$/g, '');
  const found: Block[] = [];
  for (const [, language = '', info = '', code = ''] of markdown.matchAll(/^```(tsx?|js)\b(.*)\n([\s\S]*?)^```$/gm)) {
    const flags = info.trim().split(/\s+/);
    const before = flags.includes('continued')
      ? (found.findLast((block) => block.language === language)?.code ?? '')
      : '';
    found.push({ name: `${page}-${found.length + 1}`, language, flags, code: before + code });
  }
  return found;
}

/** Milliseconds; compiling takes a while on a busy machine. */
const PATIENCE = 120_000;

function node(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  return { status, output: stdout + stderr };
}

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tsconfig = {
    extends: '../../tsconfig.json',
    // Without the sources' paths the package's own name resolves through its exports to dist/types.
    compilerOptions: { paths: {}, types: ['node'], checkJs: true, noUnusedLocals: false, noUnusedParameters: false },
    include: ['*.ts', '*.tsx', '*.js'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  // `export {}` makes a block without imports a module.
  for (const { name, language, code } of blocks) {
    writeFileSync(join(folder, `${name}.${language}`), `${code}\nexport {};\n`);
  }
});

test('README.md has at most 200 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(201);
});

test('the rules in docs/clash.md are rules', async () => {
  const [, json] = read('docs/clash.md').match(/^```json\n([\s\S]*?)^```$/m)!;
  const { rules } = JSON.parse(json);
  const report = await clash([], [], rules);
  expect(report.rules.map(({ kind }) => kind)).toEqual(['hard', 'clearance', 'duplicates']);
});

test('README.md has rows of the bench as its results are', () => {
  const { rows } = JSON.parse(read('test/bench/results.json'));
  expect(read('README.md')).toBe(readmeWith(read('README.md'), 'bench', shortTableOf(rows)));
});

describe('code', () => {
  test('is there', () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  test('says what chaos and soak came to', () => {
    const page = read('docs/failures.md');
    expect(page).toBe(readmeWith(page, 'faults', faultsSection(root)));
  });

  test('compiles', { timeout: PATIENCE }, () => {
    expect(node(join(root, 'node_modules/typescript-7/bin/tsc'), '-p', 'tsconfig.json')).toEqual({
      status: 0,
      output: '',
    });
  });

  test.each(blocks.filter(({ flags }) => flags.includes('run')))('$name runs', async ({ name, language, code }) => {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, (await transformWithOxc(code, `${name}.${language}`)).code);
    const { status, output } = node(file);
    expect(status, output).toBe(0);
    expect(numbersMissingIn(output, code)).toEqual([]);
  });

  test('that prints another number than its comment says is noticed', () => {
    const code = 'console.log(depth.toFixed(2)); // 1.10\nconst far = 100; // units\n';
    expect(numbersMissingIn('1.00\n', code)).toEqual(['1.10']);
    expect(numbersMissingIn('1.1000000149\n', code)).toEqual([]);
  });
});

/** Lists the numbers in comments behind `console.log` that were not printed, rounded as in the comment. */
function numbersMissingIn(output: string, code: string): string[] {
  const numbers = (text: string) => text.match(/-?\d+(?:\.\d+)?/g) ?? [];
  const printed = numbers(output).map(Number);
  const wanted = [...code.matchAll(/console\.log\(.*\);? \/\/ (.+)$/gm)].flatMap(([, comment]) => numbers(comment));
  const isPrinted = (each: string) => printed.some((one) => one.toFixed(each.split('.')[1]?.length ?? 0) === each);
  return wanted.filter((each) => !isPrinted(each));
}
