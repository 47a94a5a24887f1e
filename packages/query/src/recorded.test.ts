// Recorded answers of the older system, replayed over the model in memory (tests/compat/oracle-cases.jsonl).
import { readFileSync } from 'node:fs';

import { parseLines } from '@tidemark/line-protocol';
import { expect, test } from 'vitest';

import type { LineParser, RecordedCase } from './testing/recorded-cases.ts';
import { RecordedServer } from './testing/recorded-cases.ts';

const FILE = new URL('../../../tests/compat/oracle-cases.jsonl', import.meta.url);
const NOW = 1_700_000_000_000_000_000n;

const parsePoints: LineParser = (lines, precision) => {
  const body = new TextEncoder().encode(lines.join('\n'));
  return parseLines(body, { precision: precision === 's' ? 's' : 'ns', now: 0n }).points;
};

const cases = readFileSync(FILE, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): RecordedCase => JSON.parse(line));

async function replay(recorded: RecordedCase): Promise<string | undefined> {
  const server = new RecordedServer(parsePoints, NOW);
  if (!(await server.prepare(recorded))) return undefined;
  return server.answer(recorded.request);
}

function expected({ raw, body }: RecordedCase): string {
  if (raw !== undefined) return raw;
  return typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
}

/** Groups whose every case agrees, with the number of cases that the executor answers. */
const GROUPS = new Map([
  ['functions/plain', 142],
  ['group-by-time', 54],
  ['holt-winters', 15],
  ['errors/compile', 58],
]);

test.each([...GROUPS])('answers the recorded cases of %s', async (group, count) => {
  let answered = 0;
  for (const recorded of cases.filter((one) => one.group === group)) {
    const got = await replay(recorded);
    if (got === undefined) continue;
    answered++;
    expect(got, JSON.stringify(recorded.request)).toBe(expected(recorded));
  }

  expect(answered).toBe(count);
});
