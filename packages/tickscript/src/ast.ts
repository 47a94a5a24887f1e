// Syntax tree of the script language: immutable data with spans, and everything that the formatter
// needs.
import type { Span } from '@tidemark/core';

/**
 * One comment: blocks of lines; an empty source line separates blocks. Text without `//` and one
 * leading space.
 */
export type Comment = { readonly blocks: readonly (readonly string[])[]; readonly span: Span };

export type UnaryOperator = '-' | '!';
export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '=~'
  | '!~'
  | 'AND'
  | 'OR';

type NodeBase = { readonly span: Span; readonly comment?: Comment | undefined };

export type BooleanNode = NodeBase & { readonly kind: 'boolean'; readonly value: boolean };
/** `isOctal`: written with a leading zero, and printed so. */
export type IntegerNode = NodeBase & {
  readonly kind: 'integer';
  readonly value: bigint;
  readonly isOctal: boolean;
};
export type FloatNode = NodeBase & { readonly kind: 'float'; readonly value: number };
/** `text` is the literal as written (`60s` stays `60s`). */
export type DurationNode = NodeBase & {
  readonly kind: 'duration';
  readonly nanos: bigint;
  readonly text: string;
};
export type StringNode = NodeBase & {
  readonly kind: 'string';
  readonly value: string;
  readonly isTripleQuoted: boolean;
};
/**
 * `pattern` is RE2 text with `\/` unescaped; `literal` is the text between the slashes as written.
 */
export type RegexNode = NodeBase & {
  readonly kind: 'regex';
  readonly pattern: string;
  readonly literal: string;
};
export type StarNode = NodeBase & { readonly kind: 'star' };
/** `"name"`: a field or tag of the point. */
export type ReferenceNode = NodeBase & { readonly kind: 'reference'; readonly name: string };
export type IdentifierNode = NodeBase & { readonly kind: 'identifier'; readonly name: string };
export type ListNode = NodeBase & {
  readonly kind: 'list';
  readonly items: readonly ExpressionNode[];
};
export type LambdaNode = NodeBase & {
  readonly kind: 'lambda';
  readonly expression: ExpressionNode;
};
export type UnaryNode = NodeBase & {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: ExpressionNode;
};
export type BinaryNode = NodeBase & {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: ExpressionNode;
  readonly right: ExpressionNode;
  /** Parentheses directly around this operation. */
  readonly isParenthesized: boolean;
  /** A newline lay between the starts of both operands. */
  readonly isMultiLine: boolean;
  /** Position of the operator, which recorded texts name. Absent in trees without a text. */
  readonly operatorSpan?: Span | undefined;
};
export type FunctionNode = NodeBase & {
  readonly kind: 'function';
  readonly name: string;
  readonly arguments: readonly ExpressionNode[];
  readonly isMultiLine: boolean;
};
/** `left|f()`, `left.f()`, `left.name`, `left@f()`. */
export type ChainNode = NodeBase & {
  readonly kind: 'chain';
  readonly left: ExpressionNode;
  readonly operator: '|' | '.' | '@';
  readonly operatorSpan: Span;
  readonly right: FunctionNode | IdentifierNode;
};

export type ExpressionNode =
  | BooleanNode
  | IntegerNode
  | FloatNode
  | DurationNode
  | StringNode
  | RegexNode
  | StarNode
  | ReferenceNode
  | IdentifierNode
  | ListNode
  | LambdaNode
  | UnaryNode
  | BinaryNode
  | FunctionNode
  | ChainNode;

export type VarType =
  | 'int'
  | 'float'
  | 'bool'
  | 'string'
  | 'regex'
  | 'duration'
  | 'lambda'
  | 'list'
  | 'star';

export type DeclarationStatement = NodeBase & {
  readonly kind: 'declaration';
  readonly name: string;
  readonly value: ExpressionNode;
};
/** `var name type`: a var without default. `type` is checked when the script is evaluated. */
export type TypeDeclarationStatement = NodeBase & {
  readonly kind: 'type-declaration';
  readonly name: string;
  readonly type: string;
};
export type DbrpStatement = NodeBase & {
  readonly kind: 'dbrp';
  readonly database: string;
  readonly retentionPolicy: string;
};
export type ExpressionStatement = NodeBase & {
  readonly kind: 'expression';
  readonly expression: ExpressionNode;
};
/** Comment at the end of the text, attached to nothing. */
export type CommentStatement = {
  readonly kind: 'comment';
  readonly comment: Comment;
  readonly span: Span;
};

export type Statement =
  | DeclarationStatement
  | TypeDeclarationStatement
  | DbrpStatement
  | ExpressionStatement
  | CommentStatement;

export type Program = {
  readonly kind: 'program';
  readonly statements: readonly Statement[];
  readonly span: Span;
};
