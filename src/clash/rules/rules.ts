import { checkNumber, checkObject, checkText, invalid } from '../check.js';
import type { Rule } from '../types.js';
import { compileSelector, type PartDescription, type PartTest } from './selector.js';

/** A millimetre, in models of metres. */
const DEFAULT_TOLERANCE = 0.001;

const KINDS = ['hard', 'clearance', 'duplicates'];
const KEYS = ['name', 'kind', 'a', 'b', 'unlessSame'];

/** A checked rule. */
export interface CompiledRule {
  name: string;
  kind: Rule['kind'];
  /** The tolerance, or the distance of a clearance. */
  limit: number;
  isOfA: PartTest;
  isOfB: PartTest;
  /** Returns whether a pair is left out. */
  isLeftOut: (a: PartDescription, b: PartDescription) => boolean;
}

/** Reads rules. Throws INVALID_ARGUMENT that names the rule and what is wrong with it. */
export function compileRules(rules: readonly Rule[]): CompiledRule[] {
  if (!Array.isArray(rules) || rules.length === 0) invalid('rules', rules, 'a list of rules that is not empty');
  const names = new Set<string>();
  return rules.map((rule: Rule, i) => {
    const compiled = compileRule(`rules[${i}]`, rule);
    if (names.has(compiled.name)) invalid(`rules[${i}].name`, compiled.name, 'a name that no other rule has');
    names.add(compiled.name);
    return compiled;
  });
}

function compileRule(argument: string, rule: Rule): CompiledRule {
  const kind = typeof rule === 'object' && rule !== null ? rule.kind : invalid(argument, rule, 'a rule');
  if (!KINDS.includes(kind)) invalid(`${argument}.kind`, kind, `one of ${KINDS.join(', ')}`);
  const keys = [...KEYS, kind === 'clearance' ? 'distance' : 'tolerance'];
  const { name, a, b, unlessSame } = checkObject<Rule>(argument, rule, keys);
  return {
    name: checkText(`${argument}.name`, name),
    kind,
    limit: limitOf(argument, rule),
    isOfA: compileSelector(`${argument}.a`, a),
    isOfB: compileSelector(`${argument}.b`, b),
    isLeftOut: compileUnlessSame(`${argument}.unlessSame`, unlessSame),
  };
}

function limitOf(argument: string, rule: Rule): number {
  if (rule.kind === 'clearance') {
    const expected = 'a number > 0';
    return checkNumber(`${argument}.distance`, rule.distance, Number.MIN_VALUE, expected);
  }
  return checkNumber(`${argument}.tolerance`, rule.tolerance ?? DEFAULT_TOLERANCE, 0, 'a number >= 0');
}

function compileUnlessSame(argument: string, key: string | undefined): CompiledRule['isLeftOut'] {
  if (key === undefined) return () => false;
  checkText(argument, key);
  if (key === 'name' || key === 'layer') return (a, b) => a[key] !== '' && a[key] === b[key];
  return ({ properties: a }, { properties: b }) => Object.hasOwn(a, key) && a[key] !== undefined && a[key] === b[key];
}

/** The most names that are shown if a rule matches none. */
const MAX_NAMES = 12;

/** Returns warnings of rules that match no parts, with the existing names, listed once for a set. Yields after each step. */
export function* warnOfRules(
  rules: readonly CompiledRule[],
  a: readonly PartDescription[],
  b: readonly PartDescription[] | null,
): Generator<void, string[]> {
  const warnings: string[] = [];
  const sides = [
    ['a', 'isOfA', a, 'first '],
    ['b', 'isOfB', b ?? a, 'second '],
  ] as const;
  for (const [side, test, parts, order] of sides) {
    let existing = '';
    for (const rule of rules) {
      yield;
      if (parts.some(rule[test])) continue;
      existing ||= `${parts.length} parts, names ${listDistinct(parts, 'name')}, layers ${listDistinct(parts, 'layer')}`;
      warnings.push(
        `rule ${JSON.stringify(rule.name)}: ${side} matches no part of the ${b ? order : ''}set; it has ${existing}`,
      );
    }
  }
  return warnings;
}

/** Lists distinct names or layers, in order, as many as one reads. */
function listDistinct(parts: readonly PartDescription[], key: 'name' | 'layer'): string {
  const distinct = [...new Set(parts.map((part) => part[key]))].filter(Boolean).sort();
  const shown = distinct.slice(0, MAX_NAMES).map((text) => JSON.stringify(text));
  const more = distinct.length - shown.length;
  return (shown.join(', ') || 'none') + (more > 0 ? ` and ${more} more` : '');
}
