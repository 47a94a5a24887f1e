// SHOW statements.
import type { MeasurementFilter, ShowClauses, ShowStatement, TagKeyFilter } from './ast.ts';
import {
  fromMeasurements,
  groupBy,
  measurement,
  onDatabase,
  optionalInteger,
  orderBy,
  where,
} from './clauses.ts';
import type { Cursor } from './cursor.ts';

const SHOW_WORDS = [
  'CONTINUOUS',
  'DATABASES',
  'DIAGNOSTICS',
  'FIELD',
  'GRANTS',
  'MEASUREMENT',
  'MEASUREMENTS',
  'QUERIES',
  'RETENTION',
  'SERIES',
  'SHARD',
  'SHARDS',
  'STATS',
  'SUBSCRIPTIONS',
  'TAG',
  'USERS',
];

type CardinalityOf = 'series' | 'measurement' | 'tag-key' | 'field-key';

/** Parses `SHOW …`, whose first word is next. */
export function showStatement(cursor: Cursor): ShowStatement {
  const { start } = cursor.peek();
  cursor.expect('SHOW');
  const word = cursor.peek().fixed;
  if (!SHOW_WORDS.includes(word)) cursor.failExpected(SHOW_WORDS);
  cursor.next();
  switch (word) {
    case 'FIELD':
      return fieldStatement(cursor, start);
    case 'MEASUREMENT':
      return cardinality(cursor, start, 'measurement');
    case 'MEASUREMENTS':
      return measurementsStatement(cursor, start);
    case 'SERIES':
      return seriesStatement(cursor, start);
    case 'TAG':
      return tagStatement(cursor, start);
    default:
      return administrativeStatement(cursor, start, word);
  }
}

function administrativeStatement(cursor: Cursor, start: number, word: string): ShowStatement {
  switch (word) {
    case 'CONTINUOUS':
      cursor.expect('QUERIES');
      return { kind: 'show-continuous-queries', span: cursor.spanFrom(start) };
    case 'DATABASES':
      return { kind: 'show-databases', span: cursor.spanFrom(start) };
    case 'DIAGNOSTICS': {
      const module = forModule(cursor);
      return { kind: 'show-diagnostics', module, span: cursor.spanFrom(start) };
    }
    case 'GRANTS': {
      cursor.expect('FOR');
      const user = cursor.identifier();
      return { kind: 'show-grants', user, span: cursor.spanFrom(start) };
    }
    case 'QUERIES':
      return { kind: 'show-queries', span: cursor.spanFrom(start) };
    case 'RETENTION': {
      cursor.expect('POLICIES');
      const database = onDatabase(cursor);
      return { kind: 'show-retention-policies', database, span: cursor.spanFrom(start) };
    }
    case 'SHARD':
      cursor.expect('GROUPS');
      return { kind: 'show-shard-groups', span: cursor.spanFrom(start) };
    case 'SHARDS':
      return { kind: 'show-shards', span: cursor.spanFrom(start) };
    case 'STATS': {
      const module = forModule(cursor);
      return { kind: 'show-stats', module, span: cursor.spanFrom(start) };
    }
    case 'SUBSCRIPTIONS':
      return { kind: 'show-subscriptions', span: cursor.spanFrom(start) };
    default:
      return { kind: 'show-users', span: cursor.spanFrom(start) };
  }
}

function forModule(cursor: Cursor): string | undefined {
  return cursor.skip('FOR') ? cursor.string() : undefined;
}

function fieldStatement(cursor: Cursor, start: number): ShowStatement {
  if (cursor.skip('KEY')) return cardinality(cursor, start, 'field-key');
  if (!cursor.skip('KEYS')) cursor.failExpected(['KEY', 'KEYS']);
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const order = orderBy(cursor);
  const limit = optionalInteger(cursor, 'LIMIT');
  const offset = optionalInteger(cursor, 'OFFSET');
  return {
    kind: 'show-field-keys',
    database,
    sources,
    orderBy: order,
    limit,
    offset,
    span: cursor.spanFrom(start),
  };
}

function measurementsStatement(cursor: Cursor, start: number): ShowStatement {
  const scope = measurementsScope(cursor);
  const filter = cursor.skip('WITH') ? measurementFilter(cursor) : undefined;
  const clauses = conditionClauses(cursor);
  return {
    kind: 'show-measurements',
    ...scope,
    sources: [],
    with: filter,
    ...clauses,
    span: cursor.spanFrom(start),
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
  const condition = where(cursor);
  const order = orderBy(cursor);
  const limit = optionalInteger(cursor, 'LIMIT');
  const offset = optionalInteger(cursor, 'OFFSET');
  return { condition, orderBy: order, limit, offset };
}

function seriesStatement(cursor: Cursor, start: number): ShowStatement {
  // EXACT without CARDINALITY is accepted and means nothing.
  const isExact = cursor.skip('EXACT');
  if (cursor.at('CARDINALITY')) return cardinalityOf(cursor, start, { of: 'series', isExact });
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const clauses = conditionClauses(cursor);
  return { kind: 'show-series', database, sources, ...clauses, span: cursor.spanFrom(start) };
}

function tagStatement(cursor: Cursor, start: number): ShowStatement {
  if (cursor.skip('KEY')) return cardinality(cursor, start, 'tag-key');
  if (cursor.skip('VALUES')) return tagValuesStatement(cursor, start);
  if (!cursor.skip('KEYS')) cursor.failExpected(['KEY', 'KEYS', 'VALUES']);
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const clauses = conditionClauses(cursor);
  const seriesLimit = optionalInteger(cursor, 'SLIMIT');
  const seriesOffset = optionalInteger(cursor, 'SOFFSET');
  return {
    kind: 'show-tag-keys',
    database,
    sources,
    ...clauses,
    seriesLimit,
    seriesOffset,
    span: cursor.spanFrom(start),
  };
}

function tagValuesStatement(cursor: Cursor, start: number): ShowStatement {
  const isExact = cursor.skip('EXACT');
  if (isExact || cursor.at('CARDINALITY')) return tagValuesCardinality(cursor, start, isExact);
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const keys = tagKeyFilter(cursor);
  const clauses = conditionClauses(cursor);
  return {
    kind: 'show-tag-values',
    database,
    sources,
    keys,
    ...clauses,
    span: cursor.spanFrom(start),
  };
}

function tagValuesCardinality(cursor: Cursor, start: number, isExact: boolean): ShowStatement {
  cursor.expect('CARDINALITY');
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const keys = tagKeyFilter(cursor);
  return {
    kind: 'show-cardinality',
    of: 'tag-values',
    isExact,
    database,
    sources,
    keys,
    ...cardinalityClauses(cursor),
    span: cursor.spanFrom(start),
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
      const keys = [cursor.identifier()];
      while (cursor.skip(',')) keys.push(cursor.identifier());
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

function cardinality(cursor: Cursor, start: number, of: CardinalityOf): ShowStatement {
  const isExact = cursor.skip('EXACT');
  if (!isExact && !cursor.at('CARDINALITY')) cursor.failExpected(['EXACT', 'CARDINALITY']);
  return cardinalityOf(cursor, start, { of, isExact });
}

function cardinalityOf(
  cursor: Cursor,
  start: number,
  what: { readonly of: CardinalityOf; readonly isExact: boolean },
): ShowStatement {
  cursor.expect('CARDINALITY');
  const database = onDatabase(cursor);
  const sources = fromMeasurements(cursor);
  const clauses = cardinalityClauses(cursor);
  return {
    kind: 'show-cardinality',
    ...what,
    database,
    sources,
    ...clauses,
    span: cursor.spanFrom(start),
  };
}

function cardinalityClauses(cursor: Cursor): {
  readonly condition: ShowClauses['condition'];
  readonly dimensions: ReturnType<typeof groupBy>;
  readonly limit: bigint | undefined;
  readonly offset: bigint | undefined;
} {
  const condition = where(cursor);
  const dimensions = groupBy(cursor);
  const limit = optionalInteger(cursor, 'LIMIT');
  const offset = optionalInteger(cursor, 'OFFSET');
  return { condition, dimensions, limit, offset };
}
