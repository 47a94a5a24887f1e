// What a cell shows: its query is run while it can be seen, and drawn as its kind says.
import { useMemo, useRef } from 'preact/hooks';

import { useResource } from '../../api/use-resource.ts';
import { seriesColour } from '../../charts/colours.ts';
import { Chart } from '../../charts/chart.tsx';
import type { ChartData } from '../../charts/data.ts';
import type { ChartStyle, Mark } from '../../charts/plot.ts';
import { ResultTable } from '../../design/result-table.tsx';
import { Failure, Loading, Notice } from '../../design/states.tsx';
import { barsOf, gridOf, lanesOf, linesOf } from '../../dashboards/frames.ts';
import type { Cell, CellKind } from '../../dashboards/model.ts';
import { runCell } from '../../dashboards/run.ts';
import type { CellAnswer, CellContext } from '../../dashboards/run.ts';
import { namesVariable } from '../../dashboards/variables.ts';
import { formatTime, shownZone, zoneName } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { AlertList } from './alert-list.tsx';
import { Bars, Gauges, HeatMap, Histogram, SingleValues, States } from './figures.tsx';
import { Note } from './note.tsx';
import { Placeholder } from './placeholder.tsx';

const t = texts.dashboards;

export type CellView = {
  readonly context: CellContext;
  /** Counts how often somebody asked for all of it anew. */
  readonly round: number;
  readonly refreshMs: number | undefined;
  readonly marks: readonly Mark[];
  /** Charts with the same share the cursor. */
  readonly syncKey: string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
};

export function CellBody({
  cell,
  view,
  height,
  isSeen,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  readonly isSeen: boolean;
}) {
  if (cell.kind === 'note') return <Note text={cell.note} isHtml={cell.isHtml} />;
  if (cell.kind === 'placeholder') return <Placeholder cell={cell} />;
  if (cell.kind === 'alerts') {
    return <AlertList topic={cell.topic} label={cell.title} refreshMs={view.refreshMs} />;
  }
  if (cell.queries.every(({ text }) => text.trim() === '')) return <p class="muted">{t.noQuery}</p>;
  if (!isSeen) return <Loading rows={3} />;
  return <Answered cell={cell} view={view} height={height} />;
}

function Answered({
  cell,
  view,
  height,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const { context, round, refreshMs } = view;
  const { database, from, to } = context;
  // Only what its own statements name is a reason to ask again.
  const named = [...context.chosen].filter(([name]) =>
    cell.queries.some(({ text }) => namesVariable(text, name)),
  );
  const answer = useResource(
    (signal) =>
      runCell(cell, context, {
        widthPixels: frame.current?.clientWidth ?? 600,
        nowMs: Date.now(),
        signal,
      }),
    [JSON.stringify([cell.kind === 'table', cell.queries, database, from, to, named]), round],
    { refreshMs },
  );
  const { value, error } = answer;
  return (
    <div ref={frame} class="cell-answer">
      {error.value !== undefined ? (
        <Failure error={error.value} onRetry={() => void answer.reload()} />
      ) : value.value === undefined ? (
        <Loading rows={Math.max(1, Math.floor(height / 40))} />
      ) : (
        <Drawn cell={cell} view={view} height={height} answer={value.value} />
      )}
    </div>
  );
}

function Drawn({
  cell,
  view,
  height,
  answer,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  readonly answer: CellAnswer;
}) {
  const data = useMemo(() => linesOf(answer.statements), [answer]);
  const errors = answer.statements.flatMap(({ error = '' }) => (error === '' ? [] : [error]));
  const hasRows = answer.statements.some(({ series }) => series.length > 0);
  const needsNumbers = cell.kind !== 'table' && cell.kind !== 'states';
  return (
    <>
      {[...new Set(errors)].map((error) => (
        <Notice key={error} kind="bad">
          {error}
        </Notice>
      ))}
      {answer.isPartial ? <Notice kind="warn">{t.partial}</Notice> : null}
      {!hasRows ? (
        errors.length > 0 ? null : (
          <p class="muted">{t.noRows}</p>
        )
      ) : needsNumbers && data.series.length === 0 ? (
        <p class="muted">{t.noNumbers}</p>
      ) : (
        <Picture cell={cell} view={view} height={height} answer={answer} data={data} />
      )}
    </>
  );
}

const STYLES: Partial<Readonly<Record<CellKind, ChartStyle>>> = {
  line: 'line',
  area: 'area',
  bar: 'bars',
  scatter: 'points',
};

function Picture({
  cell,
  view,
  height,
  answer,
  data,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  readonly answer: CellAnswer;
  readonly data: ChartData;
}) {
  const { span, statements } = answer;
  switch (cell.kind) {
    case 'single':
      return <SingleValues data={data} cell={cell} />;
    case 'gauge':
      return <Gauges data={data} cell={cell} />;
    case 'histogram':
      return <Histogram data={data} cell={cell} />;
    case 'heatmap':
      return <HeatMap data={data} span={span} cell={cell} />;
    case 'states':
      return <States lanes={lanesOf(statements, span)} span={span} cell={cell} />;
    case 'table':
      return <Rows cell={cell} answer={answer} height={height} />;
    default: {
      const bars = cell.kind === 'bar' ? barsOf(data) : undefined;
      if (bars !== undefined) return <Bars bars={bars} cell={cell} />;
      return <Lines cell={cell} view={view} height={height} answer={answer} data={data} />;
    }
  }
}

const LEGEND_PIXELS = 24;

function Lines({
  cell,
  view,
  height,
  answer,
  data,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  readonly answer: CellAnswer;
  readonly data: ChartData;
}) {
  const thresholds = useMemo(
    () => cell.thresholds.map(({ value, level }) => ({ value, colour: level })),
    [JSON.stringify(cell.thresholds)],
  );
  const { fromMs, toMs } = answer.span;
  const span = useMemo(() => [fromMs, toMs] as const, [fromMs, toMs]);
  const chartHeight = Math.max(60, height - (cell.hasLegend ? LEGEND_PIXELS : 0));
  return (
    <>
      <Chart
        label={t.chartOf(cell.title)}
        data={data}
        height={chartHeight}
        style={STYLES[cell.kind]}
        isStacked={cell.isStacked}
        unit={cell.unit}
        span={span}
        zone={zoneName(shownZone.value)}
        thresholds={thresholds}
        marks={view.marks}
        syncKey={view.syncKey}
        isLegendHidden
        onZoom={view.onZoom}
      />
      {cell.hasLegend ? (
        <ul class="cell-legend small" aria-label={texts.charts.legend} tabIndex={0}>
          {data.series.map(({ label }, i) => (
            <li key={label}>
              <span class="legend-colour" style={{ background: `var(--${seriesColour(i)})` }} />
              {label}
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function Rows({
  cell,
  answer,
  height,
}: {
  readonly cell: Cell;
  readonly answer: CellAnswer;
  readonly height: number;
}) {
  const grid = useMemo(() => gridOf(answer.statements), [answer]);
  const zone = shownZone.value;
  return (
    <ResultTable
      label={t.chartOf(cell.title)}
      columns={grid.columns}
      rows={grid.rows}
      height={height}
      format={(value, column) =>
        value === null
          ? ''
          : grid.columns[column] === 'time'
            ? formatTime(String(value), zone)
            : String(value)
      }
    />
  );
}
