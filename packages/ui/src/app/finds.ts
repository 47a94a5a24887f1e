// What the palette finds beside commands: parts of pages, settings, and what is stored. Loaded when
// it opens; what a service does not answer is left out, because the commands work without it.
import { engine, tsdb } from '../api/clients.ts';
import { services } from '../api/connection.ts';
import { documents } from '../api/documents.ts';
import { session } from '../api/session.ts';
import { fieldsOf, textOf } from '../dashboards/fields.ts';
import { texts } from '../texts/texts.ts';
import type { Command } from './commands.ts';
import { navigate } from './router.ts';
import { draft } from './stored.ts';

const t = texts.palette;

type Found = readonly Command[];

export async function loadFinds(signal: AbortSignal): Promise<Found> {
  const isAdmin = session.peek().isAdmin;
  const hasTsdb = services.tsdb.peek().state !== 'absent';
  const hasEngine = services.engine.peek().state !== 'absent';
  const lists = await Promise.allSettled([
    dashboards(signal),
    statements(signal),
    hasTsdb ? databases(signal) : [],
    hasEngine ? tasks() : [],
    hasEngine && isAdmin ? settings() : [],
  ]);
  const found = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
  return [...tabs(isAdmin, hasTsdb, hasEngine), ...found];
}

function tabs(isAdmin: boolean, hasTsdb: boolean, hasEngine: boolean): Found {
  const of = (page: string, group: string, labels: Readonly<Record<string, string>>): Found =>
    Object.entries(labels).map(([tab, label]) => ({
      id: `tab-${page}-${tab}`,
      group,
      label,
      about: (t.about as Readonly<Record<string, string>>)[tab],
      run: () => navigate(page, { tab }),
    }));
  const { engine: ofEngine, ...ofTsdb } = texts.admin.tabs;
  return [
    ...(hasEngine ? of('alerts', texts.nav.alerts, texts.alerts.tabs) : []),
    ...(isAdmin && hasTsdb ? of('admin', texts.nav.admin, ofTsdb) : []),
    ...(isAdmin && hasEngine ? of('admin', texts.nav.admin, { engine: ofEngine }) : []),
  ];
}

async function dashboards(signal: AbortSignal): Promise<Found> {
  return (await documents().list('dashboards', signal)).map(({ id, title, folder, tags }) => ({
    id: `dashboard-${id}`,
    group: texts.nav.dashboards,
    label: title,
    about: [folder ?? '', ...(tags ?? [])].join(' '),
    run: () => navigate('dashboards', { id }),
  }));
}

async function statements(signal: AbortSignal): Promise<Found> {
  return (await documents().list('queries', signal)).map(({ id, title }) => ({
    id: `statement-${id}`,
    group: t.statements,
    label: title,
    run: () => void showStatement(id),
  }));
}

async function showStatement(id: string): Promise<void> {
  const { content } = await documents().get('queries', id);
  const { text, database } = fieldsOf(content);
  navigate('explore', { db: textOf(database), q: textOf(text) });
}

async function databases(signal: AbortSignal): Promise<Found> {
  const [series] = await tsdb.rows('SHOW DATABASES', { signal });
  return (series?.values ?? []).map(([name]) => ({
    id: `database-${String(name)}`,
    group: t.databases,
    label: String(name),
    run: () => navigate('explore', { db: String(name) }),
  }));
}

async function tasks(): Promise<Found> {
  const found: Command[] = [];
  for await (const { id } of engine.tasks({ fields: ['status'] })) {
    found.push({
      id: `task-${id}`,
      group: texts.nav.tasks,
      label: id,
      run: () => navigate('tasks', { id }),
    });
  }
  return found;
}

async function settings(): Promise<Found> {
  const sections = Object.entries(await engine.describedConfig());
  return sections.map(([section, { description }]) => ({
    id: `setting-${section}`,
    group: t.settings,
    label: section,
    about: [description.doc, ...Object.keys(description.options)].join(' '),
    run: () => {
      draft('admin.config.search', '').value = section;
      navigate('admin', { tab: 'engine' });
    },
  }));
}
