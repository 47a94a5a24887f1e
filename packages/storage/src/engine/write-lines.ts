// A write request to a batch and its outcome.
import type {
  RejectedLine,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '../storage-engine.ts';
import { lineErrorMessage, parseLines } from '@tidemark/line-protocol';
import type { LineSeries, ParseLinesOptions } from '@tidemark/line-protocol';

import { canonicalTags } from '../series/series-index.ts';
import type { BatchBuilder, Refusal, ResolvedSeries } from '../write/batch-builder.ts';

/** Series seen in earlier requests, by the parser's object for them. */
export type ResolvedCache = WeakMap<LineSeries, ResolvedSeries>;

/** Parses the body into the builder. */
export function buildFromLines(
  request: WriteLinesRequest,
  builder: BatchBuilder,
  tools: {
    readonly cache: ResolvedCache;
    readonly parse: Omit<ParseLinesOptions, 'precision' | 'now'>;
  },
): WriteOutcome {
  const { precision, now, body } = request;
  const { points, errors } = parseLines(body, { ...tools.parse, precision, now });
  const refusals = new Refusals();
  const rejected: RejectedLine[] = errors.map((error) => ({ ...error }));
  for (const point of points) {
    const known = tools.cache.get(point.series);
    const result = builder.add(point, known);
    if (!('reason' in result)) {
      if (result !== known) tools.cache.set(point.series, result);
      continue;
    }
    refusals.add(result);
    if (request.isDetailed === true) {
      const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(
        'utf8',
        point.start,
        point.end,
      );
      rejected.push({ lineNumber: point.lineNumber, text, reason: result.reason });
    }
  }
  rejected.sort((a, b) => a.lineNumber - b.lineNumber);
  return {
    pointsWritten: builder.points,
    valuesWritten: builder.values,
    parseErrors: errors.map(lineErrorMessage),
    dropped: refusals.summary(),
    ...(request.isDetailed === true ? { rejectedLines: rejected } : {}),
  };
}

export function buildFromPoints(request: WritePointsRequest, builder: BatchBuilder): WriteOutcome {
  const refusals = new Refusals();
  for (const point of request.points) {
    if (!hasStorableField(point.fields)) continue;
    const result = builder.add({ ...point, tags: canonicalTags(point.tags) });
    if ('reason' in result) refusals.add(result);
  }
  return {
    pointsWritten: builder.points,
    valuesWritten: builder.values,
    parseErrors: [],
    dropped: refusals.summary(),
  };
}

/** NaN and infinities can not be stored; a point of nothing else is skipped, as INTO of existing servers does. */
function hasStorableField(fields: WritePointsRequest['points'][number]['fields']): boolean {
  return fields.some(([, value]) => typeof value !== 'number' || Number.isFinite(value));
}

class Refusals {
  #count = 0;
  #first: Refusal | undefined;

  add(refusal: Refusal): void {
    this.#count++;
    if (this.#first === undefined || refusal.stage < this.#first.stage) this.#first = refusal;
  }

  summary(): WriteOutcome['dropped'] {
    if (this.#first === undefined) return undefined;
    return { count: this.#count, reason: this.#first.reason };
  }
}
