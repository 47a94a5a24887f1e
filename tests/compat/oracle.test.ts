// The recorded answers of the older system, replayed against the executable. What differs is listed
// with its reason in oracle-differences.json; a listed case that agrees after all fails as well.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

import differences from './oracle-differences.json' with { type: 'json' };

/** Listed cases of the 1884 given ones that are no decisions: 1 % at most. */
const MOST_DIFFERENCES = 18;

/**
 * What may justify a difference: a sentence of the specification, or a bug of the recorded system
 * that has a name.
 */
const JUSTIFICATION = /^(spec\/tsdb-http-api\.md, .+|bug influxdata\/influxdb#\d+, .+)$/;

/** Or a decision: the first words of its row in differences.md. */
const DECISION = /^docs\/compat\/differences\.md, “(.+)”$/;

type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body?: string;
};

type RecordedCase = {
  readonly group: string;
  readonly pre?: readonly RecordedRequest[];
  readonly request: RecordedRequest;
};

type Difference = { readonly line: number; readonly want: string; readonly got: string };

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

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

async function readLines<T>(path: string): Promise<readonly T[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): T => JSON.parse(line));
}

function describeRequest({ method, path, params, body }: RecordedRequest): string {
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return [method, path, ...written, ...(body === undefined ? [] : [JSON.stringify(body)])].join(
    ' ',
  );
}

/** What a case is called in the list: its group and every request of it. */
function nameOf({ group, pre = [], request }: RecordedCase): string {
  return [group, ...[...pre, request].map(describeRequest)].join(' | ');
}

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
    await promisify(execFile)(
      process.execPath,
      [
        pathOf('record-oracle-cases.mjs'),
        '--url',
        server.tsdb,
        '--check',
        pathOf(file),
        '--report',
        report,
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    const names = (await readLines<RecordedCase>(pathOf(file))).map(nameOf);
    const found = await readLines<Difference>(report);

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
