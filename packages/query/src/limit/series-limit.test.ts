// LIMIT, OFFSET, SLIMIT and SOFFSET: results are parts of the result without them.
import { describe, expect, test } from 'vitest';

import { MemorySource } from '../testing/memory-source.ts';
import { answer, contextOf, DATABASE, SECOND } from '../testing/run-statement.ts';

type Series = { readonly name: string; readonly tags: object; readonly values: unknown[][] };

/**
 * Six series in each of `m` and `n`; half of them have no points before second 10, some lack a tag.
 */
async function seriesOf(text: string): Promise<readonly Series[]> {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = ['m', 'n'].flatMap((measurement) =>
    Array.from({ length: 60 }, (_, i) => {
      const host = ['host', 'cab'.charAt(i % 3)] as const;
      const zone = ['zone', 'xy'.charAt(i % 2)] as const;
      const isLate = i % 2 === 0;
      return {
        measurement,
        tags: i % 3 === 2 ? [zone] : [host, zone],
        fields: [['v', i]] as const,
        time: BigInt(isLate ? i + 10 : Math.floor(i / 6)) * SECOND,
      };
    }),
  );
  source.write(DATABASE, 'autogen', points);
  return JSON.parse(await answer(text, await contextOf(source))).results[0].series ?? [];
}

describe('OFFSET without LIMIT', () => {
  test.each([
    'SELECT v FROM m',
    'SELECT v FROM m GROUP BY host',
    'SELECT v FROM m ORDER BY time DESC',
    'SELECT v FROM (SELECT v FROM m)',
    'SELECT max(v) FROM m WHERE time < 30s GROUP BY time(1s), zone fill(none)',
    'SELECT difference(v) FROM m GROUP BY host',
  ])('skips so many rows of each series of %s', async (text) => {
    const all = await seriesOf(text);

    for (const offset of [0, 1, 3, 7, 100]) {
      const rest = all
        .map((series) => ({ ...series, values: series.values.slice(offset) }))
        .filter(({ values }) => values.length > 0);
      expect(await seriesOf(`${text} OFFSET ${offset}`)).toEqual(rest);
    }
  });
});

describe('SLIMIT and SOFFSET', () => {
  test.each([
    'SELECT v FROM m GROUP BY host, zone',
    'SELECT v FROM m WHERE time < 10s GROUP BY host, zone',
    'SELECT v FROM m WHERE time < 10s GROUP BY * ORDER BY time DESC',
    'SELECT mean(v) FROM m WHERE time < 10s GROUP BY *',
    'SELECT max(v), min(v) FROM m, n WHERE time < 12s GROUP BY time(4s), *',
    'SELECT v FROM n, m GROUP BY host LIMIT 2 OFFSET 1',
    'SELECT v FROM /[mn]/ WHERE time < 10s GROUP BY zone',
    'SELECT max(v) FROM (SELECT v FROM m, n WHERE time < 10s) GROUP BY host',
    'SELECT v FROM (SELECT v FROM m WHERE time < 10s), (SELECT v FROM n) GROUP BY host',
  ])('answer so many series of each measurement of %s', async (text) => {
    const all = await seriesOf(text);
    expect(all.length).toBeGreaterThan(1);

    for (const [limit, offset] of [
      [1, 0],
      [2, 1],
      [1, 2],
      [100, 3],
      [2, 100],
    ] as const) {
      const part = ['m', 'n'].flatMap((name) => {
        const series = all.filter((one) => one.name === name);
        return series.slice(offset, offset + limit);
      });
      const sorted = all.filter((series) => part.includes(series));
      expect(await seriesOf(`${text} SLIMIT ${limit} SOFFSET ${offset}`)).toEqual(sorted);
    }
  });
});
