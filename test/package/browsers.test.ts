// The shipped code runs in the browsers that README.md names: the tables
// of MDN list since when each has the features that our code uses.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CompatData, CompatStatement, Identifier, SimpleSupportStatement } from '@mdn/browser-compat-data';
import { type Node, parse } from 'acorn';
import { describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';

const BROWSERS = ['chrome', 'firefox', 'safari'] as const;
type Browser = (typeof BROWSERS)[number];

/** The versions that README.md names. */
const named = readFileSync(join(root, 'README.md'), 'utf8').match(/Chrome ([\d.]+), Firefox ([\d.]+), Safari ([\d.]+)/);
const CLAIM = Object.fromEntries(BROWSERS.map((name, i) => [name, named?.[i + 1] ?? ''])) as Record<Browser, string>;

/** Read as data: it is too large for the transforms of tests. */
const tables = createRequire(import.meta.url).resolve('@mdn/browser-compat-data');
const bcd: CompatData = JSON.parse(readFileSync(tables, 'utf8'));

/** Members of three's or of our own objects with the name of a newer platform feature. */
const OTHERS = [
  ...[
    '.bytes',
    '.camera',
    '.cast',
    '.colorSpace',
    '.contacts',
    '.dispose',
    '.features',
    '.handle',
    '.image',
    '.inspect',
    '.opaque',
  ],
  ...['.layers', '.memory', '.ms'],
  ...['.projectionMatrix', '.quality', '.rotation', '.run', '.service', '.stats', '.toArray', '.transpose', '.views'],
];
/** The code checks whether they exist, and works without them. */
const ASKED_FOR = ['setImmediate', 'requestIdleCallback', '.resizable', '.prerendering', 'Error.captureStackTrace'];
/** Older browsers have it as far as the code uses it: they do not return the weight of a canvas's font. */
const ENOUGH = ['.font'];
const PASSED_BY = [...OTHERS, ...ASKED_FOR, ...ENOUGH];

/** The files that run in browsers; clash detection between files runs in Node only. */
const shipped = readdirSync(join(root, 'dist')).filter((name) => {
  return name.endsWith('.js') && !name.includes('.node.') && !/^clash-(cli|gltf|ifc|node|thread)/.test(name);
});

function isNewer(a: string, b: string): boolean {
  const [major = 0, minor = 0] = a.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = b.split('.').map(Number);
  return major === otherMajor ? minor > otherMinor : major > otherMajor;
}

/** Returns since when a browser has it without a flag; null for never. */
function since(statement: CompatStatement, browser: Browser): string | null {
  const support = statement.support[browser];
  const all = (Array.isArray(support) ? support : [support]) as SimpleSupportStatement[];
  const plain = all.filter((each) => each?.version_added && !each.flags && !each.prefix && !each.alternative_name);
  const open = plain.find((each) => !each.version_removed);
  if (open === undefined) return null;
  const version = String(open.version_added);
  return version === 'preview' ? null : version.replace('≤', '');
}

/** Lists the promised browsers that lack it. */
function lacking(statement: CompatStatement): string[] {
  return BROWSERS.filter((browser) => {
    const version = since(statement, browser);
    return version === null || isNewer(version, CLAIM[browser]);
  }).map((browser) => `${browser} ${CLAIM[browser]}`);
}

/** The statement of a global by its name; and by the name of a member, those of all interfaces that have it. */
const globals = new Map<string, Identifier>();
const members = new Map<string, CompatStatement[]>();
for (const table of [bcd.javascript.builtins, bcd.api, bcd.webassembly.api] as Identifier[]) {
  for (const [name, entry] of Object.entries(table)) {
    if (name === '__compat') continue;
    globals.set(name, entry as Identifier);
    for (const [member, { __compat }] of Object.entries(entry as Record<string, Identifier>)) {
      const plain = member.replace(/_static$/, '');
      if (__compat) members.set(plain, [...(members.get(plain) ?? []), __compat]);
    }
  }
}
// Globals that are members of a window or of a worker in the tables.
for (const scope of ['WindowOrWorkerGlobalScope', 'Window', 'WorkerGlobalScope', 'DedicatedWorkerGlobalScope']) {
  for (const [name, entry] of Object.entries((bcd.api as Identifier)[scope] ?? {})) {
    if (name !== '__compat' && !globals.has(name)) globals.set(name, entry as Identifier);
  }
}
for (const [name, entry] of Object.entries((bcd.api as Identifier)._globals ?? {}))
  globals.set(name, entry as Identifier);

type Visit = (node: Node & Record<string, unknown>, parent: Record<string, unknown> | null) => void;

function walk(node: unknown, parent: Record<string, unknown> | null, visit: Visit): void {
  if (Array.isArray(node)) for (const each of node) walk(each, parent, visit);
  else if (node !== null && typeof node === 'object' && 'type' in node) {
    visit(node as Node & Record<string, unknown>, parent);
    for (const value of Object.values(node)) walk(value, node as Record<string, unknown>, visit);
  }
}

/** Lists the features that the code uses and a promised browser lacks. Throws for syntax that is newer than ES2022. */
function tooNew(code: string): string[] {
  const found = new Set<string>();
  const own = new Set<string>();
  const used: [name: string, of: string | null][] = [];
  walk(parse(code, { ecmaVersion: 2022, sourceType: 'module' }), null, (node, parent) => {
    const nameOf = (part: unknown) => {
      const { type, name, value } = part as { type?: string; name?: string; value?: unknown };
      return type === 'Identifier' ? name : type === 'Literal' && typeof value === 'string' ? value : undefined;
    };
    if (node.type === 'MemberExpression') {
      const computed = (node.property as Node).type !== 'Literal' && node.computed;
      const name = computed ? undefined : nameOf(node.property);
      const object = node.object as { type: string; name?: string };
      if (name) used.push([name, object.type === 'Identifier' ? (object.name ?? null) : null]);
    } else if (['PropertyDefinition', 'MethodDefinition', 'Property'].includes(node.type)) {
      // A name that our own objects have does not indicate a platform feature.
      const name = node.computed ? undefined : nameOf(node.key);
      if (name) own.add(name);
      if (parent?.type === 'ObjectPattern' && name) used.push([name, null]);
    } else if (node.type === 'Identifier') {
      const isMember = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed;
      const isKey = parent?.key === node && parent?.value !== node;
      if (!isMember && !isKey) used.push(['', node.name as string]);
    }
  });
  for (const [name, of] of used) {
    const isGlobal = of !== null && ['globalThis', 'self', 'window'].includes(of) && name !== '';
    const global = globals.get(isGlobal ? name : (of ?? ''));
    if (isGlobal || name === '') {
      if (global?.__compat) note(isGlobal ? name : (of ?? ''), [global.__compat]);
      continue;
    }
    const statics = global?.[`${name}_static`] ?? global?.[name];
    if (statics?.__compat) note(`${of}.${name}`, [statics.__compat]);
    else if (!own.has(name) && members.has(name)) note(`.${name}`, members.get(name) ?? []);
  }
  return [...found];

  function note(name: string, statements: CompatStatement[]): void {
    // If several interfaces have such a member, one that the browsers have may be meant.
    const lack = statements.map(lacking);
    if (lack.some((each) => each.length === 0)) return;
    if (PASSED_BY.includes(name)) return;
    found.add(`${name} is not in ${lack[0].join(', ')}`);
  }
}

test('README.md names versions', () => {
  for (const browser of BROWSERS) expect(CLAIM[browser]).toMatch(/^\d+/);
});

test.each(shipped)('%s uses nothing that they lack', (name) => {
  expect(tooNew(readFileSync(join(root, 'dist', name), 'utf8'))).toEqual([]);
});

describe('is noticed', () => {
  test.each([
    ['a global', 'new URLPattern("/a")', 'URLPattern'],
    ['a static method', 'Promise.try(() => 1)', 'Promise.try'],
    ['a static method of the platform', 'Uint8Array.fromBase64("")', 'Uint8Array.fromBase64'],
    ['a method', 'const f = (x) => x.isDisjointFrom(x)', '.isDisjointFrom'],
    ['a method by its text', 'const f = (x) => x["getOrInsertComputed"]()', '.getOrInsertComputed'],
    ['a member of globalThis', 'globalThis.scheduler.yield()', 'scheduler'],
  ])('%s', (_, code, what) => {
    expect(tooNew(code).join()).toContain(`${what} is not in `);
  });

  test('syntax', () => {
    expect(() => tooNew('using file = open();')).toThrow(SyntaxError);
    expect(() => tooNew('/(?i:a)/')).toThrow(SyntaxError);
  });
});
