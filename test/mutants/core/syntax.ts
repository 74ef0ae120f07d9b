// The parts of AssemblyScript's syntax tree that are used here.
import assemblyscript from 'assemblyscript';

export const { NodeKind, operatorTokenToString } = assemblyscript as unknown as {
  NodeKind: Record<string, number>;
  operatorTokenToString(operator: number): string;
};

export interface Node {
  kind: number;
  range: { start: number; end: number };
}
export interface Binary extends Node {
  left: Node;
  right: Node;
}
export interface Call extends Node {
  expression: Node;
  args: Node[];
}
export interface Literal extends Node {
  literalKind: number;
}
export interface Unary extends Node {
  operand: Node;
}
export interface Conditional extends Node {
  condition: Node;
}
export interface Statement extends Node {
  expression?: Node;
  value?: Node | null;
}
export interface Variable extends Node {
  name: { text: string };
  initializer: Node | null;
}
