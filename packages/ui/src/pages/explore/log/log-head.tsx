// The head of the page while it shows a log.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { isAbort, problemOf } from '../../../api/problem.ts';
import { QueryCursor } from '../../../api/query-stream.ts';
import { useCommands } from '../../../app/commands.ts';
import { download } from '../../../app/download.ts';
import { PageHead } from '../../../app/page-frame.tsx';
import { navigate } from '../../../app/router.ts';
import { Button, IconButton } from '../../../design/button.tsx';
import { copyText } from '../../../design/copy-button.tsx';
import { Menu } from '../../../design/popover.tsx';
import { toast } from '../../../design/toasts.tsx';
import { texts } from '../../../texts/texts.ts';
import { isRelative } from '../../../time/range.ts';
import { RangePicker } from '../../../time/range-picker.tsx';
import { toCsv } from '../export.ts';
import { ModeChoice } from '../mode.tsx';
import { range, setRange } from '../state.ts';
import type { LogRequest } from './events.ts';
import { changeView, logView } from './state.ts';
import { eventsText, openText } from './statements.ts';

const t = texts.log;

/** As much as a table of another program opens. */
const EXPORTED_MAX = 100_000;
/** Rows of a statement that is opened from here. */
const OPENED_ROWS = 1000;
const FOLLOWED_RANGE = { from: 'now-15m', to: 'now' };

export function LogHead({
  database,
  request,
  onReload,
  onZoomOut,
}: {
  readonly database: string;
  readonly request: LogRequest | undefined;
  readonly onReload: () => void;
  readonly onZoomOut: (() => void) | undefined;
}) {
  const isExporting = useSignal(false);
  const exported = useRef<QueryCursor>();
  useEffect(() => () => exported.current?.cancel(), []);
  const { isFollowing, isWrapped } = logView.value;
  const toggleFollowing = (): void => {
    if (!isFollowing && !isRelative(range.peek())) setRange(FOLLOWED_RANGE);
    changeView({ isFollowing: !isFollowing });
  };
  const saveCsv = async ({ query, fromMs, toMs }: LogRequest): Promise<void> => {
    const bounds = { from: `>= ${fromMs}ms`, to: `<= ${toMs}ms` };
    // One more says whether there are more.
    const text = eventsText(query, bounds, EXPORTED_MAX + 1);
    isExporting.value = true;
    try {
      const cursor = new QueryCursor({ text, database });
      exported.current = cursor;
      const { statements, rowCount, error } = await cursor.read(EXPORTED_MAX);
      cursor.cancel();
      const failed = error ?? statements.find((statement) => statement.error !== undefined)?.error;
      if (failed !== undefined) toast(failed, 'bad');
      else {
        download(new Blob([toCsv(statements)], { type: 'text/csv' }), 'events.csv');
        if (rowCount >= EXPORTED_MAX) toast(t.csvCut(rowCount));
      }
    } catch (error) {
      if (!isAbort(error)) toast(problemOf(error).message, 'bad');
    }
    isExporting.value = false;
  };
  useCommands([
    { id: 'log-reload', group: texts.explore.title, label: t.reload, keys: 'r', run: onReload },
    {
      id: 'log-follow',
      group: texts.explore.title,
      label: isFollowing ? t.pause : t.follow,
      keys: 'f',
      run: toggleFollowing,
    },
    {
      id: 'log-wrap',
      group: texts.explore.title,
      label: t.wrap,
      keys: 'w',
      run: () => changeView({ isWrapped: !isWrapped }),
    },
    {
      id: 'explore-link',
      group: texts.explore.title,
      label: texts.explore.copyLink,
      run: () => void copyText(location.href),
    },
  ]);
  return (
    <PageHead title={texts.explore.title}>
      <ModeChoice />
      <IconButton
        icon="link"
        label={texts.explore.copyLink}
        onClick={() => void copyText(location.href)}
      />
      <Menu
        label={t.export}
        icon="download"
        isIconOnly
        disabled={request === undefined || isExporting.value}
        items={[
          { label: t.csv, run: () => void (request && saveCsv(request)) },
          {
            label: t.openQuery,
            run: () => {
              if (request === undefined) return;
              const { from, to } = range.peek();
              navigate('explore', {
                db: database,
                q: openText(request.query, OPENED_ROWS),
                view: 'table',
                from,
                to,
              });
            },
          },
        ]}
      />
      <IconButton
        icon="minus"
        label={t.zoomOut}
        disabled={onZoomOut === undefined}
        onClick={() => onZoomOut?.()}
      />
      <RangePicker range={range.value} onChange={setRange} />
      <IconButton icon="refresh" label={t.reload} onClick={onReload} />
      <Button
        icon={isFollowing ? 'pause' : 'play'}
        aria-pressed={isFollowing ? 'true' : 'false'}
        onClick={toggleFollowing}
      >
        {isFollowing ? t.pause : t.follow}
      </Button>
    </PageHead>
  );
}
