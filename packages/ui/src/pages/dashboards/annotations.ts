// Marks of a dashboard's annotations: what happened when, from rows or from alerts.
import type { Cell as Value } from '@tidemark/client';

import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import type { Mark } from '../../charts/plot.ts';
import type { Annotation } from '../../dashboards/model.ts';
import { runCell } from '../../dashboards/run.ts';
import type { CellContext } from '../../dashboards/run.ts';
import { openEvents } from './alert-list.tsx';

const MARKS_MAX = 200;
const NOTHING: readonly Mark[] = [];

async function marksOf(
  annotation: Annotation,
  context: CellContext,
  signal: AbortSignal,
): Promise<readonly Mark[]> {
  if (annotation.kind === 'alerts') {
    if (services.engine.value.state === 'absent') return NOTHING;
    const events = await openEvents(annotation.topic, 'OK', signal);
    return events.map(({ time, level, id }) => ({
      time: Date.parse(time),
      label: `${level} ${id}`,
      colour: level === 'OK' ? 'good' : level === 'CRITICAL' ? 'bad' : 'warn',
    }));
  }
  const { query: text, database } = annotation;
  const cell = { kind: 'table' as const, queries: [{ text, database, label: '' }] };
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

/** Marks of all annotations; what one of them fails with is told, the others stay. */
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
