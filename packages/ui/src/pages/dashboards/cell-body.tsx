// The content of a cell: its queries run while it is visible, and its kind draws the results.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { problemOf } from '../../api/problem.ts';
import type { Problem } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { kindOf } from '../../cells/registry.ts';
import type { CellContent, CellView, DrawingProps } from '../../cells/kind.ts';
import { shownLines } from '../../cells/shown.ts';
import { MIN_INTERVAL, TIME_FROM, TIME_SHIFT } from '../../cells/options/common.ts';
import type { Cell } from '../../dashboards/model.ts';
import { runCell } from '../../dashboards/run.ts';
import type { CellAnswer } from '../../dashboards/run.ts';
import { namesVariable } from '../../dashboards/variables.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Failure, Loading, Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

type BodyProps = {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  /** Receives what is shown, so that it can be saved. */
  readonly content?: CellContent | undefined;
};

const NO_ANSWER: CellAnswer = {
  statements: [],
  span: { fromMs: 0, toMs: 0 },
  rowCount: 0,
  isPartial: false,
  cuts: [],
  isReducible: false,
};
const NO_DATA = { series: [] };

export function CellBody(props: BodyProps) {
  const { cell } = props;
  if (kindOf(cell.kind).draws === undefined) {
    return <Drawn {...props} answer={NO_ANSWER} data={NO_DATA} />;
  }
  const isAsked = cell.queries.some(
    ({ text, isHidden }) => text.trim() !== '' && isHidden !== true,
  );
  if (!isAsked) return <p class="muted">{t.noQuery}</p>;
  return <Answered {...props} />;
}

function Answered({ cell, view, height, content }: BodyProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isReduced = useSignal(false);
  const { context, round, refreshMs, isPaused } = view;
  const { database, from, to } = context;
  // Only variables in its own statements are a reason to run again.
  const named = [...context.chosen].filter(([name]) =>
    cell.queries.some(({ text, label }) => namesVariable(text, name) || namesVariable(label, name)),
  );
  const asked = [MIN_INTERVAL, TIME_FROM, TIME_SHIFT].map(({ name }) => cell.options[name]);
  const isTable = kindOf(cell.kind).draws === 'rows';
  const answer = useResource(
    (signal) =>
      runCell(cell, context, {
        widthPixels: widthOf(frame.current),
        nowMs: Date.now(),
        isReduced: isReduced.value,
        signal,
      }),
    [
      JSON.stringify([isTable, cell.queries, asked, database, from, to, named]),
      round,
      isReduced.value,
    ],
    { refreshMs, isPaused, keepsValue: true },
  );
  const { value, error } = answer;
  return (
    <div ref={frame} class="cell-answer">
      {value.value === undefined ? (
        error.value === undefined ? (
          <Loading rows={Math.max(1, Math.floor(height / 40))} />
        ) : (
          <Failure error={error.value} onRetry={() => void answer.reload()} />
        )
      ) : (
        <>
          {error.value === undefined ? null : (
            <Stale error={error.value} onRetry={() => void answer.reload()} />
          )}
          <Picture
            cell={cell}
            view={view}
            height={height}
            answer={value.value}
            content={content}
            onReduce={() => (isReduced.value = true)}
          />
        </>
      )}
    </div>
  );
}

/** An element that is not laid out yet, as in a dialog that opens, has a usual width. */
const widthOf = (element: HTMLElement | null): number =>
  element === null || element.clientWidth === 0 ? 600 : element.clientWidth;

/** A mark over the last picture when a reload has failed. */
function Stale({ error, onRetry }: { readonly error: Problem; readonly onRetry: () => void }) {
  return (
    <button type="button" class="cell-stale" title={error.message} onClick={onRetry}>
      <Icon name="warning" />
      {t.outdated}
    </button>
  );
}

function Picture(
  props: BodyProps & { readonly answer: CellAnswer; readonly onReduce: () => void },
) {
  const { cell, answer, content } = props;
  if (content !== undefined) content.answer = answer;
  const options = JSON.stringify(cell.options);
  const data = useMemo(() => shownLines(cell, answer.statements), [answer, options]);
  const errors = answer.statements.flatMap(({ error = '' }) => (error === '' ? [] : [error]));
  const hasRows = answer.statements.some(({ series }) => series.length > 0);
  const needsNumbers = kindOf(cell.kind).draws === 'numbers';
  return (
    <>
      {[...new Set(errors)].map((error) => (
        <Notice key={error} kind="bad">
          {error}
        </Notice>
      ))}
      <Missing cell={cell} answer={answer} onReduce={props.onReduce} />
      {!hasRows ? (
        errors.length > 0 ? null : (
          <p class="muted">{t.noRows}</p>
        )
      ) : needsNumbers && data.series.length === 0 ? (
        <p class="muted">{t.noNumbers}</p>
      ) : (
        <Drawn
          {...props}
          data={data}
          onPicture={(picture) => {
            if (content !== undefined) content.picture = picture;
          }}
        />
      )}
    </>
  );
}

/** What the picture lacks, in series, and the way to see all of it. */
function Missing({
  cell,
  answer: { rowCount, isPartial, cuts, isReducible },
  onReduce,
}: {
  readonly cell: Cell;
  readonly answer: CellAnswer;
  readonly onReduce: () => void;
}) {
  if (!isPartial && cuts.length === 0) return null;
  const isChart = kindOf(cell.kind).draws === 'numbers';
  return (
    <Notice
      kind="warn"
      action={
        isChart && isReducible ? (
          <Button isSmall onClick={onReduce}>
            {t.reduce}
          </Button>
        ) : undefined
      }
    >
      {cuts.length === 0
        ? t.partial(rowCount)
        : cuts.map(({ rowsEach, seriesCount }) => t.cut(rowsEach, seriesCount)).join(' ')}
    </Notice>
  );
}

const loaded = new Map<string, ComponentType<DrawingProps>>();

/** The code of a kind is loaded with its first cell. */
function Drawn(props: DrawingProps) {
  const kind = kindOf(props.cell.kind);
  const [problem, setProblem] = useState<unknown>(undefined);
  const [, setIsLoaded] = useState(false);
  const Drawing = loaded.get(kind.id);
  useEffect(() => {
    // Another cell may have loaded it meanwhile: loading again costs nothing.
    kind.load().then(
      (module) => {
        loaded.set(kind.id, module.Drawing);
        setIsLoaded(true);
      },
      (error: unknown) => setProblem(error),
    );
  }, [kind.id]);
  if (problem !== undefined) return <Failure error={problemOf(problem)} />;
  return Drawing === undefined ? <Loading rows={2} /> : <Drawing {...props} />;
}
