// When aligned tasks run their queries, live and in a replayed range.
import { formatRfc3339, parseRfc3339 } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { mergedTicks } from '../jobs/batch-ticks.ts';
import { queryNodesOf } from '../batch/query-nodes.ts';

function nodesOf(schedule: string): ReturnType<typeof queryNodesOf> {
  const script = `batch|query('SELECT v FROM "d"."r"."m"').period(1m)${schedule}|log()`;
  const { pipeline, error } = buildPipeline(script, {});
  if (pipeline === undefined) throw new Error(error?.text);
  return queryNodesOf(pipeline);
}

const at = (text: string): bigint => parseRfc3339(text) ?? 0n;

// 2024-01-01 is a Monday; periods count from the year 1.
test.each([
  ['.every(10s).align()', '2024-01-01T05:00:08Z', '2024-01-01T05:00:10Z'],
  ['.every(10s).align()', '2024-01-01T05:00:10Z', '2024-01-01T05:00:20Z'],
  ['.every(1w).align()', '2024-01-03T00:00:00Z', '2024-01-08T00:00:00Z'],
  ['.every(7s).align()', '2024-01-01T00:00:00Z', '2024-01-01T00:00:07Z'],
  ['.every(10s)', '2024-01-01T05:00:08Z', '2024-01-01T05:00:18Z'],
])('%s at %s asks next at %s', (schedule, now, next) => {
  expect(formatRfc3339(nodesOf(schedule)[0]?.schedule(at(now)) ?? 0n)).toBe(next);
});

test.each([
  ['.every(10s).align()', '05:00:08', ['05:00:20', '05:00:30']],
  ['.every(10s).align()', '05:00:03', ['05:00:10', '05:00:20', '05:00:30']],
  ['.every(10s).align()', '05:00:00', ['05:00:10', '05:00:20', '05:00:30']],
  ['.every(10s)', '05:00:08', ['05:00:18', '05:00:28']],
  [".cron('*/10 * * * * * *')", '05:00:08', ['05:00:10', '05:00:20', '05:00:30']],
])('a replay of %s from %s', (schedule, start, expected) => {
  const range = { start: at(`2024-01-01T${start}Z`), stop: at('2024-01-01T05:00:30Z') };

  const ticks = [...mergedTicks(nodesOf(schedule), range)].map(({ tick }) => formatRfc3339(tick));

  expect(ticks).toEqual(expected.map((time) => `2024-01-01T${time}Z`));
});
