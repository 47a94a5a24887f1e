// Texts and tags of 10 B to the longest that are accepted, by 1 to 16 clients, in each kind of
// statement, chunked and not, INTO, reads of Prometheus, a backup, a compaction, and the recovery
// behind a kill: the process stays below its ceiling, and what is refused names the setting.
import {
  eventually,
  metricValue,
  query,
  removeDirectory,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { killFamily, peakBytes, resetPeak } from './peak.ts';
import { loadTags, loadTexts, measure, measureRemoteRead, randomText } from './texts.ts';
import type { Measured, Statement, Subject } from './texts.ts';

export const PROFILES = ['standard', 'small'] as const;
type Profile = (typeof PROFILES)[number];

export type TextsSoakOptions = {
  readonly profiles: readonly Profile[];
  /** Lengths of texts and tags; tags of more than 60,000 B are not accepted. */
  readonly lengths: readonly number[];
  /** Texts of each length have so many bytes together, tags half as many. */
  readonly totalBytes: number;
  readonly clients: readonly number[];
  readonly ceilingBytes: number;
  readonly onMeasured?: (measured: Measured) => void;
};

const TAG_LENGTH_MAX = 60_000;
const SERIES = 20;
/** Errors that tell what to do: over a limit, or come again later. */
const NAMES_SETTING = /-limit|-max-size|max-text-size/;

const TEXT_STATEMENTS: readonly Statement[] = [
  { text: 'SELECT * FROM big ORDER BY time DESC LIMIT 50' },
  { text: 'SELECT count(distinct(t)) FROM big' },
  { text: 'SELECT first(t), last(t) FROM big GROUP BY h' },
  { text: 'SELECT last(t) FROM big GROUP BY time(1u) fill(none)' },
  { text: 'SELECT t FROM big WHERE n < 20' },
  { text: 'SELECT t FROM big WHERE t =~ /^0/' },
  { text: 'SELECT t FROM big' },
  { text: 'SELECT * FROM big', isChunked: true },
  { text: 'SELECT top(n, t, 100) FROM big' },
  { text: 'SELECT mode(t) FROM big' },
  { text: 'SELECT t FROM (SELECT t FROM big WHERE n < 1000)' },
  { text: 'SELECT * INTO copy FROM big GROUP BY *' },
];

const TAG_STATEMENTS: readonly Statement[] = [
  { text: 'SELECT top(v, a, 100) FROM tagged' },
  { text: 'SELECT * FROM tagged ORDER BY time DESC LIMIT 3' },
  { text: 'SELECT v, a FROM tagged', isChunked: true },
  { text: 'SELECT last(v) FROM tagged GROUP BY a' },
  { text: 'SELECT v FROM tagged GROUP BY *' },
  { text: 'SHOW SERIES' },
  { text: 'SHOW TAG VALUES WITH KEY = a', isChunked: true },
  { text: 'SELECT * INTO copied FROM tagged GROUP BY *' },
];

export type TextsSoakResult = {
  readonly peakMiB: number;
  readonly answered: number;
  readonly refused: number;
  /** Values above their ceiling, and errors other than limits; empty if there are none. */
  readonly problems: readonly string[];
};

export async function soakTexts(options: TextsSoakOptions): Promise<TextsSoakResult> {
  const all: Measured[] = [];
  const note = (measured: Measured): void => {
    all.push(measured);
    options.onMeasured?.(measured);
  };
  for (const profile of options.profiles) {
    for (const length of options.lengths) {
      await soakServer({ profile, length }, options, (measured) =>
        note({ ...measured, name: `${profile}, ${length} B: ${measured.name}` }),
      );
    }
  }
  return {
    peakMiB: Math.max(...all.map(({ peakMiB }) => peakMiB)),
    answered: all.reduce((sum, { answered }) => sum + answered, 0),
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
    problems: all.flatMap((measured) => problemsOf(measured, options)),
  };
}

function problemsOf(measured: Measured, { ceilingBytes }: TextsSoakOptions): string[] {
  const { name, clients, peakMiB, errors } = measured;
  const problems = errors.filter((error) => !NAMES_SETTING.test(error));
  if (peakMiB * (1 << 20) > ceilingBytes) problems.push(`${peakMiB} MiB resident`);
  return problems.map((problem) => `${name}, ${clients} clients: ${problem}`);
}

/** A server for each length: what it keeps of the tags of another one is no part of the ceiling. */
async function soakServer(
  { profile, length }: { readonly profile: Profile; readonly length: number },
  options: TextsSoakOptions,
  note: (measured: Measured) => void,
): Promise<void> {
  const args = ['--log-level', 'error', ...(profile === 'small' ? ['--profile', profile] : [])];
  let server = await startTidemark({ command: 'tsdb', args });
  try {
    await soakLength(subjectOf(server), length, options, note);
    note(await compaction(subjectOf(server), length));
    killFamily(subjectOf(server).pid);
    await server.kill();
    const { directory } = server;
    server = await startTidemark({ command: 'tsdb', args, directory });
    const peakMiB = Math.round(peakBytes(subjectOf(server).pid) / (1 << 20));
    const rest = { clients: 0, seconds: 0, answered: 0, refused: 0, errors: [] };
    note({ name: 'recovery', peakMiB, ...rest });
    const database = `texts${length}`;
    await write(server.tsdb, database, 'after v=1 1');
    await query(server.tsdb, 'SELECT last(v) FROM after', database);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
}

function subjectOf({ tsdb, process: { pid } }: Tidemark): Subject {
  return { url: tsdb, pid: pid! };
}

async function soakLength(
  subject: Subject,
  length: number,
  { totalBytes, clients }: TextsSoakOptions,
  note: (measured: Measured) => void,
): Promise<void> {
  const texts = Math.min(200_000, Math.ceil(totalBytes / length));
  const database = `texts${length}`;
  note(await loadTexts(subject, { database, texts, textLength: length, series: SERIES }));
  for (const statement of TEXT_STATEMENTS) {
    for (const count of clients) {
      note(await measure(subject, statement, { database, clients: count }));
    }
  }
  const tagLength = Math.min(length, TAG_LENGTH_MAX);
  const series = Math.min(50_000, Math.ceil(totalBytes / 2 / tagLength));
  note(await loadTags(subject, { database: `tags${length}`, series, tagLength }));
  for (const statement of TAG_STATEMENTS) {
    for (const count of clients) {
      note(await measure(subject, statement, { database: `tags${length}`, clients: count }));
    }
  }
  for (const count of clients) {
    note(await measureRemoteRead(subject, 'tagged', { database: `tags${length}`, clients: count }));
  }
  note(await backup(subject));
}

/** Texts of a portion: more than what is flushed soon after the last write. */
const PORTION_BYTES = 1_400_000;
/** Segments of one level that are merged. */
const PORTIONS = 4;

/** Portions of texts that are flushed one by one, until their segments are merged. */
async function compaction(subject: Subject, length: number): Promise<Measured> {
  const database = `texts${length}`;
  const count = async (name: string): Promise<number> => {
    const answer = await fetch(`${subject.url}/metrics`);
    return metricValue(await answer.text(), `tidemark_tsdb_storage_${name}_total`);
  };
  const grows = async (name: string, from: number): Promise<void> => {
    await eventually(name, async () => ((await count(name)) > from ? true : undefined), 120_000);
  };
  resetPeak(subject.pid);
  const started = performance.now();
  const compactions = await count('compactions');
  const textLength = Math.max(length, 1000);
  for (let portion = 0; portion < PORTIONS; portion++) {
    const flushes = await count('flushes');
    const lines: string[] = [];
    for (let n = 0; n * textLength < PORTION_BYTES; n++) {
      lines.push(`merged t="${randomText(`${portion} ${n}`, textLength)}" ${portion + n * 10}`);
    }
    await write(subject.url, database, lines.join('\n'));
    await grows('flushes', flushes);
  }
  await grows('compactions', compactions);
  return {
    name: 'compaction',
    clients: 1,
    seconds: (performance.now() - started) / 1000,
    peakMiB: Math.round(peakBytes(subject.pid) / (1 << 20)),
    answered: 1,
    refused: 0,
    errors: [],
  };
}

async function backup(subject: Subject): Promise<Measured> {
  resetPeak(subject.pid);
  const started = performance.now();
  const answer = await fetch(`${subject.url}/api/backup`, { method: 'POST', body: '{}' });
  let sizeBytes = 0;
  for await (const piece of answer.body ?? []) sizeBytes += piece.length;
  return {
    name: 'backup',
    clients: 1,
    seconds: (performance.now() - started) / 1000,
    peakMiB: Math.round(peakBytes(subject.pid) / (1 << 20)),
    answered: Number(answer.ok),
    refused: Number(!answer.ok),
    errors: answer.ok && sizeBytes > 0 ? [] : [`backup answered ${answer.status}`],
  };
}
