// One dashboard: viewed, edited, saved.
import { Conflict, NotFound } from '@tidemark/core';
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { useCommands } from '../../app/commands.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { setParams } from '../../app/router.ts';
import { freeId, freePlace, settled } from '../../dashboards/layout.ts';
import { EMPTY_CELL, readDashboard } from '../../dashboards/model.ts';
import type { Cell, Dashboard } from '../../dashboards/model.ts';
import { READY_DASHBOARDS } from '../../dashboards/ready/ready.ts';
import { contextOf } from '../../dashboards/run.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { refreshMs } from '../../time/range-picker.tsx';
import { rangeOf as rangeOfSpan } from '../../time/range.ts';
import { texts } from '../../texts/texts.ts';
import { useMarks } from './annotations.ts';
import type { CellView } from '../../cells/kind.ts';
import { CellEditor } from './cell-editor.tsx';
import { CopyDialog } from './copy-dialog.tsx';
import { Dialogs } from './dialogs.tsx';
import type { ShownDialog } from './dialogs.tsx';
import { useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { Toolbar } from './toolbar.tsx';
import { useVariables, VariableBar } from './variable-bar.tsx';
import { isEditing, isKiosk, rangeOf, refreshOf } from './view.ts';

const t = texts.dashboards;

type Stored = {
  readonly dashboard: Dashboard;
  readonly version: number;
  readonly isReady: boolean;
};

export function ShownDashboard({ id }: { readonly id: string }) {
  const isKnown = services.tsdb.value.state !== 'unknown';
  const ready = READY_DASHBOARDS.find((each) => each.id === id);
  const isMissing = useSignal(false);
  const stored = useResource<Stored>(
    async (signal) => {
      if (ready !== undefined) return { dashboard: ready.dashboard, version: 0, isReady: true };
      if (!isKnown) return new Promise<never>(() => {});
      try {
        const { content, title, version } = await documents().get('dashboards', id, { signal });
        isMissing.value = false;
        const dashboard = { ...readDashboard(content), title };
        return { dashboard, version, isReady: false };
      } catch (error) {
        isMissing.value = error instanceof NotFound;
        throw error;
      }
    },
    [id, isKnown],
  );
  const { value, error } = stored;
  if (value.value !== undefined) {
    return <Loaded id={id} stored={value.value} onChanged={stored.reload} />;
  }
  return (
    <>
      <PageHead title={t.list} />
      {isMissing.value ? (
        <Empty
          title={t.missing}
          icon="dashboards"
          actions={<Link page="dashboards">{t.back}</Link>}
        >
          {t.missingHint}
        </Empty>
      ) : error.value === undefined ? (
        <Loading rows={8} />
      ) : (
        <Failure error={error.value} onRetry={() => void stored.reload()} />
      )}
    </>
  );
}

function Loaded({
  id,
  stored,
  onChanged,
}: {
  readonly id: string;
  readonly stored: Stored;
  readonly onChanged: () => Promise<void>;
}) {
  const editing = useEditing(id, stored.dashboard, stored.version);
  const { dashboard } = editing;
  const mayChange = session.value.isAdmin && !stored.isReady;
  const isChanging = mayChange && isEditing.value;
  const round = useSignal(0);
  const dialog = useSignal<ShownDialog | undefined>(undefined);
  const edited = useSignal<Cell | undefined>(undefined);
  const copied = useSignal<Cell | undefined>(undefined);
  const conflict = useSignal<string | undefined>(undefined);
  const isSaving = useSignal(false);
  useKiosk();

  const range = rangeOf(dashboard);
  const refresh = refreshOf(dashboard);
  const variables = useVariables(dashboard, range);
  const { chosen } = variables;
  const chosenKey = JSON.stringify([...(chosen ?? [])]);
  const context = useMemo(
    () => (chosen === undefined ? undefined : contextOf(dashboard, range, chosen)),
    [dashboard.database, range.from, range.to, chosenKey],
  );
  const everyMs = refreshMs(refresh);
  const { marks, problems } = useMarks(dashboard.annotations, context, {
    round: round.value,
    refreshMs: everyMs,
  });

  const view: CellView | undefined = context && {
    context,
    round: round.value,
    refreshMs: everyMs,
    marks,
    syncKey: `dashboard ${id}`,
    onZoom: (fromMs, toMs) => setParams(rangeOfSpan(fromMs, toMs)),
  };

  const save = async (isForced: boolean): Promise<void> => {
    conflict.value = undefined;
    isSaving.value = true;
    try {
      await editing.save(isForced, onChanged);
      toast(t.saved);
      setParams({ edit: undefined });
    } catch (error) {
      if (error instanceof Conflict) conflict.value = error.message;
      else toast(problemOf(error).message, 'bad');
    }
    isSaving.value = false;
  };
  const addCell = (): void => {
    const cells = dashboard.cells;
    edited.value = { ...EMPTY_CELL, ...freePlace(cells, EMPTY_CELL), id: freeId(cells) };
  };
  const setCell = (cell: Cell): void => {
    const isThere = dashboard.cells.some((each) => each.id === cell.id);
    const cells = isThere
      ? dashboard.cells.map((each) => (each.id === cell.id ? cell : each))
      : [...dashboard.cells, cell];
    editing.change({ cells });
    edited.value = undefined;
  };
  const refreshNow = (): void => {
    round.value++;
  };
  const edit = (): void => setParams({ edit: '1' });
  const leave = (): void => {
    if (editing.isChanged) dialog.value = 'discard';
    else setParams({ edit: undefined });
  };
  const group = t.list;
  useCommands([
    { id: 'dashboard-refresh', group, label: t.refreshNow, keys: 'r', run: refreshNow },
    {
      id: 'dashboard-kiosk',
      group,
      label: t.kiosk,
      keys: 'f',
      run: () => setParams({ kiosk: '1' }),
    },
    ...(mayChange && !isChanging
      ? [{ id: 'dashboard-edit', group, label: t.edit, keys: 'e', run: edit }]
      : []),
    ...(isChanging
      ? [
          { id: 'dashboard-cell', group, label: t.addCell, keys: 'c', run: addCell },
          {
            id: 'dashboard-save',
            group,
            label: t.save,
            keys: 'Ctrl+S',
            run: () => void save(false),
          },
          { id: 'dashboard-undo', group, label: t.undo, keys: 'u', run: () => editing.undo?.() },
          { id: 'dashboard-redo', group, label: t.redo, keys: 'y', run: () => editing.redo?.() },
        ]
      : []),
  ]);

  return (
    <>
      <PageHead title={dashboard.title}>
        <Toolbar
          editing={editing}
          range={range}
          refresh={refresh}
          rights={{ mayChange, isChanging, isReady: stored.isReady }}
          isSaving={isSaving.value}
          actions={{ addCell, edit, leave, save: () => void save(false), refreshNow }}
          onDialog={(shown) => (dialog.value = shown)}
        />
      </PageHead>
      {isKiosk.value ? (
        <div class="kiosk-leave">
          <IconButton
            icon="close"
            label={t.kioskLeave}
            onClick={() => setParams({ kiosk: undefined })}
          />
        </div>
      ) : null}
      {editing.isChanged && mayChange ? (
        <Notice
          kind="warn"
          action={
            isChanging ? undefined : (
              <Button isSmall onClick={edit}>
                {t.edit}
              </Button>
            )
          }
        >
          {t.unsaved}
        </Notice>
      ) : null}
      <VariableBar
        variables={dashboard.variables}
        chosen={chosen ?? new Map()}
        offered={variables.offered}
        error={variables.error}
        onRetry={variables.reload}
      />
      {problems.map((problem) => (
        <Notice key={problem} kind="warn">
          {problem}
        </Notice>
      ))}
      {dashboard.cells.length === 0 ? (
        <Empty
          title={t.empty}
          icon="dashboards"
          actions={
            mayChange ? (
              <Button
                icon="plus"
                onClick={() => {
                  edit();
                  addCell();
                }}
              >
                {t.addCell}
              </Button>
            ) : undefined
          }
        >
          {t.emptyHint}
        </Empty>
      ) : view === undefined ? (
        variables.error === undefined ? (
          <Loading rows={8} />
        ) : null
      ) : (
        <Grid
          cells={dashboard.cells}
          view={view}
          offered={variables.offered}
          actions={
            isChanging
              ? {
                  place: (cells) => editing.change({ cells }),
                  edit: (cell) => (edited.value = cell),
                  duplicate: (cell) =>
                    setCell({
                      ...cell,
                      ...freePlace(dashboard.cells, cell),
                      id: freeId(dashboard.cells),
                    }),
                  copy: (cell) => (copied.value = cell),
                  remove: (cell) =>
                    editing.change({
                      cells: settled(dashboard.cells.filter(({ id: one }) => one !== cell.id)),
                    }),
                }
              : undefined
          }
        />
      )}
      {edited.value === undefined || view === undefined ? null : (
        <CellEditor
          cell={edited.value}
          view={view}
          onDone={setCell}
          onClose={() => (edited.value = undefined)}
        />
      )}
      {copied.value === undefined ? null : (
        <CopyDialog
          cell={copied.value}
          of={dashboard}
          except={id}
          onClose={() => (copied.value = undefined)}
        />
      )}
      <Dialogs
        id={id}
        version={stored.version}
        editing={editing}
        shown={dialog.value}
        conflict={conflict.value}
        onClose={() => {
          dialog.value = undefined;
          conflict.value = undefined;
        }}
        onOverwrite={() => void save(true)}
        onChanged={() => void onChanged()}
      />
    </>
  );
}

/** In kiosk mode the frame of the page is hidden; Escape ends it. */
function useKiosk(): void {
  const isAlone = isKiosk.value;
  // Whoever sees the button that ends it can press the key.
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-kiosk', isAlone);
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) {
        setParams({ kiosk: undefined });
      }
    };
    if (isAlone) window.addEventListener('keydown', leave);
    return () => {
      window.removeEventListener('keydown', leave);
      document.documentElement.removeAttribute('data-kiosk');
    };
  }, [isAlone]);
}
