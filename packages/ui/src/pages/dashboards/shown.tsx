// One dashboard: looked at, changed, saved.
import { Conflict, NotFound } from '@tidemark/core';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import { documents } from '../../api/documents.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { useCommands } from '../../app/commands.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { navigate, setParams } from '../../app/router.ts';
import { addDashboard } from '../../dashboards/add.ts';
import { below, freeId } from '../../dashboards/layout.ts';
import { EMPTY_CELL, readDashboard } from '../../dashboards/model.ts';
import type { Cell, Dashboard } from '../../dashboards/model.ts';
import { READY_DASHBOARDS } from '../../dashboards/ready/ready.ts';
import { contextOf } from '../../dashboards/run.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { copyText } from '../../design/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../design/dialog.tsx';
import { Menu } from '../../design/popover.tsx';
import { Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { RangePicker, refreshMs, RefreshPicker } from '../../time/range-picker.tsx';
import { rangeOf as rangeOfSpan } from '../../time/range.ts';
import { texts } from '../../texts/texts.ts';
import { download } from '../../app/download.ts';
import { useMarks } from './annotations.ts';
import { CellEditor } from './cell-editor.tsx';
import { useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { SettingsDialog } from './settings-dialog.tsx';
import { useVariables, VariableBar } from './variable-bar.tsx';
import { VersionsDialog } from './versions-dialog.tsx';
import { isEditing, isKiosk, rangeOf, refreshOf, setRefresh } from './view.ts';

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
    return <Loaded id={id} stored={value.value} onChanged={() => void stored.reload()} />;
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

type Shown = 'settings' | 'versions' | 'remove' | 'discard';

function Loaded({
  id,
  stored,
  onChanged,
}: {
  readonly id: string;
  readonly stored: Stored;
  readonly onChanged: () => void;
}) {
  const editing = useEditing(id, stored.dashboard, stored.version);
  const { dashboard } = editing;
  const mayChange = session.value.isAdmin && !stored.isReady;
  const isChanging = mayChange && isEditing.value;
  const round = useSignal(0);
  const dialog = useSignal<Shown | undefined>(undefined);
  const edited = useSignal<Cell | undefined>(undefined);
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

  const save = async (isForced: boolean): Promise<void> => {
    conflict.value = undefined;
    isSaving.value = true;
    try {
      await editing.save(isForced);
      toast(t.saved);
      setParams({ edit: undefined });
      onChanged();
    } catch (error) {
      if (error instanceof Conflict) conflict.value = error.message;
      else toast(problemOf(error).message, 'bad');
    }
    isSaving.value = false;
  };
  const addCell = (): void => {
    const cells = dashboard.cells;
    edited.value = { ...EMPTY_CELL, id: freeId(cells), y: below(cells) };
  };
  const setCell = (cell: Cell): void => {
    const isThere = dashboard.cells.some((each) => each.id === cell.id);
    const cells = isThere
      ? dashboard.cells.map((each) => (each.id === cell.id ? cell : each))
      : [...dashboard.cells, cell];
    editing.change({ cells });
    edited.value = undefined;
  };
  const clone = (): void => void addDashboard({ ...dashboard, title: t.copyOf(dashboard.title) });
  const exportJson = (): void =>
    download(
      new Blob([`${JSON.stringify(dashboard, undefined, 2)}\n`], { type: 'application/json' }),
      `${dashboard.title}.json`,
    );
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
        <Link page="dashboards" class="button quiet">
          {t.back}
        </Link>
        <RangePicker range={range} onChange={({ from, to }) => setParams({ from, to })} />
        <RefreshPicker value={refresh} range={range} onChange={setRefresh} />
        <IconButton icon="refresh" label={t.refreshNow} onClick={refreshNow} />
        {isChanging ? (
          <>
            <IconButton
              icon="undo"
              label={t.undo}
              disabled={editing.undo === undefined}
              onClick={() => editing.undo?.()}
            />
            <Button icon="plus" onClick={addCell}>
              {t.addCell}
            </Button>
            <Button icon="admin" onClick={() => (dialog.value = 'settings')}>
              {t.settings}
            </Button>
            <Button onClick={leave}>{editing.isChanged ? t.discard : t.done}</Button>
            <Button
              kind="primary"
              icon="save"
              isBusy={isSaving.value}
              disabled={!editing.isChanged}
              onClick={() => void save(false)}
            >
              {t.save}
            </Button>
          </>
        ) : mayChange ? (
          <Button icon="edit" onClick={edit}>
            {t.edit}
          </Button>
        ) : null}
        <Menu
          label={t.menu}
          icon="more"
          isIconOnly
          items={[
            { label: t.kiosk, icon: 'fullscreen', run: () => setParams({ kiosk: '1' }) },
            { label: t.copyLink, icon: 'link', run: () => void copyText(location.href) },
            { label: t.exportJson, icon: 'download', run: exportJson },
            ...(session.value.isAdmin
              ? [{ label: t.clone, icon: 'copy' as const, run: clone }]
              : []),
            ...(stored.isReady
              ? []
              : [
                  {
                    label: t.versions,
                    icon: 'history' as const,
                    run: () => (dialog.value = 'versions'),
                  },
                ]),
            ...(mayChange
              ? [
                  {
                    label: t.remove,
                    icon: 'trash' as const,
                    isDanger: true,
                    run: () => (dialog.value = 'remove'),
                  },
                ]
              : []),
          ]}
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
      ) : context === undefined ? (
        variables.error === undefined ? (
          <Loading rows={8} />
        ) : null
      ) : (
        <Grid
          cells={dashboard.cells}
          view={{
            context,
            round: round.value,
            refreshMs: everyMs,
            marks,
            syncKey: `dashboard ${id}`,
            onZoom: (fromMs, toMs) => setParams(rangeOfSpan(fromMs, toMs)),
          }}
          deeds={
            isChanging
              ? {
                  place: (cells) => editing.change({ cells }),
                  edit: (cell) => (edited.value = cell),
                  duplicate: (cell) =>
                    setCell({
                      ...cell,
                      id: freeId(dashboard.cells),
                      y: below(dashboard.cells),
                    }),
                  remove: (cell) =>
                    editing.change({
                      cells: dashboard.cells.filter(({ id: one }) => one !== cell.id),
                    }),
                }
              : undefined
          }
        />
      )}
      {edited.value === undefined ? null : (
        <CellEditor
          cell={edited.value}
          database={dashboard.database}
          onDone={setCell}
          onClose={() => (edited.value = undefined)}
        />
      )}
      {dialog.value === 'settings' ? (
        <SettingsDialog
          dashboard={dashboard}
          onDone={(changed) => {
            editing.change(changed);
            dialog.value = undefined;
          }}
          onClose={() => (dialog.value = undefined)}
        />
      ) : null}
      {dialog.value === 'versions' ? (
        <VersionsDialog
          id={id}
          onClose={() => (dialog.value = undefined)}
          onBack={() => {
            editing.discard();
            dialog.value = undefined;
            onChanged();
          }}
        />
      ) : null}
      {dialog.value === 'discard' ? (
        <ConfirmDialog
          title={`${t.discard}?`}
          action={t.discard}
          onClose={() => (dialog.value = undefined)}
          onConfirm={() => {
            editing.discard();
            dialog.value = undefined;
            setParams({ edit: undefined });
          }}
        >
          {t.discardHint}
        </ConfirmDialog>
      ) : null}
      {dialog.value === 'remove' ? (
        <ConfirmDialog
          title={t.removeTitle}
          action={t.remove}
          onClose={() => (dialog.value = undefined)}
          onConfirm={() => {
            dialog.value = undefined;
            documents()
              .remove('dashboards', id, stored.version)
              .then(
                () => {
                  editing.discard();
                  toast(t.deleted(dashboard.title));
                  navigate('dashboards');
                },
                (error: unknown) => toast(problemOf(error).message, 'bad'),
              );
          }}
        >
          {t.removeHint(dashboard.title)}
        </ConfirmDialog>
      ) : null}
      {conflict.value === undefined ? null : (
        <Dialog
          title={t.overwriteTitle}
          onClose={() => (conflict.value = undefined)}
          footer={
            <>
              <Button
                onClick={() => {
                  conflict.value = undefined;
                  editing.discard();
                  onChanged();
                }}
              >
                {t.takeTheirs}
              </Button>
              <Button kind="danger" onClick={() => void save(true)}>
                {t.overwrite}
              </Button>
            </>
          }
        >
          {t.overwriteHint(conflict.value)}
        </Dialog>
      )}
    </>
  );
}

/** While it is shown alone, the frame of the page is not; Escape ends it. */
function useKiosk(): void {
  const isAlone = isKiosk.value;
  useEffect(() => {
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
