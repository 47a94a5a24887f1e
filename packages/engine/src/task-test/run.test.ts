// The runner of task tests: what it checks, and what it reports when a test fails.
import { systemClock } from '@tidemark/core';
import { describe, expect, test } from 'vitest';
import { runTaskTests } from './run.ts';
import type { TaskTestOptions, TaskTestResult } from './run.ts';

const SCRIPT = `script\n    stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('out')\n`;

const OPTIONS: TaskTestOptions = {
  clock: systemClock(),
  readScript: (path) => {
    if (path !== 'hot.tick') throw new Error(`no file ${path}`);
    return `stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('out')`;
  },
};

async function run(text: string): Promise<TaskTestResult> {
  const [result] = await runTaskTests(text, OPTIONS);
  if (result === undefined) throw new Error('no test in the text');
  return result;
}

describe('an expectation that does not hold', () => {
  test('shows what was expected and what came', async () => {
    const { failures } = await run(
      `${SCRIPT}write\n    m v=2 1\nemits out\n    {"name":"other"}\n`,
    );

    expect(failures).toEqual([
      {
        line: 5,
        message: 'emits out',
        expected: ['{"name":"other"}'],
        actual: ['{"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:01Z",2]]}'],
      },
    ]);
  });

  test.each([
    ['a missing row', `write\n    m v=0 1\nemits out\n    {"name":"m"}\n`],
    ['a surplus row', `write\n    m v=2 1\nemits out\n`],
    ['another number of errors', `write\n    m w=2 1\nerrors where2 0\n`],
    ['an event that does not come', `write\n    m v=2 1\nevents\n    x\n`],
    ['a write that does not come', `write\n    m v=2 1\nwrites\n    d.r m v=2 1\n`],
    ['a node that is not there', `emits eval2\n`],
    ['a topic that is not there', `topic t\n    collected 1 level OK\n`],
    ['a log line that is not there', `log /x.log\n    x\n`],
    ['a failure that does not come', `fails something\n`],
    ['a unit of times that nobody knows', `precision sec\n`],
  ])('%s is found', async (_what, sections) => {
    expect((await run(SCRIPT + sections)).failures).toHaveLength(1);
  });

  test('a task that fails without being expected to fails the test', async () => {
    const { failures } = await run(`script\n    stream|from()|window()\n`);

    expect(failures[0]?.message).toBe(
      'the task fails: window node must have either a non zero period or non zero period count',
    );
  });
});

describe('a file', () => {
  test('that has mistakes names their lines', async () => {
    expect((await run(`${SCRIPT}nonsense\n    x\n`)).failures[0]).toMatchObject({ line: 3 });
  });

  test('with several tests gives each of them a task of its own', async () => {
    const one = (name: string, value: number): string =>
      `test ${name}\n${SCRIPT}write\n    m v=${value} 1\nerrors where2 0\nemits out\n`;

    const results = await runTaskTests(`${one('low', 1)}${one('high', 2)}`, OPTIONS);

    expect(results.map(({ name, line, failures }) => [name, line, failures.length])).toEqual([
      ['low', 1, 0],
      ['high', 8, 1],
    ]);
  });

  test('takes its script from another file', async () => {
    const sections =
      'write\n    m v=2 1\nemits out\n    {"name":"m","columns":["time","v"],"values":[["1970-01-01T00:00:01Z",2]]}\n';

    expect((await run(`script hot.tick\n${sections}`)).failures).toEqual([]);
    expect((await run('script cold.tick\n')).failures[0]?.message).toContain('no file cold.tick');
  });

  test.each([
    ['a line that is no line protocol', `${SCRIPT}write\n    m v=\n`],
    ['a duration that is none', `${SCRIPT}advance soon\n`],
    ['a var that is none', `var x 5\n${SCRIPT}`],
    ['a handler that is none', `handler t\n    {"id":"a"}\n${SCRIPT}`],
    [
      'an answer for a node that does not exist',
      `${SCRIPT}query-result query1 2024-01-01T00:00:00Z\n`,
    ],
    ['points before the script', `write\n    m v=1 1\n`],
  ])('with %s fails', async (_what, text) => {
    expect((await run(text)).failures).toHaveLength(1);
  });
});

test('an endpoint is null before its first row, and empty when its groups are gone', async () => {
  const { failures } = await run(`
script
    stream|from().groupBy('h')|barrier().idle(1s).delete(TRUE)|httpOut('o')
output o
    {"series":null}
write
    m,h=a v=1 1704067200
output o
    {"series":[{"name":"m","tags":{"h":"a"},"columns":["time","v"],"values":[["2024-01-01T00:00:00Z",1]]}]}
advance 2s
output o
    {"series":[]}
`);

  expect(failures).toEqual([]);
});

describe('what a task does to the outside', () => {
  test('is written down: points, requests, handlers of topics', async () => {
    const { failures } = await run(`
handler t
    {"id":"l","actions":[{"kind":"log","options":{"path":"/var/log/x.log"}}]}
script
    var m = stream|from().measurement('m')
    m|influxDBOut().database('o').retentionPolicy('p').measurement('n').buffer(1)
    m|httpPost('http://example.invalid/x')
    m|alert().crit(lambda: "v" > 1.0).id('i').message('hot').details('').topic('t')
    m|kapacitorLoopback().database('again').retentionPolicy('p').measurement('l')
write
    m v=2 1
writes
    again.p l v=2 1000000000
    o.p n v=2 1000000000
requests
    POST http://example.invalid/x {"series":[{"name":"m","columns":["time","v"],"values":[["1970-01-01T00:00:01Z",2]]}]}
log /var/log/x.log
    1970-01-01T00:00:01Z | i | CRITICAL | OK | 0 | hot
topic t
    collected 1 level CRITICAL
    i | CRITICAL | 1970-01-01T00:00:01Z | 0s
`);

    expect(failures).toEqual([]);
  });
});

test('the mean of integers is right where their sum takes more than 64 bits', async () => {
  const script = "stream|from().measurement('m')|window().periodCount(6).everyCount(6)|mean('v')";
  const points = Array.from({ length: 6 }, (_, i) => `    m v=1700000000000000000i ${i + 1}\n`);
  const row = '{"name":"m","columns":["time","mean"],"values":[["1970-01-01T00:00:06Z",1.7e18]]}';

  const { failures } = await run(
    `script\n    ${script}|httpOut('out')\nwrite\n${points.join('')}emits out\n    ${row}\n`,
  );

  expect(failures).toEqual([]);
});
