// Creates dashboards: new, imported, cloned; and adds cells to stored ones.
import { documents, newId } from '../api/documents.ts';
import { problemOf } from '../api/problem.ts';
import { navigate } from '../app/router.ts';
import { withCell } from './layout.ts';
import { readDashboard } from './model.ts';
import type { Cell, Dashboard } from './model.ts';
import { toast } from '../design/toasts.tsx';
import { namesVariable } from './variables.ts';

/** Stores and shows a new dashboard; with `isEdited` in edit mode. */
export async function addDashboard(dashboard: Dashboard, isEdited = false): Promise<void> {
  const id = newId(dashboard.title);
  try {
    await documents().put('dashboards', id, {
      replaces: 0,
      title: dashboard.title,
      content: dashboard,
    });
    navigate('dashboards', { id, edit: isEdited ? '1' : undefined });
  } catch (error) {
    toast(problemOf(error).message, 'bad');
  }
}

/**
 * Adds a cell to a stored dashboard. Its queries keep the database `of` the dashboard that it comes
 * from, and the variables that they name are added if the other dashboard does not have them.
 * Throws `Conflict` when someone else changes the dashboard at the same time.
 */
export async function addCellTo(
  id: string,
  cell: Cell,
  of: Pick<Dashboard, 'database' | 'variables'>,
): Promise<void> {
  const stored = await documents().get('dashboards', id);
  const content = readDashboard(stored.content);
  const keep = <T extends { readonly database: string }>(query: T): T =>
    query.database !== '' || content.database === of.database
      ? query
      : { ...query, database: of.database };
  const copied = { ...cell, queries: cell.queries.map(keep) };
  const missing = of.variables.filter(
    ({ name }) =>
      content.variables.every((variable) => variable.name !== name) &&
      cell.queries.some(({ text }) => namesVariable(text, name)),
  );
  await documents().put('dashboards', id, {
    replaces: stored.version,
    title: stored.title,
    content: {
      ...content,
      variables: [...content.variables, ...missing.map(keep)],
      cells: withCell(content.cells, copied),
    },
  });
}
