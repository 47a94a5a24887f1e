// Coverage of the query language by recordings of a real InfluxDB: every function, every kind of
// statement and every clause has cases that agree (oracle.test.ts runs them). Statements that
// cannot be recorded, because their result depends on the time or on the service, name the test
// that covers them.
import { existsSync, readFileSync } from 'node:fs';

import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';
import { FUNCTIONS } from '@tidemark/query';
import { expect, test } from 'vitest';

const FILES = ['oracle-cases.jsonl', 'extra-cases.jsonl', 'fuzz-cases.jsonl'];
const STATEMENTS_TEST = 'packages/tsdb/src/statements/statements.test.ts';

type RecordedCase = {
  readonly setup?: readonly string[];
  readonly pre?: readonly RecordedRequest[];
  readonly request: RecordedRequest;
  readonly body: unknown;
};
type RecordedRequest = { readonly params?: Readonly<Record<string, string>> };

/**
 * Texts of the recorded cases that were answered without an error, and of the statements before
 * them.
 */
const texts: readonly string[] = FILES.flatMap((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedCase)
    .flatMap(({ setup = [], pre = [], request, body }) => {
      const isError = JSON.stringify(body ?? '').includes('"error"');
      const sent = isError ? [] : [...pre, request];
      return [...setup, ...sent.flatMap(({ params }) => params?.['q'] ?? [])];
    }),
);

const recordedKinds: ReadonlySet<string> = new Set(
  texts.flatMap((text) => parseQuery(text).query.statements.map((one) => one.kind)),
);

/** How each kind of statement is tested. A kind that is missing here does not compile. */
const KINDS = {
  select: 'recorded',
  explain: 'recorded',
  'show-measurements': 'recorded',
  'show-field-keys': 'recorded',
  'show-series': 'recorded',
  'show-tag-keys': 'recorded',
  'show-tag-values': 'recorded',
  'show-cardinality': 'recorded',
  'show-databases': 'recorded',
  'show-continuous-queries': 'recorded',
  'show-diagnostics': STATEMENTS_TEST,
  'show-stats': STATEMENTS_TEST,
  'show-grants': 'recorded',
  'show-queries': STATEMENTS_TEST,
  'show-retention-policies': 'recorded',
  'show-shards': STATEMENTS_TEST,
  'show-shard-groups': STATEMENTS_TEST,
  'show-subscriptions': 'recorded',
  'show-users': 'recorded',
  'create-database': 'recorded',
  'drop-database': 'recorded',
  'create-retention-policy': 'recorded',
  'alter-retention-policy': 'recorded',
  'drop-retention-policy': 'recorded',
  'create-continuous-query': 'recorded',
  'drop-continuous-query': 'recorded',
  'create-subscription': STATEMENTS_TEST,
  'drop-subscription': STATEMENTS_TEST,
  'drop-measurement': 'recorded',
  'drop-series': 'recorded',
  delete: 'recorded',
  'drop-shard': STATEMENTS_TEST,
  'kill-query': 'packages/tsdb/src/query/running-queries.test.ts',
  'create-user': 'recorded',
  'drop-user': 'recorded',
  'set-password': 'recorded',
  grant: 'recorded',
  'grant-admin': 'recorded',
  revoke: 'recorded',
  'revoke-admin': 'recorded',
} as const satisfies Record<Statement['kind'], string>;

test.each(Object.entries(KINDS))('%s is %s', (kind, how) => {
  if (how === 'recorded') {
    expect(recordedKinds).toContain(kind);
  } else {
    expect(existsSync(new URL(`../../${how}`, import.meta.url))).toBe(true);
  }
});

test.each([...FUNCTIONS.keys()])('%s() is recorded', (name) => {
  expect(texts.some((text) => new RegExp(`\\b${name}\\(`, 'i').test(text))).toBe(true);
});

test.each([
  ['fields', /SELECT \w+, \w+ FROM/],
  ['wildcard', /SELECT \*/],
  ['wildcard of fields or tags', /\*::(field|tag)/],
  ['regular expression of fields', /SELECT \/[^/]+\//],
  ['regular expression in a call', /\w+\(\/[^/]+\/\)/],
  ['alias', / AS \w+/i],
  ['::float', /::float/],
  ['::integer', /::integer/],
  ['::unsigned', /::unsigned/],
  ['::string', /::string/],
  ['::boolean', /::boolean/],
  ['::field', /\w::field/],
  ['::tag', /\w::tag/],
  ['arithmetic', /\w [-+*/%] \w/],
  ['bitwise operators', /\w [&|^] \w/],
  ['AND and OR', / AND .* OR /i],
  ['nested functions', /derivative\(mean\(/i],
  ['DISTINCT f', /DISTINCT \w/i],
  ['count(DISTINCT f)', /count\(DISTINCT[ (]/i],
  ['top by tags', /top\(\w+, \w+, \d/i],
  ['bottom by tags', /bottom\(\w+, \w+, \d/i],
  ['subquery', /FROM \(SELECT/i],
  ['subquery of a subquery', /FROM \(SELECT.*FROM \(SELECT/i],
  ['several sources', /FROM \w+, \w+/],
  ['source by regular expression', /FROM \/[^/]+\//],
  ['db.rp.measurement', /FROM "?\w+"?\."?\w+"?\."?\w+/],
  ['db..measurement', /FROM "?\w+"?\.\."?\w+/],
  ['INTO', / INTO \w/i],
  ['INTO … :MEASUREMENT', /:MEASUREMENT/],
  ['INTO … GROUP BY *', / INTO .*GROUP BY \*/i],
  ['condition on a tag', /WHERE "?\w+"? = '/],
  ['condition on a field', /WHERE "?\w+"? > \d/],
  ['condition with a regular expression', /WHERE "?\w+"? (=~|!~) \//],
  ['time arithmetic', /time [<>]=? '[^']+' [-+] \d+[smhd]/],
  ['now()', /time [<>]=? now\(\)/],
  ['GROUP BY tag', /GROUP BY "?\w+"?$/],
  ['GROUP BY *', /GROUP BY \*/],
  ['GROUP BY /regex/', /GROUP BY \//],
  ['GROUP BY time(interval)', /GROUP BY time\(\d+\w+\)/],
  ['GROUP BY time(interval, offset)', /GROUP BY time\(\d+\w+, ?-?\d+/],
  ['fill(null)', /fill\(null\)/i],
  ['fill(none)', /fill\(none\)/i],
  ['fill(previous)', /fill\(previous\)/i],
  ['fill(linear)', /fill\(linear\)/i],
  ['fill(number)', /fill\(-?\d/i],
  ['ORDER BY time', /ORDER BY time DESC/i],
  ['LIMIT and OFFSET', / LIMIT \d+ OFFSET \d/i],
  ['SLIMIT and SOFFSET', / SLIMIT \d+ SOFFSET \d/i],
  ['tz()', / tz\('/i],
  ['EXPLAIN', /^EXPLAIN SELECT/i],
  ['exact cardinality', /EXACT CARDINALITY/i],
  ['estimated cardinality', /SHOW \w+( \w+)? CARDINALITY/i],
  ['several statements', /;\s*\w/],
  ['comment', /--|\/\*/],
  ['bind parameter', /\$\w/],
])('%s is recorded', (_name, pattern) => {
  expect(texts.some((text) => pattern.test(text))).toBe(true);
});

test('EXPLAIN ANALYZE has its own tests, because times are different each time', () => {
  for (const file of [
    'packages/query/src/explain.test.ts',
    'packages/storage/src/engine/explain.test.ts',
  ]) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(text).toContain('ANALYZE');
  }
});
