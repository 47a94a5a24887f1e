// The events of a log, newest first, read page by page. A page ends between two times, so that the
// next one needs no more than the time at which it begins, however many events share a time.
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { Cell, Series } from '@tidemark/client';

import { formatTime } from '../../../time/zone.ts';
import { eventsText } from './statements.ts';
import type { Bounds, LogQuery } from './statements.ts';

/** A row of an answer. The events of one answer share the list of their columns. */
export type LogEvent = {
  /** RFC 3339, with all digits. */
  readonly time: string;
  readonly columns: readonly string[];
  readonly cells: readonly Cell[];
};

/** The value of a column; `null` if the event has none. */
export function cellOf({ columns, cells }: LogEvent, name: string): Cell {
  return cells[columns.indexOf(name)] ?? null;
}

/** The text of a column; empty if the event has none. */
export const textOf = (event: LogEvent, name: string): string => String(cellOf(event, name) ?? '');

/** Its time in a zone. Digits below the second come by threes, so that times stand in line. */
export function eventTime({ time }: LogEvent, zone: string): string {
  const [seconds = '', fraction] = formatTime(time, zone).split('.');
  if (fraction === undefined) return seconds;
  return `${seconds}.${fraction.padEnd(Math.ceil(fraction.length / 3) * 3, '0')}`;
}

/** Events of a page. */
const PAGE_EVENTS = 200;
/** Events that share one time; of more, the rest is left out, and the log says so. */
const SAME_TIME_MAX = 12_800;
/** Events that are followed. */
const FOLLOWED_MAX = 500;
/** Events in the list. Older ones are read by an earlier range of time. */
export const EVENTS_MAX = 50_000;

/** Runs a statement and returns its series. */
export type ReadSeries = (text: string, signal: AbortSignal) => Promise<readonly Series[]>;

/** What is read: the query, and the span in milliseconds. */
export type LogRequest = {
  readonly query: LogQuery;
  readonly fromMs: number;
  readonly toMs: number;
};

type Page = {
  readonly events: readonly LogEvent[];
  /** The bound of older events; `undefined` if there are none. */
  readonly next: string | undefined;
  readonly isCut: boolean;
};

/** Reads one page of the events below a bound. */
async function readPage(
  read: (to: string, limit: number) => Promise<readonly LogEvent[]>,
  to: string,
  size: number,
): Promise<Page> {
  for (let limit = size; ; limit *= 8) {
    const events = await read(to, limit);
    if (events.length < limit) return { events, next: undefined, isCut: false };
    const { time } = events.at(-1) ?? { time: '' };
    // The last time may have more events than fit: they begin the next page.
    const whole = events.filter((event) => event.time !== time);
    if (whole.length > 0) return { events: whole, next: `<= '${time}'`, isCut: false };
    if (limit >= SAME_TIME_MAX) return { events, next: `< '${time}'`, isCut: true };
  }
}

/** The list of events of one request after another. */
export class EventList {
  readonly #read: ReadSeries;
  readonly #events = signal<readonly LogEvent[]>([]);
  readonly #isReading = signal(false);
  readonly #failure = signal<Error | undefined>(undefined);
  readonly #isStarting = signal(false);
  readonly #isComplete = signal(false);
  readonly #isCut = signal(false);
  #request: LogRequest | undefined;
  /** The bound below which older events are. */
  #next: string | undefined;
  #running: AbortController | undefined;

  constructor(read: ReadSeries) {
    this.#read = read;
  }

  /** Newest first. An event keeps its identity while the list is followed. */
  get events(): ReadonlySignal<readonly LogEvent[]> {
    return this.#events;
  }

  get isReading(): ReadonlySignal<boolean> {
    return this.#isReading;
  }

  /** Whether the events shown are those of the request before. */
  get isStarting(): ReadonlySignal<boolean> {
    return this.#isStarting;
  }

  /** Why the last page could not be read. */
  get failure(): ReadonlySignal<Error | undefined> {
    return this.#failure;
  }

  /** Whether the oldest event of the request is in the list. */
  get isComplete(): ReadonlySignal<boolean> {
    return this.#isComplete;
  }

  /** Whether events are missing because too many share one time. */
  get isCut(): ReadonlySignal<boolean> {
    return this.#isCut;
  }

  /** Shows the newest events of a request instead; none if they cannot be read. */
  async start(request: LogRequest): Promise<void> {
    this.#request = request;
    this.#next = `<= ${request.toMs}ms`;
    const to = this.#next;
    this.#isComplete.value = false;
    this.#isCut.value = false;
    await this.#run(async (signal) => {
      this.#isStarting.value = true;
      const page = await this.#page(to, { signal });
      return () => this.#show(page.events, page);
    });
  }

  /** Adds older events. Does nothing while reading, or when there are none. */
  async older(): Promise<void> {
    const to = this.#next;
    const before = this.#events.peek();
    if (to === undefined || this.#isReading.peek() || before.length >= EVENTS_MAX) return;
    await this.#run(async (signal) => {
      const page = await this.#page(to, { signal });
      return () => this.#show([...before, ...page.events], page);
    });
  }

  /**
   * Adds newer events until a time, and what was written late among those shown. Older ones leave
   * the list as new ones come.
   */
  async newer(toMs: number): Promise<void> {
    const request = this.#request;
    if (request === undefined || this.#isReading.peek()) return;
    const before = this.#events.peek().slice(0, FOLLOWED_MAX);
    const oldest = before.at(-1)?.time;
    const isWhole = before.length === this.#events.peek().length;
    await this.#run(async (signal) => {
      const from = oldest === undefined ? undefined : `>= '${oldest}'`;
      const page = await this.#page(`<= ${toMs}ms`, { signal, from, size: FOLLOWED_MAX });
      const known = new Map(before.map((event) => [keyOf(event), event]));
      const events = page.events.map((event) => known.get(keyOf(event)) ?? event);
      return () => {
        // What is older than the list is still below its bound, unless the list became shorter.
        const isRead = page.next === undefined && oldest !== undefined;
        const next = isRead ? (isWhole ? this.#next : `< '${oldest}'`) : page.next;
        this.#show(events, { ...page, next });
      };
    });
  }

  /** Tries again what failed. */
  async retry(): Promise<void> {
    if (this.#events.peek().length > 0) await this.older();
    else if (this.#request !== undefined) await this.start(this.#request);
  }

  /** Cancels what is being read, in the database too. */
  cancel(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#isReading.value = false;
    this.#isStarting.value = false;
  }

  #show(events: readonly LogEvent[], { next, isCut }: Page): void {
    this.#events.value = events;
    this.#next = next;
    this.#isComplete.value = next === undefined;
    if (isCut) this.#isCut.value = true;
  }

  async #page(
    to: string,
    options: {
      readonly signal: AbortSignal;
      readonly from?: string | undefined;
      readonly size?: number | undefined;
    },
  ): Promise<Page> {
    const { signal, size = PAGE_EVENTS } = options;
    const { query, fromMs } = this.#request ?? {};
    if (query === undefined) return { events: [], next: undefined, isCut: false };
    const from = options.from ?? `>= ${fromMs}ms`;
    const read = async (below: string, limit: number): Promise<readonly LogEvent[]> => {
      const bounds: Bounds = { from, to: below };
      return eventsOf(await this.#read(eventsText(query, bounds, limit), signal));
    };
    return readPage(read, to, size);
  }

  /** One at a time: a request that was replaced changes nothing. */
  async #run(load: (signal: AbortSignal) => Promise<() => void>): Promise<void> {
    this.cancel();
    const controller = new AbortController();
    this.#running = controller;
    this.#isReading.value = true;
    try {
      const show = await load(controller.signal);
      if (controller.signal.aborted) return;
      show();
      this.#failure.value = undefined;
    } catch (error) {
      if (controller.signal.aborted) return;
      if (this.#isStarting.peek()) this.#events.value = [];
      this.#failure.value = error instanceof Error ? error : new Error(String(error));
    }
    this.#isReading.value = false;
    this.#isStarting.value = false;
  }
}

function eventsOf(series: readonly Series[]): readonly LogEvent[] {
  return series.flatMap(({ columns, values = [] }) => {
    const at = columns.indexOf('time');
    return values.map((cells): LogEvent => ({ time: String(cells[at]), columns, cells }));
  });
}

const keyOf = ({ cells }: LogEvent): string => cells.map(String).join('\u0000');
