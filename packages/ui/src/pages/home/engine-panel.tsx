// The task engine: tasks that need attention, and alerts that are open.
import type { Task } from '@tidemark/client';

import { services } from '../../api/connection.ts';
import type { PublishedEvent } from '../../api/events.ts';
import type { Resource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { formatBytes } from '../../charts/quantity.ts';
import { Figures } from '../../design/figures.tsx';
import type { Figure } from '../../design/figures.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { figuresOf } from '../tasks/figures.ts';
import type { EngineOverview } from './load.ts';
import { needsAttention, problemsOf } from './task-health.ts';

const t = texts.home;

/** Rows of each table; their pages show the rest. */
const ROWS_MAX = 8;

const LEVEL_KINDS: Readonly<Record<string, 'warn' | 'bad' | 'accent'>> = {
  INFO: 'accent',
  WARNING: 'warn',
  CRITICAL: 'bad',
};

export function EnginePanel({ found }: { readonly found: Resource<EngineOverview> }) {
  const state = found.value.value;
  return (
    <Panel
      title={t.engine}
      isFlush
      controls={<span class="muted small">{t.version(services.engine.value.version)}</span>}
    >
      {state === undefined ? (
        found.error.value === undefined ? (
          <Loading rows={8} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )
      ) : state.tasks.length === 0 ? (
        <Empty title={t.noTasks} icon="tasks">
          {t.noTasksHint}
        </Empty>
      ) : (
        <>
          <Figures figures={figuresOfEngine(state)} />
          <FailingTasks tasks={state.tasks.filter(needsAttention)} />
          <OpenAlerts alerts={state.alerts} count={state.openAlertCount} />
        </>
      )}
    </Panel>
  );
}

function figuresOfEngine({
  tasks,
  openAlertCount,
  criticalCount,
  deadLetterCount,
}: EngineOverview): readonly Figure[] {
  const running = tasks.filter(({ executing }) => executing);
  const failing = tasks.filter(needsAttention).length;
  const memory = tasks.reduce((sum, task) => sum + figuresOf(task).memoryBytes, 0);
  return [
    { label: t.running, value: String(running.length), hint: t.ofTasks(tasks.length) },
    { label: t.failing, value: String(failing), kind: failing > 0 ? 'warn' : 'plain' },
    {
      label: t.openAlerts,
      value: String(openAlertCount),
      hint: t.critical(criticalCount),
      kind: criticalCount > 0 ? 'bad' : openAlertCount > 0 ? 'warn' : 'plain',
    },
    {
      label: t.undelivered,
      value: String(deadLetterCount),
      kind: deadLetterCount > 0 ? 'warn' : 'plain',
    },
    { label: t.taskMemory, value: formatBytes(memory) },
  ];
}

function FailingTasks({ tasks }: { readonly tasks: readonly Task[] }) {
  if (tasks.length === 0) return null;
  return (
    <>
      <Table
        label={t.failing}
        rows={tasks.slice(0, ROWS_MAX)}
        rowKey={({ id }) => id}
        columns={[
          {
            label: t.failing,
            cell: ({ id }) => (
              <Link page="tasks" params={{ id }}>
                {id}
              </Link>
            ),
          },
          {
            label: t.reason,
            cell: (task) => problemsOf(task).map((problem) => <p key={problem}>{problem}</p>),
          },
        ]}
      />
      {tasks.length > ROWS_MAX ? <All page="tasks" count={tasks.length} /> : null}
    </>
  );
}

function OpenAlerts({
  alerts,
  count,
}: {
  readonly alerts: readonly PublishedEvent[];
  readonly count: number;
}) {
  if (alerts.length === 0) return <p class="padded muted">{t.noAlerts}</p>;
  return (
    <>
      <Table
        label={t.openAlerts}
        rows={alerts.slice(0, ROWS_MAX)}
        rowKey={({ topic, id }) => `${topic} ${id}`}
        columns={[
          {
            label: t.openAlert,
            cell: ({ id, topic, state }) => (
              <>
                <Link page="alerts" params={{ topic }}>
                  {id}
                </Link>
                <p class="muted small">{state.message}</p>
              </>
            ),
          },
          {
            label: t.level,
            cell: ({ state }) => (
              <Badge kind={LEVEL_KINDS[state.level] ?? 'accent'}>{state.level}</Badge>
            ),
          },
        ]}
      />
      {count > ROWS_MAX ? <All page="alerts" count={count} /> : null}
    </>
  );
}

function All({ page, count }: { readonly page: string; readonly count: number }) {
  return (
    <p class="padded">
      <Link page={page}>{t.showAll(count)}</Link>
    </p>
  );
}
