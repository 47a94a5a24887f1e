// Open events: by topic, from a minimum level, most severe first.
import { useSignal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { containing, EVENT_LEVELS, readEvents, severityOf } from '../../api/events.ts';
import type { PublishedEvent } from '../../api/events.ts';
import { useResource } from '../../api/use-resource.ts';
import { route, setParams } from '../../app/router.ts';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { chosenTopic, shownDuration, LevelBadge, TopicField, TopicLink } from './levels.tsx';
import { OriginData, OriginLink } from './origin.tsx';
import type { Origin } from './origin.tsx';

const t = texts.alerts;
const REFRESH_MS = 5000;

type OpenEvent = PublishedEvent & { readonly origin: Origin | undefined };

/** Enough to find where most open events came from. */
const CHANGES_MAX = 1000;

/** `search` is part of an event's id. */
async function openEvents(
  topic: string,
  minLevel: string,
  search: string,
): Promise<{ readonly events: readonly OpenEvent[]; readonly total: number }> {
  const [topics, { changes }] = await Promise.all([
    topic === '' ? engine.topics({ minLevel }) : [{ id: topic }],
    engine.alertHistory({ topic: topic || undefined, limit: CHANGES_MAX }),
  ]);
  const keyOf = (of: string, id: string): string => JSON.stringify([of, id]);
  // The newest change of an event comes first, and is set last.
  const origins = new Map(changes.toReversed().map((each) => [keyOf(each.topic, each.id), each]));
  const { events, total } = await readEvents(
    topics.map(({ id }) => id),
    { minLevel, pattern: containing(search) },
  );
  const withOrigins = events.map((event) => ({
    ...event,
    origin: origins.get(keyOf(event.topic, event.id)),
  }));
  return { events: withOrigins, total };
}

export function Events() {
  const topic = chosenTopic();
  const level = route.value.params.get('level') ?? 'INFO';
  const search = useSignal('');
  // What is shown is searched here; the engine searches where there is more.
  const list = JSON.stringify([topic, level]);
  const cutList = useSignal('');
  const asked = cutList.value === list ? search.value : '';
  const found = useResource(
    async () => {
      const open = await openEvents(topic, level, asked);
      if (asked === '') cutList.value = open.total > open.events.length ? list : '';
      return open;
    },
    [topic, level, asked],
    { refreshMs: REFRESH_MS, keepsValue: asked !== '' },
  );
  const open = found.value.value;
  const all = open?.events;
  const wanted = search.value.toLowerCase();
  const rows = (all ?? []).filter(({ id, state }) =>
    `${id} ${state.message}`.toLowerCase().includes(wanted),
  );
  const zone = shownZone.value;
  return (
    <div class="stack wide">
      <div class="form-grid">
        <TopicField />
        <SelectField
          label={t.anyLevel}
          value={level}
          options={EVENT_LEVELS}
          onChange={(next) => setParams({ level: next })}
        />
        <TextField
          label={t.search}
          value={search.value}
          onInput={(text) => (search.value = text)}
        />
      </div>
      <Panel title={t.events} isFlush>
        {open === undefined || open.total <= open.events.length ? null : (
          <p class="padded muted" role="status">
            {t.eventsShown(open.events.length, open.total)}
          </p>
        )}
        {all === undefined ? (
          found.error.value === undefined ? (
            <Loading rows={6} />
          ) : (
            <Failure error={found.error.value} onRetry={() => void found.reload()} />
          )
        ) : (
          <Table
            label={t.events}
            rows={rows}
            rowKey={(event) => `${event.topic} ${event.id}`}
            empty={
              <Empty title={t.eventsNone} icon="check">
                {t.eventsNoneHint}
              </Empty>
            }
            columns={[
              {
                label: t.level,
                cell: ({ state }) => <LevelBadge level={state.level} />,
                sortBy: ({ state }) => severityOf(state.level),
              },
              { label: t.event, cell: ({ id }) => id, sortBy: ({ id }) => id },
              {
                label: t.topic,
                cell: ({ topic: of }) => <TopicLink topic={of} />,
                sortBy: (event) => event.topic,
              },
              { label: t.task, cell: ({ origin }) => <OriginLink origin={origin} /> },
              {
                label: t.message,
                cell: ({ state }) => (
                  <>
                    <span>{state.message}</span>
                    <EventDetails text={state.details ?? ''} />
                  </>
                ),
              },
              {
                label: t.time,
                cell: ({ state }) => formatTime(state.time, zone),
                sortBy: ({ state }) => state.time,
              },
              { label: t.duration, cell: ({ state }) => shownDuration(state.duration) },
              {
                label: t.actions,
                isActions: true,
                cell: ({ origin, state }) => <OriginData origin={origin} time={state.time} />,
              },
            ]}
          />
        )}
      </Panel>
    </div>
  );
}

function EventDetails({ text }: { readonly text: string }) {
  if (text.trim() === '') return null;
  return (
    <details class="small">
      <summary>{t.details}</summary>
      <pre class="built">{text}</pre>
    </details>
  );
}
