// Saves a try-out as the text of a task test. The expected results come from running the test
// itself, so it passes as long as the script and its nodes behave the same.
import { formatDuration, formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { printVars } from '@tidemark/pipeline';
import { rowJson } from '@tidemark/runtime';
import { queryNodesOf } from '../batch/query-nodes.ts';
import { printJson } from '../formats/json.ts';
import { lastTime, timeOfLine } from '../jobs/points.ts';
import { SAVED_TEST_POINTS } from '../limits.ts';
import type { TaskRecord } from '../store/records.ts';
import { varsOf } from '../tasks/definition.ts';
import type { Definition } from '../tasks/definition.ts';
import { hideSecretVars } from '../tasks/secret-vars.ts';
import { runTaskTests } from '../task-test/run.ts';
import type { Entry } from './entries.ts';
import type { TryOutInput } from './input.ts';

export type TestFile = {
  readonly name: string;
  /** Heads of sections such as `events` and `emits mean2`. */
  readonly expects: readonly string[];
};

type Tried = {
  readonly record: TaskRecord;
  readonly definition: Definition;
  readonly entries: AsyncIterable<Entry>;
};

/** Throws `InvalidRequest` for what a task test does not support. */
export async function savedTest(
  tried: Tried,
  { name, expects }: TestFile,
  { clock, source, goesOnNanos }: TryOutInput & { readonly clock: Clock },
): Promise<string> {
  const data = await readData(tried);
  const start = source.kind === 'database' ? source.start : data.first;
  const end = (source.kind === 'database' ? source.stop : data.last) + goesOnNanos;
  const given = [
    `test ${name.replaceAll(/\s+/g, ' ').trim() || tried.record.id}`,
    `id ${tried.record.id}`,
    `clock ${formatRfc3339(start)}`,
    'precision ns',
    ...definitionLines(tried.record),
    ...data.lines,
    ...(end > data.last ? [`advance ${formatDuration(end - data.last)}`] : []),
    'finish',
  ];
  const text = [...given, ...expects].join('\n');
  const results = await runTaskTests(`${text}\n`, { clock, readScript: noScript });
  const actual = new Map<number, readonly string[]>();
  for (const { line, message, expected, actual: found } of results.flatMap(
    ({ failures }) => failures,
  )) {
    // A difference is the result; anything else is a mistake.
    if (expected.length === 0 && found.length > 0) actual.set(line, found);
    else throw new InvalidRequest(`a task test cannot do this: ${message}`);
  }
  const expectations = expects.flatMap((head, i) => [
    head,
    ...indented(actual.get(given.length + i + 1) ?? []),
  ]);
  return `${[...given, ...expectations].join('\n')}\n`;
}

function definitionLines(record: TaskRecord): readonly string[] {
  const vars = hideSecretVars(varsOf(record));
  const [dbrp] = record.dbrps;
  const isImplied = /^\s*dbrp\s/m.test(record.script);
  return [
    ...(dbrp === undefined || isImplied ? [] : [`dbrp ${dbrp.db}.${dbrp.rp}`]),
    ...(vars.size === 0 ? [] : ['vars', ...indented([printJson(printVars(vars))])]),
    'script',
    ...indented(record.script.trimEnd().split(/\r?\n/)),
  ];
}

type Data = {
  readonly lines: readonly string[];
  readonly first: Timestamp;
  readonly last: Timestamp;
};

async function readData({ definition, entries }: Tried): Promise<Data> {
  const lines: string[] = [];
  const times: Timestamp[] = [];
  const nodes = definition.type === 'batch' ? queryNodesOf(definition.pipeline) : [];
  let head = '';
  let count = 0;
  for await (const entry of entries) {
    if (++count > SAVED_TEST_POINTS.value) {
      throw new InvalidRequest(
        `a saved test has at most ${SAVED_TEST_POINTS.value} points or answers; take less data`,
      );
    }
    if ('line' in entry) {
      const next = `write ${entry.database}.${entry.retentionPolicy}`;
      if (next !== head) lines.push(next);
      head = next;
      if (entry.line.includes('\n')) {
        throw new InvalidRequest('a task test cannot hold a field with a line break');
      }
      lines.push(...indented([entry.line]));
      times.push(timeOfLine(entry.line));
      continue;
    }
    const node = nodes[entry.query]?.name ?? '';
    const last = lastTime(entry.series) ?? entry.stop;
    const stop = last > entry.stop ? last : entry.stop;
    lines.push(`query-result ${node} ${formatRfc3339(stop)}`);
    lines.push(...indented(entry.series.map((series) => rowJson(series))));
    times.push(stop);
  }
  const [first = 0n] = times;
  const last = times.reduce((latest, time) => (time > latest ? time : latest), first);
  return { lines, first, last };
}

/** Blank lines stay as they are: the format allows them in scripts. */
function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line.trim() === '' ? '' : `    ${line}`));
}

function noScript(): never {
  throw new Error('the script stands in the text');
}
