// Where a task runs in a cluster of engines: the instance of each part, and how far it is behind.
import type { ClusterMember, ClusterTask, Task } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { Badge, Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import type { TableColumn } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.instances;
const REFRESH_MS = 2000;

export type FoundPlaces = {
  readonly members: readonly ClusterMember[];
  /** Running tasks, and parts of split tasks. */
  readonly tasks: readonly ClusterTask[];
};

export async function loadPlaces(): Promise<FoundPlaces> {
  const [members, tasks] = await Promise.all([engine.members(), engine.clusterTasks()]);
  return { members, tasks };
}

/** The instance, its state, and the lag of the task there. */
export function placeColumns(members: readonly ClusterMember[]): TableColumn<ClusterTask>[] {
  const memberOf = (id: string): ClusterMember | undefined =>
    members.find((member) => member.id === id);
  const urlOf = ({ instance }: ClusterTask): string => memberOf(instance)?.url ?? t.nowhere;
  return [
    { label: t.instance, sortBy: urlOf, cell: (task) => <code>{urlOf(task)}</code> },
    {
      label: t.state,
      cell: ({ instance }) => {
        const state = memberOf(instance)?.state ?? 'gone';
        return <Badge kind={PLACE_KINDS[state]}>{t.places[state]}</Badge>;
      },
    },
    { label: t.lag, isNumber: true, sortBy: ({ lag }) => lag, cell: ({ lag }) => lag },
  ];
}

const PLACE_KINDS = { alive: 'good', draining: 'warn', gone: 'bad' } as const;

export function Places({ task }: { readonly task: Task }) {
  const found = useResource(loadPlaces, [], { refreshMs: REFRESH_MS });
  const { value } = found.value;
  if (value === undefined) {
    return found.error.value === undefined ? (
      <Loading rows={4} />
    ) : (
      <Failure error={found.error.value} onRetry={() => void found.reload()} />
    );
  }
  const { members, tasks } = value;
  if (members.length === 0) {
    const asked = task.split === undefined ? '' : `${t.splitAlone(task.split)} `;
    return (
      <Empty title={t.none}>
        {asked}
        {t.noneHint}
      </Empty>
    );
  }
  const own = tasks.filter(({ id }) => id === task.id);
  const asked = task.split ?? 0;
  return (
    <div class="stack wide">
      {own.length > 0 && asked > 0 && asked !== own.length ? (
        <Notice>{t.otherParts(asked, own.length)}</Notice>
      ) : null}
      <Table
        label={t.placesOf(task.id)}
        rows={own}
        rowKey={({ part = 0 }) => String(part)}
        empty={<Empty title={t.doesNotRun} icon="tasks" />}
        columns={[
          {
            label: t.parts,
            sortBy: ({ part = 0 }) => part,
            cell: ({ part, parts }) =>
              part === undefined || parts === undefined ? t.whole : t.part(part, parts),
          },
          ...placeColumns(members),
        ]}
      />
      <Link page="tasks" params={{ tab: 'instances' }}>
        {t.title}
      </Link>
    </div>
  );
}
