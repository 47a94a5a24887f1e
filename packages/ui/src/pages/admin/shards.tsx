// Shards on a timeline, by database and retention policy, with their sizes.
import { formatBytes } from '../../charts/quantity.ts';
import { IconButton } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { useDropDialog } from './statements.tsx';
import type { Answered } from './statements.tsx';

const t = texts.admin;

/** Bytes on disk by the number of the shard. */
type Sizes = ReadonlyMap<string, number>;

/** Keeps the bar of the smallest shard visible. */
const HEIGHT_MIN = 0.2;

export function Shards({
  shards,
  sizes,
  onChange,
}: {
  readonly shards: readonly Answered[];
  readonly sizes: Sizes;
  readonly onChange: () => void;
}) {
  const dropDialog = useDropDialog(onChange);
  const zone = shownZone.value;
  const time = (row: Answered, name: string): string => formatTime(String(row[name]), zone);
  const sizeOf = ({ id }: Answered): number => sizes.get(String(id)) ?? 0;
  return (
    <Panel title={t.shards} isFlush>
      {shards.length === 0 ? (
        <Empty title={t.noShards}>{t.noShardsHint}</Empty>
      ) : (
        <>
          <TimeLine rows={shards} sizeOf={sizeOf} />
          <Table
            label={t.shards}
            rows={shards}
            rowKey={({ id }) => String(id)}
            columns={[
              {
                label: t.shard,
                isNumber: true,
                cell: ({ id }) => String(id),
                sortBy: ({ id }) => Number(id),
              },
              {
                label: t.database,
                cell: ({ database }) => String(database),
                sortBy: ({ database }) => String(database),
              },
              { label: t.policy, cell: (row) => String(row['retention_policy']) },
              {
                label: t.from,
                cell: (row) => time(row, 'start_time'),
                sortBy: (row) => String(row['start_time']),
              },
              { label: t.to, cell: (row) => time(row, 'end_time') },
              {
                label: t.expires,
                // For a policy that keeps everything, the server reports the shard's end as its
                // expiry.
                cell: (row) =>
                  row['expiry_time'] === row['end_time'] ? t.never : time(row, 'expiry_time'),
              },
              {
                label: t.size,
                isNumber: true,
                cell: (row) => formatBytes(sizeOf(row)),
                sortBy: sizeOf,
              },
              {
                label: t.actions,
                isActions: true,
                cell: ({ id }) => (
                  <IconButton
                    isSmall
                    icon="trash"
                    label={t.dropShard(String(id))}
                    onClick={() =>
                      dropDialog.ask({
                        title: t.dropTitle(t.dropShardName(String(id))),
                        hint: t.dropShardHint,
                        statement: `DROP SHARD ${id}`,
                        done: t.dropped(t.dropShardName(String(id))),
                      })
                    }
                  />
                ),
              },
            ]}
          />
        </>
      )}
      {dropDialog.dialog}
    </Panel>
  );
}

function TimeLine({
  rows,
  sizeOf,
}: {
  readonly rows: readonly Answered[];
  readonly sizeOf: (row: Answered) => number;
}) {
  const msOf = (row: Answered, name: string): number => Date.parse(String(row[name]));
  const from = rows.reduce((min, row) => Math.min(min, msOf(row, 'start_time')), Infinity);
  const to = rows.reduce((max, row) => Math.max(max, msOf(row, 'end_time')), -Infinity);
  const lanes = new Map<string, Answered[]>();
  for (const row of rows) {
    const lane = `${String(row['database'])}.${String(row['retention_policy'])}`;
    lanes.set(lane, [...(lanes.get(lane) ?? []), row]);
  }
  const largest = Math.max(1, ...rows.map(sizeOf));
  const percent = (ms: number): number => ((ms - from) / (to - from)) * 100;
  return (
    <div class="time-line" role="img" aria-label={t.timeLine(lanes.size, rows.length)}>
      {[...lanes].map(([lane, shards]) => (
        <div key={lane} class="time-lane">
          <span class="small">
            {lane}{' '}
            <span class="muted">
              {formatBytes(shards.reduce((sum, row) => sum + sizeOf(row), 0))}
            </span>
          </span>
          <span class="time-track">
            {shards.map((row) => {
              const start = percent(msOf(row, 'start_time'));
              const width = Math.max(0.4, percent(msOf(row, 'end_time')) - start);
              const height = Math.max(HEIGHT_MIN, sizeOf(row) / largest) * 100;
              return (
                <span
                  key={String(row['id'])}
                  title={`${String(row['id'])}: ${formatBytes(sizeOf(row))}`}
                  style={{ left: `${start}%`, width: `${width}%`, height: `${height}%` }}
                />
              );
            })}
          </span>
        </div>
      ))}
    </div>
  );
}
