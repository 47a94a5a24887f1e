import { columnFrom } from '@tidemark/core';
import { describe, expect, test } from 'vitest';

import type { ResultBatch } from '../result.ts';
import { rowsBatch } from '../result.ts';
import type { ResultFormat, StatementRun } from './write-results.ts';
import { isPause } from '../operator.ts';
import { LARGE_BUFFER_BYTES } from './buffer-pool.ts';
import { writeResults } from './write-results.ts';

function written(runs: readonly StatementRun[], format: ResultFormat): Buffer {
  const pieces: Uint8Array[] = [];
  for (const piece of writeResults(runs, format)) if (!isPause(piece)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function answering(...batches: readonly ResultBatch[]): StatementRun {
  return {
    run: function* () {
      yield* batches;
    },
  };
}

const CPU: ResultBatch = {
  name: 'cpu',
  tags: new Map([['host', 'a,b']]),
  columns: ['time', 'v', 's'],
  rowCount: 3,
  values: [
    { type: 'time', values: BigInt64Array.of(1n, 2_000_000_000n, -1n), valid: undefined },
    columnFrom('float', [1.5, null, 1e21]),
    columnFrom('string', ['<&>', 'x', null]),
  ],
  isContinuation: false,
};

test('JSON has the recorded key order, escapes and times', async () => {
  expect(written([answering(CPU)], { encoding: 'json' }).toString()).toBe(
    '{"results":[{"statement_id":0,"series":[{"name":"cpu","tags":{"host":"a,b"},"columns":["time","v","s"],' +
      '"values":[["1970-01-01T00:00:00.000000001Z",1.5,"\\u003c\\u0026\\u003e"],["1970-01-01T00:00:02Z",null,"x"],' +
      '["1969-12-31T23:59:59.999999999Z",1e+21,null]]}]}]}\n',
  );
});

test('times in a unit are cut toward zero', async () => {
  const text = written([answering(CPU)], { encoding: 'json', epoch: 's' }).toString();

  expect(text).toContain('"values":[[0,1.5,');
  expect(text).toContain('[2,null,"x"],[0,1e+21,null]');
});

test('no statements are an empty object', async () => {
  expect(written([], { encoding: 'json' }).toString()).toBe('{}\n');
});

test.each(['json', 'csv'] as const)(
  'the text of many columns as %s leaves in pieces whose buffer is used again',
  (encoding) => {
    const rowCount = 10_000;
    const texts = Array.from({ length: 12 }, (_, i) => `usage_${i}`);
    const wide: ResultBatch = {
      name: 'cpu',
      columns: ['time', ...texts],
      rowCount,
      values: [
        { type: 'time', values: new BigInt64Array(rowCount).fill(1n), valid: undefined },
        ...texts.map(() => ({
          type: 'float' as const,
          values: new Float64Array(rowCount).fill(1 / 3),
          valid: undefined,
        })),
      ],
      isContinuation: false,
    };

    const sizes = [...writeResults([answering(wide)], { encoding })].map((piece) =>
      isPause(piece) ? 0 : piece.length,
    );

    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(LARGE_BUFFER_BYTES);
  },
);

test('pretty JSON is the same document, indented by four', async () => {
  const text = written([answering(CPU)], { encoding: 'json', isPretty: true }).toString();

  expect(text.split(',')[0]).toBe('{\n    "results": [\n        {\n            "statement_id": 0');
  expect(JSON.parse(text)).toEqual(
    JSON.parse(written([answering(CPU)], { encoding: 'json' }).toString()),
  );
});

test('chunks mark what follows', async () => {
  const text = written([answering(CPU)], {
    encoding: 'json',
    chunkRows: 2,
    epoch: 'ns',
  }).toString();

  const lines = text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(lines).toMatchObject([
    { results: [{ partial: true, series: [{ partial: true, values: [[1, 1.5, '<&>'], {}] }] }] },
    { results: [{ series: [{ values: [[-1, 1e21, null]] }] }] },
  ]);
  expect(text.trim().split('\n')[1]).not.toContain('partial');
});

test('a row limit cuts the answer and marks the series', async () => {
  const text = written([answering(CPU, CPU)], {
    encoding: 'json',
    maxRows: 4,
    epoch: 'ns',
  }).toString();

  const { series } = JSON.parse(text).results[0];
  expect(series.map((one: { values: unknown[] }) => one.values.length)).toEqual([3, 1]);
  expect(series[1].partial).toBe(true);
});

describe('the rows of a limit are those of all statements', () => {
  const limited = async (runs: readonly StatementRun[], maxRows: number): Promise<unknown> => {
    const text = written(runs, { encoding: 'json', maxRows, epoch: 'ns' }).toString();
    const { results } = JSON.parse(text);
    type One = { series?: { values: unknown[]; partial?: boolean }[]; partial?: boolean };
    return results.map(({ series = [], partial }: One) => [
      ...series.map((one) => (one.partial === true ? `${one.values.length}+` : one.values.length)),
      ...(partial === true ? ['partial'] : []),
    ]);
  };
  const more = { ...CPU, isContinuation: true };
  test.each([
    [
      'further series are left out, and the statement marked',
      [answering(CPU, CPU)],
      3,
      [[3, 'partial']],
    ],
    [
      'further statements are run and answer nothing',
      [answering(CPU), answering(CPU), answering()],
      3,
      [[3], ['partial'], []],
    ],
    [
      'a statement has what the one before left',
      [answering(CPU), answering(CPU)],
      5,
      [[3], ['2+']],
    ],
    ['a series that goes on is marked', [answering(CPU, more), answering()], 3, [['3+'], []]],
    ['empty statements take none', [answering(), answering(CPU)], 3, [[], [3]]],
    ['no limit leaves everything', [answering(CPU, more), answering(CPU)], 0, [[6], [3]]],
  ])('%s', async (_name, runs, maxRows, rows) => {
    expect(await limited(runs, maxRows)).toEqual(rows);
  });

  test('in CSV and MessagePack too', async () => {
    const csv = written([answering(CPU), answering(CPU), answering(CPU)], {
      encoding: 'csv',
      maxRows: 4,
    });
    const cut = { encoding: 'msgpack', maxRows: 3 } as const;
    const packed = written([answering(CPU, CPU)], cut);
    const whole = written([answering(CPU)], { encoding: 'msgpack' });
    const both = written([answering(CPU), answering()], cut);

    expect(
      csv
        .toString()
        .split('\n')
        .filter((line) => line.startsWith('cpu')),
    ).toHaveLength(4);
    const partial = Buffer.from('a77061727469616cc3', 'hex');
    expect(packed.subarray(-partial.length)).toEqual(partial);
    expect(whole.includes(partial)).toBe(false);
    // Both statements have an entry.
    expect(both.toString('latin1').split('statement_id')).toHaveLength(3);
  });

  test('of MessagePack end with an error that says what to ask for', async () => {
    const rowCount = 5_000_001;
    const huge: ResultBatch = {
      ...rowsBatch({ columns: [], rows: [] }),
      rowCount,
    };

    const packed = written([answering(huge)], { encoding: 'msgpack' });

    expect(packed.toString('latin1')).toContain(
      'an answer in MessagePack has at most 5000000 rows: add chunked=true, or ask for JSON',
    );
  });
});

test('chunks mark the series that is cut, and the statement of which more follows, of names too', async () => {
  const names = (isContinuation: boolean): ResultBatch => ({
    ...rowsBatch({ name: 'm', columns: ['key'], rows: [['a'], ['b']] }),
    isContinuation,
  });
  const marks = async (chunkRows: number): Promise<unknown> => {
    const run = answering(names(false), names(true), names(false));
    const text = written([run], { encoding: 'json', chunkRows }).toString();
    return text
      .trim()
      .split('\n')
      .map((line) => line.split('"partial":true').length - 1);
  };

  expect(await marks(10)).toEqual([1, 0]);
  expect(await marks(3)).toEqual([2, 1, 0]);
});

test('infinities end the answer with the recorded error', async () => {
  const batch = {
    ...CPU,
    values: [CPU.values[0]!, columnFrom('float', [1, Infinity, 2]), CPU.values[2]!],
  };

  expect(written([answering(batch)], { encoding: 'json' }).toString()).toBe(
    'json: error calling MarshalJSON for type httpd.Response: json: error calling MarshalJSON for type *query.Result: json: unsupported value: +Inf\n',
  );
});

describe('an infinity behind bytes that have left fails its statement in a document that can be read', () => {
  const long: ResultBatch = {
    columns: ['time', 'v'],
    rowCount: 20_000,
    values: [
      { type: 'time', values: new BigInt64Array(20_000), valid: undefined },
      columnFrom('float', Array<number>(20_000).fill(1)),
    ],
    isContinuation: false,
  };
  const infinite: ResultBatch = {
    ...long,
    rowCount: 2,
    values: [
      { type: 'time', values: new BigInt64Array(2), valid: undefined },
      columnFrom('float', [1, Infinity]),
    ],
  };
  test.each([
    ['in the same series', [answering(long, { ...infinite, isContinuation: true })]],
    ['in a further series', [answering(long, infinite)]],
    ['in a further statement', [answering(long), answering(infinite)]],
  ])('%s', (_name, runs) => {
    const text = written([...runs, answering(CPU)], { encoding: 'json', epoch: 'ns' }).toString();

    const { results } = JSON.parse(text);
    expect(results[0].series).toHaveLength(1);
    expect(results[0].series[0].values).toHaveLength(20_000);
    const errors = results.map((result: { error?: string }) => result.error);
    expect(errors.slice(-2)).toEqual(['json: unsupported value: +Inf', 'not executed']);
  });
});

test('CSV quotes what needs it and leaves nulls empty', async () => {
  expect(written([answering(CPU)], { encoding: 'csv' }).toString()).toBe(
    'name,tags,time,v,s\n' +
      'cpu,"host=a\\,b",1,1.5,<&>\n' +
      'cpu,"host=a\\,b",2000000000,,x\n' +
      'cpu,"host=a\\,b",-1,1000000000000000000000,\n',
  );
});

test('CSV starts a new table for each statement with rows', async () => {
  const list = rowsBatch({ name: 'databases', columns: ['name'], rows: [['x']] });

  expect(
    written([answering(list), answering(), answering(list)], { encoding: 'csv' }).toString(),
  ).toBe('name,tags,name\ndatabases,,x\n\nname,tags,name\ndatabases,,x\n');
});

test('MessagePack holds the structure of the JSON answer', async () => {
  const list = rowsBatch({
    columns: ['n', 's'],
    rows: [
      [300n, 'é'],
      [-1n, null],
    ],
  });

  const bytes = written([answering(list)], { encoding: 'msgpack' });

  // {"results":[{"statement_id":0,"series":[{"columns":["n","s"],"values":[[300,"é"],[-1,nil]]}]}]}
  expect(bytes.toString('hex')).toBe(
    '81a7726573756c74739182ac73746174656d656e745f696400a6736572696573' +
      '9182a7636f6c756d6e7392a16ea173a676616c7565739292cd012ca2c3a992ffc0',
  );
});

test('MessagePack times are extension 5 with seconds and nanoseconds', async () => {
  const bytes = written([answering(CPU)], { encoding: 'msgpack' });

  expect(bytes.toString('hex')).toContain('c70c05' + '0000000000000002' + '00000000');
  expect(bytes.toString('hex')).toContain('c70c05' + 'ffffffffffffffff' + '3b9ac9ff');
});
