// A kind of cell: its name, its options, the panels of other systems that it represents, and its
// drawing.
import type { ComponentType } from 'preact';

import type { ChartData } from '../charts/data.ts';
import type { Mark } from '../charts/plot.ts';
import type { Fields } from '../dashboards/fields.ts';
import type { Cell } from '../dashboards/model.ts';
import type { CellAnswer, CellContext } from '../dashboards/run.ts';
import type { GrafanaPanel, OptionRow } from './option.ts';

/** What a cell is shown with. */
export type CellView = {
  readonly context: CellContext;
  /** Counts how often somebody asked for all of it again. */
  readonly round: number;
  readonly refreshMs: number | undefined;
  readonly marks: readonly Mark[];
  /** Charts with the same share the cursor. */
  readonly syncKey: string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
};

export type DrawingProps = {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  /** Nothing for kinds that have no queries. */
  readonly answer: CellAnswer;
  /** The answer as lines, as options of the cell want them. */
  readonly data: ChartData;
};

export type Kind = {
  readonly id: string;
  readonly title: string;
  /** What of the answers to its queries it draws; without, it has no queries. */
  readonly draws?: 'numbers' | 'rows' | undefined;
  /** Whether it scrolls by itself; the cell does otherwise. */
  readonly isScrolling?: boolean | undefined;
  readonly options: readonly OptionRow<unknown>[];
  /** Whether a panel of Grafana, a cell of Chronograf is one of these. The first row wins. */
  readonly isGrafana?: ((panel: GrafanaPanel) => boolean) | undefined;
  readonly isChronograf?: ((cell: Fields) => boolean) | undefined;
  readonly load: () => Promise<{ readonly Drawing: ComponentType<DrawingProps> }>;
};
