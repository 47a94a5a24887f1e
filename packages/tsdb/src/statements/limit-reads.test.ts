// LIMIT ends reads: the result has the first rows of the same statement without LIMIT, rows of
// equal times included, and nothing after them is read.
import { seededRandom } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

type Series = {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly values: readonly (readonly unknown[])[];
};

async function askAll(
  service: TestService,
  texts: readonly string[],
): Promise<readonly (readonly Series[])[]> {
  const { status, json } = await service.query(texts.join('; '), { db: 'd', epoch: 'ns' });
  expect([status, json.error]).toEqual([200, undefined]);
  return json.results.map((result: { series?: Series[]; error?: string }) => {
    expect(result.error).toBe(undefined);
    return result.series ?? [];
  });
}

describe('LIMIT answers with the first rows of the whole answer', () => {
  const SERIES = 12;
  const ROWS = 60;
  const MANY = 256;
  const WEEK = 7 * 24 * 3600 * 1000;
  let service: TestService;
  /** Starts again with what is in memory written to segments. */
  const flush = async (): Promise<void> => {
    await service.stop();
    service = await startTestService({ directory: service.directory });
  };

  beforeAll(async () => {
    service = await startTestService();
    await service.query('CREATE DATABASE d');
    const random = seededRandom(7);
    const between = (end: number): number => Math.floor(random() * end);
    // `apart`: no two rows have the same time. `crowded`: most times occur in several series.
    // `sparse`: tags and fields are missing here and there. `weeks`: of several shards, in which
    // not every series has rows. `many`: more series than are asked for a row behind the last.
    // `gaps`: as many, some of which lack a tag.
    const lines = (): string => {
      const all: string[] = [];
      for (let series = 0; series < SERIES; series++) {
        for (let row = 0; row < ROWS; row++) {
          const time = between(1_000_000);
          const text = `s="${between(5)}"`;
          all.push(
            `apart,a=a${series},b=b${series % 3} v=${between(9)}i,${text} ${time * 20 + series}`,
            `crowded,a=a${series},b=b${series % 3} v=${between(9)}i,${text} ${time % 90}`,
            `weeks,a=a${series},b=b${series % 3} v=${between(9)}i,${text} ${
              (between(Math.min(series, 4) + 1) * WEEK + between(3)) * 1_000_000
            }`,
            `sparse${series % 4 === 0 ? '' : `,a=a${series}`},c=c${series} ${
              row % 3 === 0 ? 'v=1i' : text
            } ${time % 500}`,
          );
        }
      }
      for (let series = 0; series < MANY; series++) {
        const text = `s="${between(5)}"`;
        const rest = `b=b${series % 3} v=${between(9)}i,${text}`;
        all.push(`many,a=a${series},${rest} ${between(4)}`);
        all.push(`gaps${series % 50 === 7 ? '' : `,a=a${series}`},${rest} ${between(4)}`);
      }
      return all.join('\n');
    };
    for (let turn = 0; turn < 3; turn++) {
      await service.write(lines(), { db: 'd' });
      if (turn < 2) await flush();
    }
  });
  afterAll(() => service.close());

  const LIMITS = ['LIMIT 1', 'LIMIT 10', 'LIMIT 3 OFFSET 2', 'LIMIT 30'];
  const sliceOf = (limit: string): [number, number] => {
    const [rows = 0, offset = 0] = (limit.match(/\d+/g) ?? []).map(Number);
    return [offset, offset + rows];
  };

  test.each(
    ['apart', 'crowded', 'sparse']
      .flatMap((from) => [from, `(SELECT * FROM ${from})`, `(SELECT * FROM ${from} GROUP BY *)`])
      .concat('weeks', 'many')
      .flatMap((source, row) =>
        ['*', 'v', 's, v', 'b, s'].map((select, column) => ({
          source,
          select,
          number: row + column,
        })),
      )
      .concat(
        ['many', 'gaps'].flatMap((source, row) =>
          ['*', 'a, v', 'b, v', 'a, b, v'].map((select, column) => ({
            source,
            select,
            number: row + column,
          })),
        ),
      ),
  )('for $select of $source', async ({ source, select, number }) => {
    for (const [i, condition] of ['', 'WHERE v > 3', 'WHERE v + 1 > 5'].entries()) {
      for (const [j, group] of ['', 'GROUP BY b', 'GROUP BY *'].entries()) {
        // A sixth of all combinations: any three choices meet in one of them.
        if ((number + i + j) % 3 !== 0) continue;
        const order = (number + i) % 2 === 0 ? '' : 'ORDER BY time DESC';
        const text = `SELECT ${select} FROM ${source} ${condition} ${group} ${order}`;

        const [whole = [], ...limited] = await askAll(service, [
          text,
          ...LIMITS.map((limit) => `${text} ${limit}`),
        ]);

        for (const [at, limit] of LIMITS.entries()) {
          const first = whole
            .map((series) => ({ ...series, values: series.values.slice(...sliceOf(limit)) }))
            .filter(({ values }) => values.length > 0);
          expect({ text, limit, series: limited[at] }).toEqual({ text, limit, series: first });
        }
      }
    }
  });
});

test('reads series whose rows share their times once', async () => {
  const service = await startTestService();
  await service.query('CREATE DATABASE d');
  const lines = Array.from({ length: 400 }, (_, i) => `m,z=a${i % 20} v=${i},w=${i}i ${i % 40}`);
  await service.write(lines.join('\n'), { db: 'd' });

  for (const order of ['', 'ORDER BY time DESC']) {
    const [[analysis] = []] = await askAll(service, [
      `EXPLAIN ANALYZE SELECT * FROM m WHERE z != 'a3' ${order} LIMIT 10`,
    ]);

    const visited = analysis!.values.flat().filter((line) => /series_visited/.test(String(line)));
    expect(visited.map((line) => /\d+/.exec(String(line))?.[0])).toEqual(['19', '19']);
  }
  await service.close();
});

test('of series whose rows share their times, reads only those whose tags come first', async () => {
  const service = await startTestService();
  await service.query('CREATE DATABASE d');
  const lines = Array.from({ length: 3000 }, (_, i) => `m,a=a${i % 1000} v=${i}i ${i % 3}`);
  await service.write(lines.join('\n'), { db: 'd' });

  for (const [order, first] of [
    ['', ['a0', 'a1', 'a10']],
    ['ORDER BY time DESC', ['a999', 'a998', 'a997']],
  ] as const) {
    const text = `SELECT a, v FROM m ${order} LIMIT 3`;
    const [[rows] = [], [analysis] = []] = await askAll(service, [text, `EXPLAIN ANALYZE ${text}`]);

    expect(rows?.values.map(([, a]) => a)).toEqual(first);
    const line = analysis!.values.flat().find((each) => /series_visited/.test(String(each)));
    expect(Number(/\d+/.exec(String(line))?.[0])).toBeLessThan(200);
  }
  await service.close();
});

describe('LIMIT reads nothing after its last row', () => {
  const SERIES = 4;
  const ROWS = 60_000;
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
    await service.query('CREATE DATABASE d');
    for (let series = 0; series < SERIES; series++) {
      const lines = Array.from(
        { length: ROWS },
        (_, row) => `m,a=a${series},b=b${series % 2} v=${row}i ${row * SERIES + series}`,
      );
      await service.write(lines.join('\n'), { db: 'd' });
    }
    await service.stop();
    service = await startTestService({ directory: service.directory });
  });
  afterAll(() => service.close());

  async function chunksRead(text: string): Promise<number> {
    const [[analysis] = []] = await askAll(service, [`EXPLAIN ANALYZE ${text}`]);
    const lines = analysis!.values.map(([line]) => String(line));
    return Math.max(...lines.map((line) => Number(/chunks_read: (\d+)/.exec(line)?.[1] ?? 0)));
  }

  /** Rows of a group are sent four chunks at a time, and one message is under way. */
  const SENT_AHEAD = 12;
  /** A slice of rows of each series, and the chunks read to size the slices. */
  const SLICE = 4 * SERIES;

  test.each([
    ['SELECT v FROM m', SERIES],
    ['SELECT v FROM m WHERE v >= 0', SERIES],
    ['SELECT v FROM m WHERE v + 1 > 0', SLICE],
    ['SELECT v FROM m GROUP BY a', SERIES],
    ['SELECT v FROM m GROUP BY b', SERIES],
    ['SELECT v FROM m WHERE v + 1 > 0 GROUP BY a', 4 * SENT_AHEAD],
    ['SELECT v FROM m WHERE v + 1 > 0 GROUP BY b', 2 * SENT_AHEAD],
    ['SELECT v FROM (SELECT v FROM m)', SLICE],
    ['SELECT v FROM (SELECT v FROM m) WHERE v >= 0', SLICE],
    ['SELECT v FROM (SELECT v FROM (SELECT v FROM m))', SLICE],
    ['SELECT v FROM (SELECT v FROM m GROUP BY a) GROUP BY a', 4 * SENT_AHEAD],
    ['SELECT v FROM (SELECT v FROM m GROUP BY b) WHERE v >= 0 GROUP BY b', 2 * SENT_AHEAD],
  ] as const)('%s', async (text, most) => {
    for (const order of ['', 'ORDER BY time DESC']) {
      expect(await chunksRead(`${text} ${order}`)).toBeGreaterThanOrEqual(60);
      expect(await chunksRead(`${text} ${order} LIMIT 1`)).toBeLessThanOrEqual(most);
      expect(await chunksRead(`${text} ${order} LIMIT 50`)).toBeLessThanOrEqual(most);
    }
  });

  test('slices of rows that meet a condition on a field are measured by statistics', async () => {
    const text = 'EXPLAIN ANALYZE SELECT v FROM m WHERE v >= 0';
    const [[analysis] = []] = await askAll(service, [text]);
    const lines = analysis!.values.map(([line]) => String(line));
    const measured = lines.slice(lines.findIndex((line) => line.includes('measure slices')));

    const count = (name: string): number =>
      Number(/: (\d+)/.exec(measured.find((line) => line.includes(name)) ?? '')?.[1]);
    expect(count('chunks_read')).toBeLessThan(10);
    expect(count('chunks_answered_by_statistics')).toBeGreaterThan(50);
  });
});
