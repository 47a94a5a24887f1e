// Events of the task engine that are not OK, by topic.
import { engine } from '../../api/clients.ts';
import { withoutDuplicates } from '../../api/events.ts';
import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { Badge, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

type OpenEvent = {
  readonly topic: string;
  readonly id: string;
  readonly level: string;
  readonly message: string;
  readonly time: string;
};

type EventDocument = {
  readonly id: string;
  readonly state: { readonly level: string; readonly message: string; readonly time: string };
};

const BASE = '/engine/v1preview/alerts/topics';
/** Nobody reads more in a cell. */
const TOPICS_MAX = 20;
const EVENTS_MAX = 50;

/** Everything that is not OK. */
const LEVEL_MIN = 'INFO';

/** Open events of topics, the latest first. */
async function openEvents(pattern: string, signal: AbortSignal): Promise<readonly OpenEvent[]> {
  const { http } = engine;
  const { topics } = await http.json<{ readonly topics: readonly { readonly id: string }[] }>(
    BASE,
    {
      search: {
        pattern: pattern === '' ? '*' : pattern,
        'min-level': LEVEL_MIN,
        limit: TOPICS_MAX,
      },
      signal,
    },
  );
  const events = await Promise.all(
    topics.map(async ({ id: topic }) => {
      const path = `${BASE}/${encodeURIComponent(topic)}/events`;
      const search = { 'min-level': LEVEL_MIN, limit: EVENTS_MAX };
      const answer = await http.json<{ readonly events: readonly EventDocument[] }>(path, {
        search,
        signal,
      });
      return answer.events.map(({ id, state }): OpenEvent => ({ topic, id, ...state }));
    }),
  );
  return withoutDuplicates(events.flat()).toSorted((a, b) => (a.time < b.time ? 1 : -1));
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
  const events = useResource((signal) => openEvents(topic, signal), [topic], {
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
  return (
    <Table
      label={`${t.alertEvents}: ${label}`}
      rows={value.value}
      rowKey={({ topic: of, id }) => `${of} ${id}`}
      empty={<p class="muted">{t.noEvents}</p>}
      columns={[
        {
          label: t.alertEvents,
          cell: ({ level, topic: of, message, id }) => (
            <>
              <Badge kind={KINDS[level] ?? 'plain'}>{level}</Badge> {message === '' ? id : message}
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
  );
}
