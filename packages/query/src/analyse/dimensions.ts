// GROUP BY: the interval with its offset, and the tags.
import { floorMod } from '@tidemark/core';
import type { InvalidRequest } from '@tidemark/core';
import type { Call, Expression } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { print } from '../print.ts';
import { textMatcher } from '../regex.ts';
import { foldExpression } from './fold.ts';

/** GROUP BY time(every, offset); the offset is reduced to `[0, every)`. */
export type Interval = { readonly everyNanos: bigint; readonly offsetNanos: bigint };

/** Tags to group by, as written. */
export type TagDimension =
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'regex'; readonly pattern: string };

export type Dimensions = {
  readonly interval: Interval | undefined;
  readonly tags: readonly TagDimension[];
};

/** Reads GROUP BY. `now` is the shift of `time(1h, now())`. */
export function readDimensions(dimensions: readonly Expression[], now: bigint): Dimensions {
  let call: Call | undefined;
  let interval: Interval | undefined;
  const tags: TagDimension[] = [];
  for (const written of dimensions) {
    const dimension = foldExpression(written);
    switch (dimension.kind) {
      case 'call':
        if (dimension.name !== 'time') {
          throw wrong('only time() calls allowed in dimensions', dimension);
        }
        if (call !== undefined) throw wrong('multiple time dimensions not allowed', dimension);
        call = dimension;
        interval = readInterval(dimension, now);
        break;
      case 'wildcard':
        tags.push({ kind: 'all' });
        break;
      case 'regex':
        tags.push({ kind: 'regex', pattern: dimension.pattern });
        break;
      case 'reference':
        if (dimension.name.toLowerCase() === 'time') {
          throw wrong(
            'time() is a function and expects at least one argument',
            dimension,
            'write, for example, time(1m)',
          );
        }
        tags.push({ kind: 'tag', name: dimension.name });
        break;
      default:
        throw wrong('only time and tag dimensions allowed', dimension);
    }
  }
  return { interval, tags };
}

/** Whether a tag is one of those that a wildcard or a pattern stands for. */
export function dimensionTest(
  dimension: Exclude<TagDimension, { readonly kind: 'tag' }>,
): (tag: string) => boolean {
  return dimension.kind === 'regex' ? textMatcher(dimension.pattern) : () => true;
}

function readInterval(call: Call, now: bigint): Interval | undefined {
  const [every, offset] = call.arguments;
  if (call.arguments.length < 1 || call.arguments.length > 2) {
    throw wrong('time dimension expected 1 or 2 arguments', call, 'write, for example, time(1m)');
  }
  if (every?.kind !== 'duration') {
    throw wrong(
      'time dimension must have duration argument',
      every ?? call,
      'a duration has a unit, for example 1m',
    );
  }
  const offsetNanos = offset === undefined ? 0n : readOffset(offset, now);
  // Zero and negative intervals mean no windows, as recorded.
  if (every.nanos <= 0n) return undefined;
  return { everyNanos: every.nanos, offsetNanos: floorMod(offsetNanos, every.nanos) };
}

const DATE_LIKE = /^\d{4}-\d{2}-\d{2}/;

function readOffset(offset: Expression, now: bigint): bigint {
  switch (offset.kind) {
    case 'duration':
      return offset.nanos;
    case 'call':
      if (offset.name !== 'now') {
        throw wrong('time dimension offset function must be now()', offset);
      }
      if (offset.arguments.length > 0) {
        throw wrong('time dimension offset now() function requires no arguments', offset);
      }
      return now;
    case 'string':
      if (DATE_LIKE.test(offset.value)) {
        throw wrong(`invalid time dimension offset: ${print(offset)}`, offset);
      }
      throw wrong('time dimension offset must be duration or now()', offset);
    default:
      throw wrong('time dimension offset must be duration or now()', offset);
  }
}

function wrong(text: string, { span }: Expression, hint?: string): InvalidRequest {
  return invalid(text, { code: 'IQL_DIMENSION', span, hint });
}
