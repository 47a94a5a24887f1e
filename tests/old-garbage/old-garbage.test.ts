// What small queries allocate is young garbage: none of it is kept among the old objects.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./small-queries.ts', import.meta.url));

const QUERIES = {
  aggregates: `SELECT max(f) FROM m WHERE t = '1' AND u = '1' AND time < 90`,
  windows: `SELECT max(f) FROM m WHERE (t = '1' OR t = '0') AND time < 90 GROUP BY time(10ns)`,
  'functions of rows': `SELECT stddev(f) FROM m WHERE t =~ /1/ AND time < 90`,
  rows: `SELECT f FROM m WHERE t = '1' AND time < 90 LIMIT 5`,
  'a subquery': `SELECT max(f) FROM (SELECT f FROM m WHERE time < 90 LIMIT 5) WHERE time < 90`,
};

test('a small query leaves nothing among the old objects', async () => {
  const args = ['--expose-gc', '--conditions=source', PROGRAM, ...Object.values(QUERIES)];
  const { stdout } = await promisify(execFile)(process.execPath, args);

  const bytes = JSON.parse(stdout) as number[];
  const above = Object.keys(QUERIES).filter((_, i) => !(bytes[i]! < 2000));
  expect(above, stdout).toEqual([]);
  expect(bytes).toHaveLength(5);
});
