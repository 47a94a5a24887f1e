// The recorded answers of the older system, replayed against the executable. What differs is listed
// with its reason in oracle-differences.json; a listed case that agrees after all fails as well.
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

import differences from './oracle-differences.json' with { type: 'json' };
import { nameOf, pathOf, readLines, replayCases } from './recorded-database-cases.ts';
import type { RecordedCase } from './recorded-database-cases.ts';

/** Listed cases of the 1884 given ones that are no decisions: 1 % at most. */
const MOST_DIFFERENCES = 18;

/**
 * Justifications of a difference: a sentence of the specification, or a bug of the recorded system
 * that has a name.
 */
const JUSTIFICATION = /^(spec\/tsdb-http-api\.md, .+|bug influxdata\/influxdb#\d+, .+)$/;

/** Or a decision: the first words of its row in differences.md. */
const DECISION = /^docs\/compat\/differences\.md, “(.+)”$/;

let server: Tidemark;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tidemark-compat-'));
  server = await startTidemark({
    command: 'tsdb',
    // EXPLAIN tells what is in memory: a pause of a busy machine must not be taken for the end of
    // the writes.
    args: ['--monitor-store-enabled=false', '--data-quiet-flush-after=0s'],
  });
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
  await removeDirectory(scratch);
});

const listed = new Set(differences.map((difference) => difference.case));
const decisions = differences.filter(({ source }) => DECISION.test(source));
const decided = new Set(decisions.map((difference) => difference.case));

test.each([
  ['oracle-cases.jsonl', MOST_DIFFERENCES],
  ['extra-cases.jsonl', 0],
  ['fuzz-cases.jsonl', 0],
])(
  'answers %s as recorded, except for the listed cases',
  async (file, most) => {
    const report = join(scratch, file);
    const names = (await readLines<RecordedCase>(pathOf(file))).map(nameOf);
    const found = await replayCases(server.tsdb, pathOf(file), report);

    const unlisted = found.filter(({ line }) => !listed.has(names[line]!));
    const differing = new Set(found.map(({ line }) => names[line]!));
    const agreeing = names.filter((name) => listed.has(name) && !differing.has(name));

    expect(unlisted.map(({ line, want, got }) => `${names[line]}\n${want}\n${got}`)).toEqual([]);
    expect(agreeing).toEqual([]);
    expect(found.filter(({ line }) => !decided.has(names[line]!)).length).toBeLessThanOrEqual(most);
  },
  // Two minutes of waiting for each other on a machine with ten times the work it has cores for.
  600_000,
);

test('every entry of the list belongs to a case and names the sentence, bug or decision behind it', async () => {
  const files = ['oracle-cases.jsonl', 'extra-cases.jsonl', 'fuzz-cases.jsonl'];
  const cases = await Promise.all(files.map((file) => readLines<RecordedCase>(pathOf(file))));
  const names = new Set(cases.flat().map(nameOf));

  expect(differences.filter((entry) => !names.has(entry.case))).toEqual([]);
  expect(differences.filter(({ reason }) => reason === '')).toEqual([]);
  const others = differences.filter((entry) => !decided.has(entry.case));
  expect(others.filter(({ source }) => !JUSTIFICATION.test(source))).toEqual([]);
  expect(listed.size).toBe(differences.length);

  const document = await readFile(pathOf('../../docs/compat/differences.md'), 'utf8');
  const rowOf = (source: string): string => `\n| ${DECISION.exec(source)?.[1]}`;
  expect(decisions.filter(({ source }) => !document.includes(rowOf(source)))).toEqual([]);
});
