// All pages. A page is a folder under pages/ whose `page.tsx` exports `Page`; it is loaded when it
// is first shown.
import type { ComponentType } from 'preact';

import type { Service } from '../api/connection.ts';
import type { IconName } from '../design/icon.tsx';
import { texts } from '../texts/texts.ts';

export type PageDefinition = {
  /** The part of the address behind `ui/`; the start page has none. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** Keys that lead to it. */
  readonly keys?: string | undefined;
  /** Whether the navigation shows it. Unfinished pages are not listed. */
  readonly isListed: boolean;
  /** Services it needs; it is hidden without them. */
  readonly needs?: readonly Service[] | undefined;
  /** Only for administrators. */
  readonly isForAdmins?: boolean | undefined;
  /** Only for users who may read a database. */
  readonly isForReaders?: boolean | undefined;
  /** Only for users who may write to a database. */
  readonly isForWriters?: boolean | undefined;
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
};

const { nav } = texts;

export const PAGES: readonly PageDefinition[] = [
  {
    id: '',
    title: nav.home,
    icon: 'home',
    keys: 'g h',
    isListed: true,
    load: () => import('../pages/home/page.tsx'),
  },
  {
    id: 'explore',
    title: nav.explore,
    icon: 'explore',
    keys: 'g e',
    isListed: true,
    needs: ['tsdb'],
    load: () => import('../pages/explore/page.tsx'),
  },
  {
    id: 'dashboards',
    title: nav.dashboards,
    icon: 'dashboards',
    keys: 'g d',
    isListed: true,
    load: () => import('../pages/dashboards/page.tsx'),
  },
  {
    id: 'tasks',
    title: nav.tasks,
    icon: 'tasks',
    keys: 'g t',
    isListed: true,
    needs: ['engine'],
    load: () => import('../pages/tasks/page.tsx'),
  },
  {
    id: 'try',
    title: nav.try,
    icon: 'try',
    keys: 'g o',
    isListed: true,
    needs: ['engine'],
    isForAdmins: true,
    load: () => import('../pages/try/page.tsx'),
  },
  {
    id: 'alerts',
    title: nav.alerts,
    icon: 'alerts',
    keys: 'g l',
    isListed: true,
    needs: ['engine'],
    load: () => import('../pages/alerts/page.tsx'),
  },
  {
    id: 'recordings',
    title: nav.recordings,
    icon: 'recordings',
    keys: 'g r',
    isListed: true,
    needs: ['engine'],
    isForReaders: true,
    load: () => import('../pages/recordings/page.tsx'),
  },
  {
    id: 'write',
    title: nav.write,
    icon: 'write',
    keys: 'g w',
    isListed: true,
    needs: ['tsdb'],
    isForWriters: true,
    load: () => import('../pages/write/page.tsx'),
  },
  {
    id: 'admin',
    title: nav.admin,
    icon: 'admin',
    keys: 'g a',
    isListed: true,
    isForAdmins: true,
    load: () => import('../pages/admin/page.tsx'),
  },
  {
    id: 'start',
    title: nav.start,
    icon: 'start',
    keys: 'g s',
    isListed: true,
    needs: ['tsdb'],
    load: () => import('../pages/start/page.tsx'),
  },
  {
    id: 'shortcuts',
    title: nav.shortcuts,
    icon: 'keyboard',
    keys: '?',
    isListed: false,
    load: () => import('../pages/shortcuts/page.tsx'),
  },
];
