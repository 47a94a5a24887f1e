// The schema, a statement by hand or by form, and its result as chart, table and text. The address
// contains everything, so that a link restores it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { problemOf, useRecovery } from '../../api/problem.ts';
import { QueryRun } from '../../api/run.ts';
import { useCommands } from '../../app/commands.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { setParams } from '../../app/router.ts';
import type { Params } from '../../app/router.ts';
import { draft } from '../../app/stored.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { copyText } from '../../design/copy-button.tsx';
import { Failure } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { forgetSchema } from '../../editor/schema-source.ts';
import { parseBuilt } from '../../query/builder.ts';
import { expandMacros, hasTimeFilter, intervalOf } from '../../query/macros.ts';
import type { Fit } from '../../query/fit.ts';
import { explanationOf, isReadOnly } from '../../query/read-only.ts';
import { rangeOf, spanOf, widened } from '../../time/range.ts';
import { RangePicker, refreshMs, RefreshPicker } from '../../time/range-picker.tsx';
import { texts } from '../../texts/texts.ts';
import { Answer } from './answer.tsx';
import { remember } from './history.tsx';
import { insertion } from './insertion.ts';
import { filtersOfBuilt, paramsOf } from './log/state.ts';
import { ModeChoice } from './mode.tsx';
import { QueryPanel } from './query-panel.tsx';
import { measurementDetails } from './schema.ts';
import { SchemaTree } from './schema-tree.tsx';
import type { Chosen } from './schema-tree.tsx';
import { linkedText, range, refresh, setRange } from './state.ts';
import './explore.css';

const t = texts.explore;

/** As many as charts and tables handle at once; more on demand. */
const FIRST_ROWS = 10_000;
const MORE_ROWS = 50_000;

const text = draft('explore.text', '');

export function QueryView({
  database,
  databases,
  children,
}: {
  readonly database: string;
  readonly databases: readonly string[];
  /** Why the list of databases is missing. */
  readonly children: ComponentChildren;
}) {
  const run = useMemo(() => new QueryRun(), []);
  useRecovery(run.problem);
  const isTreeShown = useSignal(window.innerWidth > 1000);

  /** The failed request, for a retry. */
  const repeat = useRef<() => void>();
  /** What to send, for the span chosen now; `undefined` without a text or a span. */
  const fitOf = (): Omit<Fit, 'rowsMax'> | undefined => {
    const chosen = spanOf(range.value, Date.now());
    if (chosen === undefined || text.value.trim() === '') return undefined;
    const interval = intervalOf(chosen.toMs - chosen.fromMs, window.innerWidth - 300);
    const key = JSON.stringify([database, range.value]);
    return { ...chosen, text: text.value, interval, key };
  };
  const explain = (): void => {
    const fit = fitOf();
    if (fit === undefined) return;
    repeat.current = explain;
    const explanation = explanationOf(expandMacros(fit.text, fit).text);
    if ('refusal' in explanation) run.refuse(explanation.refusal);
    else void run.start({ fit: { ...fit, text: explanation.text }, database }, FIRST_ROWS);
  };
  const start = (isRunByUser: boolean, isReduced = false): void => {
    const fit = fitOf();
    if (fit === undefined) return;
    repeat.current = () => start(isRunByUser, isReduced);
    setParams({ q: text.value, db: database });
    if (isRunByUser) remember({ text: text.value, database });
    void run.start({ fit: { ...fit, isReduced }, database, isRunByUser }, FIRST_ROWS);
    // The statement may have created names.
    if (isRunByUser && !isReadOnly(text.value)) forgetSchema();
  };

  useEffect(() => {
    if (linkedText.value !== '') text.value = linkedText.value;
    if (linkedText.value !== '' && database !== '') start(false);
    return () => run.cancel();
  }, [database === '']);
  const everyMs = refreshMs(refresh.value);
  // The function of the latest render, for calls from timers.
  const latest = useRef(start);
  latest.current = start;
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = window.setInterval(() => {
      if (!document.hidden && !run.isRunning.value) latest.current(false);
    }, everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  useCommands([
    { id: 'explore-run', group: t.title, label: t.run, keys: 'r', run: () => start(true) },
    { id: 'explore-cancel', group: t.title, label: t.cancel, keys: 'x', run: () => run.cancel() },
    {
      id: 'explore-link',
      group: t.title,
      label: t.copyLink,
      run: () => void copyText(location.href),
    },
  ]);

  const chooseSpan = (fromMs: number, toMs: number): void => {
    setRange(rangeOf(fromMs, toMs));
    start(false);
  };
  const choose = async (chosen: Chosen): Promise<void> => {
    try {
      const details = await measurementDetails(database, chosen.measurement);
      text.value = insertion(text.value, chosen, details);
      start(false);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
  };
  const span = spanOf(range.value, Date.now());
  return (
    <>
      <PageHead title={t.title}>
        <ModeChoice logParams={logOfStatement} />
        <Button
          icon="columns"
          aria-expanded={isTreeShown.value ? 'true' : 'false'}
          onClick={() => (isTreeShown.value = !isTreeShown.value)}
        >
          {t.schema}
        </Button>
        <IconButton icon="link" label={t.copyLink} onClick={() => void copyText(location.href)} />
        <IconButton
          icon="minus"
          label={t.zoomOut}
          disabled={span === undefined}
          onClick={() => {
            if (span !== undefined) setRange(widened(span, 2));
            start(false);
          }}
        />
        <RangePicker
          range={range.value}
          onChange={(next) => {
            setRange(next);
            if (hasTimeFilter(text.value)) start(false);
          }}
        />
        <RefreshPicker
          value={refresh.value}
          range={range.value}
          onChange={(next) => setParams({ refresh: next })}
        />
        {run.isRunning.value ? (
          <Button icon="stop" onClick={() => run.cancel()}>
            {t.cancel}
          </Button>
        ) : null}
        <Button kind="primary" icon="play" isBusy={run.isRunning.value} onClick={() => start(true)}>
          {t.run}
        </Button>
      </PageHead>
      {children}
      <div class={`explore ${isTreeShown.value ? '' : 'wide'}`}>
        {isTreeShown.value ? (
          <SchemaTree
            database={database}
            databases={databases}
            onDatabase={(db) => setParams({ db })}
            built={parseBuilt(text.value)}
            onChoose={(chosen) => void choose(chosen)}
          />
        ) : null}
        <div class="stack">
          <QueryPanel
            text={text}
            database={database}
            onRun={() => start(true)}
            onExplain={explain}
            onDatabase={(db) => setParams({ db })}
          />
          {run.problem.value === undefined ? null : (
            <Failure
              title={t.noAnswer}
              error={run.problem.value}
              onRetry={() => repeat.current?.()}
            />
          )}
          <Answer
            run={run}
            onMore={() => void run.more(MORE_ROWS)}
            onReduce={() => start(false, true)}
            onZoom={hasTimeFilter(text.value) ? chooseSpan : undefined}
          />
        </div>
      </div>
    </>
  );
}

/** The log of the measurement whose points a statement reads. */
function logOfStatement(): Params {
  const built = parseBuilt(text.peek());
  if (built === undefined || built.fields.some(({ call }) => call !== '')) return {};
  const { policy, measurement } = built;
  return paramsOf({ policy, measurement, filters: filtersOfBuilt(built) });
}
