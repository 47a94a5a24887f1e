// Ready-made dashboards, to view and to clone.
import type { Dashboard } from '../model.ts';
import { ENGINE } from './engine.ts';
import { HOSTS } from './hosts.ts';
import { TIDEMARK } from './tidemark.ts';

export type ReadyDashboard = {
  readonly id: 'tidemark' | 'hosts' | 'engine';
  readonly dashboard: Dashboard;
};

/** Ids of stored dashboards end in a number, so these differ. */
export const READY_DASHBOARDS: readonly ReadyDashboard[] = [
  { id: 'tidemark', dashboard: TIDEMARK },
  { id: 'hosts', dashboard: HOSTS },
  { id: 'engine', dashboard: ENGINE },
];
