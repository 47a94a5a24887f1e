// Open events: by topic, from a minimum level, most severe first.
import type { TopicEvent } from '@tidemark/client';
import { useSignal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { containing, EVENTS_MAX, withoutDuplicates } from '../../api/events.ts';
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

const LEVELS = ['OK', 'INFO', 'WARNING', 'CRITICAL'];

type OpenEvent = TopicEvent & { readonly topic: string; readonly origin: Origin | undefined };

/** Enough to find where most open events came from. */
const CHANGES_MAX = 1000;

type OpenEvents = {
  readonly events: readonly OpenEvent[];
  /** How many there are; more than are read of topics with very many. */
  readonly total: number;
};

/** `search` is part of an event's id. */
async function openEvents(topic: string, minLevel: string, search: string): Promise<OpenEvents> {
  const [topics, { changes }] = await Promise.all([
    topic === '' ? engine.topics({ minLevel }) : [{ id: topic }],
    engine.alertHistory({ topic: topic || undefined, limit: CHANGES_MAX }),
  ]);
  const keyOf = (of: string, id: string): string => JSON.stringify([of, id]);
  // The newest change of an event comes first, and is set last.
  const origins = new Map(changes.toReversed().map((each) => [keyOf(each.topic, each.id), each]));
  const lists = await Promise.all(
    topics.map(async ({ id }) => ({
      id,
      ...(await engine.mostSevereEvents(id, {
        minLevel,
        pattern: containing(search),
        limit: EVENTS_MAX,
      })),
    })),
  );
  const all = lists.flatMap(({ id, events }) =>
    events.map((event) => {
      const origin = origins.get(keyOf(id, event.id));
      return { ...event, topic: id, origin, time: event.state.time };
    }),
  );
  const once = withoutDuplicates(all);
  const events = once.toSorted(
    (a, b) =>
      LEVELS.indexOf(b.state.level) - LEVELS.indexOf(a.state.level) ||
      (a.state.time < b.state.time ? 1 : -1),
  );
  const total = lists.reduce((sum, each) => sum + each.total, 0);
  return { events, total: total - (all.length - once.length) };
}

export function Events() {
  const topic = chosenTopic();
  const level = route.value.params.get('level') ?? 'INFO';
  const search = useSignal('');
  // What is shown is searched here; the engine searches where there is more.
  const isCut = useSignal(false);
  const asked = isCut.value ? search.value : '';
  const found = useResource(
    async () => {
      const open = await openEvents(topic, level, asked);
      if (asked === '') isCut.value = open.total > open.events.length;
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
          options={LEVELS}
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
                sortBy: ({ state }) => LEVELS.indexOf(state.level),
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
