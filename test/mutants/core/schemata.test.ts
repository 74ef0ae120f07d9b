import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mutationsOf } from './mutations.js';
import { weave } from './schemata.js';
import { EXPORTS, tellCores } from './workspace.js';

// Valid both as TypeScript and as AssemblyScript, so that it can be run here.
const SOURCE = `
const LIMIT = 3;

export function f(a, b, c) {
  let sum = a + b * c;
  if (sum > LIMIT && a < b) {
    sum = max(sum, -c);
    return g(a, sum);
  }
  for (let i = 0; i < 2; i++) {
    if (i == c) continue;
    sum += i;
  }
  return sum;
}
`;

const mutations = mutationsOf('f.ts', SOURCE).map((mutation, i) => ({ ...mutation, id: i + 1 }));
const woven = weave(SOURCE, mutations);
const ARGUMENTS = [-2, 0, 1, 5].flatMap((a) => [0, 1, 2].flatMap((b) => [-1, 0, 1, 4].map((c) => [a, b, c])));

/** The function's results; and the mutants that were reached. */
function answersOf(source: string, activeMutant: number, list = ARGUMENTS) {
  const reached = new Set<number>();
  const code = `${source.replace('export', '')}\nreturn f;`;
  const g = (a: number, b: number) => a - 2 * b;
  const create = new Function('activeMutant', 'reachMutant', 'reachWhereOther', 'max', 'g', code);
  const reach = (id: number) => reached.add(id);
  const reachWhereOther = (id: number, original: unknown, mutated: unknown) => {
    if (!Object.is(original, mutated)) reach(id);
  };
  const f = create(activeMutant, reach, reachWhereOther, Math.max, g);
  return { answers: list.map((values) => f(...values)), reached };
}

test('mutants are found of every kind, and each is one change', () => {
  const kinds = new Set(mutations.map(({ kind }) => kind));
  for (const kind of ['+ → -', '* → /', '> → >=', '&& → ||', 'without -', 'condition negated', 'max → min']) {
    expect(kinds).toContain(kind);
  }
  for (const kind of ['3 → 3 + 1', '3 → 3 - 1', 'statement dropped', 'arguments 1 and 2 swapped', '+= → -=']) {
    expect(kinds).toContain(kind);
  }
  expect(mutations.filter(({ constant }) => constant === 'LIMIT')).toHaveLength(2);
});

test('with none active, what is woven does what the source does', () => {
  const { answers, reached } = answersOf(woven.text, 0);
  expect(answers).toEqual(answersOf(SOURCE, 0).answers);
  for (const { id, constant, values } of mutations) if (!values) expect(reached.has(id)).toBe(constant === undefined);
});

test('a mutant that changes an answer is reached, and one whose value is the same is not', () => {
  const spared = new Set<string>();
  for (const args of ARGUMENTS) {
    const { answers, reached } = answersOf(woven.text, 0, [args]);
    for (const { id, kind, constant } of mutations) {
      if (constant !== undefined) continue;
      if (!reached.has(id)) spared.add(kind);
      else continue;
      expect(answersOf(woven.text, id, [args]).answers, `${kind} at ${args}`).toEqual(answers);
    }
  }
  for (const kind of ['> → >=', '&& → ||', 'max → min', '+= → -=']) expect(spared).toContain(kind);
});

test('what starts cores can still be changed so that it tells them of mutants', () => {
  const text = tellCores(readFileSync(EXPORTS, 'utf8'));
  expect(text).toContain('told.active');
  expect(text).toContain('return [watched as unknown as CoreExports, compiled];');
});

describe.each(mutations)('mutant $id: $kind', ({ id, start, end, by }) => {
  test('is what the woven source does when it is active', () => {
    const mutated = SOURCE.slice(0, start) + (by ? `(${by})` : ';') + SOURCE.slice(end);
    expect(answersOf(woven.text, id).answers).toEqual(answersOf(mutated, 0).answers);
  });

  test('stands where its span says', () => {
    const span = woven.spans.find((candidate) => candidate.id === id)!;
    expect(woven.text.slice(span.start, span.end)).toMatch(new RegExp(`activeMutant [!=]= ${id}\\b`));
  });
});
