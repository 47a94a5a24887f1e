// A month of days, for choosing the first and the last day of a range.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { IconButton } from '../design/button.tsx';
import { texts } from '../texts/texts.ts';

const t = texts.time;

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 42;

/** Days are read from UTC: what is chosen are dates, not instants. */
const MONTH = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });

/** `2024-05-01` of a day. */
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

/**
 * `from` and `to` are days of the calendar as milliseconds of their starts in UTC. The first click
 * chooses one day; the second one the other end.
 */
export function Calendar({
  from,
  to,
  onChange,
}: {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly onChange: (from: string, to: string) => void;
}) {
  const first = useSignal<number | undefined>(undefined);
  const grid = useRef<HTMLDivElement>(null);
  /** The day that has the focus; it decides which month is shown. */
  const focused = useSignal(to ?? Date.now());
  const shown = new Date(focused.value);
  const monthStart = Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth());
  const start = monthStart - ((new Date(monthStart).getUTCDay() + 6) % 7) * DAY_MS;
  const days = Array.from({ length: DAYS_SHOWN }, (_, i) => start + i * DAY_MS);
  const [low, high] = first.value === undefined ? [from, to] : [first.value, first.value];
  const move = (day: number): void => {
    focused.value = day;
    const focus = (): void =>
      grid.current?.querySelector<HTMLButtonElement>(`[data-day="${dateOf(day)}"]`)?.focus();
    focus();
    // In another month the day exists after the next render.
    requestAnimationFrame(focus);
  };
  const choose = (day: number): void => {
    const other = first.value;
    focused.value = day;
    first.value = other === undefined ? day : undefined;
    const ends = [other ?? day, day].toSorted((a, b) => a - b);
    onChange(dateOf(ends[0] ?? day), dateOf(ends[1] ?? day));
  };
  const addMonths = (count: number): number =>
    Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth() + count, 1);
  return (
    <div class="calendar" role="group" aria-label={t.calendar}>
      <div class="row">
        <IconButton
          isSmall
          icon="left"
          label={t.previousMonth}
          onClick={() => (focused.value = addMonths(-1))}
        />
        <strong class="grow" aria-live="polite">
          {MONTH.format(monthStart)}
        </strong>
        <IconButton
          isSmall
          icon="right"
          label={t.nextMonth}
          onClick={() => (focused.value = addMonths(1))}
        />
      </div>
      <div
        ref={grid}
        class="calendar-days"
        onKeyDown={(event) => {
          const step = STEPS[event.key];
          if (step === undefined) return;
          event.preventDefault();
          move(dayStart(focused.value) + step * DAY_MS);
        }}
      >
        {days.slice(0, 7).map((day) => (
          <span key={`w${day}`} class="muted small" aria-hidden="true">
            {WEEKDAY.format(day).slice(0, 2)}
          </span>
        ))}
        {days.map((day) => {
          const isIn = low !== undefined && high !== undefined && day >= low && day <= high;
          return (
            <button
              key={day}
              type="button"
              class={new Date(day).getUTCMonth() === shown.getUTCMonth() ? '' : 'muted'}
              data-day={dateOf(day)}
              aria-label={t.day(DAY.format(day))}
              aria-pressed={isIn ? 'true' : 'false'}
              tabIndex={day === dayStart(focused.value) ? 0 : -1}
              onClick={() => choose(day)}
            >
              {new Date(day).getUTCDate()}
            </button>
          );
        })}
      </div>
    </div>
  );
}

const dayStart = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
