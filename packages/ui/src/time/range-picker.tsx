// Selects a time span, the time zone of displayed times, and the refresh interval.
import { useSignal } from '@preact/signals';

import { Button, IconButton } from '../design/button.tsx';
import { SelectField, SuggestField, TextField } from '../design/field.tsx';
import { Popover } from '../design/popover.tsx';
import { texts } from '../texts/texts.ts';
import { Calendar } from './calendar.tsx';
import { instantText, labelOfRange, QUICK_RANGES } from './labels.ts';
import { isRelative, parseInstant, portable, shifted, spanOf, UNIT_MS } from './range.ts';
import type { TimeRange } from './range.ts';
import { shownZone, wallClock, zoneName, zones } from './zone.ts';
import './time.css';

const t = texts.time;

type RangeProps = {
  readonly range: TimeRange;
  /** Receives instants in UTC, so that the range is the same in every zone. */
  readonly onChange: (range: TimeRange) => void;
};

export function RangePicker({ range, onChange }: RangeProps) {
  const zone = shownZone.value;
  const label = labelOfRange(range, zone);
  const shift = (direction: -1 | 1): void => {
    const span = spanOf(range, Date.now());
    if (span !== undefined) onChange(shifted(span, direction));
  };
  return (
    <div class="range-picker">
      <IconButton icon="left" label={t.previousRange} onClick={() => shift(-1)} />
      <Popover label={zone === 'local' ? label : `${label} · ${zone}`} icon="clock">
        {(close) => (
          <Choices
            range={range}
            onChange={(next) => {
              close();
              onChange(next);
            }}
          />
        )}
      </Popover>
      <IconButton icon="right" label={t.nextRange} onClick={() => shift(1)} />
    </div>
  );
}

function Choices({ range, onChange }: RangeProps) {
  const zone = shownZone.value;
  const from = useSignal(instantText(range.from, zone));
  const to = useSignal(instantText(range.to, zone));
  const nowMs = Date.now();
  const name = zoneName(zone);
  const fromMs = parseInstant(from.value, { nowMs, zone: name });
  const toMs = parseInstant(to.value, { nowMs, zone: name, isEnd: true });
  const problem = (ms: number | undefined): string | undefined =>
    ms === undefined ? t.noInstant : undefined;
  const dayOf = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : Math.floor(wallClock(ms, name) / DAY_MS) * DAY_MS;
  const isUsable = fromMs !== undefined && toMs !== undefined && fromMs < toMs;
  return (
    <div class="range-choices">
      <form
        class="form"
        aria-label={t.absolute}
        onSubmit={(event) => {
          event.preventDefault();
          if (isUsable) onChange(portable({ from: from.value, to: to.value }, nowMs));
        }}
      >
        <TextField
          label={t.from}
          value={from.value}
          problem={problem(fromMs)}
          onInput={(value) => (from.value = value)}
        />
        <TextField
          label={t.to}
          value={to.value}
          hint={t.example}
          problem={problem(toMs) ?? (isUsable ? undefined : t.endBeforeStart)}
          onInput={(value) => (to.value = value)}
        />
        <Calendar
          from={dayOf(fromMs)}
          to={dayOf(toMs)}
          onChange={(first, last) => {
            from.value = `${first} 00:00:00`;
            to.value = `${last} 23:59:59`;
          }}
        />
        <Button type="submit" kind="primary" disabled={!isUsable}>
          {t.apply}
        </Button>
      </form>
      <div class="stack">
        <div class="quick-ranges" role="group" aria-label={t.quick}>
          {QUICK_RANGES.map(({ range: quick, label }) => (
            <button
              key={label}
              type="button"
              class="menu-item"
              aria-pressed={quick.from === range.from && quick.to === range.to ? 'true' : 'false'}
              onClick={() => onChange(quick)}
            >
              {label}
            </button>
          ))}
        </div>
        <ZoneField />
      </div>
    </div>
  );
}

const DAY_MS = 86_400_000;

/** Zones are found by typing part of their name. */
function ZoneField() {
  const problem = useSignal('');
  const zone = shownZone.value;
  const choose = (typed: string): void => {
    const wanted = typed.trim().toLowerCase();
    const found = zones().find((each) => zoneLabel(each).toLowerCase() === wanted);
    problem.value = found === undefined ? t.noZone : '';
    if (found !== undefined) shownZone.value = found;
  };
  return (
    <SuggestField
      label={t.zone}
      problem={problem.value}
      value={zoneLabel(zone)}
      options={zones().map((each) => ({ value: zoneLabel(each), label: '' }))}
      onChange={choose}
    />
  );
}

const zoneLabel = (zone: string): string => (zone === 'local' ? t.local : zone);

const REFRESHES: readonly string[] = ['', '5s', '10s', '30s', '1m', '5m'];

/** Milliseconds of a choice; `undefined` for never and for invalid durations. */
export function refreshMs(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/**
 * The refresh interval of a page; useful while the span ends now. An interval of a dashboard or an
 * address is added to the choices.
 */
export function RefreshPicker({
  value,
  range,
  isLabelHidden = true,
  onChange,
}: {
  readonly value: string;
  readonly range: TimeRange;
  readonly isLabelHidden?: boolean;
  readonly onChange: (value: string) => void;
}) {
  const shown = refreshMs(value) === undefined ? '' : value;
  const offered = REFRESHES.includes(shown) ? REFRESHES : [...REFRESHES, shown];
  return (
    <SelectField
      label={t.refresh}
      isLabelHidden={isLabelHidden}
      value={shown}
      disabled={!isRelative(range)}
      options={offered.map((each) => ({
        value: each,
        label: each === '' ? t.noRefresh : t.every(each),
      }))}
      onChange={onChange}
    />
  );
}
