// How many events there are of each level, and when.
import { texts } from '../../../texts/texts.ts';
import { rangeOf } from '../../../time/range.ts';
import type { Span } from '../../../time/range.ts';
import { setRange } from '../state.ts';
import type { Counts } from './counts.ts';
import type { RowLook } from './event-row.tsx';
import type { LogRequest } from './events.ts';
import { Histogram } from './histogram.tsx';
import { LevelBar } from './level-bar.tsx';
import { chosenValues } from './state.ts';
import type { LogFilter } from './statements.ts';

const t = texts.log;

/** What was counted, and of which request. */
export type Total = Counts & { readonly asked: LogRequest };

/** Levels with their numbers, and the histogram of those that are shown. */
export function Counted({
  total,
  look,
  filters,
  isLoading,
  seen,
  onFilter,
}: {
  readonly total: Total;
  readonly look: RowLook;
  readonly filters: readonly LogFilter[];
  readonly isLoading: boolean;
  readonly seen: Span | undefined;
  readonly onFilter: (filter: LogFilter) => void;
}) {
  const { level } = look.source;
  const wanted = level === undefined ? [] : chosenValues(filters, level);
  const isShown = (one: string): boolean =>
    (wanted.length === 0 || wanted.includes(one)) &&
    !filters.some(({ name, isNot, value }) => name === level && isNot && value === one);
  const drawn = new Map([...look.looks].filter(([one]) => isShown(one)));
  const sum = [...drawn.keys()].reduce((all, one) => all + (total.totals.get(one) ?? 0), 0);
  return (
    <>
      <header>
        {level === undefined ? null : (
          <LevelBar
            looks={look.looks}
            totals={total.totals}
            chosen={wanted}
            onToggle={(value) => onFilter({ name: level, isNot: false, value })}
          />
        )}
        <span class="grow" />
        {isLoading ? (
          <span class="spinner" role="status" aria-label={texts.common.loading} />
        ) : null}
        <span class="muted small">{t.eventCount(sum)}</span>
      </header>
      <Histogram
        counts={total}
        span={total.asked}
        looks={drawn}
        seen={seen}
        onZoom={(fromMs, toMs) => setRange(rangeOf(fromMs, toMs))}
      />
    </>
  );
}
