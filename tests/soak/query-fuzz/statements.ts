// Random statements as syntax trees: mostly valid, so that results are compared and not only error
// messages. Known defects of the reference server are not generated; see excuses.ts.
import type {
  Expression,
  Fill,
  MeasurementSource,
  SelectField,
  SelectStatement,
  Source,
  Statement,
  SubquerySource,
} from '@tidemark/influxql';

import { DATABASE, FIELDS, MEASUREMENTS, SPAN_SECONDS, START_SECONDS, TAGS } from './data.ts';
import type { Random } from './random.ts';
import { randomShow } from './shows.ts';
import {
  and,
  binary,
  call,
  duration,
  integer,
  paren,
  reference,
  regex,
  SPAN,
  text,
} from './trees.ts';

const NUMERIC = ['f', 'f', 'i', 'i', 'g'] as const;
const AGGREGATES = ['count', 'sum', 'mean', 'median', 'mode', 'spread', 'stddev'] as const;
const SELECTORS = ['first', 'last', 'min', 'max'] as const;
const PLAIN_TRANSFORMATIONS = [
  'difference',
  'non_negative_difference',
  'derivative',
  'non_negative_derivative',
  'cumulative_sum',
  'elapsed',
] as const;
const TECHNICAL = [
  'exponential_moving_average',
  'double_exponential_moving_average',
  'triple_exponential_moving_average',
  'relative_strength_index',
  'triple_exponential_derivative',
  'kaufmans_efficiency_ratio',
  'kaufmans_adaptive_moving_average',
  'chande_momentum_oscillator',
] as const;
const WARM_UPS = ['exponential', 'simple'] as const;
const MATH = [
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'floor',
  'ceil',
  'round',
  'sqrt',
  'exp',
  'ln',
  'log2',
  'log10',
] as const;
const MATH_OF_TWO = ['pow', 'atan2', 'log'] as const;
const ARITHMETIC = ['+', '-', '*', '/', '%'] as const;
const OF_BITS = ['&', '|', '^'] as const;
const MINUTES = [10, 15, 30, 60, 90] as const;

type Shape = 'raw' | 'aggregate' | 'selector' | 'transformation' | 'windowed-transformation';

/** A statement that reads. */
export function randomStatement(random: Random): Statement {
  if (random.chance(0.12)) return randomShow(random);
  return random.chance(0.002) ? randomDecades(random) : randomSelect(random, 2);
}

const YEAR_SECONDS = 365 * 86_400;

/** Windows of an hour over years, in a zone, most of them empty; now and then of many calls. */
function randomDecades(random: Random): SelectStatement {
  const from = START_SECONDS - (1 + random.below(10)) * YEAR_SECONDS;
  const hasMany = random.chance(0.2);
  return {
    kind: 'select',
    fields: hasMany
      ? manyCalls(random)
      : random.list(1, 20, () => ({ expression: randomAggregate(random, true), span: SPAN })),
    sources: [{ kind: 'measurement', name: random.pick(MEASUREMENTS), span: SPAN }],
    condition: and(
      binary(reference('time'), '>=', randomTime(random, from)),
      binary(reference('time'), '<', randomTime(random, START_SECONDS + YEAR_SECONDS)),
    ),
    dimensions: [call('time', [duration(3600)])],
    fill: hasMany ? { kind: 'none' } : randomFill(random),
    timeZone: random.pick(ZONES_OF_TIME),
    span: SPAN,
  };
}

/** Thousands of different calls, none below the median, of which a single point has none. */
function manyCalls(random: Random): readonly SelectField[] {
  const field = reference(random.pick(['f', 'i']));
  return Array.from({ length: 1000 + random.below(2000) }, (_, i) => ({
    expression: call('percentile', [field, { kind: 'number', value: 50 + i / 100, span: SPAN }]),
    span: SPAN,
  }));
}

/** `depth` is how many subqueries may be nested in it. */
export function randomSelect(random: Random, depth: number): SelectStatement {
  const shape = random.pick<Shape>([
    'raw',
    'raw',
    'aggregate',
    'aggregate',
    'aggregate',
    'selector',
    'selector',
    'transformation',
    'windowed-transformation',
  ]);
  const isNested = depth > 0 && random.chance(0.25);
  const sources = isNested ? randomSubqueries(random, depth - 1) : randomSources(random);
  const mayHaveWindow = shape === 'aggregate' || shape === 'selector';
  const hasWindow = shape === 'windowed-transformation' || (mayHaveWindow && random.chance(0.6));
  const condition = randomCondition(random, hasWindow || random.chance(0.3));
  const fields = randomFields(random, shape, hasWindow);
  const isDescending = !isNested && random.chance(0.2);
  return {
    kind: 'select',
    fields,
    sources,
    condition,
    dimensions: randomDimensions(random, hasWindow),
    fill: hasWindow && random.chance(0.7) ? randomFill(random) : undefined,
    orderBy: isDescending || random.chance(0.05) ? { descending: isDescending } : undefined,
    // The reference server limits what these read, not what they give.
    ...(fields.some(isRanking) ? {} : randomLimits(random)),
    timeZone: random.chance(hasWindow ? 0.1 : 0.05) ? random.pick(ZONES_OF_TIME) : undefined,
    span: SPAN,
  };
}

function isRanking({ expression }: SelectField): boolean {
  return expression.kind === 'call' && ['top', 'bottom', 'sample'].includes(expression.name);
}

const ZONES_OF_TIME = ['America/New_York', 'Asia/Kolkata', 'Europe/Berlin'] as const;

function randomLimits(random: Random): Partial<SelectStatement> {
  const some = (): bigint => BigInt(1 + random.below(4));
  // An offset without its limit gives incomplete answers on the reference server, which documents
  // that.
  const limits = random.chance(0.15)
    ? { limit: some(), offset: random.chance(0.3) ? some() : undefined }
    : {};
  if (!random.chance(0.1)) return limits;
  return { ...limits, seriesLimit: some(), seriesOffset: random.chance(0.3) ? some() : undefined };
}

function randomSources(random: Random): readonly Source[] {
  const named = (): MeasurementSource => ({
    kind: 'measurement',
    ...(random.chance(0.1) ? { database: DATABASE, retentionPolicy: 'autogen' } : {}),
    ...(random.chance(0.05) ? { database: DATABASE } : {}),
    name: random.pick(MEASUREMENTS),
    span: SPAN,
  });
  if (random.chance(0.1)) return [{ kind: 'measurement', pattern: '^[mn]$', span: SPAN }];
  if (random.chance(0.1)) return MEASUREMENTS.map((name) => ({ ...named(), name }));
  return [named()];
}

/** One, or one of each measurement: points of one time and name have no order. */
function randomSubqueries(random: Random, depth: number): readonly Source[] {
  if (random.chance(0.92)) return [randomSubquery(random, depth)];
  return MEASUREMENTS.map((name) => {
    const { statement } = randomSubquery(random, 0);
    const sources = [{ kind: 'measurement', name, span: SPAN } as const];
    return { kind: 'subquery', statement: { ...statement, sources }, span: SPAN } as const;
  });
}

/** Names its columns like the fields of the data, so that outer statements find them. */
function randomSubquery(random: Random, depth: number): SubquerySource {
  const inner = randomSelect(random, depth);
  const named = inner.fields.filter(
    ({ expression }) => expression.kind !== 'reference' || expression.name !== 'time',
  );
  const fields = named.map(({ expression, span }, i) => ({
    // Nothing finds the column of `DISTINCT f` on the reference server.
    expression:
      expression.kind === 'distinct' ? call('distinct', [reference(expression.name)]) : expression,
    alias: FIELDS[i] ?? 'f',
    span,
  }));
  const isWildcard = inner.fields.some(
    ({ expression }) => expression.kind === 'wildcard' || expression.kind === 'regex',
  );
  const statement: SelectStatement = {
    ...inner,
    fields: isWildcard ? inner.fields : fields,
    orderBy: undefined,
    // A limit inside is applied at another place by the reference server, a known defect.
    limit: undefined,
    offset: undefined,
    seriesLimit: undefined,
    timeZone: random.chance(0.3) ? inner.timeZone : undefined,
  };
  return { kind: 'subquery', statement, span: SPAN };
}

function randomFields(random: Random, shape: Shape, hasWindow: boolean): readonly SelectField[] {
  const field = (expression: Expression): SelectField => ({ expression, span: SPAN });
  switch (shape) {
    case 'raw':
      if (random.chance(0.15)) return [field(randomWildcard(random))];
      if (random.chance(0.05)) return [field(reference('time')), field(randomRaw(random))];
      if (random.chance(0.08)) return [field(regex('^[fib]$'))];
      return random.list(1, 3, () => field(randomRaw(random)));
    case 'aggregate':
      if (random.chance(0.06)) {
        const name = random.pick(FIELDS);
        return [
          field(
            random.chance(0.5)
              ? call('distinct', [reference(name)])
              : { kind: 'distinct', name, span: SPAN },
          ),
        ];
      }
      if (random.chance(0.1)) {
        const every: Expression = random.chance(0.7)
          ? { kind: 'wildcard', span: SPAN }
          : regex('^[fi]$');
        return [
          field(call(random.pick(['count', 'mean', 'max', 'first', 'last', 'sum']), [every])),
        ];
      }
      return random.list(1, 3, () => field(randomAggregate(random)));
    case 'selector': {
      const selected = field(randomSelector(random));
      if (random.chance(0.5)) return [selected];
      const others = random.list(1, 2, () => field(reference(random.pick([...FIELDS, ...TAGS]))));
      return [selected, ...others];
    }
    case 'transformation':
      return random.list(1, 2, () =>
        field(randomTransformation(random, reference(random.pick(NUMERIC)), hasWindow)),
      );
    case 'windowed-transformation':
      if (random.chance(0.05)) return [field(randomPrediction(random))];
      return [field(randomTransformation(random, randomAggregate(random, true), hasWindow))];
  }
}

function randomWildcard(random: Random): Expression {
  const only = random.chance(0.2) ? random.pick(['field', 'tag'] as const) : undefined;
  return { kind: 'wildcard', only, span: SPAN };
}

/** Over as many points as it takes to be the same everywhere. */
function randomPrediction(random: Random): Expression {
  const name = random.pick(['holt_winters', 'holt_winters_with_fit']);
  const season = integer(random.pick([0, 0, 2, 4]));
  return call(name, [randomAggregate(random, true), integer(1 + random.below(4)), season]);
}

function randomRaw(random: Random): Expression {
  const name = (): Expression => reference(random.pick(FIELDS));
  switch (random.below(11)) {
    case 8:
      return call(random.pick(MATH_OF_TWO), [reference('f'), randomNumeric(random)]);
    case 9:
      return binary(
        reference('i'),
        random.pick(OF_BITS),
        random.chance(0.5) ? reference('i') : integer(random.below(20)),
      );
    case 10:
      return random.chance(0.5)
        ? { ...reference(random.pick(FIELDS)), cast: 'field' }
        : { ...reference(random.pick(TAGS)), cast: random.pick(['tag', 'field']) };
    case 0:
      return reference(random.pick(TAGS));
    case 1:
      return binary(randomNumeric(random), random.pick(ARITHMETIC), randomNumeric(random));
    case 2:
      return binary(
        randomNumeric(random),
        random.pick(ARITHMETIC),
        random.chance(0.05) ? duration(3600) : randomNumber(random),
      );
    case 3:
      // For integers, the reference server treats the result as an integer outside of a subquery.
      return call(random.pick(MATH), [reference(random.pick(['f', 'g']))]);
    case 4:
      return {
        ...reference(random.pick(FIELDS)),
        cast: random.pick(['float', 'integer', 'string']),
      };
    default:
      return name();
  }
}

function randomNumeric(random: Random): Expression {
  return random.chance(0.1)
    ? paren(binary(reference('f'), '+', reference('i')))
    : reference(random.pick(NUMERIC));
}

function randomNumber(random: Random): Expression {
  return random.chance(0.5)
    ? integer(random.below(9) - 2)
    : { kind: 'number', value: random.below(40) / 8, span: SPAN };
}

function randomAggregate(random: Random, isSingle = false): Expression {
  const name = random.pick<string>([
    ...AGGREGATES,
    ...SELECTORS,
    'count',
    'mean',
    'sum',
    'percentile',
    ...(isSingle ? [] : ['integral']),
  ]);
  const anyType = ['count', 'first', 'last', 'mode'].includes(name) && !isSingle;
  const argument = anyType ? reference(random.pick(FIELDS)) : reference(random.pick(NUMERIC));
  const one = aggregateOf(random, name, argument);
  if (isSingle || !random.chance(0.12)) return one;
  // Bits of a call, now and then of what nobody knows, which has no type.
  if (random.chance(0.3)) {
    const read = reference(random.pick(['i', 'i', 'nosuch']));
    return binary(
      call(random.pick(['sum', 'max', 'count']), [read]),
      random.pick(OF_BITS),
      integer(random.below(9)),
    );
  }
  return random.chance(0.5)
    ? binary(one, random.pick(['+', '-', '*', '/']), call('count', [reference('f')]))
    : binary(one, random.pick(['+', '*', '/']), randomNumber(random));
}

function aggregateOf(random: Random, name: string, argument: Expression): Expression {
  switch (name) {
    case 'percentile':
      return call(name, [argument, integer(random.pick([50, 67, 90, 100]))]);
    case 'integral':
      // For integers, the reference server continues with a wrong value beyond the border of a
      // window.
      return call(name, [reference('f'), duration(60)]);
    case 'count':
      return call(name, [random.chance(0.2) ? call('distinct', [argument]) : argument]);
    default:
      return call(name, [argument]);
  }
}

function randomSelector(random: Random): Expression {
  const field = reference(random.pick(NUMERIC));
  switch (random.below(7)) {
    case 6:
      // Fewer would be a choice of each server's own.
      return call('sample', [field, integer(100)]);
    case 0:
      // Below 50 a group of one point has no row, after which the reference server forgets the
      // other groups.
      return call('percentile', [field, integer(50 + random.below(51))]);
    case 1:
      return call(random.pick(['top', 'bottom']), [
        field,
        ...(random.chance(0.4) ? [reference(random.pick(TAGS))] : []),
        integer(1 + random.below(3)),
      ]);
    default:
      return call(random.pick(SELECTORS), [field]);
  }
}

function randomTransformation(
  random: Random,
  argument: Expression,
  hasWindow: boolean,
): Expression {
  switch (random.below(5)) {
    case 0:
      return call('moving_average', [argument, integer(2 + random.below(3))]);
    case 1: {
      const hold = random.chance(0.3) ? [integer(random.below(5) - 1)] : [];
      const warmUp = hold.length > 0 && random.chance(0.5) ? [text(random.pick(WARM_UPS))] : [];
      return call(random.pick(TECHNICAL), [
        argument,
        integer(2 + random.below(3)),
        ...hold,
        ...warmUp,
      ]);
    }
    default: {
      const name = random.pick(PLAIN_TRANSFORMATIONS);
      const takesUnit = name.endsWith('derivative') || name === 'elapsed';
      const unit = takesUnit && (hasWindow || random.chance(0.5)) ? [duration(60)] : [];
      return call(name, [argument, ...unit]);
    }
  }
}

function randomDimensions(random: Random, hasWindow: boolean): readonly Expression[] {
  const tags = random.chance(0.4) ? [reference(random.pick(TAGS))] : [];
  if (random.chance(0.05)) tags.push(reference('nosuch'));
  const all: Expression[] = random.chance(0.08) ? [{ kind: 'wildcard', span: SPAN }] : tags;
  if (all.length === 0 && random.chance(0.05)) all.push(regex(random.pick(['^[hz]', '^h', '^q'])));
  if (!hasWindow) return all;
  const every = duration(60 * random.pick(MINUTES));
  const offset = random.chance(0.2) ? [duration(60 * (random.below(40) - 20))] : [];
  return [call('time', [every, ...offset]), ...all];
}

function randomFill(random: Random): Fill {
  const kind = random.pick(['null', 'none', 'previous', 'linear', 'number'] as const);
  if (kind !== 'number') return { kind };
  const value = random.below(20) - 5;
  return { kind, value: random.chance(0.3) ? value + 0.75 : BigInt(value) };
}

export function randomCondition(random: Random, hasRange: boolean): Expression | undefined {
  const parts = random.chance(0.4) ? [randomFilter(random, 2)] : [];
  if (hasRange && random.chance(0.03)) {
    parts.unshift(randomMoment(random));
  } else if (hasRange) {
    const early = START_SECONDS + random.below(SPAN_SECONDS / 2 / 60) * 60;
    const late = START_SECONDS + SPAN_SECONDS / 2 + random.below(SPAN_SECONDS / 2 / 60) * 60;
    // A range may end before it starts.
    const [from, to] = random.chance(0.05) ? [late, early] : [early, late];
    parts.unshift(
      binary(reference('time'), random.pick(['>=', '>']), randomTime(random, from)),
      binary(reference('time'), random.pick(['<', '<=']), randomTime(random, to)),
    );
  }
  return parts.length === 0 ? undefined : parts.reduce(and);
}

/** A time, or one of two. */
function randomMoment(random: Random): Expression {
  const equal = (): Expression => {
    const seconds = START_SECONDS + random.below(SPAN_SECONDS);
    return binary(reference('time'), '=', randomTime(random, seconds));
  };
  return random.chance(0.5) ? equal() : paren(binary(equal(), 'OR', equal()));
}

/** A duration since 1970, now and then as a text in one of the forms that times have. */
function randomTime(random: Random, seconds: number): Expression {
  if (random.chance(0.8)) return duration(seconds);
  const written = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  switch (random.below(3)) {
    case 0:
      return text(written.replace('T', ' ').replace('Z', ''));
    case 1:
      // An hour of one digit.
      return text(written.replace(/T0?/, ' ').replace('Z', ''));
    default:
      return text(written);
  }
}

function randomFilter(random: Random, depth: number): Expression {
  if (depth > 0 && random.chance(0.35)) {
    const operator = random.pick(['AND', 'OR'] as const);
    const pair = binary(randomFilter(random, depth - 1), operator, randomFilter(random, depth - 1));
    return paren(pair);
  }
  switch (random.below(9)) {
    case 8:
      return binary(
        reference(random.pick(NUMERIC)),
        // Tags compare in another way there where one is missing, and so do unknown names.
        random.pick(['<', '>=']),
        reference(random.pick(NUMERIC)),
      );
    case 6:
      return binary(
        reference('s'),
        random.pick(['=~', '!~']),
        regex(random.pick(['^r', 'e$', 'ee'])),
      );
    case 7:
      return binary(
        binary(reference('f'), random.pick(['+', '-', '*']), randomNumeric(random)),
        random.pick(['<', '>=']),
        randomNumber(random),
      );
    case 0:
      return binary(reference('host'), random.pick(['=', '!=']), text(random.pick(['a', 'b', ''])));
    case 1:
      return binary(
        reference(random.pick(TAGS)),
        random.pick(['=~', '!~']),
        regex(random.pick(['^[ab]', 'x', '.'])),
      );
    case 2:
      return binary(reference('s'), random.pick(['=', '!=']), text('red'));
    case 3:
      return binary(reference('b'), '=', {
        kind: 'boolean',
        value: random.chance(0.5),
        span: SPAN,
      });
    case 4:
      return binary(reference('zone'), random.pick(['=', '!=']), text(random.pick(['', 'x'])));
    default:
      return binary(
        reference(random.pick(NUMERIC)),
        random.pick(['<', '<=', '>', '>=', '=', '!=']),
        randomNumber(random),
      );
  }
}
