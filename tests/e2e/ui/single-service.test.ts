// The web application for one service alone: parts of the other service are absent, and nothing
// requests them.
import { hasPrograms } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const ADMINISTRATED = {
  tsdb: [
    'Databases',
    'Storage',
    'Cardinality',
    'Continuous queries and subscriptions',
    'Cluster',
    'Users',
    'Audit log',
    'Queries',
    'Rejected points',
    'Counters',
    'Backups',
    'Import',
  ],
  engine: ['Audit log', 'Backups', 'Import', 'Engine configuration'],
};

const OWN_BACKUP = { tsdb: 'Restore', engine: 'Task engine definitions' };

describe.skipIf(!hasPrograms('chromium'))('the page', () => {
  test.each([
    [
      'tsdb',
      ['Overview', 'Explore', 'Dashboards', 'Write', 'Administration', 'Get started'],
      'Database',
    ],
    [
      'engine',
      ['Overview', 'Dashboards', 'Tasks', 'Try out', 'Alerts', 'Recordings', 'Administration'],
      'Task engine',
    ],
  ] as const)('of %s alone', async (command, offered, panel) => {
    const visit = await Visit.open({ command, args: ['--ui-bind', '127.0.0.1:0'] });
    try {
      await visit.show('');
      await visit.page.getByRole('heading', { level: 2, name: panel }).waitFor();
      const links = visit.page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
      await expect.poll(() => links.allTextContents()).toEqual(offered);
      await expect
        .poll(() => visit.page.getByRole('heading', { level: 2 }).allTextContents())
        .toContain(panel);
      expect(await visit.accessibilityFaults()).toEqual([]);
      // Either keeps dashboards.
      await visit.show('dashboards');
      await visit.page.getByRole('button', { name: 'New dashboard' }).click();
      await visit.page.getByRole('dialog').getByLabel('Title').fill('Untitled');
      await visit.page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await visit.page.getByRole('heading', { level: 1, name: 'Untitled' }).waitFor();
      await visit.show('dashboards');
      await visit.page.getByRole('link', { name: 'Untitled' }).waitFor();
      // Administration concerns this service.
      await visit.show('admin');
      const sections = visit.page.getByRole('navigation', { name: 'Sections' });
      const names = sections.getByRole('link');
      await expect.poll(() => names.allTextContents()).toEqual(ADMINISTRATED[command]);
      await sections.getByRole('link', { name: 'Audit log' }).click();
      await visit.page
        .getByText('No audit records yet')
        .or(visit.page.getByRole('table'))
        .waitFor();
      await sections.getByRole('link', { name: 'Backups' }).click();
      await visit.page.getByRole('region', { name: OWN_BACKUP[command] }).waitFor();
      expect(await visit.accessibilityFaults()).toEqual([]);
      expect(visit.faults).toEqual([]);
    } finally {
      await visit.close();
    }
  });
});
