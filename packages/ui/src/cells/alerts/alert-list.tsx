// Events of the task engine that are not OK, the most severe first.
import { engine } from '../../api/clients.ts';
import { readEvents, severityOf } from '../../api/events.ts';
import type { ReadEvents } from '../../api/events.ts';
import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { Badge, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

/** Nobody reads more in a cell. */
const TOPICS_MAX = 20;
const SHOWN_MAX = 50;

/** Everything that is not OK. */
const LEVEL_MIN = 'INFO';

/** Open events of the topics with the most severe ones. */
async function openEvents(pattern: string): Promise<ReadEvents> {
  const topics = await engine.topics({ pattern: pattern || undefined, minLevel: LEVEL_MIN });
  const worst = topics.toSorted((a, b) => severityOf(b.level) - severityOf(a.level));
  const read = worst.slice(0, TOPICS_MAX).map(({ id }) => id);
  return readEvents(read, { minLevel: LEVEL_MIN });
}

const KINDS: Readonly<Record<string, 'bad' | 'warn' | 'accent'>> = {
  CRITICAL: 'bad',
  WARNING: 'warn',
  INFO: 'accent',
};

export function AlertList({
  topic,
  label,
  refreshMs,
  isPaused,
}: {
  readonly topic: string;
  readonly label: string;
  readonly refreshMs: number | undefined;
  readonly isPaused: boolean | undefined;
}) {
  const { state } = services.engine.value;
  if (state === 'absent') return <p class="muted">{t.alertsNeedEngine}</p>;
  return <Events topic={topic} label={label} refreshMs={refreshMs} isPaused={isPaused} />;
}

function Events({
  topic,
  label,
  refreshMs,
  isPaused,
}: {
  readonly topic: string;
  readonly label: string;
  readonly refreshMs: number | undefined;
  readonly isPaused: boolean | undefined;
}) {
  const events = useResource(() => openEvents(topic), [topic], {
    refreshMs,
    isPaused,
  });
  const { value, error } = events;
  if (value.value === undefined) {
    return error.value === undefined ? (
      <Loading rows={3} />
    ) : (
      <Failure error={error.value} onRetry={() => void events.reload()} />
    );
  }
  const { events: all, total } = value.value;
  const shown = all.slice(0, SHOWN_MAX);
  return (
    <>
      <Table
        label={`${t.alertEvents}: ${label}`}
        rows={shown}
        rowKey={({ topic: of, id }) => `${of} ${id}`}
        empty={<p class="muted">{t.noEvents}</p>}
        columns={[
          {
            label: t.alertEvents,
            cell: ({ state: { level, message }, topic: of, id }) => (
              <>
                <Badge kind={KINDS[level] ?? 'plain'}>{level}</Badge>{' '}
                {message === '' ? id : message}
                <div class="muted small">{of}</div>
              </>
            ),
          },
          {
            label: t.since,
            cell: ({ time }) => formatTime(time.replace(/\.\d+/, ''), shownZone.value),
          },
        ]}
      />
      {total > shown.length ? (
        <p class="padded muted small">{texts.alerts.eventsShown(shown.length, total)}</p>
      ) : null}
    </>
  );
}
