// The worked scenarios as task tests, and the runner's own behaviour.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runTaskTest } from './run.ts';

const folder = fileURLToPath(new URL('../../scenarios/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.task-test'));

describe('scenario', () => {
  test.each(files)('%s', async (name) => {
    const { failures, checkCount } = await runTaskTest(readFileSync(folder + name, 'utf8'));

    expect(failures).toEqual([]);
    expect(checkCount).toBeGreaterThan(0);
  });
});

const SCRIPT = `script\n    stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('out')\n`;

describe('the runner', () => {
  test('shows what was expected and what came', async () => {
    const text = `${SCRIPT}write\n    m v=2 1\nemits out\n    {"name":"other"}\n`;

    const { failures } = await runTaskTest(text);

    expect(failures).toEqual([
      {
        line: 5,
        message: 'emits out',
        expected: ['{"name":"other"}'],
        actual: ['{"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:01Z",2]]}'],
      },
    ]);
  });

  test('finds missing and surplus rows', async () => {
    const none = await runTaskTest(`${SCRIPT}write\n    m v=0 1\nemits out\n    {"name":"m"}\n`);
    const surplus = await runTaskTest(`${SCRIPT}write\n    m v=2 1\nemits out\n`);

    expect(none.failures).toHaveLength(1);
    expect(surplus.failures).toHaveLength(1);
  });

  test('reports mistakes of the file with their line', async () => {
    const { failures } = await runTaskTest(`nonsense\n    x\n`);

    expect(failures[0]).toMatchObject({ line: 1 });
  });

  test('a script that does not start can be expected', async () => {
    const text = `script\n    stream|from()|window()\nfails window node must have either a non zero period or non zero period count\n`;

    expect((await runTaskTest(text)).failures).toEqual([]);
  });

  test('a bad line of a write is a failure', async () => {
    const { failures } = await runTaskTest(`${SCRIPT}write\n    m v=\n`);

    expect(failures).toHaveLength(1);
  });
});
