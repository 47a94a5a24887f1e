// Random SHOW statements about the schema: every clause in every combination that the grammar has.
import type { Expression, MeasurementSource, Statement, TagKeyFilter } from '@tidemark/influxql';

import { MEASUREMENTS, SPAN_SECONDS, START_SECONDS, TAGS } from './data.ts';
import type { Random } from './random.ts';
import { binary, duration, integer, paren, reference, regex, SPAN, text } from './trees.ts';

const PATTERNS = ['^[ab]', 'x', '.', '^$', 'a|y'] as const;

export function randomShow(random: Random): Statement {
  const clauses = {
    sources: randomSources(random),
    condition: random.chance(0.5) ? randomCondition(random) : undefined,
    limit: random.chance(0.3) ? BigInt(random.below(4)) : undefined,
    offset: random.chance(0.2) ? BigInt(random.below(3)) : undefined,
    span: SPAN,
  };
  switch (random.below(7)) {
    case 0:
      return {
        kind: 'show-measurements',
        ...clauses,
        sources: [],
        with: random.chance(0.3) ? measurementFilter(random) : undefined,
      };
    case 1:
      return { kind: 'show-field-keys', ...clauses, condition: undefined };
    case 2:
      return {
        kind: 'show-series',
        ...clauses,
        ...(isAskedByTime(clauses) ? { offset: undefined } : {}),
      };
    case 3:
      return { kind: 'show-tag-keys', ...clauses };
    case 4:
    case 5:
      return { kind: 'show-tag-values', ...clauses, keys: randomKeys(random) };
    default:
      return randomCardinality(random, clauses);
  }
}

/**
 * With a time, SHOW SERIES is a SELECT there: an offset without its limit gives incomplete answers
 * (documented).
 */
function isAskedByTime({ condition, limit }: Clauses): boolean {
  const hasLimit = (limit ?? 0n) > 0n;
  return !hasLimit && condition !== undefined && some(condition, isTime);
}

function some(node: Expression, test: (node: Expression) => boolean): boolean {
  return (
    test(node) || (node.kind === 'binary' && (some(node.left, test) || some(node.right, test)))
  );
}

function isTime(node: Expression): boolean {
  return node.kind === 'reference' && node.name === 'time';
}

type Clauses = {
  readonly sources: readonly MeasurementSource[];
  readonly condition: Expression | undefined;
  readonly limit: bigint | undefined;
  readonly offset: bigint | undefined;
  readonly span: typeof SPAN;
};

/** Exact numbers of series and of tag values count those of every shard on the reference server. */
function randomCardinality(random: Random, clauses: Clauses): Statement {
  const of = random.pick(['tag-key', 'field-key', 'measurement'] as const);
  return {
    ...clauses,
    kind: 'show-cardinality',
    of,
    isExact: true,
    dimensions: of === 'tag-key' || random.chance(0.6) ? [] : [reference(random.pick(TAGS))],
    condition: of === 'field-key' ? undefined : clauses.condition,
  };
}

function randomSources(random: Random): readonly MeasurementSource[] {
  const named = (name: string): MeasurementSource => ({ kind: 'measurement', name, span: SPAN });
  switch (random.below(7)) {
    case 0:
      return [named(random.pick(MEASUREMENTS))];
    case 1:
      return random.list(2, 3, () => named(random.pick([...MEASUREMENTS, 'nosuch'])));
    case 2:
      return [{ kind: 'measurement', pattern: random.pick(['^[mn]$', 'm', 'o']), span: SPAN }];
    case 3:
      return [
        named(random.pick(MEASUREMENTS)),
        { kind: 'measurement', pattern: random.pick(['.', 'n']), span: SPAN },
      ];
    default:
      return [];
  }
}

function measurementFilter(random: Random) {
  return random.chance(0.5)
    ? ({ kind: 'equal', name: random.pick([...MEASUREMENTS, 'nosuch']) } as const)
    : ({ kind: 'match', pattern: random.pick(['^[mn]$', 'm', 'o']) } as const);
}

function randomKeys(random: Random): TagKeyFilter {
  const key = random.pick([...TAGS, 'nosuch']);
  switch (random.below(5)) {
    case 0:
      return { kind: 'equal', key };
    case 1:
      return { kind: 'not-equal', key };
    case 2:
      return { kind: 'match', pattern: random.pick(['^h', 'o', '.', 'q']) };
    case 3:
      return { kind: 'not-match', pattern: random.pick(['^h', 'o', '.', 'q']) };
    default:
      return { kind: 'in', keys: random.list(1, 3, () => random.pick([...TAGS, 'nosuch'])) };
  }
}

function randomCondition(random: Random): Expression {
  const tags = randomFilter(random, 2);
  if (!random.chance(0.12)) return tags;
  const from = START_SECONDS + random.below(SPAN_SECONDS);
  const range = binary(reference('time'), random.pick(['>=', '<', '>']), duration(from));
  return random.chance(0.3) ? range : binary(range, 'AND', tags);
}

function randomFilter(random: Random, depth: number): Expression {
  if (depth > 0 && random.chance(0.35)) {
    const pair = binary(
      randomFilter(random, depth - 1),
      random.pick(['AND', 'OR']),
      randomFilter(random, depth - 1),
    );
    return random.chance(0.7) ? paren(pair) : pair;
  }
  const tag = reference(random.pick([...TAGS, ...TAGS, 'nosuch']));
  // Values of tags are texts, and nothing else is equal to one.
  if (random.chance(0.06)) {
    const value: Expression = random.chance(0.5)
      ? { kind: 'boolean', value: false, span: SPAN }
      : integer(5);
    return binary(tag, random.pick(['=', '!=']), value);
  }
  return random.chance(0.5)
    ? binary(tag, random.pick(['=', '!=']), text(random.pick(['a', 'b', 'x', ''])))
    : binary(tag, random.pick(['=~', '!~']), regex(random.pick(PATTERNS)));
}
