// The log of a measurement: its events newest first, how many there are of each level, a search and
// filters. The address contains the view.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { tsdb } from '../../../api/clients.ts';
import { generation } from '../../../api/connection.ts';
import { problemOf } from '../../../api/problem.ts';
import { useResource } from '../../../api/use-resource.ts';
import type { Resource } from '../../../api/use-resource.ts';
import { Failure, Empty, Loading } from '../../../design/states.tsx';
import { isRelative, rangeOf, spanOf, widened } from '../../../time/range.ts';
import { shownZone } from '../../../time/zone.ts';
import { texts } from '../../../texts/texts.ts';
import { Button } from '../../../design/button.tsx';
import { measurementDetails } from '../schema.ts';
import { range, setRange } from '../state.ts';
import { Counted } from './counted.tsx';
import { readCounts } from './counts.ts';
import { EventList, textOf } from './events.ts';
import type { LogEvent, LogRequest } from './events.ts';
import { EventDetail } from './event-detail.tsx';
import type { RowLook } from './event-row.tsx';
import { FilterBar, toggledColumn } from './filter-bar.tsx';
import { useFollowing } from './follow.ts';
import { lookOfLevels } from './levels.ts';
import { LogHead } from './log-head.tsx';
import { ListFoot } from './list-foot.tsx';
import { Rows } from './rows.tsx';
import { Finder, parseSearch } from './search.ts';
import { likeliest, sourceOf, usualColumns } from './source.ts';
import { textMeasurements } from './text-measurements.ts';
import { changeView, chosenValues, logView, toggledFilter } from './state.ts';
import type { LogFilter } from './statements.ts';
import { columnWidths } from './widths.ts';
import './log.css';

const t = texts.log;

/** What happened around an event: this long before and after it. */
const AROUND_MS = 30_000;
/** Events whose levels are known before levels are counted. */
const LOOKED_AT = 200;

export function LogView({
  database,
  databases,
}: {
  readonly database: string;
  readonly databases: Resource<readonly string[]>;
}) {
  const view = logView.value;
  const measurements = useResource((signal) => textMeasurements(database, signal), [database]);
  const known = measurements.value.value;
  const measurement = view.measurement || (likeliest(known ?? []) ?? '');
  const details = useResource(
    async (signal) =>
      measurement === '' ? undefined : measurementDetails(database, measurement, signal),
    [database, measurement],
  );
  const found = details.value.value;
  const { policy, text, level } = view;
  const source = useMemo(
    () => found && sourceOf({ policy, measurement }, found, { text, level }),
    [found, policy, measurement, text, level],
  );
  const search = useMemo(() => parseSearch(view.search), [view.search]);
  const columns = useMemo(
    () => view.columns ?? (source && found ? usualColumns(source, found) : []),
    [JSON.stringify(view.columns), source, found],
  );
  const finder = useMemo(() => new Finder(search.terms ?? []), [search]);
  /** What the list shows, and what is counted: the same until the list is followed. */
  const request = useSignal<LogRequest | undefined>(undefined);
  const counted = useSignal<LogRequest | undefined>(undefined);
  const list = useMemo(
    () => new EventList((statement, signal) => tsdb.rows(statement, { database, signal })),
    [database],
  );
  const toTop = useSignal(0);
  const seen = useSignal<{ readonly fromMs: number; readonly toMs: number } | undefined>(undefined);
  const isAtTop = useSignal(true);
  const counts = useResource(
    async (signal) => {
      const asked = counted.value;
      if (asked === undefined) return undefined;
      const read = (statements: string, aborted: AbortSignal) =>
        tsdb.query(statements, { database, signal: aborted });
      return { ...(await readCounts(read, asked, signal)), asked };
    },
    [counted.value],
    { keepsValue: true },
  );

  const start = (): void => {
    const span = spanOf(range.peek(), Date.now());
    if (source === undefined || search.terms === undefined || span === undefined) return;
    const next: LogRequest = {
      query: { source, filters: view.filters, terms: search.terms },
      ...span,
    };
    request.value = next;
    counted.value = next;
    toTop.value++;
    void list.start(next);
  };
  const latest = useRef(start);
  latest.current = start;
  const { from, to } = range.value;
  useEffect(() => {
    start();
    return () => list.cancel();
  }, [list, source, JSON.stringify(view.filters), view.search, from, to]);
  useEffect(() => {
    const before = generation.peek();
    return generation.subscribe((now) => {
      // A service is back: what failed is read again.
      if (now !== before && list.failure.peek() !== undefined) latest.current();
    });
  }, [list]);
  useFollowing({
    isOn: view.isFollowing && isRelative(range.value) && source !== undefined,
    isHeld: !isAtTop.value && list.events.value.length > 0,
    list,
    onCount: () => {
      const span = spanOf(range.peek(), Date.now());
      const before = request.peek();
      if (span === undefined || before === undefined || counts.isLoading.peek()) return;
      counted.value = { ...before, ...span };
    },
  });

  const onFilter = (filter: LogFilter): void =>
    changeView({ filters: toggledFilter(logView.peek().filters, filter) });
  const total = counts.value.value;
  const events = list.events.value;
  const looks = useMemo(() => {
    const name = source?.level;
    if (name === undefined) return lookOfLevels(total?.totals.keys() ?? []);
    // Events are there before they are counted.
    const first = events.slice(0, LOOKED_AT).map((event) => textOf(event, name));
    const chosen = chosenValues(view.filters, name);
    return lookOfLevels([...(total?.totals.keys() ?? []), ...first.filter(Boolean), ...chosen]);
  }, [total, events[0], source, JSON.stringify(view.filters)]);
  const zone = shownZone.value;
  const look = useMemo<RowLook | undefined>(
    () => source && { source, columns, looks, finder, isWrapped: view.isWrapped, zone, onFilter },
    [source, columns, looks, finder, view.isWrapped, zone],
  );
  const widths = columnWidths(useRef(new Map<string, number>()).current, events, look);
  const span = spanOf(range.value, Date.now());
  const zoomOut = (): void => {
    if (span !== undefined) setRange(widened(span, 2));
  };
  const loads = [databases, measurements, details];
  const failure = loads.map(({ error }) => error.value).find((error) => error !== undefined);
  return (
    <>
      <LogHead
        database={database}
        request={request.value}
        onReload={start}
        onZoomOut={span === undefined ? undefined : zoomOut}
      />
      <div class="log">
        {measurement === '' ? null : (
          <FilterBar
            measurement={measurement}
            measurements={(known ?? []).map(({ name }) => name)}
            source={source}
            columns={columns}
            problem={search.problem}
            onSearch={start}
          />
        )}
        {failure !== undefined && look === undefined ? (
          <Failure
            error={failure}
            onRetry={() => void Promise.all(loads.map((each) => each.reload()))}
          />
        ) : look === undefined ? (
          loads.some(({ isLoading }) => isLoading.value) ? (
            <Loading rows={10} />
          ) : (
            <Empty title={t.noText} icon="explore">
              {t.noTextHint}
            </Empty>
          )
        ) : (
          <>
            <section class="panel log-counts" aria-label={t.levels}>
              {counts.error.value !== undefined ? (
                <Failure error={counts.error.value} onRetry={() => void counts.reload()} />
              ) : total === undefined ? (
                <Loading rows={4} />
              ) : (
                <Counted
                  total={total}
                  look={look}
                  filters={view.filters}
                  isLoading={counts.isLoading.value}
                  seen={events.length === 0 ? undefined : seen.value}
                  onFilter={onFilter}
                />
              )}
            </section>
            <section
              class="panel log-events"
              aria-label={t.events}
              aria-busy={list.isStarting.value ? 'true' : 'false'}
            >
              {events.length > 0 ? (
                <Rows
                  events={list.events}
                  look={look}
                  heads={headsOf(look)}
                  template={widths}
                  toTop={toTop}
                  foot={<ListFoot list={list} request={request.value} />}
                  detail={(event) => (
                    <EventDetail
                      event={event}
                      look={look}
                      onColumn={(name) => changeView({ columns: toggledColumn(columns, name) })}
                      onSurroundings={() => showSurroundings(event)}
                    />
                  )}
                  onEnd={() => {
                    if (list.failure.peek() === undefined) void list.older();
                  }}
                  onSeen={(newest, oldest, isTop) => {
                    isAtTop.value = isTop;
                    const next = { fromMs: Date.parse(oldest.time), toMs: Date.parse(newest.time) };
                    const before = seen.peek();
                    if (before?.fromMs !== next.fromMs || before.toMs !== next.toMs)
                      seen.value = next;
                  }}
                />
              ) : list.failure.value !== undefined ? (
                <Failure error={problemOf(list.failure.value)} onRetry={() => void list.retry()} />
              ) : list.isReading.value || request.value === undefined ? (
                <Loading rows={12} />
              ) : (
                <Empty
                  title={t.noEvents}
                  icon="search"
                  actions={<Button onClick={zoomOut}>{t.zoomOut}</Button>}
                >
                  {t.noEventsHint}
                </Empty>
              )}
              {view.isFollowing && !isAtTop.value && events.length > 0 ? (
                <div class="log-held" role="status">
                  {t.followHeld}
                  <Button isSmall onClick={() => toTop.value++}>
                    {t.newest}
                  </Button>
                </div>
              ) : null}
            </section>
          </>
        )}
      </div>
    </>
  );
}

function headsOf({ source, columns }: RowLook): readonly { name: string; label: string }[] {
  const named = [...(source.level === undefined ? [] : [source.level]), ...columns, source.text];
  return [{ name: 'time', label: t.time }, ...named.map((name) => ({ name, label: name }))];
}

/** Everything that happened around an event, whatever was searched for. */
function showSurroundings({ time }: LogEvent): void {
  const at = Date.parse(time);
  changeView({ search: '', filters: [], isFollowing: false });
  setRange(rangeOf(at - AROUND_MS, at + AROUND_MS));
}
