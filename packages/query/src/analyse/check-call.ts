// Static checks of one function call in a SELECT list: number and kind of arguments, nesting (§5, §8.2).
import { formatDuration } from '@tidemark/core';
import type { Call, Expression } from '@tidemark/influxql';

import { invalid, invalidAt } from '../compat-messages.ts';
import type { FunctionSpec } from '../functions/registry.ts';
import { FUNCTIONS } from '../functions/registry.ts';
import { print } from './print.ts';
import { suggest } from './suggest.ts';
import { recordedTypeName } from './walk.ts';

/** What a call may look like depends on where it stands. */
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
    throw invalidAt(`undefined function ${call.name}()`, {
      code: 'IQL_UNKNOWN_FUNCTION',
      span: { start: call.span.start, end: call.span.start + call.name.length },
      hint,
    });
  }
  switch (spec.name) {
    case 'distinct':
      return checkDistinct(call.arguments);
    case 'top':
    case 'bottom':
      return checkTop(call, context);
    default:
      break;
  }
  checkArity(spec, call.arguments.length);
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
export function checkArity(spec: FunctionSpec, count: number): void {
  if (count >= spec.minArguments && count <= spec.maxArguments) return;
  const expected =
    spec.minArguments === spec.maxArguments
      ? `expected ${spec.minArguments}`
      : spec.maxArguments === Infinity
        ? `expected at least ${spec.minArguments}`
        : `expected at least ${spec.minArguments} but no more than ${spec.maxArguments}`;
  throw invalid(`invalid number of arguments for ${spec.name}, ${expected}, got ${count}`);
}

function checkReducer(call: Call): void {
  const [first, second] = call.arguments;
  switch (call.name) {
    case 'count':
      if (first?.kind === 'distinct') return;
      if (first?.kind === 'call' && first.name === 'distinct')
        return checkDistinct(first.arguments);
      return checkField(call.name, first);
    case 'percentile':
      checkField(call.name, first);
      if (second?.kind !== 'integer' && second?.kind !== 'number') {
        throw invalid('expected float argument in percentile()');
      }
      return;
    case 'sample':
      checkField(call.name, first);
      if (second?.kind !== 'integer') throw invalid('expected integer argument in sample()');
      if (second.value <= 0n) {
        throw invalid(`sample window must be greater than 1, got ${second.value}`);
      }
      return;
    case 'integral':
      checkField(call.name, first);
      if (second === undefined) return;
      if (second.kind !== 'duration') throw invalid('second argument must be a duration');
      return checkPositive(second.nanos);
    default:
      return checkField(call.name, first);
  }
}

function checkPositive(nanos: bigint): void {
  if (nanos <= 0n)
    throw invalid(`duration argument must be positive, got ${formatDuration(nanos)}`);
}

function checkField(name: string, argument: Expression | undefined): void {
  switch (argument?.kind) {
    case 'reference':
    case 'regex':
      return;
    case 'wildcard':
      if (argument.only === 'tag') throw invalid(`unable to use tag wildcard in ${name}()`);
      return;
    default:
      throw invalid(`expected field argument in ${name}()`);
  }
}

function checkDistinct(given: readonly Expression[]): void {
  if (given.length === 0) throw invalid('distinct function requires at least one argument');
  if (given.length > 1) throw invalid('distinct function can only have one argument');
  if (given[0]?.kind !== 'reference') throw invalid('expected field argument in distinct()');
}

function checkTop(call: Call, context: CallContext): void {
  const { name } = call;
  const given = call.arguments;
  if (given.length < 2) {
    throw invalid(
      `invalid number of arguments for ${name}, expected at least 2, got ${given.length}`,
    );
  }
  const last = given.at(-1);
  if (last?.kind !== 'integer') {
    const found = last === undefined ? '' : print(last);
    throw invalid(`expected integer as last argument in ${name}(), found ${found}`);
  }
  if (last.value <= 0n)
    throw invalid(`limit (${last.value}) in ${name} function must be at least 1`);
  if (context.limit > 0n && last.value > context.limit) {
    throw invalid(
      `limit (${last.value}) in ${name} function can not be larger than the LIMIT (${context.limit}) in the select statement`,
    );
  }
  const [first, ...rest] = given.slice(0, -1);
  if (first?.kind !== 'reference') {
    const found = first === undefined ? '' : print(first);
    throw invalid(`expected first argument to be a field in ${name}(), found ${found}`);
  }
  for (const argument of rest) {
    if (argument.kind !== 'reference') {
      throw invalid(`only fields or tags are allowed in ${name}(), found ${print(argument)}`);
    }
  }
}

/** The first argument of a transformation: a field, or a call under GROUP BY time. */
function checkNested(call: Call, context: CallContext): void {
  const [first] = call.arguments;
  if (first?.kind === 'call') {
    if (!context.hasInterval) throw invalid(`${call.name} aggregate requires a GROUP BY interval`);
    return checkCall(first, context);
  }
  if (first?.kind === 'distinct') {
    throw invalid(`expected field argument in ${call.name}()`);
  }
  if (context.hasOwnInterval) {
    throw invalid(`aggregate function required inside the call to ${call.name}`);
  }
  checkField(call.name, first);
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
        throw invalid(`second argument to ${name} must be a duration, got ${got}`);
      }
      checkPositive(second.nanos);
    }
  } else if (name === 'moving_average') {
    if (second?.kind !== 'integer') {
      const got = second === undefined ? 'nothing' : recordedTypeName(second);
      throw invalid(`second argument for moving_average must be an integer, got ${got}`);
    }
    if (second.value <= 1n) {
      throw invalid(`moving_average window must be greater than 1, got ${second.value}`);
    }
  } else if (!WITHOUT_ARGUMENTS.has(name)) {
    checkTechnical(call);
  }
  checkNested(call, context);
}

function checkTechnical(call: Call): void {
  const { name } = call;
  const [, period, hold, warmUp] = call.arguments;
  if (period?.kind !== 'integer') throw invalid(`${name} period must be an integer`);
  if (period.value < 1n) throw invalid(`${name} period must be greater than or equal to 1`);
  if (hold !== undefined) {
    if (hold.kind !== 'integer') throw invalid(`${name} hold period must be an integer`);
    // -1 asks for the default.
    const least = name === 'triple_exponential_derivative' ? 1n : 0n;
    if (hold.value < least && hold.value !== -1n) {
      throw invalid(`${name} hold period must be greater than or equal to ${least}`);
    }
  }
  if (warmUp === undefined) return;
  if (warmUp.kind !== 'string') throw invalid(`${name} warmup type must be a string`);
  const allowed =
    name === 'chande_momentum_oscillator'
      ? ['none', 'exponential', 'simple']
      : ['exponential', 'simple'];
  if (!allowed.includes(warmUp.value)) {
    const list = allowed.map((word) => `'${word}'`).join(' ');
    throw invalid(`${name} warmup type must be one of: ${list}`);
  }
}

function checkPredictor(call: Call, context: CallContext): void {
  const { name } = call;
  const [first, predictions, season] = call.arguments;
  if (predictions?.kind !== 'integer') {
    throw invalid(`expected integer argument as second arg in ${name}`);
  }
  if (predictions.value <= 0n) {
    throw invalid(`second arg to ${name} must be greater than 0, got ${predictions.value}`);
  }
  if (season?.kind !== 'integer') {
    throw invalid(`expected integer argument as third arg in ${name}`);
  }
  if (season.value < 0n) {
    throw invalid(`third arg to ${name} cannot be negative, got ${season.value}`);
  }
  if (first?.kind !== 'call') throw invalid(`must use aggregate function with ${name}`);
  if (!context.hasInterval) throw invalid(`${name} aggregate requires a GROUP BY interval`);
  checkCall(first, context);
}
