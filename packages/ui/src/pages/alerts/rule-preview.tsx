// Shows what a rule would have fired over a span of the database, and saves it as a task.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { navigate } from '../../app/router.ts';
import { preference } from '../../app/stored.ts';
import { Chart } from '../../charts/chart.tsx';
import type { Mark, Threshold } from '../../charts/plot.ts';
import { Button } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { chartOf } from '../../query/frames.ts';
import { RangePicker } from '../../time/range-picker.tsx';
import { spanOf } from '../../time/range.ts';
import type { TimeRange } from '../../time/range.ts';
import { shownZone, zoneName } from '../../time/zone.ts';
import { FiredTable } from '../../try-out/fired.tsx';
import { seriesOf } from '../../try-out/outcome.ts';
import type { TriedNode } from '../../try-out/outcome.ts';
import { TryRun } from '../../try-out/try-run.ts';
import type { Shown } from '../../try-out/try-run.ts';
import { texts } from '../../texts/texts.ts';
import type { Rule } from './rule-script.ts';

const t = texts.alerts;

const range = preference<TimeRange>('alerts.preview', { from: 'now-6h', to: 'now' });

const COLOURS: Readonly<Record<string, string>> = {
  OK: 'good',
  INFO: 'accent',
  WARNING: 'warn',
  CRITICAL: 'bad',
};

export function RulePreview({
  rule,
  script,
  isComplete,
}: {
  readonly rule: Rule;
  readonly script: string;
  readonly isComplete: boolean;
}) {
  const run = useMemo(() => new TryRun(), []);
  const isSaving = useSignal(false);
  useEffect(() => () => run.cancel(), []);
  // The outcome of another script does not apply to this one.
  useEffect(() => {
    run.cancel();
    run.shown.value = undefined;
    run.problem.value = undefined;
  }, [script]);
  const task = {
    id: rule.name,
    script,
    dbrps: [{ db: rule.database, rp: rule.policy }],
  };
  const preview = (): void => {
    const span = spanOf(range.value, Date.now());
    if (span === undefined) return;
    const source = {
      start: new Date(span.fromMs).toISOString(),
      stop: new Date(span.toMs).toISOString(),
    };
    void run.start({ task, source });
  };
  const save = async (): Promise<void> => {
    isSaving.value = true;
    try {
      await engine.createTask({ ...task, status: 'enabled' });
      toast(t.ruleMade(rule.name));
      navigate('tasks', { id: rule.name });
    } catch (error) {
      run.problem.value = problemOf(error);
    }
    isSaving.value = false;
  };
  const shown = run.shown.value;
  return (
    <Panel
      title={t.previewOf}
      controls={
        <>
          <RangePicker range={range.value} onChange={(next) => (range.value = next)} />
          <Button icon="play" disabled={!isComplete} isBusy={run.isRunning.value} onClick={preview}>
            {t.preview}
          </Button>
          <Button
            kind="primary"
            icon="save"
            disabled={!isComplete}
            isBusy={isSaving.value}
            onClick={() => void save()}
          >
            {t.ruleMake}
          </Button>
        </>
      }
    >
      {run.problem.value === undefined ? null : (
        <Notice kind="bad">{run.problem.value.message}</Notice>
      )}
      {shown !== undefined ? (
        <Fired shown={shown} rule={rule} />
      ) : run.isRunning.value ? (
        <Loading rows={4} />
      ) : (
        <p class="muted">{t.previewHint}</p>
      )}
    </Panel>
  );
}

function Fired({ shown, rule }: { readonly shown: Shown; readonly rule: Rule }) {
  const { outcome } = shown;
  const { task, end } = outcome;
  // The list is extended in place; copying it triggers rendering.
  const events = useMemo(() => [...outcome.events], [shown]);
  const chart = useMemo(() => {
    const compared = comparedNode(task?.nodes ?? []);
    return chartOf({ series: seriesOf(outcome.points.get(compared) ?? []) });
  }, [shown]);
  const thresholds = useMemo(() => thresholdsOf(rule), [rule]);
  const marks = useMemo<readonly Mark[]>(
    () =>
      events.map(({ atMs, id, level }) => ({
        time: atMs,
        label: `${id} ${level}`,
        colour: COLOURS[level] ?? 'accent',
      })),
    [shown],
  );
  return (
    <div class="stack wide">
      {end === undefined || end.problem === '' ? null : <Notice kind="bad">{end.problem}</Notice>}
      {end === undefined ? null : (
        <p class="muted small">{texts.tryOut.figures(end.count, events.length)}</p>
      )}
      {chart.series.length === 0 ? null : (
        <Chart
          label={t.previewValues}
          data={chart}
          height={220}
          zone={zoneName(shownZone.value)}
          thresholds={thresholds}
          marks={marks}
        />
      )}
      <FiredTable events={events} />
    </div>
  );
}

/** The node before the alert: its output is compared. */
function comparedNode(nodes: readonly TriedNode[]): string {
  const at = nodes.findIndex(({ isAlerting }) => isAlerting);
  return nodes[at - 1]?.name ?? '';
}

function thresholdsOf({ kind, warn, crit }: Rule): readonly Threshold[] {
  if (kind === 'deadman') return [];
  const limit = (text: string, colour: string): readonly Threshold[] =>
    text.trim() === '' ? [] : [{ value: Number(text), colour }];
  return [...limit(warn, 'warn'), ...limit(crit, 'bad')];
}
