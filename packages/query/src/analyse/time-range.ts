// Time in conditions: the range they select, and the remaining condition. All time predicates of a
// condition are intersected, even those under OR, as recorded; a warning is added when the result
// differs from the text.
import type { InvalidRequest, Span, TimeRange, Timestamp } from '@tidemark/core';
import { floorDiv, MAX_TIME, MIN_TIME, NANOS_PER_SECOND, parseRfc3339 } from '@tidemark/core';
import { isTime, walk } from '@tidemark/influxql';
import type { Binary, Expression } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { foldExpression } from './fold.ts';
import { print, recordedTypeName } from '../print.ts';
import { ARITHMETIC, mirrored, unwrap } from './expressions.ts';
import { isMathFunction } from '../functions/registry.ts';
import type { Zone } from './zone.ts';
import { localToInstant } from './zone.ts';

export type TimeContext = {
  readonly now: Timestamp;
  readonly zone: Zone | undefined;
  /** Called when a time under OR is treated as one under AND. */
  readonly onWarning?: ((text: string) => void) | undefined;
};

const TIME_UNDER_OR =
  'comparisons of time under OR are taken as if they were joined by AND; write a statement for each range of time';

/** `hasStart` and `hasEnd` distinguish written bounds from the ends of time. */
export type ConditionSplit = {
  readonly range: TimeRange;
  readonly hasStart: boolean;
  readonly hasEnd: boolean;
  /** The remaining condition on rows; `undefined` if there is none. */
  readonly condition: Expression | undefined;
};

const UNBOUNDED: TimeRange = { start: MIN_TIME, end: MAX_TIME };

/**
 * Splits a condition and checks that it is one. Throws `InvalidRequest` with the recorded texts.
 */
export function splitCondition(
  condition: Expression | undefined,
  context: TimeContext,
): ConditionSplit {
  if (condition === undefined) {
    return { range: UNBOUNDED, hasStart: false, hasEnd: false, condition: undefined };
  }
  const { range, rest } = split(condition, context);
  const folded = rest === undefined ? undefined : foldExpression(rest);
  const isTrue = folded?.kind === 'boolean' && folded.value;
  return {
    range,
    hasStart: range.start > MIN_TIME,
    hasEnd: range.end < MAX_TIME,
    condition: isTrue ? undefined : folded,
  };
}

/** A condition with the same times and no other restriction. */
export function onlyTimes(node: Expression): Expression {
  if (node.kind === 'paren') return { ...node, expression: onlyTimes(node.expression) };
  if (node.kind === 'binary') {
    const { left, right, operator } = node;
    if (operator === 'AND' || operator === 'OR') {
      const times = { ...node, left: onlyTimes(left), right: onlyTimes(right) };
      const isRest = times.left.kind === 'boolean' && times.right.kind === 'boolean';
      return isRest ? times.left : times;
    }
    if (isTime(unwrap(left)) || isTime(unwrap(right))) return node;
  }
  return { kind: 'boolean', value: true, span: node.span };
}

type Split = { readonly range: TimeRange; readonly rest: Expression | undefined };

function split(expression: Expression, context: TimeContext): Split {
  switch (expression.kind) {
    case 'binary':
      return splitBinary(expression, context);
    case 'paren': {
      const { range, rest } = split(expression.expression, context);
      return { range, rest: rest === undefined ? undefined : { ...expression, expression: rest } };
    }
    case 'boolean':
      return { range: UNBOUNDED, rest: expression };
    default:
      throw wrong(`invalid condition expression: ${print(expression)}`, expression.span);
  }
}

function splitBinary(node: Binary, context: TimeContext): Split {
  if (node.operator === 'AND' || node.operator === 'OR') {
    const left = split(node.left, context);
    const right = split(node.right, context);
    const range = intersect(left.range, right.range);
    if (node.operator === 'OR' && isReadDifferently(left, right)) {
      context.onWarning?.(TIME_UNDER_OR);
    }
    // A side that only restricts time is left out, under OR too.
    if (left.rest === undefined) return { range, rest: right.rest };
    if (right.rest === undefined) return { range, rest: left.rest };
    return { range, rest: { ...node, left: left.rest, right: right.rest } };
  }
  const isTimeFirst = isTime(unwrap(node.left));
  if (isTimeFirst || isTime(unwrap(node.right))) {
    const operator = isTimeFirst ? node.operator : mirrored(node.operator);
    const time = evaluateTime(isTimeFirst ? node.right : node.left, context);
    return { range: rangeOfComparison(operator, time, node.span), rest: undefined };
  }
  if (ARITHMETIC.has(node.operator)) {
    throw wrong(
      `invalid condition expression: ${print(node)}`,
      node.span,
      'compare it with something',
    );
  }
  checkOperand(node.left);
  checkOperand(node.right);
  return { range: UNBOUNDED, rest: node };
}

/**
 * Whether times under OR differ from times under AND: two ranges, or rows of a range beside others.
 * A range on one side applies to both sides, which is what `time > x AND a OR b` is meant to say.
 */
function isReadDifferently(left: Split, right: Split): boolean {
  if ((left.rest === undefined) !== (right.rest === undefined)) return true;
  const isSame = left.range.start === right.range.start && left.range.end === right.range.end;
  return !isSame && hasBounds(left.range) && hasBounds(right.range);
}

function hasBounds({ start, end }: TimeRange): boolean {
  return start !== MIN_TIME || end !== MAX_TIME;
}

function checkOperand(expression: Expression): void {
  walk(expression, (node) => {
    if (node.kind === 'call' && !isMathFunction(node.name)) {
      throw wrong(
        `invalid function call in condition: ${print(node)}`,
        node.span,
        'WHERE applies to single rows; put the function into a subquery and its condition around it',
      );
    }
  });
}

export function intersect(a: TimeRange, b: TimeRange): TimeRange {
  return {
    start: a.start > b.start ? a.start : b.start,
    end: a.end < b.end ? a.end : b.end,
  };
}

/**
 * The times for which `time OPERATOR bound` holds. Throws `InvalidRequest` for operators other than
 * comparisons of order.
 */
export function rangeOfComparison(
  operator: Binary['operator'],
  time: Timestamp,
  span: Span,
): TimeRange {
  // A bound may be one instant after the last time of a point: no points are from it on, and all
  // are before it.
  const end = time > MAX_TIME ? MAX_TIME : time;
  switch (operator) {
    case '=':
      return { start: time, end };
    case '>':
      return { start: time > MAX_TIME ? time : time + 1n, end: MAX_TIME };
    case '>=':
      return { start: time, end: MAX_TIME };
    case '<':
      return { start: MIN_TIME, end: time - 1n };
    case '<=':
      return { start: MIN_TIME, end };
    default:
      throw wrong(`invalid time comparison operator: ${operator}`, span, 'use =, <, <=, > or >=');
  }
}

/** The instant of an expression that is compared with `time`. */
export function evaluateTime(operand: Expression, context: TimeContext): Timestamp {
  const folded = foldTimes(foldExpression(unwrap(operand)), context);
  const { span } = operand;
  if (typeof folded === 'bigint') return checkedTime(folded, span);
  if (folded.kind === 'string') {
    return checkedTime(parseTimeText(folded.value, operand, context.zone), span);
  }
  throw notATime(folded, operand.span);
}

/** Folds `now()`, time texts and durations under + and -; returns other expressions unchanged. */
function foldTimes(node: Expression, context: TimeContext): bigint | Expression {
  switch (node.kind) {
    case 'integer':
    case 'unsigned':
      return node.value;
    case 'number':
      return BigInt(Math.trunc(node.value));
    case 'duration':
      return node.nanos;
    case 'paren':
      return foldTimes(node.expression, context);
    case 'call':
      if (node.name === 'now' && node.arguments.length === 0) return context.now;
      return node;
    case 'binary': {
      if (node.operator !== '+' && node.operator !== '-') return node;
      const left = foldTimes(node.left, context);
      const right = foldTimes(node.right, context);
      const a = typeof left === 'bigint' ? left : timeOfText(left, context.zone);
      const b = typeof right === 'bigint' ? right : timeOfText(right, context.zone);
      if (a === undefined || b === undefined) return node;
      return node.operator === '+' ? a + b : a - b;
    }
    default:
      return node;
  }
}

function timeOfText(node: Expression, zone: Zone | undefined): bigint | undefined {
  return node.kind === 'string' && DATE_LIKE.test(node.value)
    ? parseTimeText(node.value, node, zone)
    : undefined;
}

const DATE_LIKE = /^\d{4}-\d{2}-\d{2}/;
/** Several spaces may precede the clock time, and an hour may have one digit, as recorded. */
const SPACES = /^(.{10}) +/;
const SHORT_HOUR = /^(.{10}[ T])(\d:)/;
const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}:\d{2})(?:\.(\d+))?)?$/;

/** Parses `YYYY-MM-DD[ HH:MM:SS[.ffffff]]` in the zone, or RFC 3339. */
function parseTimeText(written: string, operand: Expression, zone: Zone | undefined): bigint {
  const asWritten = parseRfc3339(written);
  if (asWritten !== undefined) return asWritten;
  if (!DATE_LIKE.test(written)) {
    throw notATime(operand, operand.span);
  }
  const text = written.replace(SPACES, '$1 ').replace(SHORT_HOUR, '$10$2');
  const local = LOCAL_TIME.exec(text);
  if (local === null) {
    const instant = parseRfc3339(text);
    if (instant === undefined) throw notATimestamp(operand.span);
    return instant;
  }
  const fraction = local[3] === undefined ? '' : `.${local[3]}`;
  const asUtc = parseRfc3339(`${local[1]}T${local[2] ?? '00:00:00'}${fraction}Z`);
  if (asUtc === undefined) throw notATimestamp(operand.span);
  const isRepresentable = asUtc > MIN_TIME && asUtc < MAX_TIME;
  return isRepresentable ? localToInstant(asUtc, zone) : asUtc;
}

/** Refuses times that int64 nanoseconds cannot hold. */
function checkedTime(time: bigint, span: Span): Timestamp {
  if (time > MAX_TIME + 1n) {
    throw wrong(`time ${wholeSeconds(time)} overflows time literal`, span);
  }
  if (time <= MIN_TIME) throw wrong(`time ${wholeSeconds(time)} underflows time literal`, span);
  return time;
}

function wholeSeconds(time: bigint): string {
  const millis = Number(floorDiv(time, NANOS_PER_SECOND)) * 1000;
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');
}

function wrong(text: string, span: Span, hint?: string): InvalidRequest {
  return invalid(text, { code: 'IQL_CONDITION', span, hint });
}

function notATime(operand: Expression, span: Span): InvalidRequest {
  return wrong(
    `invalid operation: time and ${recordedTypeName(operand)} are not compatible`,
    span,
    "write a time like '2006-01-02T15:04:05Z', nanoseconds, or now() - 1h",
  );
}

function notATimestamp(span: Span): InvalidRequest {
  return wrong('invalid timestamp string', span, "write a time like '2006-01-02T15:04:05Z'");
}
