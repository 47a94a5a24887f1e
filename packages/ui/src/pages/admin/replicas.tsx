// The servers of a cluster that store the points: which respond, how much they store, and how far
// behind they are.
import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 5000;

type Replica = {
  /** Missing while unknown. */
  readonly shard?: number;
  readonly url: string;
  readonly isUp: boolean;
  readonly reason?: string;
  readonly load?: {
    readonly diskBytes: number;
    readonly queueCount: number;
    readonly delaySeconds: number;
  };
};

type Answer = { readonly replicas: readonly Replica[] };

export function Replicas() {
  const found = useResource((signal) => tsdb.http.json<Answer>('/debug/replicas', { signal }), [], {
    refreshMs: REFRESH_MS,
  });
  return (
    <Panel title={t.replicas} isFlush>
      <Loaded resource={found}>{({ replicas }) => <List replicas={replicas} />}</Loaded>
    </Panel>
  );
}

function List({ replicas }: Answer) {
  const away = unreachableShards(replicas);
  return (
    <>
      {away.length === 0 ? null : <Notice kind="bad">{t.shardUnreachable(away.join(', '))}</Notice>}
      <Table
        label={t.replicas}
        rows={replicas}
        rowKey={({ url }) => url}
        empty={
          <Empty title={t.noReplicas}>
            {t.noReplicasHint} <code>storage.engine = "clickhouse"</code>.
          </Empty>
        }
        columns={[
          {
            label: t.replicaShard,
            isNumber: true,
            cell: ({ shard }) => shard ?? '?',
            sortBy: ({ shard }) => shard ?? 0,
          },
          { label: t.replica, cell: ({ url }) => <code>{url}</code>, sortBy: ({ url }) => url },
          {
            label: t.replicaState,
            cell: ({ isUp, reason }) =>
              isUp ? (
                <Badge kind="good">{t.replicaUp}</Badge>
              ) : (
                <>
                  <Badge kind="bad">{t.replicaUnreachable}</Badge> {reason}
                </>
              ),
            sortBy: ({ isUp }) => Number(isUp),
          },
          {
            label: t.size,
            isNumber: true,
            cell: ({ load }) => (load === undefined ? '' : formatBytes(load.diskBytes)),
            sortBy: ({ load }) => load?.diskBytes ?? 0,
          },
          {
            label: t.replicaQueue,
            isNumber: true,
            cell: ({ load }) => load?.queueCount ?? '',
            sortBy: ({ load }) => load?.queueCount ?? 0,
          },
          {
            label: t.replicaDelay,
            isNumber: true,
            cell: ({ load }) => (load === undefined ? '' : t.replicaDelayOf(load.delaySeconds)),
            sortBy: ({ load }) => load?.delaySeconds ?? 0,
          },
        ]}
      />
    </>
  );
}

/** Shards known to have no responding replica. */
function unreachableShards(replicas: readonly Replica[]): readonly number[] {
  const shards = new Set(replicas.flatMap(({ shard }) => shard ?? []));
  for (const { shard, isUp } of replicas) if (isUp && shard !== undefined) shards.delete(shard);
  return [...shards].sort((a, b) => a - b);
}
