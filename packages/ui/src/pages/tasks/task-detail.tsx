// One task: its script, its pipeline with counters, its log.
import { useSignal } from '@preact/signals';
import type { Task } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { mayRead, session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { navigate, route, setParams } from '../../app/router.ts';
import { formatValue } from '../../charts/format.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Failure, Loading, Notice } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { Definition } from './definition.tsx';
import { figuresOf } from './figures.ts';
import { GroupStates } from './group-states.tsx';
import { LastError } from './last-error.tsx';
import { NodeTable } from './node-table.tsx';
import { OfTemplate } from './of-template.tsx';
import { PipelineView } from './pipeline-view.tsx';
import { Places } from './places.tsx';
import { redefine } from './redefine.ts';
import { Tap } from './tap.tsx';
import { TaskState } from './task-list.tsx';
import { TaskLog } from './task-log.tsx';
import { Versions } from './versions.tsx';

const t = texts.tasks;
const REFRESH_MS = 2000;
const TABS = ['script', 'pipeline', 'groups', 'places', 'versions', 'log'] as const;

/** Without an id, a new task. */
export function TaskDetail({ id }: { readonly id: string | undefined }) {
  if (id === undefined) {
    return (
      <>
        <PageHead title={t.create}>
          <Link page="tasks">{t.backToAll}</Link>
        </PageHead>
        <Panel title={t.definition}>
          <Definition task={undefined} onSaved={(made) => navigate('tasks', { id: made })} />
        </Panel>
      </>
    );
  }
  return <Existing id={id} />;
}

function Existing({ id }: { readonly id: string }) {
  const found = useResource(() => engine.task(id, { scriptFormat: 'raw' }), [id], {
    refreshMs: REFRESH_MS,
  });
  const chosen = TABS.find((tab) => tab === route.value.params.get('tab')) ?? 'script';
  const task = found.value.value;
  if (task === undefined) {
    return (
      <>
        <PageHead title={id}>
          <Link page="tasks">{t.backToAll}</Link>
        </PageHead>
        {found.error.value === undefined ? (
          <Loading rows={8} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )}
      </>
    );
  }
  return (
    <>
      <PageHead title={id}>
        <TaskState task={task} />
        <Figures task={task} />
        <Link page="try" params={{ task: id }}>
          {texts.tryOut.title}
        </Link>
        <Link page="tasks">{t.backToAll}</Link>
      </PageHead>
      {task.error === '' ? null : <Notice kind="bad">{task.error}</Notice>}
      {task.executing && figuresOf(task).errorCount > 0 ? <LastError key={id} task={task} /> : null}
      {task['needs-restart'] === true ? (
        <Restart task={task} onDone={() => void found.reload()} />
      ) : null}
      {(task.warnings ?? []).map(({ message, hint }) => (
        <Notice key={message} kind="warn">
          {message}
          {hint === undefined ? null : <p class="muted">{hint}</p>}
        </Notice>
      ))}
      <Tabs
        label={t.views}
        value={chosen}
        tabs={TABS.map((value) => ({ value, label: t.tabs[value] }))}
        onChange={(tab) => setParams({ tab })}
      >
        {chosen === 'script' ? (
          (task['template-id'] ?? '') === '' ? (
            <Definition key={id} task={task} onSaved={() => void found.reload()} />
          ) : (
            <OfTemplate key={id} task={task} onSaved={() => void found.reload()} />
          )
        ) : chosen === 'pipeline' ? (
          <Pipeline task={task} />
        ) : chosen === 'groups' ? (
          <GroupStates task={task} />
        ) : chosen === 'places' ? (
          <Places task={task} />
        ) : chosen === 'versions' ? (
          <Versions task={task} onChanged={() => void found.reload()} />
        ) : (
          <TaskLog task={id} />
        )}
      </Tabs>
    </>
  );
}

/** Warns that the running task differs from the definition shown, and restarts it. */
function Restart({ task, onDone }: { readonly task: Task; readonly onDone: () => void }) {
  const restart = async (): Promise<void> => {
    try {
      await redefine(task, {});
      toast(t.restarted(task.id));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    onDone();
  };
  return (
    <Notice kind="warn">
      {t.needsRestart}
      {session.value.isAdmin ? (
        <p>
          <Button onClick={() => void restart()}>{t.restart}</Button>
        </p>
      ) : null}
    </Notice>
  );
}

function Figures({ task }: { readonly task: Task }) {
  const { throughput, errorCount, groupCount, memoryBytes } = figuresOf(task);
  return (
    <span class="muted small">
      {t.figures(
        formatValue(throughput, 'per-second'),
        errorCount,
        groupCount,
        formatBytes(memoryBytes),
      )}
    </span>
  );
}

function Pipeline({ task }: { readonly task: Task }) {
  const selected = useSignal('');
  const { nodes } = useMemo(() => figuresOf(task), [task]);
  return (
    <div class="stack wide">
      <div class="pipeline-and-tap">
        <PipelineView
          dot={task.dot}
          figures={nodes}
          selected={selected.value}
          onSelect={(name) => (selected.value = name)}
        />
        {!task.executing ? (
          <Notice>{t.doesNotRun}</Notice>
        ) : !mayRead(task.dbrps.map(({ db }) => db)) ? (
          <Notice>{t.tapForReaders}</Notice>
        ) : selected.value === '' ? (
          <p class="muted">{t.chooseNode}</p>
        ) : (
          <Tap key={selected.value} task={task.id} node={selected.value} />
        )}
      </div>
      {task.executing ? <NodeTable nodes={nodes} /> : null}
    </div>
  );
}
