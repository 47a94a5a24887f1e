// What cells draw by themselves: single values, gauges, bars of groups, histograms, heat maps,
// states. All of it scales with its cell; numbers stand in text as well as in the picture.
import { seriesColour } from '../../charts/colours.ts';
import type { ChartData } from '../../charts/data.ts';
import { formatValue } from '../../charts/format.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { heatOf, histogramOf, numbersOf } from '../../dashboards/frames.ts';
import type { Bar, Lane } from '../../dashboards/frames.ts';
import { levelOf } from '../../dashboards/model.ts';
import type { Cell } from '../../dashboards/model.ts';
import type { Span } from '../../time/range.ts';
import { formatInstant, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

type Look = Pick<Cell, 'unit' | 'thresholds' | 'title'>;

/** The last value of each line, and how it came to that. */
export function SingleValues({ data, cell }: { readonly data: ChartData; readonly cell: Look }) {
  return (
    <div class="single-values">
      {data.series.slice(0, 12).map((line) => {
        const numbers = numbersOf(line);
        const last = numbers.at(-1) ?? NaN;
        return (
          <div key={line.label} class={`single-value ${levelOf(last, cell.thresholds) ?? ''}`}>
            <strong>{formatValue(last, cell.unit)}</strong>
            {data.series.length > 1 ? <span class="muted small">{line.label}</span> : null}
            {numbers.length > 1 ? <Trend numbers={numbers} label={line.label} /> : null}
          </div>
        );
      })}
    </div>
  );
}

const TREND_MAX = 140;

function Trend({
  numbers,
  label,
}: {
  readonly numbers: readonly number[];
  readonly label: string;
}) {
  // The picture is narrow: every so-and-so-many-th value, and always the last.
  const step = Math.ceil(numbers.length / TREND_MAX);
  const shown = numbers.filter((_, i) => (numbers.length - 1 - i) % step === 0);
  const low = shown.reduce((a, b) => Math.min(a, b), Infinity);
  return <Sparkline label={label} values={shown.map((value) => value - Math.min(low, 0))} />;
}

/** An arc from `min` to `max`, with thresholds along it. */
export function Gauges({
  data,
  cell,
}: {
  readonly data: ChartData;
  readonly cell: Look & Pick<Cell, 'min' | 'max'>;
}) {
  return (
    <div class="gauges">
      {data.series.slice(0, 6).map((line) => (
        <Gauge
          key={line.label}
          value={numbersOf(line).at(-1) ?? NaN}
          label={line.label}
          cell={cell}
        />
      ))}
    </div>
  );
}

function Gauge({
  value,
  label,
  cell,
}: {
  readonly value: number;
  readonly label: string;
  readonly cell: Look & Pick<Cell, 'min' | 'max'>;
}) {
  const { min, max, thresholds, unit } = cell;
  const share = (at: number): number => Math.min(1, Math.max(0, (at - min) / (max - min || 1)));
  const level = levelOf(value, thresholds);
  const steps = thresholds
    .toSorted((a, b) => a.value - b.value)
    .map((each, i, all) => ({
      level: each.level,
      from: share(each.value),
      to: i + 1 < all.length ? share(all[i + 1]?.value ?? max) : 1,
    }));
  const text = formatValue(value, unit);
  return (
    <figure class="gauge">
      <svg viewBox="0 0 120 70" role="img" aria-label={`${label}: ${text}`}>
        <path class="gauge-track" d={arc(0, 1, 48)} />
        {steps.map((step, i) => (
          <path key={i} class={`gauge-step ${step.level}`} d={arc(step.from, step.to, 56)} />
        ))}
        {Number.isNaN(value) ? null : (
          <path class={`gauge-value ${level ?? ''}`} d={arc(0, share(value), 48)} />
        )}
        <text x="60" y="56" text-anchor="middle">
          {text}
        </text>
      </svg>
      <figcaption class="muted small">{label}</figcaption>
    </figure>
  );
}

/** A part of a half circle, from left (0) to right (1). */
function arc(from: number, to: number, radius: number): string {
  const point = (share: number): string => {
    const angle = Math.PI * (1 - share);
    return `${(60 + radius * Math.cos(angle)).toFixed(2)} ${(62 - radius * Math.sin(angle)).toFixed(2)}`;
  };
  return `M${point(from)} A${radius} ${radius} 0 0 1 ${point(to)}`;
}

/** One bar for each group. */
export function Bars({ bars, cell }: { readonly bars: readonly Bar[]; readonly cell: Look }) {
  const largest = bars.reduce((most, { value }) => Math.max(most, Math.abs(value) || 0), 0) || 1;
  // A share is one of the whole.
  const whole = cell.unit === 'percent' ? 100 : cell.unit === 'ratio' ? 1 : 0;
  const max = Math.max(largest, whole);
  return (
    <table class="table bars">
      <caption class="hidden-visually">{cell.title}</caption>
      <tbody>
        {bars.map(({ label, value }, i) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td class="bar">
              <span
                class={levelOf(value, cell.thresholds) ?? ''}
                style={{
                  width: `${(Math.abs(value) / max) * 100}%`,
                  '--own': `var(--${seriesColour(i)})`,
                }}
              />
            </td>
            <td class="number">{formatValue(value, cell.unit)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How often which values occur. */
export function Histogram({ data, cell }: { readonly data: ChartData; readonly cell: Look }) {
  const buckets = histogramOf(data, 24);
  const most = buckets.reduce((max, { count }) => Math.max(max, count), 1);
  const [first, last] = [buckets[0], buckets.at(-1)];
  return (
    <figure class="histogram">
      <div role="img" aria-label={cell.title}>
        {buckets.map(({ from, to, count }) => (
          <span
            key={from}
            style={{ height: `${(count / most) * 100}%` }}
            title={`${formatValue(from, cell.unit)} – ${formatValue(to, cell.unit)}: ${count}`}
          />
        ))}
      </div>
      <figcaption class="muted small">
        <span>{formatValue(first?.from ?? NaN, cell.unit)}</span>
        <span>{t.heat(most)}</span>
        <span>{formatValue(last?.to ?? NaN, cell.unit)}</span>
      </figcaption>
    </figure>
  );
}

const HEAT_SIZE = { columns: 60, rows: 14 };

/** How often which values occur when. */
export function HeatMap({
  data,
  span,
  cell,
}: {
  readonly data: ChartData;
  readonly span: Span;
  readonly cell: Look;
}) {
  const heat = heatOf(data, span, HEAT_SIZE);
  if (heat === undefined) return null;
  const { columns, rows } = HEAT_SIZE;
  return (
    <figure class="heat-map">
      <div class="heat-scale muted small">
        <span>{formatValue(heat.high, cell.unit)}</span>
        <span>{formatValue(heat.low, cell.unit)}</span>
      </div>
      <svg
        viewBox={`0 0 ${columns} ${rows}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${cell.title}: ${t.heat(heat.max)}`}
      >
        {heat.counts.flatMap((column, x) =>
          column.map((count, y) =>
            count === 0 ? null : (
              <rect
                key={`${x} ${y}`}
                x={x}
                y={rows - 1 - y}
                width="1.02"
                height="1.02"
                fill-opacity={(0.15 + 0.85 * (count / heat.max)).toFixed(3)}
              />
            ),
          ),
        )}
      </svg>
      <Times span={span} />
    </figure>
  );
}

function Times({ span }: { readonly span: Span }) {
  const zone = shownZone.value;
  return (
    <figcaption class="muted small">
      <span>{formatInstant(span.fromMs, zone)}</span>
      <span>{formatInstant(span.toMs, zone)}</span>
    </figcaption>
  );
}

const LEVEL_OF_STATE: Readonly<Record<string, string>> = {
  ok: 'good',
  info: 'info',
  warning: 'warn',
  critical: 'bad',
};

/** Which state lasted how long. */
export function States({
  lanes,
  span,
  cell,
}: {
  readonly lanes: readonly Lane[];
  readonly span: Span;
  readonly cell: Look;
}) {
  const zone = shownZone.value;
  const known = [...new Set(lanes.flatMap(({ stretches }) => stretches.map(({ text }) => text)))];
  const classOf = (text: string): string =>
    (text !== '' && !Number.isNaN(Number(text))
      ? levelOf(Number(text), cell.thresholds)
      : undefined) ??
    LEVEL_OF_STATE[text.toLowerCase()] ??
    '';
  const share = (ms: number): number => ((ms - span.fromMs) / (span.toMs - span.fromMs)) * 100;
  return (
    <div class="states">
      {lanes.map(({ label, stretches }) => (
        <div key={label} class="lane">
          <span class="small">{label}</span>
          <ol aria-label={label}>
            {stretches.map(({ fromMs, toMs, text }) => {
              const left = Math.max(0, share(fromMs));
              return (
                <li
                  key={fromMs}
                  class={classOf(text)}
                  title={`${text}: ${formatInstant(fromMs, zone)} – ${formatInstant(toMs, zone)}`}
                  style={{
                    left: `${left}%`,
                    width: `${Math.max(0.2, share(toMs) - left)}%`,
                    '--own': `var(--${seriesColour(known.indexOf(text))})`,
                  }}
                >
                  {text}
                </li>
              );
            })}
          </ol>
        </div>
      ))}
      <Times span={span} />
    </div>
  );
}
