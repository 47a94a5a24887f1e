// The instances of a cluster of engines: the leader, the tasks of each, and how far each is behind;
// with a button that drains one.
import { useSignal } from '@preact/signals';
import type { ClusterMember } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import type { TableColumn } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { loadPlaces, placeColumns } from './places.tsx';
import type { FoundPlaces } from './places.tsx';

const t = texts.instances;
const REFRESH_MS = 2000;

export function Instances() {
  const found = useResource(loadPlaces, [], { refreshMs: REFRESH_MS });
  const { value } = found.value;
  return (
    <>
      <PageHead title={t.title}>
        <Link page="tasks">{texts.tasks.backToAll}</Link>
      </PageHead>
      {value === undefined ? (
        found.error.value === undefined ? (
          <Loading rows={4} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )
      ) : value.members.length === 0 ? (
        <Panel title={t.title}>
          <Empty title={t.none}>{t.noneHint}</Empty>
        </Panel>
      ) : (
        <>
          <Members members={value.members} onChange={() => void found.reload()} />
          <Assignments {...value} />
        </>
      )}
    </>
  );
}

function Members({
  members,
  onChange,
}: {
  readonly members: readonly ClusterMember[];
  readonly onChange: () => void;
}) {
  const draining = useSignal<ClusterMember | undefined>(undefined);
  const change = async (work: Promise<void>, done: string): Promise<void> => {
    try {
      await work;
      toast(done);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    onChange();
  };
  const actions: TableColumn<ClusterMember> = {
    label: t.actions,
    isActions: true,
    cell: (member) => (
      <>
        {member.state === 'alive' ? (
          <Button
            isSmall
            aria-label={t.drainOf(member.url)}
            onClick={() => (draining.value = member)}
          >
            {t.drain}
          </Button>
        ) : null}
        {member.state === 'gone' ? (
          <Button
            isSmall
            aria-label={t.forgetOf(member.url)}
            onClick={() => void change(engine.forgetMember(member.id), t.forgotten(member.url))}
          >
            {t.forget}
          </Button>
        ) : null}
      </>
    ),
  };
  return (
    <Panel title={t.members} isFlush>
      <Table
        label={t.members}
        rows={members}
        rowKey={({ id }) => id}
        columns={[
          {
            label: t.instance,
            sortBy: ({ url }) => url,
            cell: (member) => (
              <>
                <code>{member.url}</code>
                <p class="muted small">{t.process(member.hostname, member.pid)}</p>
                {member.problem === undefined ? null : <p class="bad small">{member.problem}</p>}
              </>
            ),
          },
          {
            label: t.role,
            sortBy: ({ leader }) => (leader ? 0 : 1),
            cell: ({ leader }) => (leader ? <Badge kind="accent">{t.leads}</Badge> : t.follows),
          },
          {
            label: t.state,
            sortBy: ({ state }) => state,
            cell: ({ state }) => <Badge kind={STATE_KINDS[state]}>{t.states[state]}</Badge>,
          },
          { label: t.version, cell: ({ version }) => version },
          {
            label: t.tasks,
            isNumber: true,
            cell: ({ tasks }) => tasks,
            sortBy: ({ tasks }) => tasks,
          },
          { label: t.copyLag, isNumber: true, cell: (member) => member['copy-lag'] },
          { label: t.taskLag, isNumber: true, cell: (member) => member['task-lag'] },
          ...(session.value.isAdmin ? [actions] : []),
        ]}
      />
      {draining.value === undefined ? null : (
        <ConfirmDialog
          title={t.drainOf(draining.value.url)}
          action={t.drain}
          onClose={() => (draining.value = undefined)}
          onConfirm={() => {
            const { id = '', url = '' } = draining.value ?? {};
            draining.value = undefined;
            void change(engine.drainMember(id), t.drained(url));
          }}
        >
          {t.drainHint}
        </ConfirmDialog>
      )}
    </Panel>
  );
}

const STATE_KINDS = { alive: 'good', draining: 'warn', gone: 'bad' } as const;

function Assignments({ members, tasks }: FoundPlaces) {
  return (
    <Panel title={t.assignments} isFlush>
      <Table
        label={t.assignments}
        rows={tasks}
        rowKey={({ id, part, instance }) => `${id} ${part ?? ''} ${instance}`}
        empty={<Empty title={t.noTasks} icon="tasks" />}
        columns={[
          {
            label: t.task,
            sortBy: ({ id }) => id,
            cell: ({ id, part, parts }) => (
              <>
                <Link page="tasks" params={{ id }}>
                  {id}
                </Link>
                {part === undefined || parts === undefined ? null : (
                  <p class="muted small">{t.part(part, parts)}</p>
                )}
              </>
            ),
          },
          ...placeColumns(members),
        ]}
      />
    </Panel>
  );
}
