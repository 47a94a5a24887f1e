// A dashboard being edited: the draft is stored until it is saved or discarded, and survives a
// reload and a restart of the service. Each change can be undone.
import { useSignal } from '@preact/signals';

import { documents } from '../../api/documents.ts';
import { draft } from '../../app/stored.ts';
import { readDashboard } from '../../dashboards/model.ts';
import type { Dashboard } from '../../dashboards/model.ts';

type Draft = {
  /** The version on which the draft is based. */
  readonly version: number;
  readonly dashboard: Dashboard;
};

const STEPS_MAX = 100;

export type Editing = {
  /** The dashboard shown: the draft, or the stored one. */
  readonly dashboard: Dashboard;
  readonly isChanged: boolean;
  readonly change: (changed: Partial<Dashboard>) => void;
  readonly undo: (() => void) | undefined;
  readonly redo: (() => void) | undefined;
  readonly discard: () => void;
  /**
   * Stores it; `isForced` also overwrites a newer version. `reload` shows the stored version before
   * the draft is dropped. Throws like the client.
   */
  readonly save: (isForced: boolean, reload: () => Promise<void>) => Promise<void>;
};

export function useEditing(id: string, stored: Dashboard, version: number): Editing {
  const kept = draft<Draft | null>(`dashboard.${id}`, null);
  const past = useSignal<readonly Dashboard[]>([]);
  const future = useSignal<readonly Dashboard[]>([]);
  const dashboard = kept.value === null ? stored : readDashboard(kept.value.dashboard);
  const keep = (next: Dashboard): void => {
    kept.value = { version: kept.value?.version ?? version, dashboard: next };
  };
  const forget = (): void => {
    kept.value = null;
    past.value = [];
    future.value = [];
  };
  const [before] = past.value.slice(-1);
  const [after] = future.value.slice(-1);
  return {
    dashboard,
    isChanged: kept.value !== null,
    change: (changed) => {
      past.value = [...past.value, dashboard].slice(-STEPS_MAX);
      future.value = [];
      keep({ ...dashboard, ...changed });
    },
    undo:
      before === undefined
        ? undefined
        : () => {
            past.value = past.value.slice(0, -1);
            future.value = [...future.value, dashboard];
            keep(before);
          },
    redo:
      after === undefined
        ? undefined
        : () => {
            future.value = future.value.slice(0, -1);
            past.value = [...past.value, dashboard];
            keep(after);
          },
    discard: forget,
    save: async (isForced, reload) => {
      const replaces = isForced
        ? (await documents().get('dashboards', id)).version
        : (kept.value?.version ?? version);
      await documents().put('dashboards', id, {
        replaces,
        title: dashboard.title,
        content: dashboard,
      });
      await reload();
      forget();
    },
  };
}
