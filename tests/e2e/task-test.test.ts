// `tidemark task test` with the real executable: exit statuses, differences, JSON, JUnit, watching.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { EXECUTABLE, makeDirectory, removeDirectory, runTidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SCRIPT = `stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('hot')\n`;

let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
  await mkdir(join(directory, 'tests'));
  await writeFile(join(directory, 'hot.tick'), SCRIPT);
});

afterAll(() => removeDirectory(directory));

/** A test that passes when the script lets through what is above 1. */
async function writeTest(name: string, value: number): Promise<string> {
  const path = join(directory, 'tests', name);
  await writeFile(
    path,
    `test hot values pass\nscript ../hot.tick\nwrite\n    m v=${value} 1704067200\nemits hot\n` +
      `    {"name":"m","columns":["time","v"],"values":[["2024-01-01T00:00:00Z",2]]}\n`,
  );
  return path;
}

test('a folder whose tests pass ends with status 0', async () => {
  await writeTest('a.task-test', 2);

  const result = await runTidemark(['task', 'test', join(directory, 'tests')]);

  expect(result.stderr).toBe('');
  expect(result.status).toBe(0);
  expect(result.stdout).toContain('1 passed, 0 failed, 1 expectations in 1 files');
});

test('a failure shows the difference, ends with status 1 and is in both reports', async () => {
  const path = await writeTest('b.task-test', 3);
  const junit = join(directory, 'junit.xml');

  const text = await runTidemark(['task', 'test', path, '--junit', junit]);
  const json = await runTidemark(['task', 'test', path, '--json']);

  expect(text.status).toBe(1);
  expect(text.stdout).toContain('FAIL');
  expect(text.stdout).toContain(
    '- {"columns":["time","v"],"name":"m","values":[["2024-01-01T00:00:00Z",2]]}',
  );
  expect(text.stdout).toContain(
    '+ {"columns":["time","v"],"name":"m","values":[["2024-01-01T00:00:00Z",3]]}',
  );
  const xml = await readFile(junit, 'utf8');
  expect(xml).toContain('tests="1" failures="1"');
  expect(xml).toContain('name="hot values pass"');
  expect(xml).toContain('<failure message="emits hot">');
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)[0].tests[0].failures[0]).toMatchObject({
    line: 5,
    message: 'emits hot',
  });
});

test('a folder without tests is wrong usage', async () => {
  await mkdir(join(directory, 'empty'));

  expect((await runTidemark(['task', 'test', join(directory, 'empty')])).status).toBe(2);
  expect((await runTidemark(['task', 'test', join(directory, 'nowhere')])).status).toBe(2);
});

test('watching runs again when a test changes', async () => {
  const path = await writeTest('c.task-test', 3);
  const child = spawn(EXECUTABLE, ['task', 'test', path, '--watch'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const summaries: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes(' passed, ')) continue;
      summaries.push(line);
      if (line.startsWith('1 passed')) break;
      await writeTest('c.task-test', 2);
    }
    expect(summaries[0]).toContain('0 passed, 1 failed');
    expect(summaries.at(-1)).toContain('1 passed, 0 failed');
  } finally {
    child.kill();
  }
});
