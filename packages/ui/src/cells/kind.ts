// A kind of cell: its name, its options, the panels of other systems that it represents, and its
// drawing.
import type { ComponentType } from 'preact';

import type { ChartData } from '../charts/data.ts';
import type { Mark } from '../charts/plot.ts';
import type { Fields } from '../dashboards/fields.ts';
import type { Cell } from '../dashboards/model.ts';
import type { CellAnswer, CellContext } from '../dashboards/run.ts';
import type { GrafanaPanel, OptionRow } from './option.ts';

/** The context in which a cell is shown. */
export type CellView = {
  readonly context: CellContext;
  /** Counts the user's requests to reload everything. */
  readonly round: number;
  readonly refreshMs: number | undefined;
  /** Off screen: nothing is loaded. */
  readonly isPaused?: boolean | undefined;
  readonly marks: readonly Mark[];
  /** Charts with the same share the cursor. */
  readonly syncKey: string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
};

/** What a cell can be saved as. */
export type CellContent = {
  answer?: CellAnswer | undefined;
  picture?: (() => Promise<Blob | undefined>) | undefined;
};

export type DrawingProps = {
  readonly cell: Cell;
  readonly view: CellView;
  readonly height: number;
  /** Empty for kinds without queries. */
  readonly answer: CellAnswer;
  /** The answer as lines, with the cell's options applied. */
  readonly data: ChartData;
  /** Called with the picture of a chart. */
  readonly onPicture?: ((picture: () => Promise<Blob | undefined>) => void) | undefined;
};

export type Kind = {
  readonly id: string;
  readonly title: string;
  /** What it draws of its queries' answers; kinds without it have no queries. */
  readonly draws?: 'numbers' | 'rows' | undefined;
  /** Whether it scrolls by itself; otherwise the cell does. */
  readonly isScrolling?: boolean | undefined;
  readonly options: readonly OptionRow<unknown>[];
  /** Whether a Grafana panel or a Chronograf cell is of this kind. The first matching row wins. */
  readonly isGrafana?: ((panel: GrafanaPanel) => boolean) | undefined;
  readonly isChronograf?: ((cell: Fields) => boolean) | undefined;
  readonly load: () => Promise<{ readonly Drawing: ComponentType<DrawingProps> }>;
};
