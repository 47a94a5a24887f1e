import { expect, test } from 'vitest';

import { prepareSelect } from '../analyse/prepare-select.ts';
import type { RowBatch } from '../batch/row-batch.ts';
import { sliceColumn } from '../batch/column-ops.ts';
import type { QueryContext } from '../context.ts';
import { planSelect } from '../plan/plan-select.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import type { AggregateBatch, SourceSnapshot } from '../series-source.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { contextOf, DATABASE, SECOND, select } from '../testing/run-statement.ts';
import { RunContext } from './run-context.ts';
import { runSelect } from './run-select.ts';
import { runWholeGroups } from './whole-groups.ts';

/** Hosts a and b have a point each second, c misses some, d has few of `w`; e has one point. */
function source(): MemorySource {
  const memory = new MemorySource();
  memory.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = ['a', 'b', 'c', 'd', 'e'].flatMap((host, h) =>
    Array.from({ length: host === 'e' ? 1 : 40 }, (_, second) => ({
      measurement: 'm',
      tags: [['host', host]] as const,
      fields: [
        ['v', second * (h + 1)] as const,
        ...(host !== 'd' || second % 9 === 0 ? [['w', second / 8] as const] : []),
      ],
      time: BigInt(second) * SECOND,
    })).filter((_, second) => host !== 'c' || second < 10 || second > 25),
  );
  memory.write(DATABASE, 'autogen', points);
  return memory;
}

async function planOf(text: string, context: QueryContext): Promise<SelectPlan> {
  const prepared = await prepareSelect(select(text), context);
  return planSelect(prepared, { now: context.now, isInto: false });
}

/** Groups with times and values as they are answered, however they were cut into batches. */
function shown(batches: readonly RowBatch[]): unknown {
  const groups: { tags: readonly string[]; rows: string[] }[] = [];
  let last: RowBatch['group'] | undefined;
  for (const { group, times, columns } of batches) {
    if (group !== last) groups.push({ tags: group.tags, rows: [] });
    last = group;
    for (let row = 0; row < times.length; row++) {
      const cells = columns.map((column) => {
        const isThere = column.valid === undefined || column.valid[row] === 1;
        return isThere && column.type !== 'string' ? String(column.values[row]) : null;
      });
      groups.at(-1)!.rows.push(`${times[row]} ${cells.join()}`);
    }
  }
  return groups;
}

async function inGeneral(text: string, context: QueryContext): Promise<unknown> {
  const rows: RowBatch[] = [];
  const plan = await planOf(text, context);
  for await (const batch of runSelect(plan, new RunContext(context))) rows.push(batch);
  return shown(rows);
}

async function inWholeGroups(text: string, context: QueryContext): Promise<unknown> {
  const rows: RowBatch[] = [];
  const lists = runWholeGroups(await planOf(text, context), new RunContext(context));
  if (lists === undefined) throw new Error(`not for whole groups: ${text}`);
  for await (const list of lists) rows.push(...list);
  return shown(rows);
}

/** Every group comes window by window. */
function inParts(snapshot: SourceSnapshot): SourceSnapshot {
  const aggregate: SourceSnapshot['aggregate'] = async function* aggregateInParts(...request) {
    for await (const batch of snapshot.aggregate(...request)) {
      for (let i = 0; i < batch.windowStarts.length; i++) yield part(batch, i);
    }
  };
  return { ...snapshot, aggregate };
}

function part(batch: AggregateBatch, i: number): AggregateBatch {
  return {
    ...batch,
    windowStarts: batch.windowStarts.subarray(i, i + 1),
    fields: batch.fields.map((field) =>
      field.map(({ values, pointTimes }) => ({
        values: sliceColumn(values, i, i + 1),
        pointTimes: pointTimes?.subarray(i, i + 1),
      })),
    ),
  };
}

const WITHIN = 'WHERE time >= 0 AND time < 40s';

test.each([
  'SELECT mean(v) FROM m GROUP BY host',
  'SELECT max(v) FROM m GROUP BY host',
  'SELECT max(v), min(w) FROM m GROUP BY host',
  'SELECT count(w) FROM m',
  `SELECT mean(v) FROM m ${WITHIN} GROUP BY time(5s), host`,
  `SELECT mean(v), max(w) FROM m ${WITHIN} GROUP BY time(2s), host`,
  `SELECT mean(v) + 2 * max(w) AS x, count(w) FROM m ${WITHIN} GROUP BY time(2s), host`,
  `SELECT mean(w), max(w) FROM m ${WITHIN} GROUP BY time(2s), host fill(none)`,
  `SELECT mean(w), count(v) FROM m ${WITHIN} GROUP BY time(2s), host fill(7)`,
  `SELECT mean(w), count(v) FROM m ${WITHIN} GROUP BY time(2s), host fill(previous)`,
  `SELECT mean(w) FROM m ${WITHIN} GROUP BY time(2s), host fill(linear)`,
  `SELECT sum(v) FROM m ${WITHIN} GROUP BY time(3s, 1s), host ORDER BY time DESC`,
  'SELECT last(w) FROM m WHERE time < 30s GROUP BY time(10s), host ORDER BY time DESC',
  'SELECT last(w) FROM m WHERE time < 30s AND host =~ /[ac]/ GROUP BY time(10s), host',
])('whole groups and parts of groups answer what the general way does: %s', async (text) => {
  const context = await contextOf(source());
  const expected = await inGeneral(text, context);

  expect(await inWholeGroups(text, context)).toEqual(expected);
  const cut = { ...context, snapshot: inParts(context.snapshot) };
  expect(await inWholeGroups(text, cut)).toEqual(expected);
  expect(await inGeneral(text, cut)).toEqual(expected);
});

test.each([
  'SELECT v FROM m',
  'SELECT median(v) FROM m GROUP BY host',
  `SELECT derivative(mean(v)) FROM m ${WITHIN} GROUP BY time(5s)`,
  `SELECT mean(v) FROM m ${WITHIN} GROUP BY time(5s) LIMIT 2`,
  `SELECT mean(v) FROM m ${WITHIN} GROUP BY host SLIMIT 1`,
  `SELECT mean(v) FROM m ${WITHIN} GROUP BY time(5s) tz('Europe/Berlin')`,
  'SELECT mean(x) FROM (SELECT mean(v) AS x FROM m GROUP BY host)',
])('other plans go the general way: %s', async (text) => {
  const context = await contextOf(source());

  expect(runWholeGroups(await planOf(text, context), new RunContext(context))).toBeUndefined();
});
