// Determines which expressions of AssemblyScript may be evaluated one more time at the same place.
import { type Call, type Conditional, type Node, NodeKind, operatorTokenToString } from './syntax.js';

interface Operation extends Node {
  operator: number;
  left: Node;
  right: Node;
  operand: Node;
}
interface Access extends Node {
  expression: Node;
  property: { text: string };
  elementExpression: Node;
}
interface Choice extends Conditional {
  ifThen: Node;
  ifElse: Node;
}

/** Built-in functions of AssemblyScript without side effects. The others are named with their type. */
const FUNCTIONS = new Set(
  'load min max abs sqrt floor ceil select clz ctz reinterpret changetype isNaN isFinite sizeof offsetof'.split(' '),
);
const OF_TYPES = /^(?:Math|v128|[if]\d+x\d+|[if](?:32|64))\.(?!store|div_|rem_|trunc_)\w+$/;
const OPERATORS = new Set('+ - * / % < <= > >= == != && || << >> >>> & | ^ ! ~'.split(' '));

/** Returns whether a node has no side effects, and calls none of our functions. */
export function isPure(node: Node): boolean {
  const { operator, left, right, operand } = node as Operation;
  switch (node.kind) {
    case NodeKind.Identifier:
    case NodeKind.Literal:
    case NodeKind.True:
    case NodeKind.False:
    case NodeKind.Null:
    case NodeKind.This:
      return true;
    case NodeKind.Parenthesized:
    case NodeKind.Assertion:
    case NodeKind.PropertyAccess:
      return isPure((node as Access).expression);
    case NodeKind.ElementAccess:
      return isPure((node as Access).expression) && isPure((node as Access).elementExpression);
    case NodeKind.Ternary:
      return [(node as Choice).condition, (node as Choice).ifThen, (node as Choice).ifElse].every(isPure);
    case NodeKind.UnaryPrefix:
      return OPERATORS.has(operatorTokenToString(operator)) && isPure(operand);
    case NodeKind.Binary:
      return OPERATORS.has(operatorTokenToString(operator)) && isPure(left) && isPure(right);
    case NodeKind.Call:
      return isOwnFunction((node as Call).expression) && (node as Call).args.every(isPure);
    default:
      return false;
  }
}

/** Returns whether it can also be evaluated where the program does not: it reads no memory and does not divide. */
export function isTotal(node: Node): boolean {
  const { operator, left, right, operand } = node as Operation;
  switch (node.kind) {
    case NodeKind.Identifier:
    case NodeKind.Literal:
    case NodeKind.True:
    case NodeKind.False:
      return true;
    case NodeKind.Parenthesized:
      return isTotal((node as Access).expression);
    case NodeKind.UnaryPrefix:
      return isPure(node) && isTotal(operand);
    case NodeKind.Binary:
      return isPure(node) && !['/', '%'].includes(operatorTokenToString(operator)) && isTotal(left) && isTotal(right);
    default:
      return false;
  }
}

function isOwnFunction(name: Node): boolean {
  const { text } = name as Node & { text?: string };
  if (name.kind === NodeKind.Identifier) return FUNCTIONS.has(text!);
  if (name.kind !== NodeKind.PropertyAccess) return false;
  const { expression, property } = name as Access;
  return OF_TYPES.test(`${(expression as Node & { text?: string }).text}.${property.text}`);
}
