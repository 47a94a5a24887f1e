// Ready-made dashboards, to view and to clone.
import type { Dashboard } from '../model.ts';
import { ENGINE } from './engine.ts';
import { HOSTS } from './hosts.ts';
import { TIDEMARK } from './tidemark.ts';

export type ReadyDashboard = {
  readonly id: 'tidemark' | 'hosts' | 'engine';
  readonly dashboard: Dashboard;
};

/** Their ids are those of no stored one: these end in a number. */
export const READY_DASHBOARDS: readonly ReadyDashboard[] = [
  { id: 'tidemark', dashboard: TIDEMARK },
  { id: 'hosts', dashboard: HOSTS },
  { id: 'engine', dashboard: ENGINE },
];
