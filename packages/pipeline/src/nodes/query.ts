// query: asks the database on a schedule; each result series is a batch.
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { displayValue, typeName } from '../evaluate/value.ts';
import type { Value } from '../evaluate/value.ts';
import type { AskedQuery, QueryDimension, QueryFill } from '../definition/effects.ts';
import { defineNode } from '../definition/node-definition.ts';
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';
import {
  callOption,
  durationOption,
  flagOption,
  stringArgument,
  stringOption,
} from '../definition/option.ts';
import { checkQueryText } from '../query-text.ts';

export const queryNode = defineNode({
  type: 'query',
  label: 'query',
  className: 'QueryNode',
  category: 'source',
  summary: 'runs a query on a schedule',
  wants: 'batch',
  provides: 'batch',
  split: {
    kind: 'all',
    reason: 'asks its query once for all groups',
    hint: 'only stream tasks are split',
  },
  follows: ['batch'],
  hintsBelow: { stream: 'a database is read by batch|query()' },
  options: {
    text: stringArgument('text'),
    periodNanos: durationOption('period', 'length of the queried time range'),
    everyNanos: durationOption('every', 'time between two queries'),
    cron: stringOption(
      'cron',
      'schedule instead of every: minute, hour, day, month, day of the week; a sixth field is the year, of seven the first is the second',
    ),
    isAligned: flagOption('align', 'queries run at multiples of every'),
    offsetNanos: durationOption('offset', 'the range ends so long before the query runs'),
    isGroupAligned: flagOption('alignGroup', 'windows of time start at the start of the range'),
    dimensions: callOption<readonly QueryDimension[]>([], {
      name: 'groupBy',
      summary: 'GROUP BY: tags, *, a duration or time(length, offset)',
      parameters: [variadic('dimension', 'any')],
      apply: (_, values) => values.values.map(dimensionOf),
    }),
    isGroupedByMeasurement: flagOption('groupByMeasurement', 'groups by measurement too'),
    fill: callOption<QueryFill | undefined>(undefined, {
      name: 'fill',
      summary: "FILL: 'null', 'none', 'previous', 'linear' or a number",
      parameters: [parameter('option', 'any')],
      apply: (_, values) => fillOf(values),
    }),
    cluster: stringOption('cluster', 'configured database to ask; the default one if not given'),
  },
  checkStart: (options, context) =>
    [
      checkSchedule(options),
      ...checkQueryText(options.text, context.dbrps),
      checkDimensions(options.dimensions),
      checkFill(options.fill),
    ].filter((problem) => problem !== undefined),
  effects: (options) => ({
    asks: options,
    needsCluster: {
      cluster: options.cluster,
      property: 'cluster',
      databases: undefined,
      urgency: 'later',
    },
  }),
});

function checkSchedule({ everyNanos, cron }: AskedQuery): NodeDiagnostic | undefined {
  if (everyNanos < 0n) {
    return {
      text: "'every' duration must must non-negative",
      properties: ['every'],
      hint: 'write a positive duration, 10s',
    };
  }
  if (everyNanos !== 0n && cron !== '') {
    return {
      text: "must not set both 'every' and 'cron' properties",
      properties: ['cron'],
      hint: 'leave out .every() or .cron()',
    };
  }
  return everyNanos === 0n && cron === ''
    ? {
        text: "must define one of 'every' or 'cron'",
        properties: ['every', 'cron'],
        hint: 'say when to ask: .every(1m)',
      }
    : undefined;
}

function checkFill(fill: QueryFill | undefined): NodeDiagnostic | undefined {
  if (fill?.kind !== 'invalid') return undefined;
  return {
    text: `unexpected fill option ${fill.text}`,
    properties: ['fill'],
    found: fill.text,
    expected: ["'null'", "'none'", "'previous'", "'linear'", 'a number'],
  };
}

function dimensionOf(value: Value): QueryDimension {
  switch (value.kind) {
    case 'time-dimension': {
      const { lengthNanos, offsetNanos } = value;
      return { kind: 'time', lengthNanos, offsetNanos };
    }
    case 'duration':
      return { kind: 'time', lengthNanos: value.nanos, offsetNanos: 0n };
    case 'string':
      return { kind: 'tag', name: value.value };
    case 'star':
      return { kind: 'all' };
    case 'list': {
      // How a time dimension is written in the JSON form of a pipeline.
      const [length, offset] = value.items;
      if (length?.kind === 'duration' && offset?.kind === 'duration') {
        return { kind: 'time', lengthNanos: length.nanos, offsetNanos: offset.nanos };
      }
      return { kind: 'invalid', typeName: typeName(value) };
    }
    default:
      return { kind: 'invalid', typeName: typeName(value) };
  }
}

function checkDimensions(dimensions: readonly QueryDimension[]): NodeDiagnostic | undefined {
  const properties = ['groupBy'];
  let timeCount = 0;
  for (const each of dimensions) {
    if (each.kind === 'invalid') {
      return {
        text: `invalid dimension type:${each.typeName}, must be string or time.Duration`,
        properties,
        found: each.typeName,
        expected: ['string', '*', 'duration', 'time(duration)'],
        hint: "write tags in single quotes: .groupBy('host')",
      };
    }
    if (each.kind === 'time') timeCount++;
  }
  if (timeCount <= 1) return undefined;
  return {
    text: 'groupBy cannot have more than one time dimension',
    properties,
    hint: 'leave out all but one time()',
  };
}

function fillOf(values: Arguments): QueryFill {
  const [value] = values.values;
  if (value?.kind === 'integer' || value?.kind === 'float') {
    return { kind: 'number', value: value.value };
  }
  const text = value === undefined ? '' : displayValue(value);
  switch (text) {
    case 'null':
    case 'none':
    case 'previous':
    case 'linear':
      return { kind: text };
    default:
      return { kind: 'invalid', text };
  }
}
