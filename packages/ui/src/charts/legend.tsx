// Names and aggregates of a chart's series. A click or Enter hides one, with Ctrl all others.
import { useMemo } from 'preact/hooks';

import { Icon } from '../design/icon.tsx';
import { texts } from '../texts/texts.ts';
import { calculated } from './calc.ts';
import type { Calc } from './calc.ts';
import { colourOf } from './colours.ts';
import { lowerBound, pointAt, statsOf } from './data.ts';
import type { ChartData, ChartSeries } from './data.ts';
import { formatValue } from './format.ts';

const t = texts.charts;

/** More series are searched by name. */
const SEARCHED_MIN = 10;

const ALL: readonly Calc[] = ['min', 'max', 'mean', 'last'];

export function Legend({
  data,
  span,
  cursorTime,
  hidden,
  unit,
  decimals,
  calcs = ALL,
  form = 'table',
  linkOf,
  search,
  onSearch,
  onToggle,
}: {
  readonly data: ChartData;
  readonly span: readonly [number, number] | undefined;
  readonly cursorTime: number | undefined;
  readonly hidden: ReadonlySet<string>;
  readonly unit: string;
  readonly decimals?: number | undefined;
  readonly calcs?: readonly Calc[] | undefined;
  /** The address that a series leads to. */
  readonly linkOf?: ((one: ChartSeries) => string | undefined) | undefined;
  readonly form?: 'list' | 'table' | undefined;
  /** Only series whose names contain it are listed. */
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly onToggle: (index: number, isAlone: boolean) => void;
}) {
  const [from, to] = span ?? [-Infinity, Infinity];
  const figures = useMemo(
    () => data.series.map((one) => figuresOf(one, { from, to, calcs })),
    [data, from, to, calcs],
  );
  const listed = [...data.series.entries()].filter(([, { label }]) => isFound(label, search));
  const name = (one: ChartSeries, index: number) => {
    const isHidden = hidden.has(one.label);
    const href = linkOf?.(one);
    const button = (
      <button
        type="button"
        class="legend-name"
        aria-pressed={isHidden ? 'false' : 'true'}
        onClick={(event) => onToggle(index, event.ctrlKey || event.metaKey)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          // Browsers make no click of it.
          event.preventDefault();
          onToggle(index, true);
        }}
      >
        <span
          class="legend-colour"
          style={{ background: isHidden ? '' : `var(--${colourOf(one, index)})` }}
        />
        {one.label}
      </button>
    );
    if (href === undefined) return button;
    return (
      <>
        {button}
        <a class="legend-link" href={href} aria-label={t.linkOf(one.label)}>
          <Icon name="link" />
        </a>
      </>
    );
  };
  const searchField =
    data.series.length > SEARCHED_MIN ? (
      <input
        type="search"
        class="input legend-search"
        aria-label={t.search}
        placeholder={t.search}
        value={search}
        onInput={(event) => onSearch(event.currentTarget.value)}
      />
    ) : null;
  if (form === 'list') {
    return (
      <div class="legend-list">
        {searchField}
        <ul class="cell-legend small" aria-label={t.legend} tabIndex={0}>
          {listed.map(([index, one]) => (
            <li key={one.label}>{name(one, index)}</li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <div class="legend" role="group" aria-label={t.legend} tabIndex={0}>
      {searchField}
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t.series}</th>
            {[...calcs.map((calc) => texts.cells.calcs[calc]), t.atCursor].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listed.map(([index, one]) => {
            const own = one.look?.unit ?? unit;
            const digits = one.look?.decimals ?? decimals;
            return (
              <tr key={one.label}>
                <td>{name(one, index)}</td>
                {(figures[index] ?? []).map((value, i) => (
                  <td key={i} class="number">
                    {formatValue(value, own, digits)}
                  </td>
                ))}
                <td class="number">
                  {cursorTime === undefined
                    ? ''
                    : formatValue(pointAt(one, cursorTime).value, own, digits)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Whether a name contains what is searched for, in any case of letters. */
export const isFound = (label: string, search: string): boolean =>
  label.toLowerCase().includes(search.trim().toLowerCase());

/** Aggregates that need no list of the numbers: there may be millions. */
const isQuick = (calc: Calc): calc is 'min' | 'max' | 'mean' | 'last' | 'count' =>
  ['min', 'max', 'mean', 'last', 'count'].includes(calc);

function figuresOf(
  one: ChartSeries,
  {
    from,
    to,
    calcs,
  }: { readonly from: number; readonly to: number; readonly calcs: readonly Calc[] },
): readonly number[] {
  const stats = statsOf(one, from, to);
  if (calcs.every(isQuick)) return calcs.map((calc) => stats[calc]);
  const numbers = numbersWithin(one, from, to);
  return calcs.map((calc) => calculated(calc, numbers));
}

/** Values of a span, without gaps. */
function numbersWithin(
  { times, values }: ChartSeries,
  from: number,
  to: number,
): readonly number[] {
  const numbers: number[] = [];
  for (let i = lowerBound(times, from); i < times.length && (times[i] ?? NaN) <= to; i++) {
    const value = values[i] ?? NaN;
    if (!Number.isNaN(value)) numbers.push(value);
  }
  return numbers;
}
