// The results of task tests in print: one line per row, event, request or written point.
import { formatClockDuration, formatRfc3339 } from '@tidemark/core';
import type { EventState } from '@tidemark/alerting';
import { printLine } from '@tidemark/line-protocol';
import { rowJson, rowsJson } from '@tidemark/runtime';
import type { AlertEvent, AlertLevelName, OutputPoint, ResultRow } from '@tidemark/runtime';

/**
 * JSON without insignificant differences: blanks and the order of keys. Other text is compared as
 * it is.
 */
export function normalise(json: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(json.trim())));
  } catch {
    // No JSON.
    return json.trim();
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

export function rowLine(row: ResultRow): string {
  return normalise(rowJson(row));
}

/** `time | id | level | previous level | duration ns | message | values`, line breaks as `\n`. */
export function eventLine(event: AlertEvent, previousLevel: AlertLevelName): string {
  const rows = JSON.parse(rowsJson(event.data)) as { series: { values?: unknown }[] | null };
  const parts = [
    formatRfc3339(event.time),
    event.id,
    event.level,
    previousLevel,
    String(event.durationNanos),
    event.message,
    JSON.stringify(rows.series?.[0]?.values ?? null),
  ];
  return parts.join(' | ').replaceAll('\n', '\\n');
}

/**
 * One line that a log handler wrote: `time | id | level | previous level | duration ns | message`,
 * and the details if there are any.
 */
export function logLine(json: string): string {
  const event = JSON.parse(json) as {
    readonly id: string;
    readonly message: string;
    readonly details: string;
    readonly time: string;
    readonly duration: number;
    readonly level: string;
    readonly previousLevel: string;
  };
  const parts = [event.time, event.id, event.level, event.previousLevel, event.duration];
  const details = event.details === '' ? [] : [JSON.stringify(event.details)];
  return [...parts, event.message, ...details].join(' | ');
}

/** `id | level | time | duration`. */
export function stateLine(id: string, state: EventState): string {
  const { level, time, durationNanos } = state;
  return [id, level, formatRfc3339(time), formatClockDuration(durationNanos)].join(' | ');
}

/**
 * Line protocol of a point that influxDBOut writes, its fields in order of name, its time in
 * nanoseconds.
 */
export function pointLine(point: OutputPoint): string {
  const fields = [...point.fields].flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  const { name: measurement, tags, time } = point;
  return printLine({ measurement, tags, fields, time }) ?? '';
}
