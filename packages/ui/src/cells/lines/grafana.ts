// Which chart over time a Grafana panel is. Both of its panels can draw all of them.
import { fieldAt } from '../../dashboards/fields.ts';
import type { GrafanaPanel } from '../option.ts';

export type ChartForm = 'line' | 'area' | 'bar' | 'scatter' | 'histogram';

export function chartFormOf({ panel, type, custom }: GrafanaPanel): ChartForm | undefined {
  if (type === 'timeseries') {
    const { drawStyle, fillOpacity } = custom;
    if (drawStyle === 'bars') return 'bar';
    if (drawStyle === 'points') return 'scatter';
    return Number(fillOpacity ?? 0) > 0 ? 'area' : 'line';
  }
  if (type !== 'graph') return undefined;
  if (fieldAt(panel, 'xaxis', 'mode') === 'histogram') return 'histogram';
  if (panel['bars'] === true) return 'bar';
  if (panel['points'] === true && panel['lines'] === false) return 'scatter';
  return Number(panel['fill'] ?? 0) > 1 || panel['stack'] === true ? 'area' : 'line';
}
