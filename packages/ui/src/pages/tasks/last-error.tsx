// The last error of a running task: why, in which line of the script, and at which point.
import { useSignal } from '@preact/signals';
import type { Task } from '@tidemark/client';
import { useEffect } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { Notice } from '../../design/states.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { figuresOf } from './figures.ts';
import { useFollowed } from './follow.ts';

const t = texts.tasks;

type Line = Readonly<Record<string, unknown>>;

export function LastError({ task }: { readonly task: Task }) {
  const { id, script } = task;
  const { lines } = useFollowed(
    (signal) => engine.logs({ task: id, lvl: 'error', past: 'true' }, { isJson: true, signal }),
    [id],
    false,
  );
  const starts = useSignal<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    const read = async (): Promise<void> => {
      const { buildPipeline } = await import('@tidemark/pipeline');
      const { pipeline } = buildPipeline(script);
      const lineOf = (offset: number): number => script.slice(0, offset).split('\n').length;
      starts.value = new Map(
        pipeline?.nodes.map(({ name, span }) => [name, lineOf(span.start)] as const),
      );
    };
    // The line is left out.
    read().catch(() => undefined);
  }, [script]);
  const zone = shownZone.value;
  const last = lines.value.find((each) => (each as Line)['node'] !== undefined) as Line | undefined;
  if (last === undefined) return null;
  const { ts, msg, err, point } = last;
  const node = String(last['node']);
  const errors = t.errorCount(figuresOf(task).errorCount);
  const line = starts.value.get(node);
  return (
    <Notice kind="warn">
      {line === undefined ? t.lastError(errors, node) : t.lastErrorAt(errors, node, line)}{' '}
      {[msg, err].filter((text) => text !== undefined).join(': ')}
      {point === undefined ? null : (
        <p>
          {t.lastPoint} <code>{String(point)}</code>
        </p>
      )}
      <p class="muted small">{formatTime(String(ts), zone)}</p>
    </Notice>
  );
}
