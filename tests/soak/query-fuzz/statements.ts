// Random statements as syntax trees: valid more often than not, so that answers are compared and
// not only messages. What is known to be a defect of the reference server is not generated; see
// excuses.ts.
import type {
  Expression,
  Fill,
  MeasurementSource,
  SelectField,
  SelectStatement,
  Source,
  Statement,
} from '@tidemark/influxql';

import { FIELDS, MEASUREMENTS, SPAN_SECONDS, START_SECONDS, TAGS } from './data.ts';
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
const MATH = ['sin', 'cos', 'atan', 'floor', 'ceil', 'round', 'sqrt', 'exp'] as const;
const MINUTES = [10, 15, 30, 60, 90] as const;

type Shape = 'raw' | 'aggregate' | 'selector' | 'transformation' | 'windowed-transformation';

/** A statement that reads. */
export function randomStatement(random: Random): Statement {
  return random.chance(0.12) ? randomShow(random) : randomSelect(random, 2);
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
  const sources = isNested ? [randomSubquery(random, depth - 1)] : randomSources(random);
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
    orderBy: isDescending ? { descending: true } : undefined,
    // The reference server limits what top and bottom read, not what they give.
    ...(fields.some(isRanking) ? {} : randomLimits(random)),
    timeZone: hasWindow && random.chance(0.1) ? random.pick(ZONES_OF_TIME) : undefined,
    span: SPAN,
  };
}

function isRanking({ expression }: SelectField): boolean {
  return expression.kind === 'call' && (expression.name === 'top' || expression.name === 'bottom');
}

const ZONES_OF_TIME = ['America/New_York', 'Asia/Kolkata', 'Europe/Berlin'] as const;

function randomLimits(random: Random): Partial<SelectStatement> {
  const some = (): bigint => BigInt(1 + random.below(4));
  // An offset without its limit gives incomplete answers on the reference server, which documents
  // that.
  const limits = random.chance(0.15)
    ? { limit: some(), offset: random.chance(0.3) ? some() : undefined }
    : {};
  return random.chance(0.1) ? { ...limits, seriesLimit: some() } : limits;
}

function randomSources(random: Random): readonly Source[] {
  const named = (): MeasurementSource => ({
    kind: 'measurement',
    name: random.pick(MEASUREMENTS),
    span: SPAN,
  });
  if (random.chance(0.1)) return [{ kind: 'measurement', pattern: '^[mn]$', span: SPAN }];
  if (random.chance(0.1)) return MEASUREMENTS.map((name) => ({ ...named(), name }));
  return [named()];
}

/** Names its columns like the fields of the data, so that outer statements find them. */
function randomSubquery(random: Random, depth: number): Source {
  const inner = randomSelect(random, depth);
  const fields = inner.fields.map((field, i) => ({ ...field, alias: FIELDS[i] ?? 'f' }));
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
    timeZone: undefined,
  };
  return { kind: 'subquery', statement, span: SPAN };
}

function randomFields(random: Random, shape: Shape, hasWindow: boolean): readonly SelectField[] {
  const field = (expression: Expression): SelectField => ({ expression, span: SPAN });
  switch (shape) {
    case 'raw':
      if (random.chance(0.15)) return [field({ kind: 'wildcard', span: SPAN })];
      if (random.chance(0.08)) return [field(regex('^[fib]$'))];
      return random.list(1, 3, () => field(randomRaw(random)));
    case 'aggregate':
      if (random.chance(0.06)) return [field(call('distinct', [reference(random.pick(FIELDS))]))];
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
      return [field(randomTransformation(random, randomAggregate(random, true), hasWindow))];
  }
}

function randomRaw(random: Random): Expression {
  const name = (): Expression => reference(random.pick(FIELDS));
  switch (random.below(8)) {
    case 0:
      return reference(random.pick(TAGS));
    case 1:
      return binary(
        randomNumeric(random),
        random.pick(['+', '-', '*', '/', '%']),
        randomNumeric(random),
      );
    case 2:
      return binary(
        randomNumeric(random),
        random.pick(['+', '-', '*', '/', '%']),
        randomNumber(random),
      );
    case 3:
      // Of integers, the reference server takes the result for an integer outside of a subquery.
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
  return random.chance(0.5)
    ? binary(one, random.pick(['+', '-', '*', '/']), call('count', [reference('f')]))
    : binary(one, random.pick(['+', '*', '/']), randomNumber(random));
}

function aggregateOf(random: Random, name: string, argument: Expression): Expression {
  switch (name) {
    case 'percentile':
      return call(name, [argument, integer(random.pick([50, 67, 90, 100]))]);
    case 'integral':
      // Of integers, the reference server goes on with a wrong value behind the border of a window.
      return call(name, [reference('f'), duration(60)]);
    case 'count':
      return call(name, [random.chance(0.2) ? call('distinct', [argument]) : argument]);
    default:
      return call(name, [argument]);
  }
}

function randomSelector(random: Random): Expression {
  const field = reference(random.pick(NUMERIC));
  switch (random.below(6)) {
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
    case 1:
      return call(random.pick(TECHNICAL), [argument, integer(2 + random.below(3))]);
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
  if (all.length === 0 && random.chance(0.05)) all.push(regex('^[hz]'));
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

function randomCondition(random: Random, hasRange: boolean): Expression | undefined {
  const parts = random.chance(0.4) ? [randomFilter(random, 2)] : [];
  if (hasRange) {
    const from = START_SECONDS + random.below(SPAN_SECONDS / 2 / 60) * 60;
    const to = START_SECONDS + SPAN_SECONDS / 2 + random.below(SPAN_SECONDS / 2 / 60) * 60;
    parts.unshift(
      binary(reference('time'), random.pick(['>=', '>']), duration(from)),
      binary(reference('time'), random.pick(['<', '<=']), duration(to)),
    );
  }
  return parts.length === 0 ? undefined : parts.reduce(and);
}

function randomFilter(random: Random, depth: number): Expression {
  if (depth > 0 && random.chance(0.35)) {
    const operator = random.pick(['AND', 'OR'] as const);
    const pair = binary(randomFilter(random, depth - 1), operator, randomFilter(random, depth - 1));
    return paren(pair);
  }
  switch (random.below(8)) {
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
