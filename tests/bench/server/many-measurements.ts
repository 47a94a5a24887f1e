// Statements of dashboards over many small measurements: 500 of them, with 20 series of a day each.
// packages/cli/bin/node --conditions=source tests/bench/server/many-measurements.ts
import { query, write } from '@tidemark/testkit';

import { besideInfluxdb, DATABASE } from './beside-influxdb.ts';

const MEASUREMENTS = 500;
const SERIES = 20;
/** A point every ten minutes. */
const POINTS = 144;
const START_SECONDS = 1_700_000_000;

const RANGE = `time >= ${START_SECONDS}s AND time < ${START_SECONDS + POINTS * 600}s`;
const STATEMENTS: readonly string[] = [
  `SELECT mean(f) FROM /^m1/ WHERE ${RANGE} GROUP BY time(1h)`,
  `SELECT last(*) FROM /^m1\\d\\d$/ GROUP BY host`,
  `SELECT max(f) FROM /.*/ WHERE ${RANGE}`,
  `SELECT * FROM m7 WHERE ${RANGE} LIMIT 10`,
  `SELECT mean(*) FROM m7 WHERE ${RANGE} GROUP BY time(1h)`,
  'SELECT mean(f) INTO copy..:MEASUREMENT FROM /^m[1-3]\\d$/ GROUP BY *',
  'SHOW FIELD KEYS',
  'SHOW TAG VALUES WITH KEY = host',
];

await besideInfluxdb({ fill, statements: STATEMENTS });

async function fill(url: string): Promise<void> {
  await query(url, 'CREATE DATABASE copy');
  for (let m = 0; m < MEASUREMENTS; m++) {
    const lines: string[] = [];
    for (let s = 0; s < SERIES; s++) {
      for (let p = 0; p < POINTS; p++) {
        const time = START_SECONDS + p * 600;
        lines.push(`m${m},host=h${s} f=${(p * 7 + s) / 4},i=${p}i ${time}`);
      }
    }
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}
