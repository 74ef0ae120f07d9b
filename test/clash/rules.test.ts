// Rules, invalid input and what a page's caller sees of it.
import { createCollisionService } from 'collision-worker';
import { clash, type Part, type Rule, toBcf, toCsv, toJson } from 'collision-worker/clash';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { describePart } from '../../src/clash/plan/plan.js';
import { compileRules, warnOfRules } from '../../src/clash/rules/rules.js';
import { MESH_MIN } from '../../src/shared/layout.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const at = (x: number, y = 0, z = 0, scale = 1) => [scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0, x, y, z, 1];
const cube = boxMesh(1, 1, 1);
const HARD: Rule = { name: 'hard', kind: 'hard' };
const cubeAt = (id: string, x: number, more: Partial<Part> = {}): Part => ({ id, mesh: cube, matrix: at(x), ...more });
const idsOf = async (parts: Part[], rules: Rule[]) =>
  (await clash(parts, null, rules)).clashes.map(({ rule, a, b }) => `${rule} ${a.id} ${b.id}`);

describe('rules', () => {
  test('choose by name, layer, property and id, with patterns and without some', async () => {
    const parts = [
      cubeAt('a', 0, { name: 'Pipe (1)', layer: 'Water', properties: { dn: 50, hot: true } }),
      cubeAt('b', 0.5, { name: 'pipe 2', layer: 'Waste', properties: { dn: 100 } }),
      cubeAt('c', 0.9, { name: 'Wall', layer: 'Walls' }),
    ];
    const rule = (name: string, a: Rule['a'], b: Rule['b']): Rule => ({
      name,
      kind: 'hard',
      ...(a && { a }),
      ...(b && { b }),
    });
    const found = await idsOf(parts, [
      rule('name', { name: 'Pipe (?)' }, { name: ['x', 'Wall'] }),
      rule('layer', { layer: 'Wa*' }, { layer: 'Waste' }),
      rule('number', { properties: { dn: 50 } }, { properties: { dn: '1*' } }),
      rule('flag', { properties: { hot: true } }, { not: { layer: 'W?ste' } }),
      rule('id', { id: 'b' }, { id: 'c' }),
      { name: 'same', kind: 'hard', unlessSame: 'layer' },
    ]);
    expect(found.sort()).toEqual([
      ...['flag a c', 'id b c', 'layer a b', 'layer b c', 'name a c', 'number a b', 'same a b', 'same a c', 'same b c'],
    ]);
  });

  test('of twenty rules, each has its own', async () => {
    const rules = Array.from({ length: 20 }, (_, i): Rule => {
      return { name: `${i}`, kind: 'hard', tolerance: i / 20, a: { id: 'a' }, b: { id: i % 2 ? 'b' : 'c' } };
    });
    const parts = [cubeAt('a', 0), cubeAt('b', 0.42), cubeAt('c', 0.77)];
    const found = await idsOf(parts, rules);
    const expected = rules.filter((_, i) => (i % 2 ? 0.58 : 0.23) > i / 20).map(({ name, b }) => `${name} a ${b!.id}`);
    expect(found.sort()).toEqual(expected.sort());
  });

  test.each([
    [[], /rules is an array of length 0/],
    [[{ kind: 'hard' }], /rules\[0\]\.name is undefined/],
    [[{ name: 'x', kind: 'soft' }], /rules\[0\]\.kind is "soft"/],
    [[{ name: 'x', kind: ['hard'] }], /rules\[0\]\.kind is an array of length 1/],
    [[{ name: 'x', kind: 'clearance' }], /rules\[0\]\.distance is undefined/],
    [[{ name: 'x', kind: 'hard', tolerance: -1 }], /tolerance is -1/],
    [[{ name: 'x', kind: 'hard', a: { colour: 'red' } }], /rules\[0\]\.a has the unknown key "colour"/],
    [[{ name: 'x', kind: 'hard', a: { name: 3 } }], /rules\[0\]\.a\.name is 3/],
    [[HARD, HARD], /rules\[1\]\.name is "hard", expected a name that no other rule has/],
  ])('%j is none', async (rules, message) => {
    await expect(clash([], null, rules as Rule[])).rejects.toThrow(message);
  });
});

test('an earlier report whose decisions cannot be read is refused: a clash with the status "Accepted" was active', async () => {
  const parts = [cubeAt('a', 0), cubeAt('b', 0.5)];
  const { clashes } = await clash(parts, null, [HARD]);
  const given = (status: string) => ({
    accepted: { clashes: clashes.map((each) => ({ ...each, status: status as 'new' })) },
  });
  expect((await clash(parts, null, [HARD], given('accepted'))).clashes).toMatchObject([{ status: 'accepted' }]);
  await expect(clash(parts, null, [HARD], given('Accepted'))).rejects.toThrow(
    'clash: accepted.clashes[0] is "Accepted", expected new or active or accepted',
  );
});

test(`patterns choose what a search of every way to match them finds, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const text = (letters: string, most: number) =>
    Array.from({ length: random.integer(most) }, () => [...letters][random.integer([...letters].length)]).join('');
  const isMatch = (pattern: string[], name: string[]): boolean => {
    const [first, ...rest] = pattern;
    if (first === undefined) return name.length === 0;
    if (first === '*') return isMatch(rest, name) || (name.length > 0 && isMatch(pattern, name.slice(1)));
    return name.length > 0 && (first === '?' || first === name[0]) && isMatch(rest, name.slice(1));
  };
  const parts = Array.from({ length: 200 }, (_, i) => cubeAt(`${i}`, 0, { name: text('ab.😀\n', 7) }));
  const patterns = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + random.integer(2) }, () => text('**?ab.😀', 7)),
  );
  // All parts are in one place: each rule finds exactly the parts that it selects, with themselves.
  const rules = patterns.map((name, i): Rule => ({ name: `${i}`, kind: 'hard', a: { name }, b: { id: 'probe' } }));
  const { rules: found } = await clash([...parts, cubeAt('probe', 0, { name: '-' })], null, rules);
  const expected = patterns.map(
    (pattern) => parts.filter(({ name }) => pattern.some((each) => isMatch([...each], [...name!]))).length,
  );
  expect(found.map(({ clashes }) => clashes)).toEqual(expected);
});

test('a pattern of many stars, or a list of many ids, takes no longer than others', async () => {
  const parts = Array.from({ length: 300 }, (_, i) => cubeAt(`${i}`, i / 2, { name: 'a-'.repeat(100) }));
  const ids = Array.from({ length: 50_000 }, (_, i) => `GlobalId ${i}`);
  const rules: Rule[] = [
    { ...HARD, a: { name: `${'*-'.repeat(12)}*b` } },
    { ...HARD, name: 'ids', a: { id: [...ids, '7'] } },
  ];
  expect(await idsOf(parts, rules)).toEqual(['ids 6 7', 'ids 7 8']);
});

test('a depth that equals the tolerance is allowed: as float32, 0.001 is more than 0.001', async () => {
  const width = 2 * Math.max(...cube.positions);
  const tolerances = [0.001, 0.002, 0.003, 0.005, 0.1, 0.3];
  const rules = tolerances.map(
    (tolerance, i): Rule => ({ kind: 'hard', name: `${tolerance}`, tolerance, a: { id: `${i}*` } }),
  );
  const parts = tolerances.flatMap((tolerance, i) =>
    [0, width - tolerance, tolerance * (1 + 1e-6) - width].map((x, k): Part => {
      return { id: `${i} ${'abc'[k]}`, mesh: cube, matrix: at(x, 10 * i) };
    }),
  );
  expect(await idsOf(parts, rules)).toEqual(tolerances.map((tolerance, i) => `${tolerance} ${i} a ${i} c`));
});

test('what lies wholly inside is a clash, of closed meshes alone', async () => {
  const small: Part = { id: 's', mesh: icosphere(0.1, 1), matrix: at(0) };
  const { clashes } = await clash([small, cubeAt('b', 0)], null, [HARD]);
  expect(clashes).toMatchObject([{ a: { id: 'b' }, b: { id: 's' }, inside: 'b' }]);
  expect(clashes[0].depth).toBeCloseTo(0.6, 1);
  const open = { ...cube, indices: cube.indices.slice(3) };
  expect((await clash([small, { id: 'o', mesh: open }], null, [HARD])).clashes).toEqual([]);
});

test('the same geometry is found whatever its triangles and matrix are', async () => {
  const large = { positions: cube.positions.map((each) => 2 * each), indices: cube.indices };
  const parts: Part[] = [
    cubeAt('a', 0),
    { id: 'b', mesh: large, matrix: at(0, 0, 0, 0.5) },
    { id: 'c', mesh: cube, matrix: [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0.0005, 0, 0, 1] },
    cubeAt('d', 0.01),
    { id: 'e', mesh: icosphere(0.5, 1) },
  ];
  expect(await idsOf(parts, [{ name: 'same', kind: 'duplicates' }])).toEqual(['same a b', 'same a c', 'same b c']);
});

test('a part that cannot be read is told, and the others are looked at', async () => {
  const nothing = new Float32Array(9).fill(Number.NaN);
  const report = await clash(
    [
      cubeAt('a', 0),
      cubeAt('b', 0.5),
      { id: 'nan', mesh: { positions: nothing } },
      { id: 'flat', mesh: { positions: new Float32Array(9) } },
      { id: 'out', mesh: { positions: cube.positions, indices: Uint32Array.of(0, 1, 99) } },
      { id: 'line', mesh: { positions: Float32Array.of(0, 0, 0, 1, 0, 0), topology: 'lines' } },
      { id: 'baked', mesh: new ArrayBuffer(1000) },
      cubeAt('singular', 0, { matrix: new Float64Array(16) }),
    ],
    null,
    [HARD, { name: 'near', kind: 'clearance', distance: 1 }, { name: 'same', kind: 'duplicates' }],
  );
  expect(report.clashes.map(({ a, b }) => a.id + b.id)).toEqual(['ab', 'ab']);
  expect(report.unread.map(({ id }) => id)).toEqual(['baked', 'flat', 'line', 'nan', 'out', 'singular']);
});

test('a part that is too far away, or nowhere, takes nothing from the answers about others', async () => {
  const service = await createCollisionService();
  const baked = await service.bakeMesh(await service.addMesh(cube));
  service.dispose();
  new DataView(baked).setFloat64(MESH_MIN, Number.NaN, true);
  const others = [cubeAt('a', 0), cubeAt('b', 0.5), cubeAt('c', 5), cubeAt('d', 7)];
  const rules: Rule[] = [HARD, { name: 'near', kind: 'clearance', distance: 1 }];
  const expected = await clash(others, null, rules);
  expect(expected.clashes.map(({ a, b }) => a.id + b.id)).toEqual(['ab', 'ab']);
  const odd = [cubeAt('far', 1e20), cubeAt('farther', 1e300), { id: 'nowhere', mesh: baked }];
  const { clashes, unread } = await clash([...odd, ...others], null, rules);
  expect(clashes).toEqual(expected.clashes);
  expect(unread.map(({ reason }) => reason)).toEqual([
    'clash: the place of the part is 141421356237309510000, expected at most 1e12',
    'clash: the place of the part is 1.4142135623730952e+300, expected at most 1e12',
    'clash: the place of the part is NaN, expected at most 1e12',
  ]);
});

test('bad calls, aborting and two parts of one id', async () => {
  await expect(clash([cubeAt('a', 0), cubeAt('a', 1)], null, [HARD])).rejects.toThrow(/id of a part is "a"/);
  await expect(clash([{ mesh: cube } as Part], null, [HARD])).rejects.toThrow(/a\[0\]\.id is undefined/);
  await expect(clash([], null, [HARD], { workers: 0 })).rejects.toThrow(/workers is 0/);
  await expect(clash([], null, [HARD], { threads: 1 } as object)).rejects.toThrow(/unknown key "threads"/);
  await expect(clash([], null, [HARD], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(clash([], null, [HARD], { signal: 5 } as object)).rejects.toThrow(
    'clash: signal is 5, expected an Abort',
  );
  const none = { id: 'none', mesh: null } as never;
  const { unread } = await clash([none], null, [HARD]);
  expect(unread).toMatchObject([
    { id: 'none', reason: expect.stringContaining('the mesh is null, expected the arrays') },
  ]);
  const parts = Array.from({ length: 2000 }, (_, i) => cubeAt(`${i}`, i / 2));
  const controller = new AbortController();
  const late = clash(parts, null, [HARD], {
    signal: controller.signal,
    onProgress: ({ fraction }) => fraction > 0.2 && controller.abort('enough'),
  });
  await expect(late).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
  expect((await clash([], [], [HARD])).clashes).toEqual([]);
});

test('no name is a formula in a spreadsheet, and numbers are numbers', async () => {
  const report = await clash([cubeAt('a', -5, { name: '=1+1' })], [cubeAt('b', -4.5, { name: '-2' })], [HARD]);
  const [, line] = toCsv(report).split('\r\n');
  expect(line).toMatch(/,a,'=1\+1,,b,'-2,,-\d/);
  // A leading line feed or a full-width sign does not bypass it.
  const others = await clash([cubeAt('a', 0, { name: '\n=1' })], [cubeAt('b', 0, { name: '＝1' })], [HARD]);
  expect(toCsv(others)).toMatch(/,a,"'\n=1",,b,'＝1,,/);
});

test('reports as JSON, CSV and BCF, whatever the names are', async () => {
  const name = 'a "wall", <b> & \u0001\nmore';
  const guid = '1abcdefghijklmnopqrst$';
  const report = await clash([cubeAt(guid, 0, { name })], [cubeAt('b', 0.5)], [HARD]);
  expect(JSON.parse(toJson(report))).toEqual(report);
  expect(toCsv(report).split('\r\n')[1]).toContain('"a ""wall"", <b> & \u0001\nmore"');
  const files = unzipSync(toBcf(report, { up: 'z', date: new Date(0), author: 'me' }));
  const [group] = report.groups;
  expect(Object.keys(files).sort()).toEqual(
    ['bcf.version', `${group.id}/markup.bcf`, `${group.id}/viewpoint.bcfv`].sort(),
  );
  const markup = strFromU8(files[`${group.id}/markup.bcf`]);
  const elements = [...markup.matchAll(/<(\w+)/g)].map(([, element]) => element);
  // The order of markup.xsd and visinfo.xsd.
  expect(elements).toEqual([
    ...['Markup', 'Topic', 'Title', 'Index', 'Labels', 'CreationDate', 'CreationAuthor', 'Description'],
    ...['Viewpoints', 'Viewpoint'],
  ]);
  expect(markup).toContain('a &quot;wall&quot;, &lt;b&gt; &amp; \nmore');
  expect(markup).toContain('<CreationDate>1970-01-01T00:00:00.000Z</CreationDate>');
  const view = strFromU8(files[`${group.id}/viewpoint.bcfv`]);
  expect([...view.matchAll(/<(\w+)/g)].map(([, element]) => element)).toEqual([
    ...[
      'VisualizationInfo',
      'Components',
      'Selection',
      'Component',
      'Component',
      'OriginatingSystem',
      'AuthoringToolId',
    ],
    ...['Visibility', 'PerspectiveCamera', 'CameraViewPoint', 'X', 'Y', 'Z', 'CameraDirection', 'X', 'Y', 'Z'],
    ...['CameraUpVector', 'X', 'Y', 'Z', 'FieldOfView'],
  ]);
  expect(view).toContain(`<Component IfcGuid="${guid}" />`);
});

test('rules that match nothing are told in slices, with what there is in a set', async () => {
  const names = Array.from({ length: 14 }, (_, i) => String.fromCharCode(97 + i));
  const parts = names.map((name) => cubeAt(name, 0, { name }));
  const rules = ['x', 'y'].map((name): Rule => ({ name, kind: 'hard', a: { name }, b: { layer: name } }));
  const expected = (rule: string, side: string) =>
    `rule "${rule}": ${side} matches no part of the set; it has 14 parts, ` +
    `names ${names
      .slice(0, 12)
      .map((each) => `"${each}"`)
      .join(', ')} and 2 more, layers none`;
  expect((await clash(parts, null, rules)).warnings).toEqual(
    ['a', 'b'].flatMap((side) => ['x', 'y'].map((rule) => expected(rule, side))),
  );
  const { warnings } = await clash(parts, [cubeAt('o', 0, { layer: 'L' })], rules.slice(0, 1));
  expect(warnings[1]).toBe('rule "x": b matches no part of the second set; it has 1 parts, names none, layers "L"');
  // Reports of progress are part of the slices: with one step at a time the result is the same.
  const compiled = compileRules(rules);
  const steps = [
    ...warnOfRules(
      compiled,
      parts.map((part) => describePart(() => 'part', part)),
      null,
    ),
  ];
  expect(steps).toHaveLength(4);
});
