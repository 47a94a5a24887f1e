// Match expressions: which events of a topic a handler accepts. They are lambdas as in scripts,
// with all their functions and five additional ones; references are tags of the event, except for
// "time", and levels have names.
import { assert, InvalidRequest } from '@tidemark/core';
import { CompileError, EvaluationError, single, TagCondition } from '@tidemark/runtime';
import type { CallContext, FunctionRow } from '@tidemark/runtime';
import { failingParts, MATCH_SCOPE, parseLambda } from '@tidemark/tickscript';
import type { ExpressionNode } from '@tidemark/tickscript';
import type { TopicEvent } from './event.ts';
import { levelRank, LEVELS } from './level.ts';

/**
 * Whether the handler accepts the event; called for events in order, because functions may have
 * state. Throws `InvalidRequest` when the expression cannot be evaluated for it.
 */
export type Match = (event: TopicEvent) => boolean;

/**
 * Compiles a match expression; '' matches everything. Throws `InvalidRequest` for mistakes in its
 * text, and for what would fail for every event.
 */
export function compileMatch(text: string, context: CallContext): Match {
  if (text.trim() === '') return () => true;
  const { expression, error } = parseLambda(text);
  if (expression === undefined) throw new InvalidRequest(`invalid match expression: ${error}`);
  const named = withLevels(expression);
  const [failing] = failingParts(named, 'boolean', MATCH_SCOPE);
  if (failing !== undefined) throw new InvalidRequest(`invalid match expression: ${failing.text}`);
  let current: TopicEvent | undefined;
  const functions = eventFunctions(() => {
    assert(current !== undefined, 'functions are called while an event is looked at');
    return current;
  });
  const condition = compile(named, { functions, context });
  return (event) => {
    current = event;
    const { name, tags } = event.context;
    try {
      return condition.test({ name, tags, time: event.time });
    } catch (cause) {
      if (cause instanceof EvaluationError) throw new InvalidRequest(cause.message, { cause });
      throw cause;
    }
  };
}

function compile(
  expression: ExpressionNode,
  options: ConstructorParameters<typeof TagCondition>[1],
): TagCondition {
  try {
    return new TagCondition(expression, options);
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause;
    throw new InvalidRequest(`invalid match expression: ${cause.message}`, { cause });
  }
}

/** The functions that only match expressions have; their signatures are `MATCH_FUNCTIONS`. */
function eventFunctions(event: () => TopicEvent): readonly FunctionRow[] {
  return [
    single('changed', [], 'boolean', () => event().level !== event().previousLevel),
    single('level', [], 'int', () => BigInt(levelRank(event().level))),
    single('name', [], 'string', () => event().context.name),
    single('taskName', [], 'string', () => event().context.taskName),
    single('alertDuration', [], 'duration', () => event().durationNanos),
  ];
}

/** The expression with numbers in place of level names. Throws `InvalidRequest` for other names. */
function withLevels(node: ExpressionNode): ExpressionNode {
  switch (node.kind) {
    case 'identifier': {
      const level = LEVELS.find((each) => each === node.name);
      if (level === undefined) {
        throw new InvalidRequest(`unknown identifier ${JSON.stringify(node.name)}`);
      }
      const value = BigInt(levelRank(level));
      return { kind: 'integer', value, isOctal: false, span: node.span };
    }
    case 'unary':
      return { ...node, operand: withLevels(node.operand) };
    case 'binary':
      return { ...node, left: withLevels(node.left), right: withLevels(node.right) };
    case 'function':
      return { ...node, arguments: node.arguments.map(withLevels) };
    case 'lambda':
      return { ...node, expression: withLevels(node.expression) };
    default:
      return node;
  }
}
