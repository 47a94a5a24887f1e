// Slow queries, and who sent them.
import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { formatMs } from '../../charts/quantity.ts';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 5000;

type SlowQuery = {
  readonly time: string;
  readonly id: number;
  readonly text: string;
  readonly database: string;
  readonly user: string;
  readonly address: string;
  readonly durationMs: number;
  readonly isKilled: boolean;
};

type Answer = { readonly afterMs: number; readonly queries: readonly SlowQuery[] };

export function SlowQueries() {
  const slow = useResource(
    (signal) => tsdb.http.json<Answer>('/debug/slow-queries', { signal }),
    [],
    { refreshMs: REFRESH_MS },
  );
  const zone = shownZone.value;
  return (
    <Panel title={t.slow} isFlush>
      <Loaded resource={slow}>
        {({ afterMs, queries }) => (
          <Table
            label={t.slow}
            rows={queries}
            rowKey={({ id, time }) => `${id} ${time}`}
            empty={
              afterMs === 0 ? (
                <Empty title={t.slowOff}>
                  <code>coordinator.keep-queries-after</code> {t.slowOffHint}
                </Empty>
              ) : (
                <Empty title={t.noSlow(formatMs(afterMs))}>{t.noSlowHint}</Empty>
              )
            }
            columns={[
              {
                label: t.ended,
                cell: ({ time }) => formatTime(time, zone).replace(/\.\d+$/, ''),
                sortBy: ({ time }) => time,
              },
              {
                label: t.took,
                isNumber: true,
                cell: ({ durationMs }) => formatMs(durationMs),
                sortBy: ({ durationMs }) => durationMs,
              },
              {
                label: t.statement,
                cell: ({ text, isKilled }) => (
                  <>
                    <code>{text}</code> {isKilled ? <Badge kind="warn">{t.wasKilled}</Badge> : null}
                  </>
                ),
              },
              { label: t.database, cell: ({ database }) => database },
              { label: t.sentBy, cell: ({ user, address }) => `${user} ${address}`.trim() },
              {
                label: t.actions,
                isActions: true,
                cell: ({ text, database }) => (
                  <Link page="explore" params={{ db: database, q: text }}>
                    {t.explore}
                  </Link>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
