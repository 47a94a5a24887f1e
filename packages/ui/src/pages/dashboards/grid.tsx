// Cells on their grid. In edit mode they are moved and resized by dragging, or with arrow keys on
// the same handles; a narrow screen stacks them in reading order.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { CellContent, CellView } from '../../cells/kind.ts';
import { valueOf } from '../../cells/option.ts';
import { DESCRIPTION } from '../../cells/options/common.ts';
import { kindOf } from '../../cells/registry.ts';
import { IS_FOLDED } from '../../cells/row/kind.ts';
import { expanded } from '../../dashboards/expand.ts';
import { moved, readingOrder } from '../../dashboards/layout.ts';
import { COLUMNS, ROW_PIXELS } from '../../dashboards/model.ts';
import type { Cell, CellPlace } from '../../dashboards/model.ts';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/popover.tsx';
import { texts } from '../../texts/texts.ts';
import { CellBody } from './cell-body.tsx';
import { CellMenu } from './cell-menu.tsx';

const t = texts.dashboards;

const GAP_PIXELS = 8;
/** Heading, frame and padding of a cell. */
const CELL_FRAME_PIXELS = 48;

/** Actions on cells; absent in view mode. */
export type CellActions = {
  readonly place: (cells: readonly Cell[]) => void;
  readonly edit: (cell: Cell) => void;
  readonly duplicate: (cell: Cell) => void;
  /** Copies it to another dashboard. */
  readonly copy: (cell: Cell) => void;
  readonly remove: (cell: Cell) => void;
};

export function Grid({
  cells,
  view,
  offered,
  actions,
}: {
  readonly cells: readonly Cell[];
  readonly view: CellView;
  /** Values of variables, for repeated cells. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
  readonly actions: CellActions | undefined;
}) {
  const grid = useRef<HTMLDivElement>(null);
  const folds = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const isFolded = (row: Cell): boolean => folds.value.get(row.id) ?? valueOf(row, IS_FOLDED);
  // The layout during a drag; it is kept on release.
  const dragged = useSignal<readonly Cell[] | undefined>(undefined);
  const shown = dragged.value ?? cells;

  const drag = (cell: Cell, down: PointerEvent, isSize: boolean): void => {
    const { clientWidth = 1 } = grid.current ?? {};
    const column = (clientWidth + GAP_PIXELS) / COLUMNS;
    const move = (event: PointerEvent): void => {
      const dx = Math.round((event.clientX - down.clientX) / column);
      const dy = Math.round((event.clientY - down.clientY) / (ROW_PIXELS + GAP_PIXELS));
      const to = isSize ? { w: cell.w + dx, h: cell.h + dy } : { x: cell.x + dx, y: cell.y + dy };
      dragged.value = moved(cells, cell.id, to);
    };
    const end = (): void => {
      document.removeEventListener('pointermove', move);
      document.removeEventListener('pointerup', end);
      document.removeEventListener('pointercancel', end);
      if (dragged.value !== undefined) actions?.place(dragged.value);
      dragged.value = undefined;
    };
    document.addEventListener('pointermove', move);
    document.addEventListener('pointerup', end);
    document.addEventListener('pointercancel', end);
    down.preventDefault();
  };

  if (actions === undefined) {
    const { chosen } = view.context;
    return (
      <div ref={grid} class="dash-grid">
        {expanded(cells, { chosen, offered }, isFolded).map(({ cell, chosen: own }) =>
          cell.kind === 'row' ? (
            <RowFrame
              key={cell.id}
              row={cell}
              isFolded={isFolded(cell)}
              onFold={(is) => (folds.value = new Map([...folds.value, [cell.id, is]]))}
            />
          ) : (
            <CellFrame
              key={cell.id}
              cell={cell}
              view={own === chosen ? view : { ...view, context: { ...view.context, chosen: own } }}
              actions={undefined}
            />
          ),
        )}
      </div>
    );
  }
  return (
    <div ref={grid} class="dash-grid editing">
      {readingOrder(shown).map((cell) => (
        <CellFrame
          key={cell.id}
          cell={cell}
          view={view}
          actions={actions}
          onPlace={(to) => actions.place(moved(cells, cell.id, to))}
          onDrag={(event, isSize) => drag(cell, event, isSize)}
        />
      ))}
    </div>
  );
}

const placeOf = ({ x, y, w, h }: CellPlace) => ({
  '--column': `${x + 1} / span ${w}`,
  '--row': `${y + 1} / span ${h}`,
  '--height': `span ${h}`,
});

/** The heading of the cells below it, which it folds and unfolds. */
function RowFrame({
  row,
  isFolded,
  onFold,
}: {
  readonly row: Cell;
  readonly isFolded: boolean;
  readonly onFold: (isFolded: boolean) => void;
}) {
  const title = row.title === '' ? kindOf('row').title : row.title;
  return (
    <div class="dash-row" style={placeOf(row)}>
      <h2>
        <button
          type="button"
          class="dash-fold"
          aria-expanded={isFolded ? 'false' : 'true'}
          onClick={() => onFold(!isFolded)}
        >
          <span aria-hidden="true">{isFolded ? '▸' : '▾'}</span>
          {title}
        </button>
      </h2>
    </div>
  );
}

function CellFrame({
  cell,
  view,
  actions,
  onPlace,
  onDrag,
}: {
  readonly cell: Cell;
  readonly view: CellView;
  readonly actions: CellActions | undefined;
  readonly onPlace?: ((to: Partial<CellPlace>) => void) | undefined;
  readonly onDrag?: ((event: PointerEvent, isSize: boolean) => void) | undefined;
}) {
  const { x, y, w, h } = cell;
  const kind = kindOf(cell.kind);
  const title = cell.title === '' ? kind.title : cell.title;
  const description = valueOf(cell, DESCRIPTION);
  const [frame, isOnScreen] = useOnScreen();
  const content = useRef<CellContent>({});
  return (
    <section
      ref={frame}
      class={`panel dash-cell of-${cell.kind}`}
      aria-label={`${title} (${x + 1}, ${y + 1})`}
      style={placeOf(cell)}
    >
      <header>
        {actions === undefined ? null : (
          <Handle
            label={t.move(title)}
            icon="grip"
            onDrag={(event) => onDrag?.(event, false)}
            onStep={(dx, dy) => onPlace?.({ x: x + dx, y: y + dy })}
          />
        )}
        <h2 title={description === '' ? undefined : description}>{title}</h2>
        {actions === undefined && kind.draws !== undefined ? (
          <CellMenu cell={cell} title={title} view={view} content={content.current} />
        ) : null}
        {actions === undefined ? null : (
          <Menu
            label={t.cellMenu(title)}
            icon="more"
            isIconOnly
            isSmall
            items={[
              { label: t.edit, icon: 'edit', run: () => actions.edit(cell) },
              { label: t.duplicate, icon: 'copy', run: () => actions.duplicate(cell) },
              { label: t.copyCell, icon: 'dashboards', run: () => actions.copy(cell) },
              { label: t.remove, icon: 'trash', isDanger: true, run: () => actions.remove(cell) },
            ]}
          />
        )}
      </header>
      {/* What scrolls can be scrolled by keys. */}
      <div class="dash-body" tabIndex={kind.isScrolling === true ? undefined : 0}>
        <CellBody
          cell={cell}
          view={isOnScreen ? view : { ...view, isPaused: true }}
          content={content.current}
          height={h * (ROW_PIXELS + GAP_PIXELS) - GAP_PIXELS - CELL_FRAME_PIXELS}
        />
      </div>
      {actions === undefined ? null : (
        <Handle
          label={t.resize(title)}
          icon="resize"
          onDrag={(event) => onDrag?.(event, true)}
          onStep={(dx, dy) => onPlace?.({ w: w + dx, h: h + dy })}
        />
      )}
    </section>
  );
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function Handle({
  label,
  icon,
  onDrag,
  onStep,
}: {
  readonly label: string;
  readonly icon: 'grip' | 'resize';
  readonly onDrag: (event: PointerEvent) => void;
  readonly onStep: (dx: number, dy: number) => void;
}): ComponentChildren {
  return (
    <button
      type="button"
      class={`dash-handle ${icon}`}
      aria-label={label}
      title={label}
      onPointerDown={(event) => {
        if (event.button === 0) onDrag(event);
      }}
      onKeyDown={(event) => {
        const step = STEPS[event.key];
        if (step === undefined) return;
        event.preventDefault();
        onStep(...step);
      }}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Whether an element is on the screen, or almost: cells elsewhere are not queried. */
function useOnScreen() {
  const element = useRef<HTMLElement>(null);
  const [isOnScreen, setIsOnScreen] = useState(false);
  useEffect(() => {
    const shown = element.current;
    if (shown === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => setIsOnScreen(entries.at(-1)?.isIntersecting === true),
      { rootMargin: '200px' },
    );
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return [element, isOnScreen] as const;
}
