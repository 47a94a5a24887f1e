// Checks of the arguments of a call in a SELECT list, which the rows of `registry.ts` name.
import { formatDuration } from '@tidemark/core';
import type { InvalidRequest, Span } from '@tidemark/core';
import type { Call, Expression } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { print, recordedTypeName } from '../print.ts';

/** The statement that a call stands in. */
export type CallContext = {
  /** GROUP BY time of the statement itself. */
  readonly hasOwnInterval: boolean;
  /** GROUP BY time of the statement or of a statement around it. */
  readonly hasInterval: boolean;
  readonly limit: bigint;
};

/** Throws `InvalidRequest` unless the arguments are well formed; `inner` checks a nested call. */
export type ArgumentCheck = (call: Call, context: CallContext, inner: (call: Call) => void) => void;

/** Throws unless the number of arguments is right. */
export function checkCount(
  { arguments: given, name, span }: Call,
  [least, most]: readonly [number, number],
): void {
  if (given.length >= least && given.length <= most) return;
  const expected =
    least === most
      ? `expected ${least}`
      : most === Infinity
        ? `expected at least ${least}`
        : `expected at least ${least} but no more than ${most}`;
  throw wrong(`invalid number of arguments for ${name}, ${expected}, got ${given.length}`, span);
}

/** Anything: the arguments of mathematics are expressions. */
export const ofNumbers: ArgumentCheck = () => undefined;

/** A field first. */
export const ofField: ArgumentCheck = (call) => checkField(call, call.arguments[0]);

/** A field, or the values that DISTINCT leaves of it. */
export const ofCount: ArgumentCheck = (call, _, inner) => {
  const [first] = call.arguments;
  if (first?.kind === 'distinct') return;
  if (first?.kind === 'call' && first.name === 'distinct') inner(first);
  else checkField(call, first);
};

export const ofPercentile: ArgumentCheck = (call) => {
  const [first, second] = call.arguments;
  checkField(call, first);
  if (second?.kind !== 'integer' && second?.kind !== 'number') {
    throw wrong('expected float argument in percentile()', (second ?? call).span);
  }
};

export const ofSample: ArgumentCheck = (call) => {
  const [first, second] = call.arguments;
  checkField(call, first);
  const size = typed(call, second, 'integer', 'expected integer argument in sample()');
  if (size.value <= 0n) {
    throw wrong(`sample window must be greater than 1, got ${size.value}`, size.span);
  }
};

export const ofIntegral: ArgumentCheck = (call) => {
  const [first, unit] = call.arguments;
  checkField(call, first);
  if (unit === undefined) return;
  checkPositive(typed(call, unit, 'duration', 'second argument must be a duration'));
};

/** One field; counts its arguments itself. */
export const ofDistinct: ArgumentCheck = (call) => {
  const [first, second] = call.arguments;
  if (first === undefined) {
    throw wrong('distinct function requires at least one argument', call.span);
  }
  if (second !== undefined) {
    throw wrong('distinct function can only have one argument', second.span);
  }
  typed(call, first, 'reference', 'expected field argument in distinct()');
};

/** A field, fields and tags, and how many rows. */
export const ofRanking: ArgumentCheck = (call, { limit }) => {
  const { name, arguments: given } = call;
  const found = (node: Expression | undefined): string => (node === undefined ? '' : print(node));
  const last = given.at(-1);
  const text = `expected integer as last argument in ${name}(), found ${found(last)}`;
  const { value, span } = typed(call, last, 'integer', text);
  if (value <= 0n) throw wrong(`limit (${value}) in ${name} function must be at least 1`, span);
  if (limit > 0n && value > limit) {
    throw wrong(
      `limit (${value}) in ${name} function can not be larger than the LIMIT (${limit}) in the select statement`,
      span,
    );
  }
  const [first, ...rest] = given.slice(0, -1);
  typed(
    call,
    first,
    'reference',
    `expected first argument to be a field in ${name}(), found ${found(first)}`,
  );
  for (const node of rest) {
    typed(
      call,
      node,
      'reference',
      `only fields or tags are allowed in ${name}(), found ${found(node)}`,
    );
  }
};

/** A field, or a call under GROUP BY time: the first argument of a transformation. */
export const ofPoints: ArgumentCheck = (call, context, inner) => {
  const [first] = call.arguments;
  if (first?.kind === 'call') {
    if (!context.hasInterval) throw needsInterval(call);
    return inner(first);
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
};

/** Points, and perhaps a unit of time. */
export const ofPointsPerUnit: ArgumentCheck = (call, context, inner) => {
  const [, unit] = call.arguments;
  if (unit !== undefined) {
    const text = `second argument to ${call.name} must be a duration, got ${recordedTypeName(unit)}`;
    checkPositive(typed(call, unit, 'duration', text, 'a duration has a unit, for example 10s'));
  }
  ofPoints(call, context, inner);
};

export const ofMovingAverage: ArgumentCheck = (call, context, inner) => {
  const [, second] = call.arguments;
  const got = second === undefined ? 'nothing' : recordedTypeName(second);
  const text = `second argument for moving_average must be an integer, got ${got}`;
  const { value, span } = typed(call, second, 'integer', text);
  if (value <= 1n) throw wrong(`moving_average window must be greater than 1, got ${value}`, span);
  ofPoints(call, context, inner);
};

/** Kinds of warm-up of a moving average. */
export const WARM_UPS: readonly string[] = ['exponential', 'simple'];

type TechnicalArguments = {
  /** The smallest hold period; -1 asks for the default. */
  readonly leastHold?: bigint;
  readonly warmUps?: readonly string[];
};

/** Points, a period, and perhaps a hold period and a kind of warm-up. */
export function ofTechnical({
  leastHold = 0n,
  warmUps = WARM_UPS,
}: TechnicalArguments = {}): ArgumentCheck {
  return (call, context, inner) => {
    const { name } = call;
    const [, second, third, fourth] = call.arguments;
    const period = typed(call, second, 'integer', `${name} period must be an integer`);
    if (period.value < 1n) {
      throw wrong(`${name} period must be greater than or equal to 1`, period.span);
    }
    if (third !== undefined) {
      const hold = typed(call, third, 'integer', `${name} hold period must be an integer`);
      if (hold.value < leastHold && hold.value !== -1n) {
        throw wrong(`${name} hold period must be greater than or equal to ${leastHold}`, hold.span);
      }
    }
    if (fourth !== undefined) {
      const warmUp = typed(call, fourth, 'string', `${name} warmup type must be a string`);
      if (!warmUps.includes(warmUp.value)) {
        const list = warmUps.map((word) => `'${word}'`).join(' ');
        throw wrong(`${name} warmup type must be one of: ${list}`, warmUp.span);
      }
    }
    ofPoints(call, context, inner);
  };
}

/** A call under GROUP BY time, how many predictions, and the length of a season. */
export const ofPredictor: ArgumentCheck = (call, context, inner) => {
  const { name } = call;
  const [first, second, third] = call.arguments;
  const expected = (which: string): string =>
    `expected integer argument as ${which} arg in ${name}`;
  const predictions = typed(call, second, 'integer', expected('second'));
  if (predictions.value <= 0n) {
    const text = `second arg to ${name} must be greater than 0, got ${predictions.value}`;
    throw wrong(text, predictions.span);
  }
  const season = typed(call, third, 'integer', expected('third'));
  if (season.value < 0n) {
    throw wrong(`third arg to ${name} cannot be negative, got ${season.value}`, season.span);
  }
  const hint = `write, for example, ${name}(mean(…), 10, 0)`;
  const reduced = typed(call, first, 'call', `must use aggregate function with ${name}`, hint);
  if (!context.hasInterval) throw needsInterval(call);
  inner(reduced);
};

type OfKind<K extends Expression['kind']> = Extract<Expression, { readonly kind: K }>;

/** The argument, if it is of a kind; throws otherwise. */
function typed<K extends Expression['kind']>(
  call: Call,
  argument: Expression | undefined,
  kind: K,
  text: string,
  hint?: string,
): OfKind<K> {
  if (isOfKind(argument, kind)) return argument;
  throw wrong(text, (argument ?? call).span, hint);
}

function isOfKind<K extends Expression['kind']>(
  node: Expression | undefined,
  kind: K,
): node is OfKind<K> {
  return node?.kind === kind;
}

function checkPositive({ nanos, span }: OfKind<'duration'>): void {
  if (nanos <= 0n) {
    throw wrong(`duration argument must be positive, got ${formatDuration(nanos)}`, span);
  }
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

function needsInterval(call: Call): InvalidRequest {
  return wrong(
    `${call.name} aggregate requires a GROUP BY interval`,
    call.span,
    'add GROUP BY time(…)',
  );
}

/** Something is wrong with the arguments of a call. */
function wrong(text: string, span: Span, hint?: string): InvalidRequest {
  return invalid(text, { code: 'IQL_ARGUMENT', span, hint });
}
