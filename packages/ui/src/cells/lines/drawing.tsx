// Lines, areas, bars and points over time.
import { useMemo } from 'preact/hooks';

import { Chart } from '../../charts/chart.tsx';
import { statsOf } from '../../charts/data.ts';
import type { ChartData, ChartSeries } from '../../charts/data.ts';
import type { ChartStyle, PlotLook } from '../../charts/plot.ts';
import { partOf } from '../../dashboards/frames.ts';
import type { Cell } from '../../dashboards/model.ts';
import { shownZone, zoneName } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { linkOf, namedByView } from '../link.ts';
import { valueOf } from '../option.ts';
import { HAS_LEGEND, LEGEND_CALCS, LEGEND_FORM, LEGEND_SIDE } from '../options/legend.ts';
import { LINK } from '../options/common.ts';
import { ARE_SHARES, IS_BY_VALUE, THRESHOLD_STYLE, THRESHOLDS } from '../options/levels.ts';
import {
  AXIS_LABEL,
  COURSE,
  FILL,
  IS_AXIS_HIDDEN,
  IS_SHARE,
  IS_STACKED,
  LINE_WIDTH,
  POINT_SIZE,
  POINTS,
  SCALE,
  SOFT_MAX,
  SOFT_MIN,
  Y_MAX,
  Y_MIN,
} from '../options/lines.ts';
import { DECIMALS, UNIT } from '../options/values.ts';

const STYLES: Readonly<Record<string, ChartStyle>> = {
  line: 'line',
  area: 'area',
  bar: 'bars',
  scatter: 'points',
};

const LEGEND_PIXELS = 24;
const LEGEND_HEIGHT_MIN = 110;
/** The table of figures takes at most this share of the height, and no more than its rows need. */
const TABLE_SHARE = 0.4;
const TABLE_ROW_PIXELS = 25;

function lookOf(cell: Cell): PlotLook {
  return {
    yMin: valueOf(cell, Y_MIN),
    yMax: valueOf(cell, Y_MAX),
    softMin: valueOf(cell, SOFT_MIN),
    softMax: valueOf(cell, SOFT_MAX),
    scale: valueOf(cell, SCALE),
    axisLabel: valueOf(cell, AXIS_LABEL),
    isAxisHidden: valueOf(cell, IS_AXIS_HIDDEN),
    lineWidth: valueOf(cell, LINE_WIDTH),
    fill: valueOf(cell, FILL),
    points: valueOf(cell, POINTS),
    pointSize: valueOf(cell, POINT_SIZE),
    course: valueOf(cell, COURSE),
    isShare: valueOf(cell, IS_SHARE),
    thresholdStyle: valueOf(cell, THRESHOLD_STYLE),
    isByValue: valueOf(cell, IS_BY_VALUE),
  };
}

/** Thresholds; those given as shares are converted to values. */
function thresholdsOf(cell: Cell, data: ChartData) {
  const given = valueOf(cell, THRESHOLDS).map(({ value, level }) => ({ value, colour: level }));
  if (!valueOf(cell, ARE_SHARES)) return given;
  const stats = data.series.map((one) => statsOf(one, -Infinity, Infinity));
  const low = valueOf(cell, Y_MIN) ?? Math.min(...stats.map(({ min }) => min));
  const high = valueOf(cell, Y_MAX) ?? Math.max(...stats.map(({ max }) => max));
  return given.map((each) => ({ ...each, value: low + (each.value / 100) * (high - low) }));
}

export function Drawing({ cell, view, height, answer, data, onPicture }: DrawingProps) {
  const optionsKey = JSON.stringify(cell.options);
  const look = useMemo(() => lookOf(cell), [optionsKey]);
  const thresholds = useMemo(() => thresholdsOf(cell, data), [optionsKey, data]);
  const calcs = useMemo(() => valueOf(cell, LEGEND_CALCS), [optionsKey]);
  const { fromMs, toMs } = answer.span;
  const span = useMemo(() => [fromMs, toMs] as const, [fromMs, toMs]);
  const hasLegend = valueOf(cell, HAS_LEGEND);
  const isTable = valueOf(cell, LEGEND_FORM) === 'table';
  const side = valueOf(cell, LEGEND_SIDE);
  const tableHeight = Math.min(
    Math.floor(height * TABLE_SHARE),
    (data.series.length + 1) * TABLE_ROW_PIXELS,
  );
  const link = valueOf(cell, LINK);
  const legendLink = ({ source }: ChartSeries): string | undefined =>
    linkOf(link, (name) => partOf(source, name) ?? namedByView(view)(name));
  // A small cell is for its lines alone.
  const isShown = hasLegend && height >= LEGEND_HEIGHT_MIN;
  const below = !isShown || side === 'right' ? 0 : isTable ? tableHeight : LEGEND_PIXELS;
  const chart = (
    <Chart
      label={texts.dashboards.chartOf(cell.title)}
      data={data}
      height={Math.max(60, height - below)}
      style={STYLES[cell.kind]}
      isStacked={valueOf(cell, IS_STACKED)}
      unit={valueOf(cell, UNIT)}
      decimals={valueOf(cell, DECIMALS)}
      look={look}
      span={span}
      zone={zoneName(shownZone.value)}
      thresholds={thresholds}
      marks={view.marks}
      syncKey={view.syncKey}
      isLegendHidden={!isShown}
      legendForm={isTable ? 'table' : 'list'}
      legendCalcs={calcs.length === 0 ? undefined : calcs}
      legendLink={link === '' ? undefined : legendLink}
      legendSide={isShown ? side : undefined}
      onZoom={view.onZoom}
      onReady={({ picture }) => onPicture?.(picture)}
    />
  );
  return (
    <div class="cell-lines" style={{ '--legend-height': `${tableHeight}px` }}>
      {chart}
    </div>
  );
}
