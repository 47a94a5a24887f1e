// Selects a time span, the time zone of displayed times, and the refresh interval.
import { useSignal } from '@preact/signals';

import { Button } from '../design/button.tsx';
import { SelectField, TextField } from '../design/field.tsx';
import { Popover } from '../design/popover.tsx';
import { texts } from '../texts/texts.ts';
import { isRelative, parseInstant, spanOf, UNIT_MS } from './range.ts';
import type { TimeRange } from './range.ts';
import { formatInstant, shownZone, zones } from './zone.ts';

const t = texts.time;

const QUICK: readonly string[] = [
  '5m',
  '15m',
  '1h',
  '3h',
  '6h',
  '12h',
  '1d',
  '2d',
  '7d',
  '30d',
  '90d',
];

function labelOf(range: TimeRange): string {
  const quick = /^now-(\d+[smhdw])$/.exec(range.from)?.[1];
  if (quick !== undefined && range.to === 'now') return t.last(quick);
  const now = Date.now();
  const show = (text: string): string => {
    const ms = parseInstant(text, now);
    return ms === undefined || text.startsWith('now') ? text : formatInstant(ms, shownZone.value);
  };
  return `${show(range.from)} – ${show(range.to)}`;
}

export function RangePicker({
  range,
  onChange,
}: {
  readonly range: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}) {
  return (
    <Popover label={labelOf(range)} icon="clock">
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
  );
}

function Choices({
  range,
  onChange,
}: {
  readonly range: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}) {
  const from = useSignal(range.from);
  const to = useSignal(range.to);
  const now = Date.now();
  const problem = (text: string): string | undefined =>
    parseInstant(text, now) === undefined ? t.noInstant : undefined;
  const typed = { from: from.value, to: to.value };
  const isUsable = spanOf(typed, now) !== undefined;
  return (
    <div class="stack">
      <div class="row quick-ranges">
        {QUICK.map((quick) => (
          <Button key={quick} isSmall onClick={() => onChange({ from: `now-${quick}`, to: 'now' })}>
            {quick}
          </Button>
        ))}
      </div>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isUsable) onChange(typed);
        }}
      >
        <TextField
          label={t.from}
          value={from.value}
          problem={problem(from.value)}
          onInput={(value) => (from.value = value)}
        />
        <TextField
          label={t.to}
          value={to.value}
          hint={t.example}
          problem={problem(to.value) ?? (isUsable ? undefined : t.nothingBetween)}
          onInput={(value) => (to.value = value)}
        />
        <Button type="submit" kind="primary" disabled={!isUsable}>
          {t.apply}
        </Button>
      </form>
      <SelectField
        label={t.zone}
        value={shownZone.value}
        options={zones().map((zone) => ({ value: zone, label: zone === 'local' ? t.local : zone }))}
        onChange={(zone) => (shownZone.value = zone)}
      />
    </div>
  );
}

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
