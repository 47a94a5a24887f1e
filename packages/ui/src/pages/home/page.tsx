// The start page: the health of both services, their data, and what needs attention.
import { useMemo } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { Sparkline } from '../../charts/sparkline.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { EngineLoader, loadDatabase } from './load.ts';
import type { EngineOverview } from './load.ts';

const t = texts.home;
const REFRESH_MS = 5000;

export function Page() {
  return (
    <>
      <PageHead title={t.title} />
      <div class="cards">
        {services.tsdb.value.state === 'absent' ? null : <DatabasePanel />}
        {services.engine.value.state === 'absent' ? null : <EnginePanel />}
      </div>
    </>
  );
}

function DatabasePanel() {
  const { value, error, reload } = useResource(loadDatabase, [], { refreshMs: REFRESH_MS });
  const state = value.value;
  if (state === undefined) {
    return (
      <Panel title={t.database} isFlush>
        {error.value === undefined ? (
          <Loading />
        ) : (
          <Failure error={error.value} onRetry={() => void reload()} />
        )}
      </Panel>
    );
  }
  return (
    <Panel title={t.database}>
      <div class="stack">
        <p>
          <b>{(state.writeRates.at(-1) ?? 0).toFixed(1)}</b> {t.rate}
        </p>
        {state.writeRates.length < 2 ? (
          <p class="muted">{t.noRate}</p>
        ) : (
          <Sparkline values={state.writeRates} label={t.rateChart} />
        )}
        <h3>{t.databases}</h3>
        {state.databases.every((name) => name === '_internal') ? (
          <Empty
            title={t.noDatabases}
            icon="start"
            actions={
              <Link page="start" class="button primary">
                {t.first}
              </Link>
            }
          >
            {t.noDatabasesHint}
          </Empty>
        ) : (
          <div class="row">
            {state.databases.map((name) => (
              <Badge key={name}>{name}</Badge>
            ))}
          </div>
        )}
      </div>
    </Panel>
  );
}

const LEVEL_KINDS: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'accent'>> = {
  OK: 'good',
  INFO: 'accent',
  WARNING: 'warn',
  CRITICAL: 'bad',
};

function EnginePanel() {
  const loader = useMemo(() => new EngineLoader(), []);
  const { value, error, reload } = useResource((signal) => loader.load(signal), [], {
    refreshMs: REFRESH_MS,
  });
  const state = value.value;
  if (state === undefined) {
    return (
      <Panel title={t.engine} isFlush>
        {error.value === undefined ? (
          <Loading />
        ) : (
          <Failure error={error.value} onRetry={() => void reload()} />
        )}
      </Panel>
    );
  }
  return (
    <Panel title={t.engine} isFlush>
      {state.deadLetterCount > 0 ? (
        <Notice kind="warn">
          {t.deadLetters(state.deadLetterCount)}:{' '}
          <Link page="alerts" params={{ tab: 'dead' }}>
            {t.deadLettersHint}
          </Link>
        </Notice>
      ) : null}
      <Tasks tasks={state.tasks} />
      {state.topics.length > 0 ? (
        <Table
          label={t.topics}
          rows={state.topics}
          rowKey={(topic) => topic.id}
          columns={[
            { label: t.topic, cell: (topic) => topic.id, sortBy: (topic) => topic.id },
            {
              label: t.level,
              cell: (topic) => (
                <Badge kind={LEVEL_KINDS[topic.level] ?? 'accent'}>{topic.level}</Badge>
              ),
            },
          ]}
        />
      ) : null}
    </Panel>
  );
}

function Tasks({ tasks }: Pick<EngineOverview, 'tasks'>) {
  return (
    <Table
      label={t.tasks}
      rows={tasks}
      rowKey={(task) => task.id}
      empty={
        <Empty title={t.noTasks} icon="tasks">
          {t.noTasksHint}
        </Empty>
      }
      columns={[
        {
          label: t.task,
          sortBy: (task) => task.id,
          cell: (task) => (
            <>
              <Link page="tasks" params={{ id: task.id }}>
                {task.id}
              </Link>
              {task.error === '' ? null : <p class="bad small">{task.error}</p>}
              {(task.warnings ?? []).map(({ message, hint }) => (
                <p key={message} class="warn small" title={hint}>
                  {message}
                </p>
              ))}
            </>
          ),
        },
        { label: t.type, cell: (task) => task.type },
        {
          label: t.state,
          cell: (task) =>
            task.executing ? (
              <Badge kind="good">{t.enabled}</Badge>
            ) : task.error === '' ? (
              <Badge>{t.disabled}</Badge>
            ) : (
              <Badge kind="bad">{t.failing}</Badge>
            ),
        },
      ]}
    />
  );
}
