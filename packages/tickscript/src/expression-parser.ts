// Expressions of the script language: chains, calls, lists, lambdas and operators with their
// precedence.
import { assert } from '@tidemark/core';
import type { Limit, Span } from '@tidemark/core';
import type {
  BinaryNode,
  BinaryOperator,
  ChainNode,
  Comment,
  ExpressionNode,
  FunctionNode,
  IdentifierNode,
} from './ast.ts';
import { MAX_NESTING, MAX_TREE_DEPTH } from './limits.ts';
import { LineIndex } from './line-index.ts';
import { literalOf } from './literals.ts';
import { syntaxFailure, unexpectedToken } from './syntax-error.ts';
import type { SyntaxFailure } from './syntax-error.ts';
import type { Token, TokenKind } from './token.ts';

/** Weakest first. */
const BINARY_OPERATORS: readonly (readonly BinaryOperator[])[] = [
  ['OR'],
  ['AND'],
  ['==', '!=', '=~', '!~'],
  ['>', '>=', '<', '<='],
  ['+', '-'],
  ['*', '/', '%'],
];

type OperatorRow = { readonly operator: BinaryOperator; readonly precedence: number };

const OPERATORS: ReadonlyMap<TokenKind, OperatorRow> = new Map<TokenKind, OperatorRow>(
  BINARY_OPERATORS.flatMap((row, precedence) =>
    row.map((operator) => [operator, { operator, precedence }] as const),
  ),
);

/** The list of operands in recorded texts; it is not complete. */
const OPERAND_NAMES = [
  'number',
  'string',
  'duration',
  'identifier',
  'TRUE',
  'FALSE',
  '==',
  '(',
  '-',
  '!',
];

/** Parses expressions from a list of tokens. Throws `SyntaxFailure` for invalid text. */
export class ExpressionParser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #lines: LineIndex;
  #index = 0;
  #nesting = 0;
  #pending: Comment | undefined;
  /** Depth of every returned tree; deeper trees are refused. */
  readonly #depths = new WeakMap<ExpressionNode, number>();

  readonly #isNestingAllowed: boolean;

  /**
   * `isNestingAllowed`: a lambda may be an operand of another one; evaluated lambdas are printed
   * like that.
   */
  constructor(text: string, tokens: readonly Token[], isNestingAllowed = false) {
    this.#isNestingAllowed = isNestingAllowed;
    this.#text = text;
    this.#tokens = tokens;
    this.#lines = new LineIndex(text);
  }

  peek(): Token {
    const token = this.#tokens[this.#index];
    assert(token !== undefined, 'the token list ends with EOF and nobody reads beyond it');
    return token;
  }

  isAtEnd(): boolean {
    return this.peek().kind === 'EOF';
  }

  /** Consumes the next token, which must be of this kind. Its comment waits for a node. */
  expect(kind: TokenKind): Token {
    const token = this.peek();
    if (token.kind !== kind) throw unexpectedToken(this.#text, token, [kind]);
    return this.skip();
  }

  /** Consumes the next token, whatever it is; `EOF` stays. */
  skip(): Token {
    const token = this.peek();
    this.#pending = mergeComments(this.#pending, token.comment);
    if (token.kind !== 'EOF') this.#index++;
    return token;
  }

  /** The comments before the consumed tokens that no node has taken. */
  takeComment(): Comment | undefined {
    const comment = this.#pending;
    this.#pending = undefined;
    return comment;
  }

  /** Position in the list of tokens; grows with every token consumed. */
  consumed(): number {
    return this.#index;
  }

  /** Clears the state of a failed statement. */
  recover(): void {
    this.#pending = undefined;
    this.#nesting = 0;
  }

  takeTrailingComment(): Comment | undefined {
    if (this.isAtEnd()) this.skip();
    return this.takeComment();
  }

  parseExpression(): ExpressionNode {
    const token = this.peek();
    switch (token.kind) {
      case 'lambda':
        return this.#parseLambda();
      case '[':
        return this.#parseList();
      case 'identifier': {
        const next = this.#tokens[this.#index + 1]?.kind;
        if (next === '(') return this.#parseCallOrChain();
        if (isChainOperator(next)) return this.#parseChain(this.#parseIdentifier());
        return this.parseBinary();
      }
      default:
        return this.parseBinary();
    }
  }

  parseBinary(): ExpressionNode {
    return this.#climb(this.#parsePrimary(), 0);
  }

  /** A call begins a chain or a binary expression. */
  #parseCallOrChain(): ExpressionNode {
    const call = this.#parseFunction(false);
    if (isChainOperator(this.peek().kind)) return this.#parseChain(call);
    return this.#climb(call, 0);
  }

  #parseChain(first: ExpressionNode): ExpressionNode {
    let left = first;
    for (;;) {
      const operator = this.peek().kind;
      if (!isChainOperator(operator)) return left;
      const { start, end } = this.skip();
      const comment = this.takeComment();
      const right = this.#parseChainRight(operator);
      const node: ChainNode = {
        kind: 'chain',
        left,
        operator,
        operatorSpan: { start, end },
        right,
        span: { start: first.span.start, end: right.span.end },
        ...(comment === undefined ? {} : { comment }),
      };
      left = this.#grown(node, [left, right]);
    }
  }

  #parseChainRight(operator: ChainNode['operator']): FunctionNode | IdentifierNode {
    const name = this.peek();
    if (name.kind !== 'identifier') throw unexpectedToken(this.#text, name, ['identifier']);
    const isCall = this.#tokens[this.#index + 1]?.kind === '(';
    if (isCall) return this.#parseFunction(false);
    const identifier = this.#parseIdentifier();
    if (operator === '|') throw unexpectedToken(this.#text, this.peek(), ['(']);
    return identifier;
  }

  #parseIdentifier(): IdentifierNode {
    const token = this.expect('identifier');
    return { kind: 'identifier', name: token.text, ...this.#base(token) };
  }

  /** `isInLambda`: arguments are operators and operands only. */
  #parseFunction(isInLambda: boolean): FunctionNode {
    const name = this.expect('identifier');
    const base = this.#base(name);
    this.expect('(');
    const list: ExpressionNode[] = [];
    this.#enter();
    while (this.peek().kind !== ')') {
      list.push(isInLambda ? this.parseBinary() : this.parseExpression());
      if (this.peek().kind !== ',') break;
      this.skip();
    }
    this.#leave();
    const close = this.expect(')');
    const last = list.at(-1);
    const node: FunctionNode = {
      ...base,
      kind: 'function',
      name: name.text,
      arguments: list,
      isMultiLine: last !== undefined && this.#hasNewline(name.start, positionOf(last)),
      span: { start: name.start, end: close.end },
    };
    this.#grown(node, list);
    return node;
  }

  #parseLambda(): ExpressionNode {
    const token = this.expect('lambda');
    const base = this.#base(token);
    this.#enter();
    const expression = this.parseBinary();
    this.#leave();
    const span = { start: token.start, end: expression.span.end };
    return this.#grown({ ...base, kind: 'lambda', expression, span }, [expression]);
  }

  #parseList(): ExpressionNode {
    const open = this.expect('[');
    const base = this.#base(open);
    const items: ExpressionNode[] = [];
    while (this.peek().kind !== ']') {
      items.push(this.#parseListItem());
      if (this.peek().kind !== ',') break;
      this.skip();
    }
    const close = this.expect(']');
    const span = { start: open.start, end: close.end };
    return this.#grown({ ...base, kind: 'list', items, span }, items);
  }

  #parseListItem(): ExpressionNode {
    const token = this.peek();
    switch (token.kind) {
      case 'identifier':
        return this.#parseIdentifier();
      case 'string':
      case '*':
        return this.#parsePrimary();
      default:
        throw unexpectedToken(this.#text, token, ['identifier', 'string', '*']);
    }
  }

  /**
   * Precedence climbing: operators that bind at least as tightly as `minimum`, all
   * left-associative.
   */
  #climb(first: ExpressionNode, minimum: number): ExpressionNode {
    let left = first;
    for (;;) {
      const token = this.peek();
      const row = OPERATORS.get(token.kind);
      if (row === undefined || row.precedence < minimum) return left;
      this.skip();
      const comment = this.takeComment();
      let right = this.#parsePrimary();
      while ((OPERATORS.get(this.peek().kind)?.precedence ?? -1) > row.precedence) {
        right = this.#climb(right, row.precedence + 1);
      }
      const node: BinaryNode = {
        kind: 'binary',
        operator: row.operator,
        left,
        right,
        isParenthesized: false,
        isMultiLine: this.#hasNewline(positionOf(left), positionOf(right)),
        operatorSpan: { start: token.start, end: token.end },
        span: { start: left.span.start, end: right.span.end },
        ...(comment === undefined ? {} : { comment }),
      };
      left = this.#grown(node, [left, right]);
    }
  }

  #parsePrimary(): ExpressionNode {
    const token = this.peek();
    switch (token.kind) {
      case '(':
        return this.#parseParentheses();
      case 'number':
      case 'string':
      case 'TRUE':
      case 'FALSE':
      case 'duration':
      case 'regex':
      case '*':
      case 'reference':
        this.skip();
        return { ...literalOf(this.#text, token), ...this.#base(token) };
      case 'identifier':
        if (this.#tokens[this.#index + 1]?.kind === '(') return this.#parseFunction(true);
        return this.#parseIdentifier();
      case '-':
      case '!':
        return this.#parseUnary(token.kind);
      case 'lambda':
        if (this.#isNestingAllowed) return this.#parseLambda();
        throw unexpectedToken(this.#text, token, OPERAND_NAMES);
      default:
        throw unexpectedToken(this.#text, token, OPERAND_NAMES);
    }
  }

  /** Parentheses are remembered only around binary operations. */
  #parseParentheses(): ExpressionNode {
    this.expect('(');
    // It stays in front of the parenthesis, or the next formatting would find it elsewhere.
    const before = this.takeComment();
    this.#enter();
    const inner = this.parseBinary();
    this.#leave();
    this.expect(')');
    const comment = mergeComments(before, inner.comment);
    const isMarked = inner.kind === 'binary' && !inner.isParenthesized;
    if (!isMarked && before === undefined) return inner;
    const node: ExpressionNode = {
      ...inner,
      ...(inner.kind === 'binary' ? { isParenthesized: true } : {}),
      ...(comment === undefined ? {} : { comment }),
    };
    this.#depths.set(node, this.#depths.get(inner) ?? 0);
    return node;
  }

  #parseUnary(operator: '-' | '!'): ExpressionNode {
    const token = this.expect(operator);
    const base = this.#base(token);
    this.#enter();
    const operand = this.#parsePrimary();
    this.#leave();
    const span = { start: token.start, end: operand.span.end };
    return this.#grown({ ...base, kind: 'unary', operator, operand, span }, [operand]);
  }

  #base(token: Token): { readonly span: Span; readonly comment?: Comment } {
    const comment = this.takeComment();
    const span = { start: token.start, end: token.end };
    return comment === undefined ? { span } : { span, comment };
  }

  #hasNewline(from: number, to: number): boolean {
    return this.#lines.lineOf(from) !== this.#lines.lineOf(to);
  }

  /** Is this the first token of its line, without white space before it? */
  isAtLineStart(token: Token): boolean {
    return this.#lines.isLineStart(token.start);
  }

  #enter(): void {
    if (++this.#nesting > MAX_NESTING.value) throw this.#tooDeep(MAX_NESTING);
  }

  #leave(): void {
    this.#nesting--;
  }

  /** Records the depth of a composed tree. */
  #grown<T extends ExpressionNode>(node: T, parts: readonly ExpressionNode[]): T {
    let depth = 0;
    for (const part of parts) depth = Math.max(depth, this.#depths.get(part) ?? 0);
    if (depth >= MAX_TREE_DEPTH.value) throw this.#tooDeep(MAX_TREE_DEPTH);
    this.#depths.set(node, depth + 1);
    return node;
  }

  #tooDeep(limit: Limit): SyntaxFailure {
    const { start, end } = this.peek();
    return syntaxFailure(
      this.#text,
      { start, end },
      {
        code: 'TICK_TOO_DEEP',
        message: `parser: script is nested more than ${limit.value} levels deep`,
        hint: 'split the expression with var statements',
      },
    );
  }
}

/**
 * The position of a node for remembered line breaks: a binary operation's is that of its operator.
 */
function positionOf(node: ExpressionNode): number {
  return node.kind === 'binary' ? (node.operatorSpan ?? node.span).start : node.span.start;
}

function isChainOperator(kind: TokenKind | undefined): kind is ChainNode['operator'] {
  return kind === '|' || kind === '.' || kind === '@';
}

/** The later comment becomes further blocks of the earlier one. */
function mergeComments(
  first: Comment | undefined,
  second: Comment | undefined,
): Comment | undefined {
  if (first === undefined) return second;
  if (second === undefined) return first;
  return {
    blocks: [...first.blocks, ...second.blocks],
    span: { start: first.span.start, end: second.span.end },
  };
}
