// The list of events, of which only the rows in view are drawn. One tab stop: arrow keys
// move from event to event, Enter shows all of one.
import type { ReadonlySignal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { texts } from '../../../texts/texts.ts';
import type { LogEvent } from './events.ts';
import { EventRow } from './event-row.tsx';
import type { RowLook } from './event-row.tsx';
import { Heights } from './heights.ts';

const t = texts.log;

/** Height of a row of one line, with its border; log.css has the same. */
const ROW_PIXELS = 25;
/** Drawn beyond the edges, so that scrolling shows no gaps. */
const SPARE_PIXELS = 500;
/** Older events are read when so much is left below. */
const AHEAD_PIXELS = 1500;

type RowsProps = {
  readonly events: ReadonlySignal<readonly LogEvent[]>;
  readonly look: RowLook;
  /** Heads of the columns, and their widths as a template of a grid. */
  readonly heads: readonly { readonly name: string; readonly label: string }[];
  readonly template: string;
  /** Below the last event: that more are read, or that there are none. */
  readonly foot: ComponentChildren;
  readonly detail: (event: LogEvent) => ComponentChildren;
  /** The end is near: older events are wanted. */
  readonly onEnd: () => void;
  /** Times of the events in view, and whether they are the newest. */
  readonly onSeen: (newest: LogEvent, oldest: LogEvent, isAtTop: boolean) => void;
  /** Grows when the list shall show its beginning. */
  readonly toTop: ReadonlySignal<number>;
};

export function Rows(props: RowsProps) {
  const { look, heads, template, foot, detail, toTop } = props;
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const events = props.events.value;
  const active = useSignal<LogEvent | undefined>(undefined);
  const open = useSignal<ReadonlySet<LogEvent>>(new Set());
  const view = useSignal({ top: 0, height: 600 });
  /** Grows when heights were measured again. */
  const measured = useSignal(0);
  const known = useMemo(() => new WeakMap<LogEvent, number>(), [look.isWrapped, template]);
  const heights = useMemo(() => {
    const made = new Heights(ROW_PIXELS);
    made.resize(events.length);
    events.forEach((event, i) => {
      const height = known.get(event);
      if (height !== undefined) made.set(i, height);
    });
    return made;
  }, [events, known]);

  const first = heights.indexAt(view.value.top - SPARE_PIXELS);
  const last = heights.indexAt(view.value.top + view.value.height + SPARE_PIXELS);
  const shown = events.slice(first, last + 1);

  useLayoutEffect(() => {
    // What has another height than was supposed moves what is below it; above the view it must not.
    let change = 0;
    let isChanged = false;
    for (const row of frame.current?.querySelectorAll<HTMLElement>('[data-index]') ?? []) {
      const index = Number(row.dataset['index']);
      const event = events[index];
      // Whole pixels, so that lines are sharp.
      const height = Math.ceil(row.getBoundingClientRect().height);
      if (event === undefined || known.get(event) === height) continue;
      const isAbove = heights.topOf(index) + height < view.peek().top;
      known.set(event, height);
      const by = heights.set(index, height);
      if (by !== 0) isChanged = true;
      if (isAbove) change += by;
    }
    if (change !== 0 && frame.current !== null) frame.current.scrollTop += change;
    if (isChanged) measured.value++;
  });
  void measured.value;

  const onScroll = (): void => {
    const element = frame.current;
    if (element !== null) view.value = { top: element.scrollTop, height: element.clientHeight };
  };
  useEffect(() => {
    const observer = new ResizeObserver(onScroll);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    frame.current?.scrollTo(0, 0);
    onScroll();
  }, [toTop.value]);
  useEffect(() => {
    const { top, height } = view.value;
    if (heights.total - top - height < AHEAD_PIXELS) props.onEnd();
    const newest = events[heights.indexAt(top)];
    const oldest = events[heights.indexAt(top + height - ROW_PIXELS)];
    if (newest !== undefined && oldest !== undefined)
      props.onSeen(newest, oldest, top < ROW_PIXELS);
  }, [view.value, events, heights, measured.value]);

  const activeIndex = active.value === undefined ? -1 : events.indexOf(active.value);
  const { toggle, clicked } = useMemo(() => {
    const toggle = (event: LogEvent): void => {
      const next = new Set(open.peek());
      if (!next.delete(event)) next.add(event);
      open.value = next;
    };
    const clicked = (event: LogEvent): void => {
      active.value = event;
      toggle(event);
      grid.current?.focus({ preventScroll: true });
    };
    return { toggle, clicked };
  }, []);
  const moveTo = (index: number): void => {
    const at = Math.max(0, Math.min(events.length - 1, index));
    active.value = events[at];
    const element = frame.current;
    if (element === null) return;
    const head = element.querySelector('.log-head')?.clientHeight ?? 0;
    const top = heights.topOf(at);
    const below = top + ROW_PIXELS + head - element.clientHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (below > element.scrollTop) element.scrollTop = below;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys of the buttons within an event are theirs.
    if (event.target !== grid.current) return;
    const page = Math.max(1, Math.floor(view.peek().height / ROW_PIXELS) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: events.length - 1,
    };
    const to = moves[event.key];
    const current = active.value;
    if (to !== undefined) moveTo(to);
    else if (current === undefined) return;
    else if (event.key === 'Enter' || event.key === ' ') toggle(current);
    else if (event.key === 'ArrowRight' && !open.value.has(current)) toggle(current);
    else if (event.key === 'ArrowLeft' && open.value.has(current)) toggle(current);
    else return;
    event.preventDefault();
  };
  const isActiveDrawn = activeIndex >= first && activeIndex <= last;
  return (
    <div
      ref={frame}
      class={`log-frame ${look.isWrapped ? 'wrapped' : ''}`}
      style={{ '--columns': template }}
      onScroll={onScroll}
    >
      <div
        ref={grid}
        class="log-grid"
        role="treegrid"
        aria-label={t.events}
        aria-rowcount={events.length + 1}
        aria-colcount={heads.length}
        aria-activedescendant={isActiveDrawn ? `${id}-${activeIndex}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div class="log-head" role="row" aria-rowindex={1}>
          {heads.map(({ name, label }) => (
            <span key={name} role="columnheader">
              {label}
            </span>
          ))}
        </div>
        <div class="log-body" role="rowgroup" style={{ height: `${heights.total}px` }}>
          {shown.map((event, i) => {
            const index = first + i;
            const isOpen = open.value.has(event);
            return (
              <div
                key={index}
                data-index={index}
                role="presentation"
                class="log-item"
                style={{ transform: `translateY(${heights.topOf(index)}px)` }}
              >
                <EventRow
                  event={event}
                  id={`${id}-${index}`}
                  rowIndex={index + 2}
                  look={look}
                  isOpen={isOpen}
                  isActive={index === activeIndex}
                  onToggle={clicked}
                />
                {isOpen ? (
                  <div class="log-detail" role="row" aria-rowindex={index + 2}>
                    <div role="gridcell" aria-colspan={heads.length}>
                      {detail(event)}
                    </div>
                  </div>
                ) : null}
              </div>
            );
          })}
        </div>
      </div>
      {foot}
    </div>
  );
}
