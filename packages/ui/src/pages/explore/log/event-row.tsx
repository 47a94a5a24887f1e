// One event of the list: its time, its level, the chosen columns and its text.
import { useMemo } from 'preact/hooks';

import { texts } from '../../../texts/texts.ts';
import { eventTime, textOf } from './events.ts';
import type { LogEvent } from './events.ts';
import { colourStyle } from './levels.ts';
import type { LevelLook } from './levels.ts';
import { Marked } from './marked.tsx';
import type { Finder } from './search.ts';
import type { LogSource } from './source.ts';
import type { LogFilter } from './statements.ts';

const t = texts.log;

/** The beginning of a text that a row shows; all of it is shown below it. */
const LINE_LENGTH_MAX = 1000;
const WRAPPED_LENGTH_MAX = 8000;

/** How rows look: compared by identity. */
export type RowLook = {
  readonly source: LogSource;
  readonly columns: readonly string[];
  readonly looks: ReadonlyMap<string, LevelLook>;
  readonly finder: Finder;
  readonly isWrapped: boolean;
  readonly zone: string;
  readonly onFilter: (filter: LogFilter) => void;
};

export function EventRow({
  event,
  id,
  rowIndex,
  look,
  isOpen,
  isActive,
  onToggle,
}: {
  readonly event: LogEvent;
  readonly id: string;
  readonly rowIndex: number;
  readonly look: RowLook;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  /** The same function for all rows. */
  readonly onToggle: (event: LogEvent) => void;
}) {
  // A row that did not change is not drawn again while one scrolls.
  return useMemo(
    () => <Row {...{ event, id, rowIndex, look, isOpen, isActive, onToggle }} />,
    [event, id, rowIndex, look, isOpen, isActive, onToggle],
  );
}

function Row({
  event,
  id,
  rowIndex,
  look,
  isOpen,
  isActive,
  onToggle,
}: Parameters<typeof EventRow>[0]) {
  const { source, columns, looks, finder, isWrapped, zone } = look;
  const level = source.level === undefined ? '' : textOf(event, source.level);
  const { colour = 'level-none', isSevere = false } = looks.get(level) ?? {};
  const text = textOf(event, source.text);
  return (
    <div
      id={id}
      class={`log-row ${isActive ? 'active' : ''} ${isSevere ? 'severe' : ''}`}
      role="row"
      aria-rowindex={rowIndex}
      aria-expanded={isOpen ? 'true' : 'false'}
      style={colourStyle(colour)}
      onClick={() => {
        // A text that is being selected is not a click.
        if (window.getSelection()?.isCollapsed !== false) onToggle(event);
      }}
    >
      <span role="gridcell" class="log-time">
        {eventTime(event, zone)}
      </span>
      {source.level === undefined ? null : (
        <Value look={look} name={source.level} value={level} kind="log-level" />
      )}
      {columns.map((name) => (
        <Value key={name} look={look} name={name} value={textOf(event, name)} kind="log-value" />
      ))}
      <span role="gridcell" class="log-text">
        <Marked
          text={text.slice(0, isWrapped ? WRAPPED_LENGTH_MAX : LINE_LENGTH_MAX)}
          finder={finder}
        />
      </span>
    </div>
  );
}

/** A value, on which a click shows only events that have it. */
function Value({
  look,
  name,
  value,
  kind,
}: {
  readonly look: RowLook;
  readonly name: string;
  readonly value: string;
  readonly kind: string;
}) {
  return (
    <span role="gridcell" class={kind}>
      {value === '' ? null : (
        <button
          type="button"
          tabIndex={-1}
          title={t.only(name, value)}
          onClick={(event) => {
            event.stopPropagation();
            look.onFilter({ name, isNot: false, value });
          }}
        >
          {value}
        </button>
      )}
    </span>
  );
}
