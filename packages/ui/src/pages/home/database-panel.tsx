// The database: its figures, the last 15 minutes, and its databases.
import { services } from '../../api/connection.ts';
import type { Resource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { formatBytes, formatMs, stepped, STEPS } from '../../charts/quantity.ts';
import { Trend } from '../../charts/trend.tsx';
import { Figures } from '../../design/figures.tsx';
import type { Figure } from '../../design/figures.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { DatabaseOverview, Trends } from './load.ts';

const t = texts.home;

const perSecond = (value: number): string => stepped(value, '/s', { steps: STEPS, size: 1000 });

export function DatabasePanel({ found }: { readonly found: Resource<DatabaseOverview> }) {
  const state = found.value.value;
  return (
    <Panel
      title={t.database}
      isFlush
      controls={<span class="muted small">{t.version(services.tsdb.value.version)}</span>}
    >
      {state === undefined ? (
        found.error.value === undefined ? (
          <Loading rows={8} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )
      ) : (
        <>
          <Figures figures={figuresOf(state)} />
          {state.trends === undefined ? null : <TrendCharts trends={state.trends} />}
          <div class="padded stack">
            <h3>{t.databases}</h3>
            <Databases names={state.databases} />
          </div>
        </>
      )}
    </Panel>
  );
}

function figuresOf({ seriesCount, counters, slow, trends }: DatabaseOverview): readonly Figure[] {
  const rate = trends?.points.at(-1);
  const memory = counters?.('runtime', 'Sys') ?? trends?.memoryBytes.at(-1);
  const free = counters?.('disk', 'freeBytes');
  const figures: Figure[] = [];
  if (rate !== undefined) figures.push({ label: t.points, value: perSecond(rate) });
  figures.push({ label: t.series, value: seriesCount.toLocaleString('en') });
  if (memory !== undefined) figures.push({ label: t.memory, value: formatBytes(memory) });
  if (free !== undefined) {
    figures.push({
      label: t.diskFree,
      value: formatBytes(free),
      hint: t.ofTotal(formatBytes(counters?.('disk', 'totalBytes') ?? 0)),
    });
  }
  const stored = counters?.('storage', 'segmentBytes');
  if (stored !== undefined) figures.push({ label: t.stored, value: formatBytes(stored) });
  if (slow !== undefined && slow.afterMs > 0) {
    figures.push({
      label: t.slow,
      value: String(slow.count),
      hint: t.slowerThan(formatMs(slow.afterMs)),
      kind: slow.count > 0 ? 'warn' : 'plain',
    });
  }
  return figures;
}

function TrendCharts({ trends }: { readonly trends: Trends }) {
  const { sinceMs, points, queries, memoryBytes } = trends;
  if (points.length < 2) return <p class="padded muted">{t.noRate}</p>;
  const axis = { from: t.ago(Math.round((Date.now() - sinceMs) / 60_000)), to: t.axisTo };
  return (
    <div class="padded stack">
      <Trend label={t.pointsChart} values={points} format={perSecond} {...axis} />
      {queries.length < 2 ? null : (
        <Trend label={t.queriesChart} values={queries} format={perSecond} {...axis} />
      )}
      {memoryBytes.length < 2 ? null : (
        <Trend
          label={t.memoryChart}
          values={memoryBytes}
          format={formatBytes}
          base={1024}
          {...axis}
        />
      )}
    </div>
  );
}

function Databases({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) {
    return (
      <Empty
        title={t.noDatabases}
        icon="start"
        actions={
          <Link page="start" class="button primary">
            {t.first}
          </Link>
        }
      >
        {t.noDatabasesHint}
      </Empty>
    );
  }
  return (
    <div class="row">
      {names.map((name) => (
        <Link key={name} page="explore" params={{ db: name }} class="badge accent">
          {name}
        </Link>
      ))}
    </div>
  );
}
