// The catalogue of all texts of the application, by area. Another language is another object of the
// same shape.
import { admin } from './en/admin.ts';
import { alerts } from './en/alerts.ts';
import { cells } from './en/cells.ts';
import { charts } from './en/charts.ts';
import { common, palette, shell, signIn, nav } from './en/common.ts';
import { config } from './en/config.ts';
import { dashboards } from './en/dashboards.ts';
import { editor } from './en/editor.ts';
import { explore } from './en/explore.ts';
import { home } from './en/home.ts';
import { imports } from './en/imports.ts';
import { instances } from './en/instances.ts';
import { log } from './en/log.ts';
import { recordings } from './en/recordings.ts';
import { shortcuts } from './en/shortcuts.ts';
import { start } from './en/start.ts';
import { tasks } from './en/tasks.ts';
import { time } from './en/time.ts';
import { tryOut } from './en/try.ts';
import { write } from './en/write.ts';

export const texts = {
  admin,
  alerts,
  cells,
  charts,
  common,
  config,
  dashboards,
  editor,
  explore,
  home,
  imports,
  instances,
  log,
  nav,
  palette,
  recordings,
  shell,
  shortcuts,
  signIn,
  start,
  tasks,
  time,
  tryOut,
  write,
} as const;
