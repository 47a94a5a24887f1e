// The outcome of a try-out, up to the time of its clock.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { Panel } from '../design/panel.tsx';
import { Notice } from '../design/states.tsx';
import { PipelineView } from '../pages/tasks/pipeline-view.tsx';
import { texts } from '../texts/texts.ts';
import { ClockBar } from './clock-bar.tsx';
import { EffectList, FiredTable, LogList } from './fired.tsx';
import { NodeView } from './node-view.tsx';
import type { Outcome } from './outcome.ts';
import type { Shown } from './try-run.ts';
import './try-out.css';

const t = texts.tryOut;

const EFFECTS_MAX = 200;

export function OutcomeView({
  shown,
  node,
  onNode,
}: {
  /** A new object whenever there is more. */
  readonly shown: Shown;
  readonly node: string;
  readonly onNode: (name: string) => void;
}) {
  const { outcome } = shown;
  const at = useSignal<number | undefined>(undefined);
  const moments = useMemo(() => outcome.moments(), [shown]);
  const index = at.value;
  const untilMs = index === undefined ? Infinity : (moments[index] ?? Infinity);
  const cut = useMemo(() => upTo(outcome, untilMs), [shown, untilMs]);
  const chosen = chosenNode(outcome, node);
  const points = useMemo(() => before(outcome.points.get(chosen), untilMs), [cut, chosen]);
  const whys = useMemo(() => before(outcome.whys.get(chosen), untilMs), [cut, chosen]);
  const { task, end } = outcome;
  if (task === undefined) return null;
  return (
    <div class="stack wide">
      {task.warnings.map((warning) => (
        <Notice key={warning} kind="warn">
          {warning}
        </Notice>
      ))}
      {end === undefined || end.problem === '' ? null : <Notice kind="bad">{end.problem}</Notice>}
      {outcome.droppedCount === 0 ? null : (
        <Notice kind="warn">{t.dropped(outcome.droppedCount)}</Notice>
      )}
      <Panel
        title={t.outcome}
        controls={
          end === undefined ? undefined : (
            <span class="muted small">{t.figures(end.count, outcome.events.length)}</span>
          )
        }
      >
        <ClockBar moments={moments} at={at} />
      </Panel>
      <Panel title={t.alerts} isFlush>
        <FiredTable events={cut.events} />
      </Panel>
      <div class="pipeline-and-tap">
        <Panel title={t.pipeline}>
          <PipelineView
            dot={task.dot}
            figures={end?.stats['node-stats'] ?? {}}
            selected={chosen}
            onSelect={onNode}
          />
        </Panel>
        <div class="stack wide">
          <NodeView name={chosen} points={points} whys={whys} />
        </div>
      </div>
      {cut.effects.length === 0 ? null : (
        <Panel title={t.effects} controls={<span class="muted small">{t.effectsHint}</span>}>
          <EffectList effects={cut.effects.slice(-EFFECTS_MAX)} />
        </Panel>
      )}
      {cut.logs.length === 0 ? null : (
        <Panel title={t.log}>
          <LogList logs={cut.logs.slice(-EFFECTS_MAX)} />
        </Panel>
      )}
    </div>
  );
}

type Timed = { readonly atMs: number };

const before = <T extends Timed>(list: readonly T[] | undefined, untilMs: number): readonly T[] =>
  (list ?? []).filter(({ atMs }) => atMs <= untilMs);

function upTo({ events, effects, logs }: Outcome, untilMs: number) {
  return {
    events: before(events, untilMs),
    effects: before(effects, untilMs),
    logs: before(logs, untilMs),
  };
}

/** The selected node; else the first alert, else the last node. */
function chosenNode({ task }: Outcome, node: string): string {
  const nodes = task?.nodes ?? [];
  if (nodes.some(({ name }) => name === node)) return node;
  return nodes.find(({ isAlerting }) => isAlerting)?.name ?? nodes.at(-1)?.name ?? '';
}
