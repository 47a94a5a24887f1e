// Level changes of events, as a chart and a list.
import { useSignal } from '@preact/signals';
import type { LevelChange } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { withoutDuplicates } from '../../api/events.ts';
import { useResource } from '../../api/use-resource.ts';
import { preference } from '../../app/stored.ts';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { RangePicker } from '../../time/range-picker.tsx';
import { spanOf } from '../../time/range.ts';
import type { Span, TimeRange } from '../../time/range.ts';
import { formatInstant, formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { chosenTopic, shownDuration, LevelBadge, TopicField, TopicLink } from './levels.tsx';
import { OriginData, OriginLink } from './origin.tsx';
import { timelineOf } from './timeline.ts';

const t = texts.alerts;
const REFRESH_MS = 5000;
const CHANGES_MAX = 1000;
const ROWS_MAX = 40;

const range = preference<TimeRange>('alerts.range', { from: 'now-1d', to: 'now' });

export function History() {
  const topic = chosenTopic();
  const now = useSignal(Date.now());
  const found = useResource(
    async () => {
      const history = await engine.alertHistory({ topic: topic || undefined, limit: CHANGES_MAX });
      now.value = Date.now();
      return { ...history, changes: withoutDuplicates(history.changes) };
    },
    [topic],
    { refreshMs: REFRESH_MS },
  );
  const history = found.value.value;
  const span = spanOf(range.value, now.value);
  return (
    <div class="stack wide">
      <div class="form-grid">
        <TopicField />
        <div class="field">
          <span class="muted small">{t.span}</span>
          <RangePicker range={range.value} onChange={(next) => (range.value = next)} />
        </div>
      </div>
      {history === undefined ? (
        found.error.value === undefined ? (
          <Loading rows={8} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )
      ) : history.total === 0 ? (
        <section class="panel" aria-label={t.timeline}>
          <Empty title={t.historyNone} icon="history">
            {t.historyNoneHint}
          </Empty>
        </section>
      ) : (
        <>
          {history.changes.length < history.total ? (
            <Notice>{t.historyPart(history.changes.length, history.total)}</Notice>
          ) : null}
          {span === undefined ? null : <Timeline changes={history.changes} span={span} />}
          <Changes changes={history.changes} />
        </>
      )}
    </div>
  );
}

function Timeline({
  changes,
  span,
}: {
  readonly changes: readonly LevelChange[];
  readonly span: Span;
}) {
  const rows = timelineOf(changes, span);
  const widthMs = span.toMs - span.fromMs;
  const zone = shownZone.value;
  // Keeps a bar visible that has just begun.
  const percent = (ms: number): string =>
    `min(${((ms - span.fromMs) / widthMs) * 100}%, calc(100% - 3px))`;
  return (
    <Panel title={t.timeline}>
      {rows.length === 0 ? <p class="muted">{t.eventsNone}</p> : null}
      <ul class="timeline">
        {rows.slice(0, ROWS_MAX).map(({ topic, id, changeCount, bars }) => (
          <li key={`${topic} ${id}`}>
            <span class="timeline-name" title={`${topic}: ${id}`}>
              {id} <span class="muted">{topic}</span>
            </span>
            <div class="timeline-bars" role="img" aria-label={t.timelineOf(id, changeCount)}>
              {bars.map(({ level, fromMs, toMs }) => (
                <span
                  key={fromMs}
                  class={`timeline-bar ${level.toLowerCase()}`}
                  title={`${level} ${formatInstant(fromMs, zone)} – ${formatInstant(toMs, zone)}`}
                  style={{ left: percent(fromMs), width: `${((toMs - fromMs) / widthMs) * 100}%` }}
                />
              ))}
            </div>
          </li>
        ))}
      </ul>
      <div class="row small muted">
        <span>{formatInstant(span.fromMs, zone)}</span>
        <span class="grow" />
        <span>{formatInstant(span.toMs, zone)}</span>
      </div>
      {rows.length > ROWS_MAX ? <Notice>{t.shownRows(ROWS_MAX, rows.length)}</Notice> : null}
    </Panel>
  );
}

function Changes({ changes }: { readonly changes: readonly LevelChange[] }) {
  const zone = shownZone.value;
  const rows = changes.map((change, i) => ({ ...change, key: String(changes.length - i) }));
  return (
    <Panel title={t.historyAll} isFlush>
      <Table
        label={t.historyAll}
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          {
            label: t.time,
            cell: ({ time }) => formatTime(time, zone),
            sortBy: ({ time }) => time,
          },
          { label: t.level, cell: ({ level }) => <LevelBadge level={level} /> },
          { label: t.was, cell: ({ previous }) => <LevelBadge level={previous} /> },
          { label: t.event, cell: ({ id }) => id, sortBy: ({ id }) => id },
          {
            label: t.topic,
            cell: ({ topic }) => <TopicLink topic={topic} />,
            sortBy: ({ topic }) => topic,
          },
          { label: t.task, cell: (change) => <OriginLink origin={change} /> },
          { label: t.duration, cell: ({ duration }) => shownDuration(duration) },
          {
            label: t.actions,
            isActions: true,
            cell: (change) => <OriginData origin={change} time={change.time} />,
          },
        ]}
      />
    </Panel>
  );
}
