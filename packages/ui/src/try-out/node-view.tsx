// The output of one node of a try-out: as chart, as table, and with explanations.
import type { Cell } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { Chart } from '../charts/chart.tsx';
import { Panel } from '../design/panel.tsx';
import { ResultTable } from '../design/result-table.tsx';
import { chartOf } from '../query/frames.ts';
import { formatTime, shownZone, zoneName } from '../time/zone.ts';
import { texts } from '../texts/texts.ts';
import { rowsOf, seriesOf } from './outcome.ts';
import type { Condition, LeftPoint, Why } from './outcome.ts';

const t = texts.tryOut;

const WHYS_MAX = 100;

export function NodeView({
  name,
  points,
  whys,
}: {
  readonly name: string;
  readonly points: readonly LeftPoint[];
  readonly whys: readonly Why[];
}) {
  const table = useMemo(() => rowsOf(points), [points]);
  const chart = useMemo(() => chartOf({ series: seriesOf(points) }), [points]);
  const zone = shownZone.value;
  const cell = (value: Cell, column: number): string => {
    if (value === null) return '';
    return column === 0 ? formatTime(String(value), zone) : String(value);
  };
  return (
    <>
      <Panel title={t.nodeLeaves(name)}>
        {points.length === 0 ? <p class="muted">{t.nodeNothing}</p> : null}
        {chart.series.length === 0 ? null : (
          <Chart
            label={t.nodeChart(name)}
            data={chart}
            height={200}
            zone={zoneName(zone)}
            style={points.length < 40 ? 'points' : 'line'}
          />
        )}
        {points.length === 0 ? null : (
          <ResultTable label={t.nodeRows(name)} {...table} format={cell} height={260} />
        )}
      </Panel>
      {whys.length === 0 ? null : <Whys name={name} whys={whys} />}
    </>
  );
}

function Whys({ name, whys }: { readonly name: string; readonly whys: readonly Why[] }) {
  const shown = whys.slice(-WHYS_MAX).toReversed();
  return (
    <Panel
      title={t.nodeWhy(name)}
      controls={
        shown.length < whys.length ? (
          <span class="muted small">{t.whyShown(shown.length, whys.length)}</span>
        ) : undefined
      }
    >
      <ol class="messages" tabIndex={0} aria-label={t.nodeWhy(name)}>
        {shown.map((why, i) => (
          <li key={whys.length - i}>
            <span class="muted">{formatTime(why.time, shownZone.value)}</span> <b>{why.outcome}</b>{' '}
            {why.group === '' ? null : <code>{why.group}</code>}
            <ul class="conditions">
              {why.conditions.map((condition, j) => (
                <li key={j} class={condition.isPart === true ? 'part' : ''}>
                  <ConditionText condition={condition} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function ConditionText({ condition }: { readonly condition: Condition }) {
  const { label, text, result, error, values } = condition;
  const seen = Object.entries(values).map(([name, value]) => `${name}=${String(value)}`);
  const hasResult = result !== undefined && result !== null;
  return (
    <>
      {label}: <code>{text}</code>
      {hasResult ? <b> {String(result)}</b> : null}
      {seen.length === 0 ? null : <span class="muted"> ({seen.join(', ')})</span>}
      {error === undefined ? null : <span class="bad"> {error}</span>}
    </>
  );
}
