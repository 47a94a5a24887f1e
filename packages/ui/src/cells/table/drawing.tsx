// Rows of all answers in one table.
import { useMemo } from 'preact/hooks';

import { ResultTable } from '../../design/result-table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { shownGrid } from '../shown.ts';
import { exactValue } from '../value-text.ts';

export function Drawing({ cell, answer, height }: DrawingProps) {
  const grid = useMemo(
    () => shownGrid(cell, answer.statements),
    [answer, JSON.stringify(cell.options)],
  );
  const zone = shownZone.value;
  return (
    <ResultTable
      label={texts.dashboards.chartOf(cell.title)}
      columns={grid.columns}
      rows={grid.rows}
      height={height}
      format={(value, column) => {
        if (value !== null && column === grid.timeAt) return formatTime(String(value), zone);
        return exactValue(cell, value, grid.looks[column]);
      }}
    />
  );
}
