// Events by time and level, above their list. Drag, or move the cursor with the arrow keys (Shift
// selects) and press Enter, to choose a time range.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { Tooltip } from '../../../charts/tooltip.tsx';
import { texts } from '../../../texts/texts.ts';
import { count } from '../../../texts/en/count.ts';
import type { Span } from '../../../time/range.ts';
import { formatInstant, shownZone } from '../../../time/zone.ts';
import type { Bar, Counts } from './counts.ts';
import { colourStyle } from './levels.ts';
import type { LevelLook } from './levels.ts';
import { axisTicks } from './ticks.ts';

const t = texts.log;

/** A shorter drag is a click. */
const DRAG_PIXELS = 4;

type HistogramProps = {
  readonly counts: Counts;
  readonly span: Span;
  /** Looks of the levels to draw, the most severe first: at the bottom. */
  readonly looks: ReadonlyMap<string, LevelLook>;
  /** The times of the events that are in view. */
  readonly seen: Span | undefined;
  readonly onZoom: (fromMs: number, toMs: number) => void;
};

export function Histogram({ counts, span, looks, seen, onZoom }: HistogramProps) {
  const plot = useRef<HTMLDivElement>(null);
  /** The bar at the cursor, as a number of intervals since the first one. */
  const cursor = useSignal<number | undefined>(undefined);
  /** The other end of what is selected. */
  const anchor = useSignal<number | undefined>(undefined);
  const drag = useSignal<{ readonly from: number; readonly to: number } | undefined>(undefined);
  const zone = shownZone.value;
  const { bars, intervalMs } = counts;
  const length = span.toMs - span.fromMs;
  const percent = (ms: number): number => ((ms - span.fromMs) / length) * 100;
  const firstMs = Math.floor(span.fromMs / intervalMs) * intervalMs;
  const barCount = Math.ceil((span.toMs - firstMs) / intervalMs);
  const sumOf = (bar: Bar): number =>
    [...looks.keys()].reduce((sum, level) => sum + (bar.counts.get(level) ?? 0), 0);
  const most = bars.reduce((max, bar) => Math.max(max, sumOf(bar)), 1);
  const timeAt = (clientX: number): number => {
    const box = plot.current?.getBoundingClientRect();
    const share = box === undefined ? 0 : (clientX - box.left) / box.width;
    return span.fromMs + Math.max(0, Math.min(1, share)) * length;
  };
  const indexAt = (ms: number): number => Math.floor((ms - firstMs) / intervalMs);
  const zoom = (fromMs: number, toMs: number): void => {
    cursor.value = undefined;
    anchor.value = undefined;
    onZoom(Math.max(span.fromMs, fromMs), Math.min(span.toMs, toMs));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, shiftKey } = event;
    const before = cursor.value ?? barCount;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const next = before + (key === 'ArrowLeft' ? -1 : 1);
      anchor.value = shiftKey ? (anchor.value ?? cursor.value) : undefined;
      cursor.value = Math.max(0, Math.min(barCount - 1, next));
    } else if (key === 'Enter' && cursor.value !== undefined) {
      const [first = 0, last = 0] = [cursor.value, anchor.value ?? cursor.value].toSorted(
        (a, b) => a - b,
      );
      zoom(firstMs + first * intervalMs, firstMs + (last + 1) * intervalMs - 1);
    } else if (key === 'Escape') {
      cursor.value = undefined;
      anchor.value = undefined;
    } else return;
    event.preventDefault();
  };
  const chosen =
    drag.value !== undefined
      ? [drag.value.from, drag.value.to].toSorted((a, b) => a - b)
      : cursor.value === undefined
        ? undefined
        : [
            firstMs + Math.min(cursor.value, anchor.value ?? cursor.value) * intervalMs,
            firstMs + (Math.max(cursor.value, anchor.value ?? cursor.value) + 1) * intervalMs,
          ];
  const [chosenFrom = 0, chosenTo = 0] =
    chosen?.map((ms) => Math.max(0, Math.min(100, percent(ms)))) ?? [];
  return (
    <figure class="log-histogram">
      <div class="log-most muted small" aria-hidden="true">
        {bars.length === 0 ? '' : count(most)}
      </div>
      <div
        ref={plot}
        class="log-plot"
        role="img"
        tabIndex={0}
        aria-label={t.histogram(bars.reduce((sum, bar) => sum + sumOf(bar), 0))}
        onKeyDown={onKeyDown}
        onBlur={() => (cursor.value = undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = timeAt(event.clientX);
          drag.value = { from: at, to: at };
        }}
        onPointerMove={(event) => {
          const at = timeAt(event.clientX);
          anchor.value = undefined;
          cursor.value = Math.min(barCount - 1, indexAt(at));
          if (drag.value !== undefined) drag.value = { ...drag.value, to: at };
        }}
        onPointerLeave={() => (cursor.value = undefined)}
        onPointerCancel={() => (drag.value = undefined)}
        onPointerUp={() => {
          const [from = 0, to = 0] = [drag.value?.from ?? 0, drag.value?.to ?? 0].toSorted(
            (a, b) => a - b,
          );
          drag.value = undefined;
          const width = plot.current?.clientWidth ?? 0;
          if (((to - from) / length) * width >= DRAG_PIXELS) zoom(from, to);
        }}
      >
        {seen === undefined ? null : (
          <span
            class="log-seen"
            style={{
              left: `${Math.max(0, percent(seen.fromMs))}%`,
              width: `${Math.max(0, Math.min(100, percent(seen.toMs)) - Math.max(0, percent(seen.fromMs)))}%`,
            }}
          />
        )}
        <svg aria-hidden="true">
          {bars.map((bar) => (
            <BarShape
              key={bar.fromMs}
              bar={bar}
              looks={looks}
              most={most}
              left={percent(bar.fromMs)}
              width={(intervalMs / length) * 100}
            />
          ))}
        </svg>
        {chosen === undefined ? null : (
          <span
            class={`log-chosen ${drag.value === undefined && anchor.value === undefined ? 'one' : ''}`}
            style={{ left: `${chosenFrom}%`, width: `${chosenTo - chosenFrom}%` }}
          />
        )}
      </div>
      <div class="log-ticks muted small" aria-hidden="true">
        {axisTicks(span, zone).map(({ ms, text }) => (
          <span key={ms} style={{ left: `${percent(ms)}%` }}>
            {text}
          </span>
        ))}
      </div>
      {cursor.value === undefined || drag.value !== undefined ? null : (
        <BarTooltip
          counts={counts}
          looks={looks}
          fromMs={firstMs + cursor.value * intervalMs}
          zone={zone}
          plot={plot.current}
          left={percent(firstMs + (cursor.value + 0.5) * intervalMs)}
        />
      )}
    </figure>
  );
}

function BarShape({
  bar,
  looks,
  most,
  left,
  width,
}: {
  readonly bar: Bar;
  readonly looks: ReadonlyMap<string, LevelLook>;
  readonly most: number;
  readonly left: number;
  readonly width: number;
}) {
  let below = 0;
  return (
    <>
      {[...looks].map(([level, { colour, isSevere }]) => {
        const height = ((bar.counts.get(level) ?? 0) / most) * 100;
        if (height === 0) return null;
        below += height;
        return (
          <rect
            key={level}
            class={isSevere ? '' : 'quiet'}
            x={`${left + width * 0.08}%`}
            width={`${width * 0.84}%`}
            y={`${100 - below}%`}
            height={`${height}%`}
            style={colourStyle(colour)}
          />
        );
      })}
    </>
  );
}

function BarTooltip({
  counts,
  looks,
  fromMs,
  zone,
  plot,
  left,
}: {
  readonly counts: Counts;
  readonly looks: ReadonlyMap<string, LevelLook>;
  readonly fromMs: number;
  readonly zone: string;
  readonly plot: HTMLElement | null;
  readonly left: number;
}) {
  const bar = counts.bars.find((one) => one.fromMs === fromMs);
  const box = plot?.getBoundingClientRect();
  if (box === undefined) return null;
  const rows = [...looks].flatMap(([level, { colour }]) => {
    const value = bar?.counts.get(level) ?? 0;
    return value === 0
      ? []
      : [{ label: level === '' ? t.noLevel : level, colour, value: count(value) }];
  });
  const to = formatInstant(fromMs + counts.intervalMs, zone).slice(11);
  return (
    <Tooltip
      time={`${formatInstant(fromMs, zone)} – ${to}`}
      rows={rows}
      x={box.left + (Math.max(0, Math.min(100, left)) / 100) * box.width}
      y={box.top + box.height / 2}
    />
  );
}
