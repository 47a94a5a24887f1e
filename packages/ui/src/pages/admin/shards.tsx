// Shards on a line of time, by database and retention policy.
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { ask, Loaded } from './statements.tsx';
import type { Answered } from './statements.tsx';

const t = texts.admin;

export function Shards() {
  const shards = useResource((signal) => ask('SHOW SHARDS', signal), []);
  const zone = shownZone.value;
  const time = (row: Answered, name: string): string => formatTime(String(row[name]), zone);
  return (
    <Panel title={t.tabs.shards} isFlush>
      <Loaded resource={shards}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.noShards}>{t.noShardsHint}</Empty>
          ) : (
            <>
              <TimeLine rows={rows} />
              <Table
                label={t.tabs.shards}
                rows={rows}
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
                    // A policy that keeps everything says the end of the shard itself.
                    cell: (row) =>
                      row['expiry_time'] === row['end_time'] ? t.never : time(row, 'expiry_time'),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function TimeLine({ rows }: { readonly rows: readonly Answered[] }) {
  const msOf = (row: Answered, name: string): number => Date.parse(String(row[name]));
  const from = rows.reduce((min, row) => Math.min(min, msOf(row, 'start_time')), Infinity);
  const to = rows.reduce((max, row) => Math.max(max, msOf(row, 'end_time')), -Infinity);
  const lanes = new Map<string, Answered[]>();
  for (const row of rows) {
    const lane = `${String(row['database'])}.${String(row['retention_policy'])}`;
    lanes.set(lane, [...(lanes.get(lane) ?? []), row]);
  }
  const percent = (ms: number): number => ((ms - from) / (to - from)) * 100;
  return (
    <div class="time-line" role="img" aria-label={t.timeLine(lanes.size, rows.length)}>
      {[...lanes].map(([lane, shards]) => (
        <div key={lane} class="time-lane">
          <span class="small">{lane}</span>
          <span class="time-track">
            {shards.map((row) => {
              const start = percent(msOf(row, 'start_time'));
              const width = Math.max(0.4, percent(msOf(row, 'end_time')) - start);
              return (
                <span key={String(row['id'])} style={{ left: `${start}%`, width: `${width}%` }} />
              );
            })}
          </span>
        </div>
      ))}
    </div>
  );
}
