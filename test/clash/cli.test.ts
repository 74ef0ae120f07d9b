// The command-line tool as it ships, on files. The tests run
// concurrently, since starting processes wait for one another.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type ClashReport, clash, type Rule } from 'collision-worker/clash';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { VERSION } from '../../src/shared/version.js';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { type CliResult, runCli, startCli, TemporaryFolder } from '../fixtures/clash-cli.js';
import { clashParts } from '../fixtures/clash-parts.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';

const RULES: Rule[] = [
  { name: 'hard', kind: 'hard' },
  { name: 'near', kind: 'clearance', distance: 0.05, a: { layer: 'Water' }, b: { layer: 'Electrical' } },
  { name: 'copies', kind: 'duplicates' },
];
const ENDINGS = ['json', 'csv', 'bcf'];
const folder = new TemporaryFolder();
const model = folder.file('model.glb');
const rules = folder.file('rules.json');
const manifest = join(root, 'package.json');
const parts = building({ parts: 1300 });
const read = (name: string) => readFileSync(folder.file(name), 'utf8');
const reportOf = (name: string): ClashReport => JSON.parse(read(name));
const run = (...args: string[]) => runCli(['clash', ...args, '--rules', rules]);

/** The work folder of the first run, whose baked parts others reuse. */
const baked = folder.file('one.work');
let one: CliResult;

beforeAll(async () => {
  writeFileSync(model, await buildingGlb(parts));
  writeFileSync(rules, JSON.stringify({ rules: RULES }));
  const outs = ENDINGS.flatMap((ending) => ['--out', folder.file(`one.${ending}`)]);
  one = await run(model, ...outs, '--work', baked, '--workers', '1', '--quiet');
});
afterAll(() => folder.remove());

test.concurrent('tells its version, and what it can do', async () => {
  const [version, help] = await Promise.all([runCli(['--version']), runCli(['--help'])]);
  expect(version).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('--rules rules.json'), stderr: '' });
});

test.concurrent('finds in a GLB what clash finds in its parts, with one worker and with four', async () => {
  expect(one).toMatchObject({ code: 0, stderr: '' });
  expect(one.stdout).toMatch(/^hard: \d+\nnear: \d+\ncopies: \d+\n\d+ clashes in \d+ groups, 0 accepted/);
  const outs = ENDINGS.flatMap((ending) => ['--out', folder.file(`four.${ending}`)]);
  const [four, expected] = await Promise.all([
    run(model, ...outs, '--workers', '4'),
    clash(clashParts(parts), null, RULES),
  ]);
  expect(four.code).toBe(0);
  expect(four.stderr).toMatch(/^clash 100 %$/m);
  for (const ending of ENDINGS) {
    expect(readFileSync(folder.file(`four.${ending}`)).equals(readFileSync(folder.file(`one.${ending}`))), ending).toBe(
      true,
    );
  }
  // The file has float32 or decimal numbers for some of the matrices: the result is the same.
  const idsOf = ({ clashes }: ClashReport) => clashes.map(({ id, group }) => [id, group]);
  expect(idsOf(reportOf('one.json'))).toEqual(idsOf(expected));
  expect(existsSync(folder.file('four.json.work'))).toBe(false);
  expect(read('one.csv').trimEnd().split('\r\n')).toHaveLength(expected.clashes.length + 1);
});

test.concurrent('a report whose name is a link is written to where that leads', async () => {
  const [link, target] = [folder.file('newest.json'), folder.file('linked.json')];
  writeFileSync(target, '');
  symlinkSync(target, link);
  expect(await run(model, '--out', link, '--workers', '1')).toMatchObject({ code: 0 });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target).equals(readFileSync(folder.file('one.json')))).toBe(true);
});

test.concurrent('a run that was killed goes on where it was', async () => {
  const work = folder.file('killed.work');
  const args = [model, '--out', folder.file('killed.json'), '--work', work, '--workers', '1'];
  const { child, ended } = startCli(['clash', ...args, '--rules', rules]);
  const doneTiles = () => {
    const [key] = existsSync(join(work, 'tiles')) ? readdirSync(join(work, 'tiles')) : [];
    return key ? readdirSync(join(work, 'tiles', key)).filter((name) => name.endsWith('.json')) : [];
  };
  while (doneTiles().length < 2 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  await ended;
  expect(doneTiles().length).toBeGreaterThanOrEqual(2);
  expect(existsSync(folder.file('killed.json'))).toBe(false);
  const { stderr, code } = await run(...args, '--resume');
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/^clash 0 %/m);
  expect(read('killed.json')).toBe(read('one.json'));
  // With other rules it is a different run.
  const others = folder.file('others.json');
  writeFileSync(others, JSON.stringify([{ name: 'other', kind: 'hard' }]));
  const other = await runCli(['clash', ...args, '--resume', '--rules', others]);
  expect(other).toMatchObject({ code: 0, stderr: expect.stringMatching(/^clash 0 %/m) });
});

test.concurrent('SIGINT ends it, and says how to go on', async () => {
  const args = [model, '--out', folder.file('ended.json'), '--work', folder.file('ended.work'), '--workers', '1'];
  const { child, ended } = startCli(['clash', ...args, '--rules', rules]);
  await new Promise<void>((resolve) => child.stderr!.on('data', (text) => /clash/.test(text) && resolve()));
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/aborted\n.*--resume goes on with it/) });
});

test.concurrent('what was accepted stays accepted, and what is gone is resolved', async () => {
  const before = reportOf('one.json');
  const [first, second] = before.clashes;
  first.status = 'accepted';
  before.clashes.push({ ...second, id: '00000000-0000-5000-8000-000000000000' });
  before.clashes.splice(1, 1);
  writeFileSync(folder.file('accepted.json'), JSON.stringify(before));
  const outs = ['next.json', 'next.bcf'].flatMap((name) => ['--out', folder.file(name)]);
  const { stdout } = await run(model, ...outs, '--accepted', folder.file('accepted.json'));
  expect(stdout).toContain('1 accepted, 1 resolved');
  const { clashes, groups, resolved } = reportOf('next.json');
  const statusOf = new Map(clashes.map(({ id, status }) => [id, status]));
  expect(statusOf.get(first.id)).toBe('accepted');
  expect(statusOf.get(second.id)).toBe('new');
  expect(statusOf.get(clashes[5].id)).toBe('active');
  expect(resolved).toEqual(['00000000-0000-5000-8000-000000000000']);
  const topics = Object.keys(unzipSync(readFileSync(folder.file('next.bcf')))).filter((name) =>
    name.endsWith('/markup.bcf'),
  );
  expect(topics).toHaveLength(groups.filter(({ status }) => status !== 'accepted').length);
});

test.concurrent('two files, one of them baked parts from a work folder', async () => {
  const pipes = parts.filter(({ layer }) => layer === 'Water');
  writeFileSync(folder.file('pipes.glb'), await buildingGlb(pipes));
  writeFileSync(folder.file('rest.glb'), await buildingGlb(parts.filter(({ layer }) => layer !== 'Water')));
  const two = await run(
    folder.file('pipes.glb'),
    folder.file('rest.glb'),
    '--out',
    folder.file('two.json'),
    '--work',
    folder.file('two.work'),
  );
  expect(two.code).toBe(0);
  const again = await run(folder.file('two.work/a'), folder.file('two.work/b'), '--out', folder.file('baked.json'));
  expect(again.code).toBe(0);
  expect(read('baked.json')).toBe(read('two.json'));
  const isWater = ({ layer }: { layer: string }) => layer === 'Water';
  const expected = reportOf('one.json').clashes.filter(
    ({ kind, a, b }) => kind !== 'duplicates' && isWater(a) !== isWater(b),
  );
  const keyOf = ({ rule, a, b }: ClashReport['clashes'][0]) => [rule, a.id, b.id].sort().join();
  expect(reportOf('two.json').clashes.map(keyOf).sort()).toEqual(expected.map(keyOf).sort());
});

describe.concurrent('IFC', () => {
  const boxes: IfcBox[] = [
    {
      guid: '1WallWallWallWallWall1',
      type: 'IFCWALL',
      name: 'wall',
      at: [0, 0, 0],
      size: [4, 0.2, 3],
      layer: 'A-WALL',
    },
    {
      guid: '2PipePipePipePipePipe2',
      type: 'IFCPIPESEGMENT',
      name: 'pipe',
      at: [1, 0, 1],
      size: [0.1, 2, 0.1],
      layer: 'P-PIPE',
    },
    { guid: '3PipePipePipePipePipe3', type: 'IFCPIPESEGMENT', name: 'far', at: [1, 0.13, 2], size: [0.1, 0.02, 0.1] },
    {
      guid: '4PipePipePipePipePipe4',
      type: 'IFCPIPESEGMENT',
      name: 'broken',
      at: [0, 0, 0],
      size: [1, 1, 1],
      isBroken: true,
    },
  ];

  test('a part that fails is in the report, and the rest is looked at', async () => {
    writeFileSync(folder.file('boxes.ifc'), ifcOf(boxes));
    const own: Rule[] = [
      {
        name: 'pipes',
        kind: 'hard',
        a: { layer: 'P-*' },
        b: { properties: { type: 'IfcWall', storey: 'Ground floor' } },
      },
      {
        name: 'gaps',
        kind: 'clearance',
        distance: 0.05,
        a: { name: 'far' },
        b: { properties: { 'Pset_Common.FireRating': 'EI*' } },
      },
    ];
    writeFileSync(folder.file('ifc-rules.json'), JSON.stringify(own));
    const outs = ['ifc.json', 'ifc.bcf'].flatMap((name) => ['--out', folder.file(name)]);
    const { code, stderr } = await runCli([
      'clash',
      folder.file('boxes.ifc'),
      '--rules',
      folder.file('ifc-rules.json'),
      ...outs,
    ]);
    expect(stderr).toContain('not read: broken');
    expect(code).toBe(0);
    const { clashes, unread } = reportOf('ifc.json');
    expect(unread).toMatchObject([{ id: boxes[3].guid, name: 'broken' }]);
    expect(clashes).toMatchObject([
      { rule: 'pipes', a: { id: boxes[0].guid }, b: { id: boxes[1].guid } },
      { rule: 'gaps', a: { id: boxes[0].guid }, b: { id: boxes[2].guid } },
    ]);
    expect(clashes[0].depth).toBeCloseTo(1.05, 5);
    expect(clashes[1].distance).toBeCloseTo(0.02, 5);
    // In IFC z is up, in the report y is, and in BCF z again.
    expect(clashes[0].point[1]).toBeCloseTo(1.05, 2);
    const files = unzipSync(readFileSync(folder.file('ifc.bcf')));
    const views = Object.entries(files).filter(([name]) => name.endsWith('.bcfv'));
    const text = views
      .map(([, bytes]) => new TextDecoder().decode(bytes))
      .find((view) => view.includes(boxes[1].guid))!;
    const [, x, y, z] = /<CameraViewPoint><X>(.*?)<\/X><Y>(.*?)<\/Y><Z>(.*?)<\/Z>/.exec(text)!.map(Number);
    expect([x, y, z].every(Number.isFinite)).toBe(true);
    expect(Math.abs(x - 1) < 3 && Math.abs(y) < 3 && z > 1.05 && z < 4).toBe(true);
  });

  test('what is cut off, or no IFC at all, is told', async () => {
    writeFileSync(folder.file('cut.ifc'), ifcOf(boxes).slice(0, 200));
    const { code, stderr } = await run(folder.file('cut.ifc'), '--out', folder.file('cut-ifc.json'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/cut\.ifc (cannot be read as IFC|has no IFC products, or is cut off)/);
  });
});

const full = mountFull();
if (full === null) console.warn('Without a full disk: this user may not mount a tmpfs');

/** A file system with hardly any space; null if none can be mounted. */
function mountFull(): string | null {
  const path = folder.file('full');
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1200k', 'tmpfs', path], { stdio: 'ignore' });
    return path;
  } catch {
    return null;
  }
}

describe.skipIf(full === null).concurrent('a disk without room', () => {
  afterAll(() => {
    execFileSync('umount', [full!], { stdio: 'ignore' });
  });

  test('is told, and when there is some, the run goes on', async () => {
    const ballast = join(full!, 'ballast');
    writeFileSync(ballast, new Uint8Array(1_000_000));
    const args = [model, '--out', folder.file('full.json'), '--work', join(full!, 'work'), '--quiet'];
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be written: there is no room on the disk/);
    execFileSync('mount', ['-o', 'remount,size=64m', full!]);
    expect(await run(...args, '--resume')).toMatchObject({ code: 0, stderr: '' });
    expect(read('full.json')).toBe(read('one.json'));
  });
});

describe.concurrent('what is wrong is told', () => {
  test('a GLB that was cut off', async () => {
    copyFileSync(model, folder.file('cut.glb'));
    truncateSync(folder.file('cut.glb'), 100_000);
    const { code, stderr } = await run(folder.file('cut.glb'), '--out', folder.file('cut.json'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/cut\.glb cannot be read as glTF: it was cut off, as it has 100000 of \d+ bytes/);
    expect(stderr).not.toContain('--resume');
    expect(existsSync(folder.file('cut.json.work'))).toBe(false);
    writeFileSync(folder.file('short.glb'), 'glTF');
    writeFileSync(folder.file('other.glb'), 'some text that is no model');
    const [short, other] = await Promise.all(
      ['short', 'other'].map((name) => run(folder.file(`${name}.glb`), '--out', folder.file(`${name}.json`))),
    );
    expect(short).toMatchObject({ code: 1, stderr: expect.stringMatching(/it was cut off, as it has 4 bytes/) });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/it does not begin as a GLB file/) });
  });

  test('rules that match nothing, with the names that there are', async () => {
    writeFileSync(folder.file('none.json'), JSON.stringify([{ name: 'none', kind: 'hard', a: { layer: 'Wasser' } }]));
    const { code, stderr } = await runCli([
      'clash',
      model,
      '--rules',
      folder.file('none.json'),
      '--out',
      folder.file('none-out.json'),
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: rule "none": a matches no part of the set; it has 1300 parts');
    expect(stderr).toContain('layers "Electrical", "Structure", "Ventilation", "Walls", "Water"');
    expect(reportOf('none-out.json').warnings).toHaveLength(1);
  });

  test.each([
    [['clash'], /number of files is 0, expected one or two/],
    [['clash', 'no.glb', '--out', 'x.json'], /--rules is undefined, expected a file of rules/],
    [['clash', model, '--rules', rules, '--out', 'x.pdf'], /--out is "x.pdf", expected a name that ends in \.json/],
    [['clash', 'no.glb', '--rules', rules, '--out', '/tmp/clash-x.json'], /no\.glb cannot be read: ENOENT/],
    [
      ['clash', rules, '--rules', rules, '--out', '/tmp/clash-x.json'],
      /rules\.json is of no known kind, expected \.glb/,
    ],
    [['clash', model, '--rules', model, '--out', '/tmp/clash-x.json'], /--rules .*model\.glb cannot be read/],
    [['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--memory', 'much'], /--memory is "much"/],
    [['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--cache', 'x'], /--cache is "clash"/],
    [
      ['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--queue', 'x'],
      /queue is "x", expected an address/,
    ],
    [
      // The server of its work folder ends with it.
      ['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--queue', 'x', '--serve', '0'],
      /queue is "x", expected an address/,
    ],
    [
      ['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--serve', '80'],
      /--serve is "80", expected none without --queue/,
    ],
    [['clash', model, '--rules', rules, '--out', '/tmp/clash-x.json', '--group', 'x'], /^clash: --group is "x".*\n$/],
    [['clash', model, '--sharks'], /Unknown option '--sharks'/],
    [['crash'], /the command is "crash"/],
    [['--out', 'x.json'], /the command is undefined, expected 'clash' or 'clash-worker'/],
    [['clash', model, '--rules', rules, '--out', rules], /--out is ".*rules\.json", expected another file/],
    [
      ['clash', model, '--rules', manifest, '--out', 'x.json'],
      /--rules has the unknown key "name", expected some of rules/,
    ],
  ])('%s', async (args, message) => {
    const { code, stderr } = await runCli(args);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  test('a library that is not installed, with the command that installs it', async () => {
    const bare = folder.file('bare/collision-worker');
    mkdirSync(bare, { recursive: true });
    cpSync(join(root, 'dist'), join(bare, 'dist'), { recursive: true });
    copyFileSync(join(root, 'package.json'), join(bare, 'package.json'));
    writeFileSync(folder.file('some.ifc'), '');
    const script = join(bare, 'dist/clash-cli.js');
    const out = ['--rules', rules, '--out', folder.file('bare.json')];
    expect((await runCli(['clash', model, ...out], script)).stderr).toContain('npm install @gltf-transform/core');
    expect((await runCli(['clash', folder.file('some.ifc'), ...out], script)).stderr).toContain('npm install web-ifc');
    const queue = ['--queue', 'redis://127.0.0.1:1'];
    expect((await runCli(['clash', model, ...out, ...queue], script)).stderr).toContain('npm install bullmq');
    expect((await runCli(['clash-worker', ...queue], script)).stderr).toContain('npm install bullmq');
    // Baked parts need none of them.
    expect((await runCli(['clash', join(baked, 'a'), ...out], script)).code).toBe(0);
    expect(read('bare.json')).toBe(read('one.json'));
  });
});
