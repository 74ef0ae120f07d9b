// BCF 2.1 by the rules of its schemas.
import { type ClashReport, clash, toBcf } from 'collision-worker/clash';
import { strFromU8, unzipSync } from 'fflate';
import { beforeAll, describe, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { clashParts } from '../fixtures/clash-parts.js';
import { bcfFaults, bcfFaultsOf } from '../oracle/bcf-rules.js';
import { Random, SEED } from '../oracle/random.js';

const CHARACTERS = [
  'a',
  'Z',
  '<',
  '>',
  '&',
  '"',
  "'",
  '\n',
  '\t',
  '\u0001',
  '\u007f',
  '\u0085',
  '\ufffe',
  'é',
  '😀',
  ']]>',
  '\ud800',
];

describe(`BCF of a building, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const text = () => Array.from({ length: 1 + random.integer(8) }, () => random.pick(CHARACTERS)).join('');
  let report: ClashReport;
  let files: Record<string, string>;

  beforeAll(async () => {
    const parts = clashParts(building({ parts: 200, seed: SEED, origin: [1e6, -1e6, 1e6] })).map((part, i) => ({
      ...part,
      // Some ids are IFC's, whose parts viewers know.
      id: i % 3 === 0 ? `0${String(i).padStart(20, '0')}$` : `${part.id} ${text()}`,
      name: i % 5 === 0 ? '' : text(),
    }));
    report = await clash(parts, null, [
      { name: text(), kind: 'hard' },
      { name: `near ${text()}`, kind: 'clearance', distance: 0.05 },
      { name: 'copies', kind: 'duplicates' },
    ]);
    report.groups[0].status = 'accepted';
    report.groups[1].status = 'active';
    files = Object.fromEntries(Object.entries(unzipSync(toBcf(report))).map(([path, file]) => [path, strFromU8(file)]));
  });

  test.each(['y', 'z'] as const)('is as the schemas want it, %s up', (up) => {
    expect(bcfFaults(toBcf(report, { up, author: `me ${text()}` }))).toEqual([]);
    expect(Object.keys(files).length).toBeGreaterThan(20);
    expect(Object.values(files).some((file) => file.includes('IfcGuid'))).toBe(true);
    expect(Object.values(files).some((file) => file.includes('AuthoringToolId'))).toBe(true);
  });

  test('cameras look at their group from above, upright', () => {
    for (const [path, file] of Object.entries(files)) {
      if (!path.endsWith('.bcfv')) continue;
      const vectors = [...file.matchAll(/<X>(.*?)<\/X><Y>(.*?)<\/Y><Z>(.*?)<\/Z>/g)].map((match) =>
        match.slice(1).map(Number),
      );
      const [eye, direction, up] = vectors;
      expect(Math.hypot(...direction)).toBeCloseTo(1, 12);
      expect(Math.hypot(...up)).toBeCloseTo(1, 12);
      expect(direction[0] * up[0] + direction[1] * up[1] + direction[2] * up[2]).toBeCloseTo(0, 12);
      expect(up[2]).toBeGreaterThan(0);
      const group = report.groups.find(({ id }) => path.startsWith(id))!;
      const middle = [0, 1, 2].map((axis) => 0.5 * (group.bounds[axis] + group.bounds[axis + 3]));
      const target = [middle[0], -middle[2], middle[1]];
      const way = target.map((each, axis) => each - eye[axis]);
      const length = Math.hypot(...way);
      for (let axis = 0; axis < 3; axis++) expect(way[axis] / length).toBeCloseTo(direction[axis], 6);
    }
  });

  test.each<
    [
      string,
      RegExp,
      (change: (path: RegExp, from: RegExp, to: string) => Record<string, string>) => Record<string, string>,
    ]
  >([
    [
      'another order',
      /has the children/,
      (change) => change(/markup/, /(<Index>\d+<\/Index>)\s*(<Labels>.*?<\/Labels>)/, '$2$1'),
    ],
    ['no author', /has the children/, (change) => change(/markup/, /<CreationAuthor>.*?<\/CreationAuthor>/s, '')],
    [
      'a GUID in capitals',
      /has Guid/,
      (change) => change(/markup/, /Topic Guid="[^"]*"/, 'Topic Guid="ABCDEF00-0000-5000-8000-000000000000"'),
    ],
    [
      'a wide field of view',
      /FieldOfView has the text "75"/,
      (change) => change(/bcfv/, /<FieldOfView>60/, '<FieldOfView>75'),
    ],
    ['no visibility', /has the children/, (change) => change(/bcfv/, /<Visibility[^>]*>/, '')],
    ['an entity of no one', /is no entity/, (change) => change(/markup/, /<Title>/, '<Title>&nbsp;')],
    ['what is no number', /has the text "NaN"/, (change) => change(/bcfv/, /<X>[^<]*/, '<X>NaN')],
    ['another version', /has VersionId 2\.0/, (change) => change(/version/, /VersionId="2\.1"/, 'VersionId="2.0"')],
  ])('with %s it would not be', (_, fault, damaged) => {
    const change = (path: RegExp, from: RegExp, to: string): Record<string, string> => {
      const name = Object.keys(files).find((each) => path.test(each))!;
      expect(files[name]).toMatch(from);
      return { ...files, [name]: files[name].replace(from, to) };
    };
    expect(bcfFaultsOf(damaged(change)).join('\n')).toMatch(fault);
  });
});

test('more topics than a zip has room for are refused: files were missing in silence', async () => {
  const cube = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0) };
  const report = await clash(
    [
      { id: 'a', mesh: cube },
      { id: 'b', mesh: cube },
    ],
    null,
    [{ name: 'same', kind: 'duplicates' }],
  );
  const [group] = report.groups;
  const groups = Array.from({ length: 32_768 }, (_, i) => ({
    ...group,
    id: `00000000-0000-5000-8000-${String(i).padStart(12, '0')}`,
  }));
  expect(() => toBcf({ ...report, groups })).toThrow(
    'clash: report.groups is an array of length 32768, expected at most 32767',
  );
});

test('of a report that was filtered, topics list the clashes that are left', async () => {
  const cube = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0) };
  const parts = ['a', 'b', 'c', 'd'].map((id) => ({ id, mesh: cube }));
  const report = await clash(parts, null, [{ name: 'same', kind: 'duplicates' }]);
  expect(report.groups.map(({ clashes }) => clashes.length)).toEqual([3, 2, 1]);
  const clashes = report.clashes.filter(({ a, b }) => a.id === 'a' && b.id !== 'c');
  const files = unzipSync(toBcf({ ...report, clashes }));
  const [{ id }] = report.groups;
  expect(Object.keys(files)).toEqual(['bcf.version', `${id}/markup.bcf`, `${id}/viewpoint.bcfv`]);
  const markup = strFromU8(files[`${id}/markup.bcf`]);
  expect(markup).toContain('same: a, 2 clashes');
  expect(markup.match(/<Description>(.*?)<\/Description>/s)![1]).toBe(
    'a (a) and b (b): the same\na (a) and d (d): the same',
  );
});
