// Canonical layout of scripts: a deterministic printer of the tree, idempotent on its own output.
// Comments and some of the author's line breaks are kept.
import { unreachable } from '@tidemark/core';
import type {
  BinaryNode,
  ChainNode,
  Comment,
  ExpressionNode,
  FunctionNode,
  Program,
  Statement,
} from './ast.ts';
import { parseScript } from './parser.ts';

const STEP = '    ';

/** The canonical text of a script. A text with syntax errors is returned unchanged. */
export function formatScript(text: string): string {
  const { program, error } = parseScript(text);
  return error === undefined ? formatProgram(program) : text;
}

export function formatProgram(program: Program): string {
  const texts = program.statements.map(
    (each, index) => `${formatStatement(each, program.statements[index - 1])}\n`,
  );
  return texts.join('\n');
}

/** One expression on as few lines as its remembered line breaks allow. */
export function formatExpression(node: ExpressionNode): string {
  const printer = new Printer();
  printer.expression(node, '', true);
  return printer.text();
}

function formatStatement(statement: Statement, previous: Statement | undefined): string {
  const printer = new Printer();
  if (statement.comment !== undefined) printer.comment(statement.comment, '', true);
  switch (statement.kind) {
    case 'comment':
      break;
    case 'declaration':
      printer.write(`var ${statement.name} = `);
      printer.expression(statement.value, '', false);
      break;
    case 'type-declaration':
      printer.write(`var ${statement.name} ${statement.type}`);
      break;
    case 'dbrp':
      printer.write(
        `dbrp ${quoteReference(statement.database)}.${quoteReference(statement.retentionPolicy)}`,
      );
      break;
    case 'expression':
      if (needsParentheses(statement.expression, previous)) printer.enclosed(statement.expression);
      else printer.expression(statement.expression, '', true);
      break;
    default:
      return unreachable(statement);
  }
  return printer.text();
}

/** Collects text. `isOnNewLine` tells a node to write its indentation itself. */
class Printer {
  readonly #parts: string[] = [];
  readonly #enclosedStars = new Set<ExpressionNode>();

  text(): string {
    return this.#parts.join('');
  }

  write(text: string): void {
    this.#parts.push(text);
  }

  comment(comment: Comment, indent: string, isOnNewLine: boolean): void {
    if (!isOnNewLine) this.write('\n');
    const blocks = comment.blocks.map((lines) =>
      lines.map((line) => `${indent}//${line === '' ? '' : ` ${line}`}\n`).join(''),
    );
    this.write(blocks.join('\n'));
  }

  /** An expression in parentheses. */
  enclosed(node: ExpressionNode): void {
    if (node.kind === 'binary') {
      this.expression({ ...node, isParenthesized: true }, '', true);
    } else {
      this.write('(');
      this.expression(node, '', false);
      this.write(')');
    }
  }

  expression(node: ExpressionNode, indent: string, isOnNewLine: boolean): void {
    if (node.kind === 'chain') {
      this.#chain(node, indent, isOnNewLine);
      return;
    }
    let startsLine = isOnNewLine;
    if (node.comment !== undefined) {
      this.comment(node.comment, indent, isOnNewLine);
      startsLine = true;
    }
    if (node.kind === 'binary' && !node.isParenthesized) {
      this.#operands(node, indent, startsLine);
      return;
    }
    if (startsLine) this.write(indent);
    switch (node.kind) {
      case 'binary':
        this.write('(');
        this.#operands(node, indent + STEP, false);
        this.write(')');
        break;
      case 'function':
        this.#function(node, indent);
        break;
      case 'lambda':
        this.write('lambda: ');
        this.expression(node.expression, indent, false);
        break;
      case 'unary':
        this.write(node.operator);
        this.#operand(node.operand, indent, false);
        break;
      case 'list':
        this.write('[');
        this.#joined(node.items, indent);
        this.write(']');
        break;
      case 'star':
        this.write(this.#enclosedStars.has(node) ? '(*)' : '*');
        break;
      default:
        this.write(formatLiteral(node));
    }
  }

  #operands(node: BinaryNode, indent: string, isOnNewLine: boolean): void {
    if (node.operator !== '*') this.#encloseLastStar(node.left);
    this.#operand(node.left, indent, isOnNewLine);
    this.write(` ${node.operator}`);
    if (isBroken(node)) {
      this.write('\n');
      this.#operand(node.right, indent, true);
    } else {
      if (node.right.comment === undefined) this.write(' ');
      this.#operand(node.right, indent, false);
    }
  }

  /** After a star only another star is parsed as an operator, after a parenthesis every one. */
  #encloseLastStar(node: ExpressionNode): void {
    let last = node;
    for (;;) {
      if (last.kind === 'unary') last = last.operand;
      else if (last.kind === 'binary' && !last.isParenthesized) last = last.right;
      else break;
    }
    if (last.kind === 'star') this.#enclosedStars.add(last);
  }

  /**
   * A lambda with its own state inside another one, as in evaluated scripts only, is put in
   * parentheses.
   */
  #operand(node: ExpressionNode, indent: string, isOnNewLine: boolean): void {
    if (node.kind !== 'lambda') {
      this.expression(node, indent, isOnNewLine);
      return;
    }
    this.write(isOnNewLine ? `${indent}(` : '(');
    this.expression(node, indent, false);
    this.write(')');
  }

  #function(node: FunctionNode, indent: string): void {
    this.write(`${node.name}(`);
    const inner = indent + STEP;
    if (isBrokenCall(node)) {
      node.arguments.forEach((argument, index) => {
        this.write(index === 0 ? '\n' : ',\n');
        this.expression(argument, inner, true);
      });
      this.write(`\n${indent}`);
    } else {
      this.#joined(node.arguments, inner);
    }
    this.write(')');
  }

  #joined(nodes: readonly ExpressionNode[], indent: string): void {
    nodes.forEach((node, index) => {
      if (index > 0) this.write(', ');
      this.expression(node, indent, false);
    });
  }

  /** Every operator on a line of its own; the indentation does not grow along the chain. */
  #chain(node: ChainNode, indent: string, isOnNewLine: boolean): void {
    const links: ChainNode[] = [];
    let first: ExpressionNode = node;
    for (; first.kind === 'chain'; first = first.left) links.push(first);
    this.expression(first, indent, isOnNewLine);
    for (const link of links.toReversed()) {
      const inner = link.operator === '.' ? indent + STEP + STEP : indent + STEP;
      this.write('\n');
      if (link.comment !== undefined) this.comment(link.comment, inner, true);
      this.write(inner + link.operator);
      this.expression(link.right, inner, false);
    }
  }
}

/**
 * Whether the previous statement would absorb this one as its continuation. After a bare name,
 * which parentheses would turn into a call, a text can only contain it without.
 */
function needsParentheses(node: ExpressionNode, previous: Statement | undefined): boolean {
  if (previous === undefined || endsWithName(previous)) return false;
  let first = node;
  while (first.kind === 'binary') first = first.left;
  return (
    first.kind === 'regex' ||
    first.kind === 'star' ||
    (first.kind === 'unary' && first.operator === '-')
  );
}

function endsWithName(statement: Statement): boolean {
  const expression =
    statement.kind === 'declaration'
      ? statement.value
      : statement.kind === 'expression'
        ? statement.expression
        : undefined;
  return expression?.kind === 'chain' && expression.right.kind === 'identifier';
}

/**
 * Whether the right operand begins a line. A line break inside the left operation moves its
 * operator, and so the position of the left operand, to an earlier line; without this, formatting
 * the output would change it again.
 */
function isBroken(node: BinaryNode): boolean {
  let each: ExpressionNode = node;
  for (; each.kind === 'binary'; each = each.left) if (each.isMultiLine) return true;
  return each.kind === 'function' && isPrintedOnLines(each);
}

/**
 * Whether every argument has its own line. A chain before the last argument takes several lines.
 */
function isBrokenCall(node: FunctionNode): boolean {
  return node.isMultiLine || node.arguments.slice(0, -1).some(isPrintedOnLines);
}

function isPrintedOnLines(node: ExpressionNode): boolean {
  switch (node.kind) {
    case 'chain':
      return true;
    case 'function':
      return isBrokenCall(node) || node.arguments.some(isPrintedOnLines);
    default:
      return false;
  }
}

type LiteralNode = Exclude<
  ExpressionNode,
  { kind: 'chain' | 'binary' | 'function' | 'lambda' | 'unary' | 'list' }
>;

function formatLiteral(node: LiteralNode): string {
  switch (node.kind) {
    case 'boolean':
      return node.value ? 'TRUE' : 'FALSE';
    case 'integer':
      return node.isOctal ? `0${node.value.toString(8)}` : String(node.value);
    case 'float':
      return formatFloat(node.value);
    case 'duration':
      return node.text;
    case 'string':
      return quoteString(node.value, node.isTripleQuoted);
    case 'regex':
      return `/${node.literal}/`;
    case 'star':
      return '*';
    case 'reference':
      return quoteReference(node.name);
    case 'identifier':
      return node.name;
    default:
      return unreachable(node);
  }
}

/** Shortest decimal that reads back the same, always with a point, never with an exponent. */
export function formatFloat(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text.includes('.') || !Number.isFinite(value) ? text : `${text}.0`;
  const [, sign = '', head = '', tail = '', exponentText = '0'] = match;
  const digits = head + tail;
  const exponent = Number(exponentText);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, '0')}.0`;
}

function quoteReference(name: string): string {
  return `"${name.replaceAll('"', '\\"')}"`;
}

/** A value that ends with a backslash can only be written in triple quotes. */
function quoteString(value: string, isTripleQuoted: boolean): string {
  if (isTripleQuoted || (value.endsWith('\\') && !value.includes("'''"))) return `'''${value}'''`;
  return `'${value.replaceAll("'", "\\'")}'`;
}
