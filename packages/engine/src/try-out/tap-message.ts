// A message that leaves a node, as a line of JSON for a tap or a try-out.
import { formatRfc3339 } from '@tidemark/core';
import { jsonFloat } from '@tidemark/runtime';
import type { OutputPoint, TapMessage } from '@tidemark/runtime';
import { printJson } from '../formats/json.ts';

/** A message as a line of the stream. Floats that JSON cannot represent are texts. */
export function printTapMessage(message: TapMessage): string {
  const { kind, edge: node } = message;
  switch (message.kind) {
    case 'point': {
      const { group, point } = message;
      return printJson({ kind, node, group, name: point.name, ...printPoint(point) });
    }
    case 'batch': {
      const { group, name, time, points } = message;
      const printed = points.map(printPoint);
      return printJson({ kind, node, group, name, time: formatRfc3339(time), points: printed });
    }
    case 'barrier':
      return printJson({ kind, node, group: message.group, time: formatRfc3339(message.time) });
    case 'delete-group':
      return printJson({ kind, node, group: message.group });
    case 'dropped':
      return printJson({ kind, node, count: message.count });
    case 'why': {
      const { group, time, outcome, conditions } = message;
      const printed = conditions.map((condition) => ({
        ...condition,
        result: printable(condition.result),
        values: mapped(Object.entries(condition.values)),
      }));
      return printJson({
        kind,
        node,
        group,
        time: formatRfc3339(time),
        outcome,
        conditions: printed,
      });
    }
  }
}

function printPoint(point: OutputPoint): Readonly<Record<string, unknown>> {
  return {
    time: formatRfc3339(point.time),
    tags: Object.fromEntries(point.tags),
    fields: mapped([...point.fields]),
  };
}

function mapped(
  entries: readonly (readonly [string, unknown])[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([name, value]) => [name, printable(value)]));
}

/** NaN and infinities as texts, as everywhere else. */
function printable(value: unknown): unknown {
  const isStrange = typeof value === 'number' && !Number.isFinite(value);
  return isStrange ? (JSON.parse(jsonFloat(value)) as unknown) : value;
}
