// Rows of all answers in one table.
import { useMemo } from 'preact/hooks';

import { ResultTable } from '../../design/result-table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { linkOf, namedByView } from '../link.ts';
import { valueOf } from '../option.ts';
import { LINK } from '../options/common.ts';
import { shownGrid } from '../shown.ts';
import { exactValue } from '../value-text.ts';

export function Drawing({ cell, view, answer, height }: DrawingProps) {
  const grid = useMemo(
    () => shownGrid(cell, answer.statements),
    [answer, JSON.stringify(cell.options)],
  );
  const zone = shownZone.value;
  const link = valueOf(cell, LINK);
  /** `$col` and `$value` are those of the table's cell, `$tag_host` and `$host` of its row. */
  const hrefOf = (row: number, column: number): string | undefined =>
    linkOf(link, (name) => {
      if (name === 'col') return grid.columns[column];
      const at = name === 'value' ? column : grid.columns.indexOf(name.replace(/^tag_/, ''));
      const value = grid.rows[row]?.[at];
      return at < 0 ? namedByView(view)(name) : value === undefined ? undefined : String(value);
    });
  return (
    <ResultTable
      label={texts.dashboards.chartOf(cell.title)}
      columns={grid.columns}
      rows={grid.rows}
      height={height}
      hrefOf={link === '' ? undefined : hrefOf}
      format={(value, column) => {
        if (value !== null && column === grid.timeAt) return formatTime(String(value), zone);
        return exactValue(cell, value, grid.looks[column]);
      }}
    />
  );
}
