// The draft of a try-out, kept until the tab is closed.
import type { Dbrp, TryOut } from '@tidemark/client';

import { draft } from '../../app/stored.ts';
import { spanOf } from '../../time/range.ts';
import type { TimeRange } from '../../time/range.ts';

export const SOURCES = ['points', 'database', 'recording'] as const;
export type SourceKind = (typeof SOURCES)[number];

const SCRIPT = `stream
    |from()
        .measurement('cpu')
        .groupBy('host')
    |alert()
        .id('{{ index .Tags "host" }}')
        .crit(lambda: "usage" > 90.0)
        .stateChangesOnly()
`;

const POINTS = `cpu,host=a usage=62 1767225600
cpu,host=a usage=95 1767225610
cpu,host=a usage=97 1767225620
cpu,host=a usage=40 1767225630
`;

const HOUR: TimeRange = { from: 'now-1h', to: 'now' };

export const script = draft('try.script', SCRIPT);
export const points = draft('try.points', POINTS);
export const precision = draft('try.precision', 's');
export const dbrps = draft('try.dbrps', 'telegraf.autogen');
export const source = draft<SourceKind>('try.source', 'points');
export const range = draft('try.range', HOUR);
export const recording = draft('try.recording', '');
export const goesOn = draft('try.goes-on', '');

/** The request to the engine; `undefined` while the time span is invalid. */
export function tried(dbrpsOf: (text: string) => readonly Dbrp[]): TryOut | undefined {
  const span = spanOf(range.value, Date.now());
  if (source.value === 'database' && span === undefined) return undefined;
  const from = {
    points: { points: points.value, precision: precision.value },
    database: {
      start: new Date(span?.fromMs ?? 0).toISOString(),
      stop: new Date(span?.toMs ?? 0).toISOString(),
    },
    recording: { recording: recording.value },
  }[source.value];
  return {
    task: { script: script.value, dbrps: dbrpsOf(dbrps.value) },
    source: from,
    'goes-on': goesOn.value.trim(),
  };
}
