// Generates the mutants of one AssemblyScript file: one-line changes of its expressions and statements, found in the syntax tree
// of AssemblyScript's own parser.
import assemblyscript from 'assemblyscript';
import { isPure, isTotal } from './purity.js';
import {
  type Binary,
  type Call,
  type Conditional,
  type Literal,
  type Node,
  NodeKind,
  type Statement,
  type Unary,
  type Variable,
} from './syntax.js';

export interface Mutation {
  /** Range of the text that is replaced: from `start` up to `end`. */
  start: number;
  end: number;
  /** The replacement; empty if a statement is removed. */
  by: string;
  /** The kind of change, in a few words. */
  kind: string;
  /**
   * Two expressions, for the effect of the original and that of the mutant, that can be evaluated in addition: if their values
   * are equal, the mutant changes nothing. Missing if that requires more than reading variables.
   */
  values?: [string, string];
  /** The module constant that is changed. If its value is needed at compile time, there is no such mutant. */
  constant?: string;
}

const { LiteralKind, newOptions, newProgram, parse } = assemblyscript as unknown as {
  LiteralKind: Record<string, number>;
  newOptions(): unknown;
  newProgram(options: unknown): { sources: (Node & { statements: Node[]; text: string })[] };
  parse(program: unknown, text: string, path: string, isEntry: boolean): void;
};

/** Operators and their replacements; each is a separate mutant. */
const OPERATORS: Record<string, string[]> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['!='],
  '!=': ['=='],
  '&&': ['||'],
  '||': ['&&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '&=': ['|='],
  '|=': ['&='],
};

const ASSIGNMENT = /^[-+*/&|]=$/;

/** Functions and SIMD instructions, by the last part of their names, and their replacements. */
const FUNCTIONS: Record<string, string | undefined> = {
  __proto__: null as never,
  min: 'max',
  max: 'min',
  add: 'sub',
  sub: 'add',
  mul: 'add',
  div: 'mul',
  and: 'or',
  or: 'and',
  lt: 'le',
  le: 'lt',
  gt: 'ge',
  ge: 'gt',
  eq: 'ne',
  ne: 'eq',
  plus: 'times',
  minus: 'plus',
  floor: 'ceil',
  ceil: 'floor',
};
/** Functions of one argument that are removed, leaving their argument. */
const UNWRAPPED = new Set(['abs', 'neg', 'sqrt']);
/** Swapping their arguments changes nothing, or only the propagation of NaN. */
const COMMUTATIVE = new Set('min max pmin pmax min_s max_s min_u max_u add mul and or xor eq ne plus times'.split(' '));

/** Everything below these nodes is known at compile time, or is not code. */
const SKIPPED = new Set(['Decorator', 'EnumDeclaration', 'FieldDeclaration', 'ImportDeclaration', 'Parameter']);

/** Lists the mutants of a file in source order. */
export function mutationsOf(path: string, text: string): Mutation[] {
  const program = newProgram(newOptions());
  parse(program, text, path, true);
  const source = program.sources.find((candidate) => candidate.text === text)!;
  const found: Mutation[] = [];
  for (const statement of source.statements) {
    if (statement.kind !== NodeKind.Variable) visit(statement);
    // The initial value of a module variable is nearly always overwritten before it is read.
    else if (/^(export\s+)?const\b/.test(own(statement))) visitConstants(statement);
  }
  return found.sort((a, b) => a.start - b.start || a.end - b.end);

  function visitConstants(statement: Node): void {
    const { declarations } = statement as Node & { declarations: Variable[] };
    for (const { name, initializer } of declarations) {
      if (!initializer) continue;
      const first = found.length;
      visit(initializer);
      for (const mutation of found.slice(first)) mutation.constant = name.text;
    }
  }

  function visit(node: Node): void {
    if (isKind(node, ...SKIPPED)) return;
    mutate(node);
    for (const child of childrenOf(node)) visit(child);
  }

  function mutate(node: Node): void {
    if (isKind(node, 'Binary')) mutateOperator(node as Binary);
    else if (isKind(node, 'Call')) mutateCall(node as Call);
    else if (isKind(node, 'Literal')) mutateLiteral(node as Literal);
    else if (isKind(node, 'UnaryPrefix')) mutateSign(node as Unary);
    else if (isKind(node, 'If', 'Ternary')) negate((node as Conditional).condition);
    else if (isKind(node, 'Expression', 'Break', 'Continue', 'Return')) drop(node as Statement);
  }

  function mutateOperator(node: Binary): void {
    const { left, right } = node;
    const gap = textOf(left.range.end, right.range.start);
    const operator = gap.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '').trim();
    const at = left.range.end + gap.indexOf(operator);
    for (const other of OPERATORS[operator] ?? []) {
      const by = replaced(node, at, at + operator.length, other);
      add(node, by, `${operator} → ${other}`, valuesOfOperator(node, operator, other));
    }
  }

  function valuesOfOperator(node: Binary, operator: string, other: string): [string, string] | undefined {
    const { left, right } = node;
    // Integer division by 0 is an error.
    if (other.startsWith('/') || !isPure(left) || !isPure(right)) return undefined;
    // The type of a literal, and so its number of bits, depends on its use.
    if ((operator === '<<' || operator === '>>') && isKind(left, 'Literal')) return undefined;
    const [a, b] = [own(left), own(right)];
    if (operator === '&&' || operator === '||') return isTotal(right) ? [`!!(${a})`, `!!(${b})`] : undefined;
    const value = (text: string) => `(${a}) ${ASSIGNMENT.test(text) ? text.slice(0, -1) : text} (${b})`;
    return [value(operator), value(other)];
  }

  function mutateCall(node: Call): void {
    const { expression, args } = node;
    const name = /\w+$/.exec(textOf(expression.range.start, expression.range.end))?.[0] ?? '';
    const other = FUNCTIONS[name];
    const { end } = expression.range;
    const of = (by: string): [string, string] | undefined => (isPure(node) ? [own(node), by] : undefined);
    if (other && args.length === 2) {
      const by = replaced(node, end - name.length, end, other);
      add(node, by, `${name} → ${other}`, of(by));
    }
    if (UNWRAPPED.has(name) && args.length === 1) add(node, own(args[0]!), `without ${name}`, of(own(args[0]!)));
    if (COMMUTATIVE.has(name)) return;
    const arePure = args.every(isPure);
    for (let i = 1; i < args.length; i++) {
      const [a, b] = [args[i - 1]!, args[i]!];
      if (own(a) === own(b)) continue;
      const swapped = own(b) + textOf(a.range.end, b.range.start) + own(a);
      const by = replaced(node, a.range.start, b.range.end, swapped);
      add(node, by, `arguments ${i} and ${i + 1} swapped`, arePure ? [own(a), own(b)] : undefined);
    }
  }

  function mutateLiteral(node: Literal): void {
    const value = own(node);
    if (node.literalKind === LiteralKind.Integer) {
      add(node, `${value} + 1`, `${value} → ${value} + 1`);
      if (Number(value) > 0) add(node, `${value} - 1`, `${value} → ${value} - 1`);
    } else if (node.literalKind === LiteralKind.Float) {
      const other = Number(value) === 0 ? '1.0' : `2 * ${value}`;
      add(node, other, `${value} → ${other}`);
    }
  }

  function mutateSign(node: Unary): void {
    const operator = textOf(node.range.start, node.operand.range.start).trim();
    if (['-', '!', '~'].includes(operator)) add(node, own(node.operand), `without ${operator}`);
  }

  function negate(condition: Node): void {
    add(condition, `!(${own(condition)})`, 'condition negated');
  }

  function drop(node: Statement): void {
    // The value of a return cannot be removed; and a counter that does not change makes an endless loop, which is killed by the
    // timeout.
    if (node.value || (node.expression && isKind(node.expression, 'UnaryPostfix', 'UnaryPrefix'))) return;
    const semicolon = /^\s*;/.exec(text.slice(node.range.end))?.[0].length ?? 0;
    const values = node.expression && valuesOfEffect(node.expression);
    const { start, end } = node.range;
    found.push({ start, end: end + semicolon, by: '', kind: 'statement dropped', ...(values && { values }) });
  }

  /** The value that is stored, and the previous one. */
  function valuesOfEffect(node: Node): [string, string] | undefined {
    if (isKind(node, 'Binary')) {
      const { left, right } = node as Binary;
      const operator = textOf(left.range.end, right.range.start).trim();
      return operator === '=' && isPure(left) && isPure(right) ? [own(left), own(right)] : undefined;
    }
    if (!isKind(node, 'Call')) return undefined;
    const { expression, args } = node as Call;
    const store = /^(?:v128\.)?store\b/.exec(own(expression))?.[0];
    if (!store || args.length < 2 || args.length > 3 || !args.every(isPure)) return undefined;
    const [at, value, ...more] = args.map(own);
    const load = own(expression).replace('store', 'load');
    return [`${load}(${[at, ...more].join(', ')})`, value!];
  }

  function add(node: Node, by: string, kind: string, values?: [string, string]): void {
    found.push({ start: node.range.start, end: node.range.end, by, kind, ...(values && { values }) });
  }

  function replaced(node: Node, start: number, end: number, by: string): string {
    return textOf(node.range.start, start) + by + textOf(end, node.range.end);
  }

  function own(node: Node): string {
    return textOf(node.range.start, node.range.end);
  }

  function textOf(start: number, end: number): string {
    return text.slice(start, end);
  }
}

function isKind(node: Node, ...names: string[]): boolean {
  return names.some((name) => NodeKind[name] === node.kind);
}

function* childrenOf(node: Node): Iterable<Node> {
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield child;
  }
}

function isNode(value: unknown): value is Node {
  const { kind, range } = (value ?? {}) as Partial<Node>;
  return typeof kind === 'number' && typeof range === 'object';
}
