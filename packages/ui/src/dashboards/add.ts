// Creates dashboards: new, imported, cloned.
import { documents, newId } from '../api/documents.ts';
import { problemOf } from '../api/problem.ts';
import { navigate } from '../app/router.ts';
import type { Dashboard } from './model.ts';
import { toast } from '../design/toasts.tsx';

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
