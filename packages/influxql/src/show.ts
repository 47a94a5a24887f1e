// SHOW statements.
import type {
  MeasurementFilter,
  ShowClauses,
  ShowStatement,
  TagKeyFilter,
  Unplaced,
} from './ast.ts';
import {
  groupBy,
  measurement,
  onDatabase,
  orderBy,
  rowLimits,
  scope,
  seriesLimits,
  where,
} from './clauses.ts';
import type { Cursor } from './cursor.ts';

type CardinalityOf = Extract<ShowStatement, { kind: 'show-cardinality' }>['of'];

type Parser = (cursor: Cursor) => Unplaced<ShowStatement>;

/** What follows SHOW, by its first word. */
const SHOW: Readonly<Record<string, Parser>> = {
  CONTINUOUS: (cursor) => {
    cursor.expect('QUERIES');
    return { kind: 'show-continuous-queries' };
  },
  DATABASES: () => ({ kind: 'show-databases' }),
  DIAGNOSTICS: (cursor) => ({ kind: 'show-diagnostics', module: forModule(cursor) }),
  FIELD: fieldStatement,
  GRANTS: (cursor) => {
    cursor.expect('FOR');
    return { kind: 'show-grants', user: cursor.identifier() };
  },
  MEASUREMENT: (cursor) => cardinality(cursor, 'measurement'),
  MEASUREMENTS: measurementsStatement,
  QUERIES: () => ({ kind: 'show-queries' }),
  RETENTION: (cursor) => {
    cursor.expect('POLICIES');
    return { kind: 'show-retention-policies', database: onDatabase(cursor) };
  },
  SERIES: seriesStatement,
  SHARD: (cursor) => {
    cursor.expect('GROUPS');
    return { kind: 'show-shard-groups' };
  },
  SHARDS: () => ({ kind: 'show-shards' }),
  STATS: (cursor) => ({ kind: 'show-stats', module: forModule(cursor) }),
  SUBSCRIPTIONS: () => ({ kind: 'show-subscriptions' }),
  TAG: tagStatement,
  USERS: () => ({ kind: 'show-users' }),
};

/** Parses `SHOW …`, whose first word is next. */
export function showStatement(cursor: Cursor): Unplaced<ShowStatement> {
  cursor.expect('SHOW');
  return cursor.choose(SHOW)(cursor);
}

function forModule(cursor: Cursor): string | undefined {
  return cursor.skip('FOR') ? cursor.string() : undefined;
}

function fieldStatement(cursor: Cursor): Unplaced<ShowStatement> {
  if (cursor.skip('KEY')) return cardinality(cursor, 'field-key');
  if (!cursor.skip('KEYS')) cursor.failExpected(['KEY', 'KEYS']);
  return { kind: 'show-field-keys', ...scope(cursor), ...orderAndLimits(cursor) };
}

function measurementsStatement(cursor: Cursor): Unplaced<ShowStatement> {
  return {
    kind: 'show-measurements',
    ...measurementsScope(cursor),
    sources: [],
    with: cursor.skip('WITH') ? measurementFilter(cursor) : undefined,
    ...conditionClauses(cursor),
  };
}

/** `ON db`, `ON db.rp`, `ON db.*`, `ON *`, `ON *.*`: `*` stands for all of them. */
function measurementsScope(cursor: Cursor): {
  readonly database?: string;
  readonly retentionPolicy?: string;
  readonly isAll?: true;
} {
  if (!cursor.skip('ON')) return {};
  const isAll = cursor.skip('*');
  const database = isAll ? undefined : cursor.identifier();
  let retentionPolicy: string | undefined;
  if (cursor.atAdjacent('.')) {
    cursor.next();
    retentionPolicy = cursor.skip('*') ? '*' : cursor.identifier();
  }
  return {
    ...(isAll ? { isAll } : {}),
    ...(database === undefined ? {} : { database }),
    ...(retentionPolicy === undefined ? {} : { retentionPolicy }),
  };
}

function measurementFilter(cursor: Cursor): MeasurementFilter {
  cursor.expect('MEASUREMENT');
  if (!cursor.at('=') && !cursor.at('=~')) cursor.failExpected(['=', '=~']);
  cursor.next();
  // As existing clients expect, the operand decides: a name is compared, a regular expression
  // matched.
  const { name, pattern } = measurement(cursor);
  return pattern === undefined ? { kind: 'equal', name: name ?? '' } : { kind: 'match', pattern };
}

/** `WHERE … ORDER BY … LIMIT … OFFSET …`. */
function conditionClauses(cursor: Cursor): Omit<ShowClauses, 'sources'> {
  return { condition: where(cursor), ...orderAndLimits(cursor) };
}

/** `ORDER BY … LIMIT … OFFSET …`. */
function orderAndLimits(cursor: Cursor): Pick<ShowClauses, 'orderBy' | 'limit' | 'offset'> {
  return { orderBy: orderBy(cursor), ...rowLimits(cursor) };
}

function seriesStatement(cursor: Cursor): Unplaced<ShowStatement> {
  // EXACT without CARDINALITY is accepted and means nothing.
  const isExact = cursor.skip('EXACT');
  if (cursor.at('CARDINALITY')) return cardinalityOf(cursor, { of: 'series', isExact });
  return { kind: 'show-series', ...scope(cursor), ...conditionClauses(cursor) };
}

function tagStatement(cursor: Cursor): Unplaced<ShowStatement> {
  if (cursor.skip('KEY')) return cardinality(cursor, 'tag-key');
  if (cursor.skip('VALUES')) return tagValuesStatement(cursor);
  if (!cursor.skip('KEYS')) cursor.failExpected(['KEY', 'KEYS', 'VALUES']);
  return {
    kind: 'show-tag-keys',
    ...scope(cursor),
    ...conditionClauses(cursor),
    ...seriesLimits(cursor),
  };
}

function tagValuesStatement(cursor: Cursor): Unplaced<ShowStatement> {
  const isExact = cursor.skip('EXACT');
  if (isExact || cursor.at('CARDINALITY')) {
    return cardinalityOf(cursor, { of: 'tag-values', isExact });
  }
  return {
    kind: 'show-tag-values',
    ...scope(cursor),
    keys: tagKeyFilter(cursor),
    ...conditionClauses(cursor),
  };
}

/** `WITH KEY = name`, `!= name`, `=~ /…/`, `!~ /…/`, `IN (a, b)`. */
function tagKeyFilter(cursor: Cursor): TagKeyFilter {
  cursor.expect('WITH', 'KEY');
  const operator = cursor.peek().fixed;
  switch (operator) {
    case 'IN': {
      cursor.next();
      cursor.expect('(');
      const keys = cursor.list(() => cursor.identifier());
      cursor.expect(')');
      return { kind: 'in', keys };
    }
    case '=':
    case '!=':
      cursor.next();
      return { kind: operator === '=' ? 'equal' : 'not-equal', key: cursor.identifier() };
    case '=~':
    case '!~': {
      cursor.next();
      const pattern = cursor.regex()?.text ?? cursor.failExpected(['regex']);
      return { kind: operator === '=~' ? 'match' : 'not-match', pattern };
    }
    default:
      return cursor.failExpected(['IN', '=', '=~']);
  }
}

function cardinality(cursor: Cursor, of: CardinalityOf): Unplaced<ShowStatement> {
  const isExact = cursor.skip('EXACT');
  if (!isExact && !cursor.at('CARDINALITY')) cursor.failExpected(['EXACT', 'CARDINALITY']);
  return cardinalityOf(cursor, { of, isExact });
}

function cardinalityOf(
  cursor: Cursor,
  what: { readonly of: CardinalityOf; readonly isExact: boolean },
): Unplaced<ShowStatement> {
  cursor.expect('CARDINALITY');
  return {
    kind: 'show-cardinality',
    ...what,
    ...scope(cursor),
    keys: what.of === 'tag-values' ? tagKeyFilter(cursor) : undefined,
    condition: where(cursor),
    dimensions: groupBy(cursor),
    ...rowLimits(cursor),
  };
}
