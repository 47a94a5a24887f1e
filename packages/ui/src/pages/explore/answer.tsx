// The result of each statement: as chart, as table, as text.
import type { Cell, ResponseDiagnostic } from '@tidemark/client';
import { useMemo, useRef } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import type { AnswerSeries, QueryAnswer, StatementAnswer } from '../../api/query-stream.ts';
import type { QueryRun } from '../../api/run.ts';
import { download } from '../../app/download.ts';
import { Chart } from '../../charts/chart.tsx';
import type { ChartHandle } from '../../charts/chart.tsx';
import { bridged } from '../../charts/gaps.ts';
import { formatBytes, formatMs } from '../../charts/quantity.ts';
import { Button, Toggles } from '../../design/button.tsx';
import { Caret } from '../../design/caret.tsx';
import { Panel } from '../../design/panel.tsx';
import { Menu } from '../../design/popover.tsx';
import { ResultTable } from '../../design/result-table.tsx';
import { Empty, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { hasTimeFilter } from '../../query/macros.ts';
import { chartOf } from '../../query/frames.ts';
import { formatTime, shownZone, zoneName } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { toCsv, toJson, toLines } from './export.ts';
import { Plan } from './plan.tsx';
import { PARTS, shownParts, togglePart } from './state.ts';

const t = texts.explore;

/** Only this many series are shown, with a note. */
const SERIES_MAX = 50;

type AnswerProps = {
  readonly run: QueryRun;
  readonly onMore: () => void;
  /** Draws all of it by the smallest and largest values of intervals. */
  readonly onReduce: () => void;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
};

export function Answer({ run, onMore, onReduce, onZoom }: AnswerProps) {
  const chart = useRef<ChartHandle>();
  const answer = run.answer.value;
  const asked = run.request.value;
  const cut = run.cut.value;
  if (answer === undefined || asked === undefined) {
    if (run.isRunning.value && services.tsdb.value.state !== 'down') return <Loading rows={8} />;
    return (
      <section class="panel" aria-label={t.answer}>
        <Empty title={t.noResults} icon="explore">
          {t.noResultsHint}
        </Empty>
      </section>
    );
  }
  return (
    <Panel
      title={t.answer}
      controls={
        <>
          <span class="muted small">
            {t.figures(answer.rowCount, formatMs(answer.elapsedMs), formatBytes(answer.sizeBytes))}
          </span>
          <Toggles
            label={t.view}
            chosen={shownParts.value}
            options={PARTS.map((value) => ({ value, label: t.views[value] }))}
            onToggle={togglePart}
          />
          <ExportMenu
            answer={answer}
            database={asked.database ?? ''}
            picture={() => chart.current?.picture() ?? Promise.resolve(undefined)}
          />
        </>
      }
    >
      <div class="stack wide">
        {answer.error === undefined ? null : (
          <Refusal text={asked.text ?? ''} error={answer.error} diagnostics={answer.diagnostics} />
        )}
        {answer.statements.map((statement) => (
          <Statement
            key={statement.id}
            statement={statement}
            text={asked.text ?? ''}
            isOnly={answer.statements.length === 1}
            span={hasTimeFilter(asked.fit.text) ? [asked.fit.fromMs, asked.fit.toMs] : undefined}
            onZoom={onZoom}
            onChart={(handle) => (chart.current = handle)}
          />
        ))}
        {asked.fit.isReduced === true ? <Notice>{t.reduced}</Notice> : null}
        {answer.hasMore || cut !== undefined ? (
          <Notice
            action={
              <div class="row">
                <Button isSmall isBusy={run.isRunning.value} onClick={onMore}>
                  {t.more}
                </Button>
                {run.isReducible.value ? (
                  <Button isSmall onClick={onReduce}>
                    {texts.dashboards.reduce}
                  </Button>
                ) : null}
              </div>
            }
          >
            {cut === undefined
              ? texts.dashboards.partial(answer.rowCount)
              : texts.dashboards.cut(cut.rowsEach, cut.seriesCount)}
          </Notice>
        ) : null}
      </div>
    </Panel>
  );
}

function ExportMenu({
  answer,
  database,
  picture,
}: {
  readonly answer: QueryAnswer;
  readonly database: string;
  readonly picture: () => Promise<Blob | undefined>;
}) {
  const { statements } = answer;
  const save = (text: string, type: string, name: string): void =>
    download(new Blob([text], { type }), name);
  const lines = async (): Promise<void> => {
    const text = await toLines(statements, database);
    if (text === '') toast(t.noLines, 'bad');
    else save(text, 'text/plain', 'points.lp');
  };
  const png = async (): Promise<void> => {
    const blob = await picture();
    if (blob === undefined) toast(t.noPicture, 'bad');
    else download(blob, 'chart.png');
  };
  const guarded = (deed: () => Promise<void>) => (): void => {
    deed().catch((error: unknown) => toast(String(error), 'bad'));
  };
  return (
    <Menu
      label={t.export}
      icon="download"
      isIconOnly
      items={[
        { label: 'CSV', run: () => save(toCsv(statements), 'text/csv', 'answer.csv') },
        { label: 'JSON', run: () => save(toJson(statements), 'application/json', 'answer.json') },
        { label: t.lineProtocol, run: guarded(lines) },
        { label: 'PNG', run: guarded(png) },
      ]}
    />
  );
}

const RAW_LENGTH_MAX = 200_000;

function Raw({ statement }: { readonly statement: StatementAnswer }) {
  const text = useMemo(() => toJson([statement]), [statement]);
  return (
    <div class="stack">
      <pre class="raw" tabIndex={0} role="group" aria-label={t.rawOf(statement.id + 1)}>
        {text.slice(0, RAW_LENGTH_MAX)}
      </pre>
      {text.length > RAW_LENGTH_MAX ? <Notice>{t.rawCut}</Notice> : null}
    </div>
  );
}

function Refusal({
  text,
  error,
  diagnostics,
}: {
  readonly text: string;
  readonly error: string;
  readonly diagnostics: readonly ResponseDiagnostic[];
}) {
  return (
    <Notice kind="bad">
      {error}
      <Findings text={text} diagnostics={diagnostics} />
    </Notice>
  );
}

function Findings({
  text,
  diagnostics,
}: {
  readonly text: string;
  readonly diagnostics: readonly ResponseDiagnostic[];
}) {
  // Positions are relative to the first letter.
  const indent = text.length - text.trimStart().length;
  return (
    <>
      {diagnostics.map(({ message, hint, position, length }) => (
        <Caret
          key={position}
          text={text}
          finding={{ message, hint, start: position + indent, end: position + indent + length }}
        />
      ))}
    </>
  );
}

function Statement({
  statement,
  text,
  isOnly,
  span,
  onZoom,
  onChart,
}: {
  readonly statement: StatementAnswer;
  readonly text: string;
  readonly isOnly: boolean;
  /** The span of the statement; by default the chart shows that of the rows. */
  readonly span: readonly [number, number] | undefined;
  readonly onZoom: AnswerProps['onZoom'];
  readonly onChart: (handle: ChartHandle) => void;
}) {
  const { id, error, series, messages, diagnostics } = statement;
  const chart = useMemo(
    () => ({ series: chartOf(statement).series.map((line) => bridged(line)) }),
    [statement],
  );
  const lines = planLines(series);
  const parts = shownParts.value;
  const hasChart = chart.series.length > 0 && parts.includes('chart');
  const hasRaw = parts.includes('raw');
  const hasTable = parts.includes('table') || (!hasChart && !hasRaw);
  return (
    <section class="stack" aria-label={t.statementNumber(id + 1)}>
      {isOnly ? null : <h3>{t.statementNumber(id + 1)}</h3>}
      {messages.map((message) => (
        <Notice key={message} kind="warn">
          {message}
        </Notice>
      ))}
      {error !== undefined ? (
        <Refusal text={text} error={error} diagnostics={diagnostics} />
      ) : diagnostics.length > 0 ? (
        <Notice kind="warn">
          <Findings text={text} diagnostics={diagnostics} />
        </Notice>
      ) : null}
      {error === undefined && series.length === 0 ? <p class="muted">{t.noRows}</p> : null}
      {lines !== undefined ? (
        <Plan lines={lines} />
      ) : (
        <div class={`side-by-side ${hasChart ? 'with-chart' : ''}`}>
          {hasChart ? (
            <Chart
              label={t.chartOf(chart.series.length)}
              data={chart}
              height={300}
              span={span}
              zone={zoneName(shownZone.value)}
              syncKey="explore"
              onZoom={onZoom}
              onReady={onChart}
            />
          ) : null}
          {hasTable ? <Tables series={series} /> : null}
          {hasRaw ? <Raw statement={statement} /> : null}
        </div>
      )}
    </section>
  );
}

/** Lines of a plan, if the answer is one. */
function planLines(series: readonly AnswerSeries[]): readonly string[] | undefined {
  const [only] = series;
  if (only?.columns.length !== 1) return undefined;
  if (!/^(QUERY PLAN|EXPLAIN ANALYZE)$/.test(only.columns[0] ?? '')) return undefined;
  return only.rows.map((row) => String(row[0]));
}

function Tables({ series }: { readonly series: readonly AnswerSeries[] }) {
  const zone = shownZone.value;
  const height = series.length > 1 ? 260 : 480;
  return (
    <div class="stack">
      {series.slice(0, SERIES_MAX).map(({ name, tags, columns, rows }, i) => (
        <ResultTable
          key={i}
          label={t.rowsOf(i + 1, name)}
          caption={
            <>
              {name}{' '}
              {Object.entries(tags).map(([key, value]) => (
                <code key={key}>
                  {key}={value}{' '}
                </code>
              ))}
            </>
          }
          columns={columns}
          rows={rows}
          height={height}
          format={(cell: Cell, at: number) =>
            cell === null
              ? ''
              : columns[at] === 'time'
                ? formatTime(String(cell), zone)
                : String(cell)
          }
        />
      ))}
      {series.length > SERIES_MAX ? (
        <Notice>{t.someSeries(SERIES_MAX, series.length)}</Notice>
      ) : null}
    </div>
  );
}
