// Readers: rows of a measurement, dashboards, and a slow one.
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { CELLS, DATABASES, DAY_NANOS, MEASUREMENTS, POLICIES, TAGS, TIMES } from '../cells.ts';
import type { Cell, Tag } from '../cells.ts';
import { Finding } from '../round.ts';
import type { Round, Series } from '../round.ts';

type Source = Pick<Cell, 'database' | 'policy' | 'measurement'>;

export function textOf({ database, policy, measurement }: Source): string {
  return `"${database}"."${policy}"."${measurement}"`;
}

function anySource(round: Round): Source {
  return {
    database: round.one(DATABASES),
    policy: round.one(POLICIES),
    measurement: round.one(MEASUREMENTS),
  };
}

/** Throws when a cell of the source cannot have had what the answer says since `from`. */
export function checkRows(
  round: Round,
  { source, from }: { readonly source: Source; readonly from: number },
  series: readonly Series[],
): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  for (const { tags, values } of series) {
    for (const [time, value] of values) {
      const key = `${tags?.['t']} ${BigInt(Number(time)) / DAY_NANOS}`;
      if (seen.has(key)) throw new Finding(`${textOf(source)} has ${key} twice`);
      seen.set(key, Number(value));
    }
  }
  let found = 0;
  for (const cell of CELLS) {
    const { database, policy, measurement, tag, time } = cell;
    const isIn =
      database === source.database &&
      policy === source.policy &&
      measurement === source.measurement;
    if (!isIn) continue;
    const value = seen.get(`${tag} ${time}`) ?? 0;
    if (value !== 0) found++;
    checkCell(round, cell, { value, from });
  }
  if (found !== seen.size) {
    throw new Finding(
      `${textOf(source)} has rows that nobody wrote: ${[...seen.keys()].join(', ')}`,
    );
  }
  return seen;
}

function checkCell(
  round: Round,
  cell: Cell,
  { value, from }: { readonly value: number; readonly from: number },
): void {
  const problem = round.attack.ledger.problem(cell, value, from);
  if (problem !== undefined) throw new Finding(problem);
}

export async function readForever(round: Round): Promise<void> {
  while (!round.isEnding) {
    await (round.pick(3) === 0 ? readRows(round, anySource(round)) : readPanel(round));
  }
}

/** All rows of a measurement. */
async function readRows(round: Round, source: Source): Promise<void> {
  const { ledger, mark } = round.attack;
  const from = ledger.beginRead();
  const result = await round.query(`SELECT v FROM ${textOf(source)} GROUP BY t`);
  if (result.kind === 'series') {
    checkRows(round, { source, from }, result.series);
    mark('queries of rows');
  }
  ledger.endRead(from);
}

/**
 * A panel of a dashboard: windows with one time each, which the storage thread answers whole after
 * the first time.
 */
async function readPanel(round: Round): Promise<void> {
  const { ledger, mark } = round.attack;
  const source = anySource(round);
  const tag: Tag = round.one(TAGS);
  const call = round.one(['max(v)', 'first(v)', 'sum(v)']);
  const range = `time >= 0 AND time < ${DAY_NANOS * BigInt(TIMES)}`;
  const from = ledger.beginRead();
  const result = await round.query(
    `SELECT ${call} FROM ${textOf(source)} WHERE t = '${tag}' AND ${range} GROUP BY time(1d) fill(none)`,
  );
  if (result.kind === 'series') {
    const windows = result.series.flatMap(({ values }) => values);
    const seen = new Map(windows.map(([time, value]) => [Number(time), Number(value)]));
    for (let time = 0; time < TIMES; time++) {
      const value = seen.get(Number(DAY_NANOS * BigInt(time))) ?? 0;
      checkCell(round, { ...source, tag, time }, { value, from });
    }
    mark('panels');
  }
  ledger.endRead(from);
}

const SLOW_PAUSE_MS = 100;

/** Reads the rows of everything and takes pauses, so that its snapshot grows old. */
export async function readSlowly(round: Round): Promise<void> {
  while (!round.isEnding) {
    const q = `SELECT v FROM "b"."p"./fill|m/ GROUP BY t`;
    const search = new URLSearchParams({ q, epoch: 'ns', chunked: 'true', chunk_size: '500' });
    const bytes = await slowBytes(round, `/query?${search.toString()}`);
    if (bytes === undefined) continue;
    for (const line of bytes.split('\n').filter((one) => one !== '')) {
      const { results, error } = JSON.parse(line) as {
        results?: readonly { error?: string; series?: readonly Series[] }[];
        error?: string;
      };
      for (const { name, values } of (results ?? []).flatMap(({ series = [] }) => series)) {
        const strange = name === 'fill' && values.find(([, value]) => value !== 1);
        if (strange !== undefined && strange !== false) {
          throw new Finding(`fill has a value of another measurement: ${JSON.stringify(strange)}`);
        }
      }
      const reason = error ?? results?.find((one) => one.error !== undefined)?.error;
      // A query that is running when the service is told to stop is ended with that reason.
      const isEnded = round.isEnding && reason === 'query engine shutdown';
      if (isEnded || reason === undefined) continue;
      if (!/not found|stops|closed/.test(reason) && !round.hasFaults) {
        throw new Finding(`a slow reader was told: ${reason}`);
      }
    }
    round.attack.mark('slow readings');
  }
}

/** The whole answer, taken slowly; `undefined` when the service ended. */
async function slowBytes(round: Round, path: string): Promise<string | undefined> {
  try {
    const sent = request(`${round.url}${path}`);
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      if (!round.isEnding) await new Promise((resolve) => setTimeout(resolve, SLOW_PAUSE_MS));
    }
    return text;
  } catch (error) {
    if (!round.isEnding) throw new Finding(`a slow reader was cut off: ${String(error)}`);
    return undefined;
  }
}
