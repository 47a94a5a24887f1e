// Annotations of a dashboard: marks from rows or from alerts.
import type { Cell as Value } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { withoutDuplicates } from '../../api/events.ts';
import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import type { Mark } from '../../charts/plot.ts';
import type { Annotation } from '../../dashboards/model.ts';
import { matchesPattern } from '../../dashboards/pattern.ts';
import { runCell } from '../../dashboards/run.ts';
import type { CellContext } from '../../dashboards/run.ts';
import { spanOf } from '../../time/range.ts';

const MARKS_MAX = 200;
/** Level changes searched for those in the span, newest first. */
const CHANGES_MAX = 1000;
const NOTHING: readonly Mark[] = [];

async function marksOf(
  annotation: Annotation,
  context: CellContext,
  signal: AbortSignal,
): Promise<readonly Mark[]> {
  if (annotation.kind === 'alerts') return marksOfAlerts(annotation, context, signal);
  const { query: text, database } = annotation;
  const cell = { kind: 'table', queries: [{ text, database, label: '' }], options: {} };
  const { statements } = await runCell(cell, context, {
    widthPixels: 1000,
    nowMs: Date.now(),
    signal,
  });
  const error = statements.find((one) => one.error !== undefined)?.error;
  if (error !== undefined) throw new Error(error);
  return statements.flatMap(({ series }) =>
    series.flatMap(({ columns, rows, tags }) => {
      const timeAt = columns.indexOf('time');
      const isText = (value: Value, at: number): boolean =>
        at !== timeAt && typeof value === 'string' && value !== '';
      return rows.map((row) => ({
        time: Date.parse(String(row[timeAt])),
        label: String(row.find(isText) ?? Object.values(tags)[0] ?? annotation.name),
        colour: 'accent',
      }));
    }),
  );
}

/** Level changes of events of topics. */
async function marksOfAlerts(
  { topic: pattern }: Annotation,
  context: CellContext,
  signal: AbortSignal,
): Promise<readonly Mark[]> {
  const span = spanOf(context, Date.now());
  if (services.engine.value.state === 'absent' || span === undefined) return NOTHING;
  const { changes } = await engine.alertHistory({ limit: CHANGES_MAX, signal });
  return withoutDuplicates(changes)
    .map(({ topic, id, level, time }) => ({
      topic,
      time: Date.parse(time),
      label: `${level} ${id}`,
      colour: level === 'OK' ? 'good' : level === 'CRITICAL' ? 'bad' : 'warn',
    }))
    .filter(({ topic, time }) => {
      return matchesPattern(topic, pattern) && time >= span.fromMs && time <= span.toMs;
    });
}

/** Marks of all annotations; if one fails the error is shown and the others stay. */
export function useMarks(
  annotations: readonly Annotation[],
  context: CellContext | undefined,
  { round, refreshMs }: { readonly round: number; readonly refreshMs: number | undefined },
) {
  const loaded = useResource(
    async (signal) => {
      if (context === undefined) return { marks: NOTHING, problems: [] as readonly string[] };
      const all = await Promise.allSettled(
        annotations.map((annotation) => marksOf(annotation, context, signal)),
      );
      signal.throwIfAborted();
      return {
        marks: all
          .flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
          .slice(0, MARKS_MAX),
        problems: all.flatMap((each, i) =>
          each.status === 'rejected'
            ? [
                `${annotations[i]?.name}: ${each.reason instanceof Error ? each.reason.message : ''}`,
              ]
            : [],
        ),
      };
    },
    [
      JSON.stringify([
        annotations,
        context === undefined ? null : { ...context, chosen: [...context.chosen] },
      ]),
      round,
    ],
    { refreshMs: annotations.length === 0 ? undefined : refreshMs },
  );
  const { marks = NOTHING, problems = [] } = loaded.value.value ?? {};
  return { marks, problems };
}
