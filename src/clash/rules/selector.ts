import { checkObject, invalid } from '../check.js';
import type { Pattern, Properties, Selector } from '../types.js';

/** The properties of a part that selectors test. */
export interface PartDescription {
  id: string;
  name: string;
  layer: string;
  properties: Properties;
}

export type PartTest = (part: PartDescription) => boolean;

const KEYS = ['id', 'name', 'layer', 'properties', 'not'];

/** Compiles a selector to a predicate. Throws INVALID_ARGUMENT. */
export function compileSelector(argument: string, selector: Selector | undefined): PartTest {
  if (selector === undefined) return () => true;
  const { id, name, layer, properties, not } = checkObject<Selector>(argument, selector, KEYS);
  const tests: PartTest[] = [];
  for (const [key, pattern] of Object.entries({ id, name, layer })) {
    if (pattern === undefined) continue;
    const matches = compilePattern(`${argument}.${key}`, pattern);
    tests.push((part) => matches(part[key as 'id' | 'name' | 'layer']));
  }
  if (properties !== undefined) {
    for (const [key, expected] of Object.entries(
      checkObject(`${argument}.properties`, properties, Object.keys(properties)),
    )) {
      tests.push(compileProperty(`${argument}.properties.${key}`, key, expected));
    }
  }
  if (not !== undefined) {
    const excluded = compileSelector(`${argument}.not`, not);
    tests.push((part) => !excluded(part));
  }
  return (part) => tests.every((test) => test(part));
}

function compileProperty(argument: string, key: string, expected: unknown): PartTest {
  if (typeof expected === 'number' || typeof expected === 'boolean')
    return ({ properties }) => properties[key] === expected;
  const matches = compilePattern(argument, expected as Pattern);
  return ({ properties }) => Object.hasOwn(properties, key) && matches(String(properties[key]));
}

function compilePattern(argument: string, pattern: Pattern): (text: string) => boolean {
  const patterns = typeof pattern === 'string' ? [pattern] : pattern;
  if (!Array.isArray(patterns) || patterns.some((each) => typeof each !== 'string') || patterns.length === 0) {
    invalid(argument, pattern, 'a text or a list of texts');
  }
  const texts = new Set<string>();
  const expressions: RegExp[] = [];
  for (const each of patterns as string[]) {
    if (/[*?]/.test(each)) expressions.push(expressionOf(each));
    else texts.add(each);
  }
  return (text) => texts.has(text) || expressions.some((expression) => expression.test(text));
}

/**
 * Compiles a pattern to a regular expression. The text between two `*` is matched once, where it comes first: a lookahead does not
 * backtrack. Otherwise a pattern of many `*` takes minutes to find that a name does not match.
 */
function expressionOf(pattern: string): RegExp {
  let groups = 0;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+([^*]*)(?=(\*?))/g, (_, text, more) => (more ? `(?=(.*?${text}))\\${++groups}` : `.*${text}`));
  return new RegExp(`^${source}$`, 'su');
}
