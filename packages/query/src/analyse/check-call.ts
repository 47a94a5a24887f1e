// Static checks of one function call in a SELECT list: number and kind of arguments, nesting.
import { formatDuration, suggest } from '@tidemark/core';
import type { InvalidRequest, Span } from '@tidemark/core';
import type { Call, Expression } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import type { FunctionSpec } from '../functions/registry.ts';
import { FUNCTIONS } from '../functions/registry.ts';
import { print } from './print.ts';
import { recordedTypeName } from './expressions.ts';

/** The position of a call, which decides what is valid in it. */
export type CallContext = {
  /** GROUP BY time of the statement itself. */
  readonly hasOwnInterval: boolean;
  /** GROUP BY time of the statement or of a statement around it. */
  readonly hasInterval: boolean;
  readonly limit: bigint;
};

/** Throws `InvalidRequest` unless the call is well formed. Not for math functions. */
export function checkCall(call: Call, context: CallContext): void {
  const spec = FUNCTIONS.get(call.name);
  if (spec === undefined || spec.kind === 'math') {
    const meant = suggest(call.name, FUNCTIONS.keys());
    const hint = meant === undefined || spec !== undefined ? undefined : `did you mean ${meant}()?`;
    throw invalid(`undefined function ${call.name}()`, {
      code: 'IQL_UNKNOWN_FUNCTION',
      span: { start: call.span.start, end: call.span.start + call.name.length },
      hint,
    });
  }
  switch (spec.name) {
    case 'distinct':
      return checkDistinct(call);
    case 'top':
    case 'bottom':
      return checkTop(call, context);
    default:
      break;
  }
  checkArity(spec, call);
  switch (spec.kind) {
    case 'predictor':
      return checkPredictor(call, context);
    case 'transformation':
      return checkTransformation(call, context);
    default:
      return checkReducer(call);
  }
}

/** Throws unless the number of arguments is right. */
export function checkArity(spec: FunctionSpec, call: Call): void {
  const count = call.arguments.length;
  if (count >= spec.minArguments && count <= spec.maxArguments) return;
  const expected =
    spec.minArguments === spec.maxArguments
      ? `expected ${spec.minArguments}`
      : spec.maxArguments === Infinity
        ? `expected at least ${spec.minArguments}`
        : `expected at least ${spec.minArguments} but no more than ${spec.maxArguments}`;
  throw wrong(`invalid number of arguments for ${spec.name}, ${expected}, got ${count}`, call.span);
}

function checkReducer(call: Call): void {
  const [first, second] = call.arguments;
  switch (call.name) {
    case 'count':
      if (first?.kind === 'distinct') return;
      if (first?.kind === 'call' && first.name === 'distinct') return checkDistinct(first);
      return checkField(call, first);
    case 'percentile':
      checkField(call, first);
      if (second?.kind !== 'integer' && second?.kind !== 'number') {
        throw wrong('expected float argument in percentile()', (second ?? call).span);
      }
      return;
    case 'sample':
      checkField(call, first);
      if (second?.kind !== 'integer') {
        throw wrong('expected integer argument in sample()', (second ?? call).span);
      }
      if (second.value <= 0n) {
        throw wrong(`sample window must be greater than 1, got ${second.value}`, second.span);
      }
      return;
    case 'integral':
      checkField(call, first);
      if (second === undefined) return;
      if (second.kind !== 'duration') {
        throw wrong('second argument must be a duration', second.span);
      }
      return checkPositive(second.nanos, second.span);
    default:
      return checkField(call, first);
  }
}

function checkPositive(nanos: bigint, span: Span): void {
  if (nanos <= 0n)
    throw wrong(`duration argument must be positive, got ${formatDuration(nanos)}`, span);
}

function checkField(call: Call, argument: Expression | undefined): void {
  const { name } = call;
  switch (argument?.kind) {
    case 'reference':
    case 'regex':
      return;
    case 'wildcard':
      if (argument.only === 'tag') {
        throw wrong(`unable to use tag wildcard in ${name}()`, argument.span);
      }
      return;
    default:
      throw wrong(`expected field argument in ${name}()`, (argument ?? call).span);
  }
}

function checkDistinct({ arguments: given, span }: Call): void {
  const [first, second] = given;
  if (first === undefined) throw wrong('distinct function requires at least one argument', span);
  if (second !== undefined) {
    throw wrong('distinct function can only have one argument', second.span);
  }
  if (first.kind !== 'reference') throw wrong('expected field argument in distinct()', first.span);
}

function checkTop(call: Call, context: CallContext): void {
  const { name } = call;
  const given = call.arguments;
  if (given.length < 2) {
    throw wrong(
      `invalid number of arguments for ${name}, expected at least 2, got ${given.length}`,
      call.span,
    );
  }
  const last = given.at(-1);
  if (last?.kind !== 'integer') {
    const found = last === undefined ? '' : print(last);
    throw wrong(
      `expected integer as last argument in ${name}(), found ${found}`,
      (last ?? call).span,
    );
  }
  if (last.value <= 0n)
    throw wrong(`limit (${last.value}) in ${name} function must be at least 1`, last.span);
  if (context.limit > 0n && last.value > context.limit) {
    throw wrong(
      `limit (${last.value}) in ${name} function can not be larger than the LIMIT (${context.limit}) in the select statement`,
      last.span,
    );
  }
  const [first, ...rest] = given.slice(0, -1);
  if (first?.kind !== 'reference') {
    const found = first === undefined ? '' : print(first);
    throw wrong(
      `expected first argument to be a field in ${name}(), found ${found}`,
      (first ?? call).span,
    );
  }
  for (const argument of rest) {
    if (argument.kind !== 'reference') {
      throw wrong(
        `only fields or tags are allowed in ${name}(), found ${print(argument)}`,
        argument.span,
      );
    }
  }
}

/** The first argument of a transformation: a field, or a call under GROUP BY time. */
function checkNested(call: Call, context: CallContext): void {
  const [first] = call.arguments;
  if (first?.kind === 'call') {
    if (!context.hasInterval) throw needsInterval(call);
    return checkCall(first, context);
  }
  if (first?.kind === 'distinct') {
    throw wrong(`expected field argument in ${call.name}()`, first.span);
  }
  if (context.hasOwnInterval) {
    throw wrong(
      `aggregate function required inside the call to ${call.name}`,
      (first ?? call).span,
      `with GROUP BY time() write, for example, ${call.name}(mean(…))`,
    );
  }
  checkField(call, first);
}

const WITH_UNIT = new Set(['derivative', 'non_negative_derivative', 'elapsed']);
const WITHOUT_ARGUMENTS = new Set(['difference', 'non_negative_difference', 'cumulative_sum']);

function checkTransformation(call: Call, context: CallContext): void {
  const { name } = call;
  const [, second] = call.arguments;
  if (WITH_UNIT.has(name)) {
    if (second !== undefined) {
      if (second.kind !== 'duration') {
        const got = recordedTypeName(second);
        throw wrong(
          `second argument to ${name} must be a duration, got ${got}`,
          second.span,
          'a duration has a unit, for example 10s',
        );
      }
      checkPositive(second.nanos, second.span);
    }
  } else if (name === 'moving_average') {
    if (second?.kind !== 'integer') {
      const got = second === undefined ? 'nothing' : recordedTypeName(second);
      throw wrong(
        `second argument for moving_average must be an integer, got ${got}`,
        (second ?? call).span,
      );
    }
    if (second.value <= 1n) {
      throw wrong(`moving_average window must be greater than 1, got ${second.value}`, second.span);
    }
  } else if (!WITHOUT_ARGUMENTS.has(name)) {
    checkTechnical(call);
  }
  checkNested(call, context);
}

function checkTechnical(call: Call): void {
  const { name } = call;
  const [, period, hold, warmUp] = call.arguments;
  if (period?.kind !== 'integer') {
    throw wrong(`${name} period must be an integer`, (period ?? call).span);
  }
  if (period.value < 1n) {
    throw wrong(`${name} period must be greater than or equal to 1`, period.span);
  }
  if (hold !== undefined) {
    if (hold.kind !== 'integer') {
      throw wrong(`${name} hold period must be an integer`, hold.span);
    }
    // -1 asks for the default.
    const least = name === 'triple_exponential_derivative' ? 1n : 0n;
    if (hold.value < least && hold.value !== -1n) {
      throw wrong(`${name} hold period must be greater than or equal to ${least}`, hold.span);
    }
  }
  if (warmUp === undefined) return;
  if (warmUp.kind !== 'string') {
    throw wrong(`${name} warmup type must be a string`, warmUp.span);
  }
  const allowed =
    name === 'chande_momentum_oscillator'
      ? ['none', 'exponential', 'simple']
      : ['exponential', 'simple'];
  if (!allowed.includes(warmUp.value)) {
    const list = allowed.map((word) => `'${word}'`).join(' ');
    throw wrong(`${name} warmup type must be one of: ${list}`, warmUp.span);
  }
}

function checkPredictor(call: Call, context: CallContext): void {
  const { name } = call;
  const [first, predictions, season] = call.arguments;
  if (predictions?.kind !== 'integer') {
    throw wrong(`expected integer argument as second arg in ${name}`, (predictions ?? call).span);
  }
  if (predictions.value <= 0n) {
    throw wrong(
      `second arg to ${name} must be greater than 0, got ${predictions.value}`,
      predictions.span,
    );
  }
  if (season?.kind !== 'integer') {
    throw wrong(`expected integer argument as third arg in ${name}`, (season ?? call).span);
  }
  if (season.value < 0n) {
    throw wrong(`third arg to ${name} cannot be negative, got ${season.value}`, season.span);
  }
  if (first?.kind !== 'call') {
    throw wrong(
      `must use aggregate function with ${name}`,
      (first ?? call).span,
      `write, for example, ${name}(mean(…), 10, 0)`,
    );
  }
  if (!context.hasInterval) throw needsInterval(call);
  checkCall(first, context);
}

function needsInterval(call: Call): InvalidRequest {
  return wrong(
    `${call.name} aggregate requires a GROUP BY interval`,
    call.span,
    'add GROUP BY time(…)',
  );
}

/** The error of invalid arguments of a call. */
function wrong(text: string, span: Span, hint?: string): InvalidRequest {
  return invalid(text, { code: 'IQL_ARGUMENT', span, hint });
}
