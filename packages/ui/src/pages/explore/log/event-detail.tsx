// All of one event: its text, its tags and its fields, and what can be done with each.
import { printLossless } from '@tidemark/client';

import { Button, IconButton } from '../../../design/button.tsx';
import { CopyButton, copyText } from '../../../design/copy-button.tsx';
import { texts } from '../../../texts/texts.ts';
import { formatTime } from '../../../time/zone.ts';
import type { LogEvent } from './events.ts';
import { textOf } from './events.ts';
import type { RowLook } from './event-row.tsx';
import { Marked } from './marked.tsx';

const t = texts.log;

/** The column of times, which every answer has. */
const TIME = 'time';

export function EventDetail({
  event,
  look,
  onColumn,
  onSurroundings,
}: {
  readonly event: LogEvent;
  readonly look: RowLook;
  /** Shows or hides a column. */
  readonly onColumn: (name: string) => void;
  /** Shows what happened at the same time. */
  readonly onSurroundings: () => void;
}) {
  const { source, columns, finder, zone } = look;
  const text = textOf(event, source.text);
  const values = event.columns.flatMap((name, at) => {
    const cell = event.cells[at] ?? null;
    const isHere = name !== TIME && name !== source.text && cell !== null && cell !== '';
    return isHere ? [{ name, value: String(cell) }] : [];
  });
  return (
    <>
      <pre class="log-whole" tabIndex={0} role="group" aria-label={source.text}>
        <Marked text={text} finder={finder} />
      </pre>
      <dl class="log-values">
        <dt>{TIME}</dt>
        <dd>
          <span>{formatTime(event.time, zone)}</span>
          <CopyButton text={event.time} label={t.copyValue(TIME)} />
        </dd>
        {values.map(({ name, value }) => (
          <>
            <dt>
              {name}
              {source.fieldTypes.has(name) ? null : <span class="muted small"> {t.tag}</span>}
            </dt>
            <dd>
              <span>{value}</span>
              <IconButton
                isSmall
                icon="filter"
                label={t.only(name, value)}
                onClick={() => look.onFilter({ name, isNot: false, value })}
              />
              <IconButton
                isSmall
                icon="minus"
                label={t.without(name, value)}
                onClick={() => look.onFilter({ name, isNot: true, value })}
              />
              {name === source.level ? null : (
                <IconButton
                  isSmall
                  icon="columns"
                  label={columns.includes(name) ? t.hideColumn(name) : t.showColumn(name)}
                  onClick={() => onColumn(name)}
                />
              )}
              <CopyButton text={value} label={t.copyValue(name)} />
            </dd>
          </>
        ))}
      </dl>
      <div class="row">
        <Button isSmall icon="copy" onClick={() => void copyText(text)}>
          {t.copyText}
        </Button>
        <Button isSmall icon="copy" onClick={() => void copyText(jsonOf(event))}>
          {t.copyJson}
        </Button>
        <Button isSmall icon="clock" onClick={onSurroundings}>
          {t.surroundings}
        </Button>
      </div>
    </>
  );
}

function jsonOf({ columns, cells }: LogEvent): string {
  const named = columns.flatMap((name, at) => {
    const cell = cells[at] ?? null;
    return cell === null ? [] : [[name, cell] as const];
  });
  return printLossless(Object.fromEntries(named), 2);
}
