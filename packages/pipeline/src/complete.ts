// Completion for editors: what is valid at a position of a script. Works on unfinished texts: types
// of nodes are followed through the tree without evaluating it.
import { LAMBDA_FUNCTIONS, parseScript, tokenize } from '@tidemark/tickscript';
import type { ExpressionNode, Program, Token } from '@tidemark/tickscript';
import { chainMethodsOf } from './evaluate/chain-methods.ts';
import type { Parameter } from './evaluate/parameter.ts';
import type { HandlerRow } from './definition/handler-definition.ts';
import { findHandler, HANDLERS } from './definition/handler-registry.ts';
import { QUIET } from './definition/node-definition.ts';
import type { NodeRow } from './definition/node-definition.ts';
import { findMacro, findNode, NODES } from './definition/registry.ts';
import { udfRow } from './nodes/udf.ts';
import type { UdfRegistry } from './udf.ts';

export type Completion = {
  readonly label: string;
  readonly kind: 'node' | 'property' | 'handler' | 'udf' | 'function' | 'var';
  /** `(length: duration, …)`. */
  readonly signature: string;
  readonly summary: string;
};

export type CompletionResult = {
  /** Start of the word that a completion replaces; it ends at the given offset. */
  readonly from: number;
  readonly completions: readonly Completion[];
};

type Target = { readonly row: NodeRow; readonly handler?: HandlerRow | undefined };

/** All completions that are valid at an offset; the editor filters them by the word before it. */
export function completeScript(
  text: string,
  offset: number,
  options: { readonly udfs?: UdfRegistry | undefined } = {},
): CompletionResult {
  const udfs: UdfRegistry = options.udfs ?? new Map();
  const before = text.slice(0, offset);
  const tokens = tokenize(before).filter((token) => token.kind !== 'EOF');
  const last = tokens.at(-1);
  const isInWord = last?.kind === 'identifier' && last.end === offset;
  const from = isInWord ? last.start : offset;
  const operator = isInWord ? tokens.at(-2) : last;
  if (operator?.kind === '|' || operator?.kind === '.' || operator?.kind === '@') {
    const target = targetBefore(before.slice(0, operator.start), udfs);
    return {
      from,
      completions: target === undefined ? [] : membersOf(target, operator.kind, udfs),
    };
  }
  if (isInsideLambda(tokens)) return { from, completions: lambdaFunctions() };
  return { from, completions: namesOf(parseScript(before.slice(0, from)).program) };
}

function membersOf(
  { row, handler }: Target,
  operator: '|' | '.' | '@',
  udfs: UdfRegistry,
): readonly Completion[] {
  switch (operator) {
    case '|':
      return chainMethodsOf(row).map(chainCompletion);
    case '@':
      return [...udfs.keys()].map((name) => ({
        label: name,
        kind: 'udf',
        signature: '()',
        summary: `user-defined function ${name}`,
      }));
    case '.': {
      const properties = [...(handler?.properties ?? []), ...row.properties, QUIET];
      const handlers = row.hasHandlers ? HANDLERS : [];
      return [
        ...properties.map((each) => completion('property', each)),
        ...handlers.map((each) => completion('handler', each)),
      ];
    }
  }
}

const NOTHING = { summary: '', parameters: [] };

function chainCompletion(name: string): Completion {
  const { summary, parameters } = findMacro(name) ?? findNode(name) ?? NOTHING;
  return completion('node', { name, summary, parameters });
}

function completion(
  kind: Completion['kind'],
  row: {
    readonly name: string;
    readonly summary: string;
    readonly parameters: readonly Parameter[];
  },
): Completion {
  return {
    label: row.name,
    kind,
    signature: formatParameters(row.parameters),
    summary: row.summary,
  };
}

/** `(count: int, field: string…)`. */
export function formatParameters(parameters: readonly Parameter[]): string {
  const texts = parameters.map(
    ({ name, type, isVariadic }) => `${name}: ${type}${isVariadic === true ? '…' : ''}`,
  );
  return `(${texts.join(', ')})`;
}

function lambdaFunctions(): readonly Completion[] {
  return [...LAMBDA_FUNCTIONS.values()].map(({ name, summary, signatures }) => ({
    label: name,
    kind: 'function',
    signature: signatures
      .map((each) => `(${each.arguments.join(', ')}) ${each.result}`)
      .join(' or '),
    summary,
  }));
}

/** The node (and handler) that the chain ending here refers to. */
function targetBefore(head: string, udfs: UdfRegistry): Target | undefined {
  const { program } = parseScript(head);
  const last = program.statements.findLast((each) => each.kind !== 'comment');
  const expression =
    last?.kind === 'expression'
      ? last.expression
      : last?.kind === 'declaration'
        ? last.value
        : undefined;
  return expression === undefined ? undefined : targetOf(expression, program, udfs);
}

const MAX_VAR_STEPS = 100;

function targetOf(
  expression: ExpressionNode,
  program: Program,
  udfs: UdfRegistry,
  steps = 0,
): Target | undefined {
  if (steps > MAX_VAR_STEPS) return undefined;
  const links = [];
  let first = expression;
  for (; first.kind === 'chain'; first = first.left) links.push(first);
  if (first.kind !== 'identifier') return undefined;
  const { name } = first;
  const declaration = program.statements.find(
    (each) => each.kind === 'declaration' && each.name === name,
  );
  let target: Target | undefined;
  const root = findNode(name);
  if (root?.isRoot === true) target = { row: root };
  else if (declaration?.kind === 'declaration' && declaration.value !== expression) {
    target = targetOf(declaration.value, program, udfs, steps + 1);
  }
  for (const { operator, right } of links.toReversed()) {
    if (target === undefined) return undefined;
    if (operator === '|') target = afterMethod(right.name);
    else if (operator === '@') {
      const info = udfs.get(right.name);
      target = info === undefined ? undefined : { row: udfRow(right.name, info) };
    } else {
      target = afterProperty(target, right.name);
    }
  }
  return target;
}

function afterMethod(name: string): Target | undefined {
  const macro = findMacro(name);
  const row = macro !== undefined && 'makes' in macro ? macro.makes : findNode(name);
  return row === undefined ? undefined : { row };
}

/**
 * A handler stays the target while its own properties are called, or values are assigned to its
 * alert.
 */
function afterProperty(target: Target, name: string): Target {
  if (target.handler?.properties.some((each) => each.name === name) === true) return target;
  const property = target.row.properties.find((each) => each.name === name);
  if (property?.style === 'value') return target;
  if (property !== undefined) return { row: target.row };
  return { row: target.row, handler: target.row.hasHandlers ? findHandler(name) : undefined };
}

/** Is the parenthesis still open in which the last lambda stands? */
function isInsideLambda(tokens: readonly Token[]): boolean {
  const start = tokens.findLastIndex((token) => token.kind === 'lambda');
  if (start < 0) return false;
  let depth = 0;
  for (const token of tokens.slice(start)) {
    if (token.kind === '(') depth++;
    else if (token.kind === ')') depth--;
    const isOver = depth < 0 || (depth === 0 && (token.kind === ',' || token.kind === 'var'));
    if (isOver) return false;
  }
  return true;
}

function namesOf(program: Program): readonly Completion[] {
  const vars = program.statements.flatMap((each) =>
    each.kind === 'declaration' || each.kind === 'type-declaration' ? [each] : [],
  );
  return [
    ...vars.map((each): Completion => ({
      label: each.name,
      kind: 'var',
      signature: '',
      summary: each.comment?.blocks.flat().join(' ') ?? '',
    })),
    ...NODES.filter((row) => row.isRoot === true).map(({ type, summary }): Completion => ({
      label: type,
      kind: 'node',
      signature: '',
      summary,
    })),
  ];
}
