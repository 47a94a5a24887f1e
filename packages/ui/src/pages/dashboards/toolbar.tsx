// The toolbar of a dashboard.
import { session } from '../../api/session.ts';
import { Link } from '../../app/link.tsx';
import { setParams } from '../../app/router.ts';
import { addDashboard } from '../../dashboards/add.ts';
import type { Dashboard } from '../../dashboards/model.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { copyText } from '../../design/copy-button.tsx';
import { Menu } from '../../design/popover.tsx';
import type { MenuItem } from '../../design/popover.tsx';
import { RangePicker, RefreshPicker } from '../../time/range-picker.tsx';
import type { TimeRange } from '../../time/range.ts';
import { texts } from '../../texts/texts.ts';
import { download } from '../../app/download.ts';
import type { ShownDialog } from './dialogs.tsx';
import type { Editing } from './editing.ts';
import { setRefresh } from './view.ts';

const t = texts.dashboards;

type Rights = {
  readonly mayChange: boolean;
  /** Whether it is in edit mode. */
  readonly isChanging: boolean;
  /** Whether it is a ready-made one, which is not stored. */
  readonly isReady: boolean;
};

export type ToolbarProps = {
  readonly editing: Editing;
  readonly range: TimeRange;
  readonly refresh: string;
  readonly rights: Rights;
  readonly isSaving: boolean;
  readonly actions: {
    readonly addCell: () => void;
    readonly edit: () => void;
    readonly leave: () => void;
    readonly save: () => void;
    readonly refreshNow: () => void;
  };
  readonly onDialog: (dialog: ShownDialog) => void;
};

export function Toolbar(props: ToolbarProps) {
  const { editing, range, refresh, rights, actions, onDialog } = props;
  return (
    <>
      <Link page="dashboards" class="button quiet">
        {t.back}
      </Link>
      <RangePicker range={range} onChange={({ from, to }) => setParams({ from, to })} />
      <RefreshPicker value={refresh} range={range} onChange={setRefresh} />
      <IconButton icon="refresh" label={t.refreshNow} onClick={actions.refreshNow} />
      {rights.isChanging ? (
        <Changing {...props} />
      ) : rights.mayChange ? (
        <Button icon="edit" onClick={actions.edit}>
          {t.edit}
        </Button>
      ) : null}
      <Menu
        label={t.menu}
        icon="more"
        isIconOnly
        items={menuOf(editing.dashboard, rights, onDialog)}
      />
    </>
  );
}

function Changing({ editing, isSaving, actions, onDialog }: ToolbarProps) {
  return (
    <>
      <IconButton
        icon="undo"
        label={t.undo}
        disabled={editing.undo === undefined}
        onClick={() => editing.undo?.()}
      />
      <Button icon="plus" onClick={actions.addCell}>
        {t.addCell}
      </Button>
      <Button icon="admin" onClick={() => onDialog('settings')}>
        {t.settings}
      </Button>
      <Button onClick={actions.leave}>{editing.isChanged ? t.discard : t.done}</Button>
      <Button
        kind="primary"
        icon="save"
        isBusy={isSaving}
        disabled={!editing.isChanged}
        onClick={actions.save}
      >
        {t.save}
      </Button>
    </>
  );
}

function menuOf(
  dashboard: Dashboard,
  { mayChange, isReady }: Rights,
  onDialog: (dialog: ShownDialog) => void,
): readonly MenuItem[] {
  const items: MenuItem[] = [
    { label: t.kiosk, icon: 'fullscreen', run: () => setParams({ kiosk: '1' }) },
    { label: t.copyLink, icon: 'link', run: () => void copyText(viewLink()) },
    { label: t.exportJson, icon: 'download', run: () => exportJson(dashboard) },
  ];
  if (session.value.isAdmin) {
    const clone = { ...dashboard, title: t.copyOf(dashboard.title) };
    items.push({ label: t.clone, icon: 'copy', run: () => void addDashboard(clone) });
  }
  if (!isReady) {
    items.push({ label: t.versions, icon: 'history', run: () => onDialog('versions') });
  }
  if (mayChange) {
    items.push({ label: t.remove, icon: 'trash', isDanger: true, run: () => onDialog('remove') });
  }
  return items;
}

function exportJson(dashboard: Dashboard): void {
  const text = `${JSON.stringify(dashboard, undefined, 2)}\n`;
  download(new Blob([text], { type: 'application/json' }), `${dashboard.title}.json`);
}

/** The address in view mode: whoever opens it need not be allowed to edit. */
function viewLink(): string {
  const link = new URL(location.href);
  link.searchParams.delete('edit');
  return link.href;
}
