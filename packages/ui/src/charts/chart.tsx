// A chart with its legend. Drag: select a span; Shift and drag, or arrow keys: move; double click
// or Home: show everything.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { problemOf } from '../api/problem.ts';
import { shownTheme } from '../app/theme.ts';
import { Failure } from '../design/states.tsx';
import { texts } from '../texts/texts.ts';
import { formatInstant } from '../time/zone.ts';
import { colourOf, resolveColour } from './colours.ts';
import type { Calc } from './calc.ts';
import { pointAt } from './data.ts';
import type { ChartData, ChartSeries } from './data.ts';
import { formatValue } from './format.ts';
import { incrementsOf } from './increments.ts';
import { isFound, Legend } from './legend.tsx';
import type { ChartStyle, Mark, Plot, PlotCursor, PlotLook, Threshold } from './plot.ts';
import { Tooltip } from './tooltip.tsx';

const DRAWN_MAX = 200;
const NOTHING: readonly never[] = [];
const PLAIN: PlotLook = {};

/** Functions that a page can call on a chart. */
export type ChartHandle = { readonly picture: () => Promise<Blob | undefined> };

export type ChartProps = {
  /** Description for screen readers. */
  readonly label: string;
  readonly data: ChartData;
  readonly height?: number | undefined;
  readonly style?: ChartStyle | undefined;
  readonly isStacked?: boolean | undefined;
  readonly unit?: string | undefined;
  readonly decimals?: number | undefined;
  /** Compared by identity, like all objects here. */
  readonly look?: PlotLook | undefined;
  readonly span?: readonly [number, number] | undefined;
  readonly zone?: string | undefined;
  readonly thresholds?: readonly Threshold[] | undefined;
  readonly marks?: readonly Mark[] | undefined;
  readonly syncKey?: string | undefined;
  readonly isLegendHidden?: boolean | undefined;
  /** Aggregates in the legend, and its position. */
  readonly legendCalcs?: readonly Calc[] | undefined;
  readonly legendSide?: 'bottom' | 'right' | undefined;
  /** The address that the name of a series leads to. */
  readonly legendLink?: ((one: ChartSeries) => string | undefined) | undefined;
  readonly legendForm?: 'list' | 'table' | undefined;
  /** A span was selected by dragging. Without it the chart zooms into its data. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
  readonly onReady?: ((handle: ChartHandle) => void) | undefined;
};

export function Chart(props: ChartProps) {
  const { label, data, height = 280, style = 'line', unit = 'none', isStacked = false } = props;
  const { span, zone, syncKey, thresholds = NOTHING, marks = NOTHING, look = PLAIN } = props;
  const { decimals } = props;
  const drawn = useMemo(() => ({ series: data.series.slice(0, DRAWN_MAX) }), [data]);
  const parent = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>();
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const shownSpan = useSignal<readonly [number, number] | undefined>(span);
  const cursor = useSignal<PlotCursor | undefined>(undefined);
  const search = useSignal('');
  /** The cursor is that of this chart, not of one with the same key. */
  const isPointed = useSignal(false);
  /** Height of the pointer in the window; keys leave it in the middle of the plot. */
  const pointerY = useRef<number>();
  const failure = useSignal<Error | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const theme = shownTheme.value;

  useEffect(() => {
    const element = parent.current;
    if (element === null) return undefined;
    let isGone = false;
    let observer: ResizeObserver | undefined;
    const make = async (): Promise<void> => {
      const { makePlot } = await import('./plot.ts');
      if (isGone) return;
      // A reload does not take away what is being read.
      const time = isPointed.peek() ? cursor.peek()?.time : undefined;
      cursor.value = undefined;
      const made = makePlot(element, {
        data: drawn,
        height,
        style,
        isStacked,
        span,
        cursor: time === undefined ? undefined : { time, y: pointerY.current },
        zone,
        syncKey,
        thresholds: thresholds.map((each) => ({ ...each, colour: resolveColour(each.colour) })),
        marks: marks.map((each) => ({ ...each, colour: resolveColour(each.colour) })),
        look,
        colours: drawn.series.map((one, i) => resolveColour(colourOf(one, i))),
        text: resolveColour('muted'),
        line: resolveColour('line'),
        increments: (side) => incrementsOf(unitOf(drawn, side, unit)),
        formatValue: (value, side) => formatValue(value, unitOf(drawn, side, unit), decimals),
        onCursor: (next) => (cursor.value = next),
        onSpan: ([from, to], isChosen) => {
          if (!isChosen) shownSpan.value = [from, to];
          else if (latest.current.onZoom !== undefined) latest.current.onZoom(from, to);
          else plot.current?.show(from, to);
        },
      });
      plot.current = made;
      shownSpan.value = made.span();
      drawn.series.forEach((one, i) => {
        if (hidden.value.has(one.label)) made.setVisible(i, false);
      });
      latest.current.onReady?.({ picture: () => made.picture(resolveColour('surface')) });
      observer = new ResizeObserver(() => made.setWidth(element.clientWidth));
      observer.observe(element);
    };
    make().catch((error: unknown) => {
      failure.value = error instanceof Error ? error : new Error(String(error));
    });
    return () => {
      isGone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [
    drawn,
    height,
    style,
    isStacked,
    span?.[0],
    span?.[1],
    zone,
    syncKey,
    unit,
    decimals,
    look,
    theme,
    thresholds,
    marks,
  ]);

  const toggle = (index: number, isAlone: boolean): void => {
    const labels = drawn.series.map((one) => one.label);
    const chosen = labels[index] ?? '';
    const isOnlyOne = labels.every((one) => one === chosen || hidden.value.has(one));
    const next = isAlone
      ? new Set(isOnlyOne ? [] : labels.filter((one) => one !== chosen))
      : toggled(hidden.value, chosen);
    hidden.value = next;
    labels.forEach((one, i) => plot.current?.setVisible(i, !next.has(one)));
  };

  if (failure.value !== undefined) return <Failure error={problemOf(failure.value)} />;
  return (
    <figure class={`chart ${props.legendSide === 'right' ? 'beside' : ''}`}>
      <div
        ref={parent}
        class="chart-plot"
        style={{ minHeight: `${height}px` }}
        role="img"
        aria-label={`${label}: ${texts.charts.seriesCount(data.series.length)}. ${texts.charts.keys}`}
        tabIndex={0}
        onKeyDown={(event) => {
          if (plot.current === undefined) return;
          const direction = CURSOR_KEYS[event.key];
          if (direction !== undefined) {
            isPointed.value = true;
            pointerY.current = undefined;
            plot.current.moveCursor(direction);
          } else if (!moveByKey(plot.current, event.key, latest.current)) return;
          event.preventDefault();
        }}
        onPointerEnter={() => (isPointed.value = true)}
        onPointerMove={(event) => (pointerY.current = event.clientY)}
        onPointerLeave={(event) => {
          // The values stay when a finger is lifted.
          if (event.pointerType !== 'touch') isPointed.value = false;
        }}
        onBlur={() => (isPointed.value = false)}
        onDblClick={() => resetSpan(plot.current, latest.current)}
      />
      {isPointed.value && cursor.value !== undefined ? (
        <Values
          cursor={cursor.value}
          data={drawn}
          isShown={({ label: one }) => !hidden.value.has(one) && isFound(one, search.value)}
          isStacked={isStacked}
          unit={unit}
          decimals={decimals}
          zone={zone ?? 'local'}
        />
      ) : null}
      {props.isLegendHidden === true ? null : (
        <Legend
          data={drawn}
          span={shownSpan.value}
          cursorTime={cursor.value?.time}
          search={search.value}
          onSearch={(text) => (search.value = text)}
          linkOf={props.legendLink}
          form={props.legendForm}
          hidden={hidden.value}
          unit={unit}
          decimals={decimals}
          calcs={props.legendCalcs}
          onToggle={toggle}
        />
      )}
      {data.series.length > DRAWN_MAX ? (
        <figcaption class="muted small">
          {texts.charts.someSeries(DRAWN_MAX, data.series.length)}
        </figcaption>
      ) : null}
    </figure>
  );
}

/** Keys that move the cursor along the data. */
const CURSOR_KEYS: Readonly<Record<string, -1 | 1>> = { ',': -1, '.': 1 };

/** Values of the lines that are shown, at the time of the nearest point. */
function Values({
  cursor,
  data,
  isShown,
  isStacked,
  unit,
  decimals,
  zone,
}: {
  readonly cursor: PlotCursor;
  readonly data: ChartData;
  readonly isShown: (one: ChartSeries) => boolean;
  readonly isStacked: boolean;
  readonly unit: string;
  readonly decimals: number | undefined;
  readonly zone: string;
}) {
  let sum = 0;
  const rows = data.series.flatMap((one, i) => {
    const { value, time } = pointAt(one, cursor.time);
    if (Number.isNaN(value)) return [];
    const isSummed = isStacked && one.look?.isAlone !== true;
    if (isSummed) sum += value;
    if (!isShown(one)) return [];
    const row = {
      label: one.label,
      colour: colourOf(one, i),
      value: formatValue(value, one.look?.unit ?? unit, one.look?.decimals ?? decimals),
    };
    const distance = cursor.distance(isSummed ? sum : value, one.look?.axis ?? 'left');
    return [{ row, time, distance }];
  });
  const sorted = rows.toSorted((a, b) => a.distance - b.distance);
  const [nearest] = sorted;
  if (nearest === undefined) return null;
  const time = formatInstant(nearest.time, zone);
  return <Tooltip time={time} rows={sorted.map(({ row }) => row)} {...cursor.position()} />;
}

/** The right axis has the unit of the series drawn against it. */
function unitOf({ series }: ChartData, side: 'left' | 'right', unit: string): string {
  const isThere = (one: ChartSeries): boolean => (one.look?.axis ?? 'left') === side;
  const own = series.filter(isThere).map(({ look }) => look?.unit);
  const [first] = own;
  return first !== undefined && own.every((each) => each === first) ? first : unit;
}

function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}

function resetSpan(plot: Plot | undefined, { data, span }: ChartProps): void {
  if (plot === undefined) return;
  if (span !== undefined) plot.show(...span);
  else {
    const times = data.series.flatMap((one) => [one.times[0] ?? NaN, one.times.at(-1) ?? NaN]);
    const known = times.filter((time) => !Number.isNaN(time));
    if (known.length > 0) plot.show(Math.min(...known), Math.max(...known));
  }
}

/**
 * Arrow keys move by an eighth, plus and minus zoom, Home shows everything; Enter selects what is
 * shown, as dragging does.
 */
function moveByKey(plot: Plot, key: string, props: ChartProps): boolean {
  const [from, to] = plot.span();
  const step = (to - from) / 8;
  switch (key) {
    case 'ArrowLeft':
      plot.show(from - step, to - step);
      return true;
    case 'ArrowRight':
      plot.show(from + step, to + step);
      return true;
    case '+':
      plot.show(from + step * 2, to - step * 2);
      return true;
    case '-':
      plot.show(from - step * 4, to + step * 4);
      return true;
    case 'Enter':
      props.onZoom?.(from, to);
      return props.onZoom !== undefined;
    case 'Home':
      resetSpan(plot, props);
      return true;
    default:
      return false;
  }
}
