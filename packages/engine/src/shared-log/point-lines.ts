// Converts points to lines, for a log whose readers support only lines.
import { parseLines, printLine } from '@tidemark/line-protocol';
import type { PointInput } from '@tidemark/runtime';

/** The lines of the points that lines can represent, and their number. */
export function printedLines(points: readonly PointInput[]): {
  readonly body: Uint8Array;
  readonly count: number;
} {
  const lines = points.flatMap((point) => {
    const line = printLine({ ...point, measurement: point.name });
    return line !== undefined && isSame(line, point) ? [line] : [];
  });
  return { body: Buffer.from(lines.join('\n')), count: lines.length };
}

/** Whether parsing a line returns the point that was printed. */
function isSame(line: string, point: PointInput): boolean {
  const { points, errors } = parseLines(Buffer.from(line), { precision: 'ns', now: 0n });
  const [read, ...others] = points;
  if (read === undefined || others.length + errors.length > 0) return false;
  const { measurement, tags, fields, time } = read;
  return (
    measurement === point.name &&
    time === point.time &&
    isEqual(tags, [...point.tags].filter(([, value]) => value !== '').sort(byKey)) &&
    isEqual(fields, [...point.fields])
  );
}

type Pairs = readonly (readonly [string, unknown])[];

function isEqual(some: Pairs, others: Pairs): boolean {
  return (
    some.length === others.length &&
    some.every(([name, value], i) => name === others[i]?.[0] && Object.is(value, others[i]?.[1]))
  );
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
