// Statements that take long, or would without a limit, and their data.
import { batches, FIELDS, manySeries, START } from './lines.ts';

const CPU_HOSTS = 100;
const CPU_BODIES = 200;
const ROWS = 5000;
const SERIES = 300_000;
const TEXTS = 300_000;
const HOUR_NANOS = 3_600_000_000_000n;
/** The comparisons that a condition may have, nearly. */
const COMPARISONS = 1990;
const PERCENTILES = 300;

/**
 * Bodies of the data: `cpu` a million rows of ten fields, `h` 300,000 series, `t` one series of
 * 300,000 texts.
 */
export function heavyData(): Uint8Array[] {
  const source = batches(CPU_HOSTS, ROWS);
  const bodies = Array.from({ length: CPU_BODIES }, () => source.next().value as Uint8Array);
  const encoder = new TextEncoder();
  for (let at = 0; at < TEXTS; at += ROWS) {
    const lines = Array.from(
      { length: ROWS },
      (_, i) => `t s="v${at + i}",x=${((at + i) * 7919) % TEXTS}.5 ${START + BigInt(at + i)}`,
    );
    bodies.push(encoder.encode(lines.join('\n')));
  }
  return [...bodies, ...manySeries('h', SERIES, ROWS)];
}

const until = (hours: bigint): string =>
  `time >= ${START} AND time < ${START + HOUR_NANOS * hours}`;
const EVERYTHING = until(28n);

/** One statement of each kind by its name. */
export const HEAVY: Readonly<Record<string, string>> = {
  'raw rows': 'SELECT * FROM cpu',
  'raw rows, descending': 'SELECT * FROM cpu ORDER BY time DESC',
  'windows of 1 ns': `SELECT count(usage_0) FROM cpu WHERE ${until(1n)} GROUP BY time(1ns)`,
  'nested subqueries': `SELECT max(m) FROM (SELECT mean(v) AS m FROM (SELECT usage_0 + usage_1 AS v FROM cpu) WHERE ${EVERYTHING} GROUP BY time(10s), hostname) WHERE ${EVERYTHING} GROUP BY time(1m)`,
  'rows of a subquery': 'SELECT * FROM (SELECT * FROM cpu)',
  'pattern, tag': 'SELECT f FROM h WHERE id =~ /(1|2)+.*9[0-4]/',
  'pattern, field': 'SELECT s FROM t WHERE s =~ /(1|2)+.*9[0-4]/',
  'SHOW SERIES': 'SHOW SERIES FROM h',
  'SHOW TAG VALUES': 'SHOW TAG VALUES FROM h WITH KEY = id',
  'cardinality of a condition':
    "SHOW SERIES EXACT CARDINALITY FROM h WHERE id =~ /9.*8/ OR region = 'r1'",
  'SELECT INTO': 'SELECT * INTO copy FROM cpu GROUP BY *',
  holt_winters: `SELECT holt_winters(mean(usage_0), 1000, 360) FROM cpu WHERE ${EVERYTHING} GROUP BY time(10s)`,
  'holt_winters, a million ahead': `SELECT holt_winters(mean(usage_0), 1000000, 0) FROM cpu WHERE ${EVERYTHING} GROUP BY time(10s)`,
  distinct: 'SELECT distinct(s) FROM t',
  mode: 'SELECT mode(x) FROM t',
  'median of all': 'SELECT median(v) FROM (SELECT usage_0 * 1.5 AS v FROM cpu)',
  top: 'SELECT top(x, 100000) FROM t',
  'top by tag': 'SELECT top(f, id, 100000) FROM h',
  comparisons: `SELECT usage_0 FROM cpu WHERE ${alternatives()}`,
  percentiles: `SELECT ${percentiles()} FROM cpu`,
  'means of all fields': `SELECT ${FIELDS.map((name) => `stddev(${name})`).join(', ')} FROM cpu WHERE ${EVERYTHING} GROUP BY time(10s), hostname`,
};

function alternatives(): string {
  const one = (i: number): string => `usage_${i % 10} + ${i} = ${-i - 1}`;
  return Array.from({ length: COMPARISONS }, (_, i) => one(i)).join(' OR ');
}

function percentiles(): string {
  return Array.from({ length: PERCENTILES }, (_, i) => `percentile(usage_0, ${i / 3})`).join(', ');
}
