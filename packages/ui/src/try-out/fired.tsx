// Alerts that would fire, effects that would happen, and log lines.
import { Badge, Empty } from '../design/states.tsx';
import { Table } from '../design/table.tsx';
import { formatTime, shownZone } from '../time/zone.ts';
import { texts } from '../texts/texts.ts';
import type { Effect, Fired, Level, Logged } from './outcome.ts';

const t = texts.tryOut;

export const LEVEL_KINDS = {
  OK: 'good',
  INFO: 'accent',
  WARNING: 'warn',
  CRITICAL: 'bad',
} as const satisfies Readonly<Record<Level, string>>;

export function FiredTable({ events }: { readonly events: readonly Fired[] }) {
  const zone = shownZone.value;
  const rows = events.map((event, i) => ({ ...event, key: String(i) }));
  return (
    <Table
      label={t.alerts}
      rows={rows}
      rowKey={({ key }) => key}
      empty={
        <Empty title={t.alertsEmpty} icon="alerts">
          {t.alertsEmptyHint}
        </Empty>
      }
      columns={[
        {
          label: t.columns.time,
          cell: ({ time }) => formatTime(time, zone),
          sortBy: ({ atMs }) => atMs,
        },
        {
          label: t.columns.level,
          cell: ({ level, previous }) => (
            <>
              <Badge kind={LEVEL_KINDS[level]}>{level}</Badge>
              {previous === level ? null : <span class="muted small"> ← {previous}</span>}
            </>
          ),
        },
        { label: t.columns.id, cell: ({ id }) => id, sortBy: ({ id }) => id },
        { label: t.columns.message, cell: ({ message }) => message },
        { label: t.columns.notified, cell: notifiedOf },
      ]}
    />
  );
}

function notifiedOf({ topics, handlers }: Fired): string {
  const named = topics.filter((topic) => topic !== '');
  const notified = [...named, ...handlers];
  return notified.length === 0 ? t.nobody : notified.join(', ');
}

export function EffectList({ effects }: { readonly effects: readonly Effect[] }) {
  return (
    <ol class="messages" tabIndex={0} aria-label={t.effects}>
      {effects.map(({ what, target, text }, i) => (
        <li key={i}>
          <b>{t.effectKinds[what]}</b> {target}
          <pre class="built">{text}</pre>
        </li>
      ))}
    </ol>
  );
}

export function LogList({ logs }: { readonly logs: readonly Logged[] }) {
  return (
    <ol class="messages" tabIndex={0} aria-label={t.log}>
      {logs.map(({ level, node, message, context }, i) => (
        <li key={i} class={level === 'error' ? 'bad' : ''}>
          <b>{level}</b> {node} {message}{' '}
          <code>
            {Object.entries(context)
              .map(([name, value]) => `${name}=${value}`)
              .join(' ')}
          </code>
        </li>
      ))}
    </ol>
  );
}
