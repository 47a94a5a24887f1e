// Times in a zone: as texts of many rows, and as windows of an hour over decades with many calls,
// and how long a point that is written meanwhile waits.
// packages/cli/bin/node --conditions=source tests/bench/server/zones.ts
import { write } from '@tidemark/testkit';

import { besideInfluxdb, DATABASE } from './beside-influxdb.ts';

const ROWS = 190_000;
const ROWS_PER_BODY = 10_000;
const START_SECONDS = 1_500_000_000;
/** Only one day of the decades has points. */
const DAY_SECONDS = 86_400;

const ZONE = "tz('Europe/Berlin')";
const DECADES = "time >= '2000-01-01T00:00:00Z' AND time < '2020-01-01T00:00:00Z'";

/** Different calls over one field, each of which finds a value among the points of an hour. */
function calls(count: number): string {
  return Array.from({ length: count }, (_, i) => `percentile(f, ${10 + i / 100})`).join(', ');
}

await besideInfluxdb({
  fill,
  statements: [
    'SELECT f FROM rows',
    `SELECT f FROM rows ${ZONE}`,
    `SELECT mean(f) FROM rows GROUP BY time(1h) fill(none) ${ZONE}`,
    `SELECT mean(f) FROM day WHERE ${DECADES} GROUP BY time(1h) ${ZONE}`,
    `SELECT ${calls(10)} FROM day WHERE ${DECADES} GROUP BY time(1h) ${ZONE}`,
    `SELECT ${calls(3000)} FROM day WHERE ${DECADES} GROUP BY time(1h) fill(none) ${ZONE}`,
  ],
  isWrittenTo: true,
});

async function fill(url: string): Promise<void> {
  for (let from = 0; from < ROWS; from += ROWS_PER_BODY) {
    const lines = Array.from({ length: ROWS_PER_BODY }, (_, k) => {
      const row = from + k;
      return `rows f=${row / 4} ${START_SECONDS + row * 60}`;
    });
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
  const day = Array.from({ length: DAY_SECONDS / 60 }, (_, minute) => {
    return `day f=${minute / 4} ${START_SECONDS + minute * 60}`;
  });
  await write(url, DATABASE, day.join('\n'), { precision: 's' });
}
