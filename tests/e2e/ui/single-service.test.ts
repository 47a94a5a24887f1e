// The page before one service alone: what belongs to the other is not there, and nothing asks for
// it.
import { hasPrograms } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page', () => {
  test.each([
    [
      'tsdb',
      ['Overview', 'Explore', 'Dashboards', 'Write', 'Administration', 'First minutes'],
      'Database',
    ],
    [
      'engine',
      ['Overview', 'Dashboards', 'Tasks', 'Try out', 'Alerts', 'Recordings'],
      'Task engine',
    ],
  ] as const)('of %s alone', async (command, offered, panel) => {
    const visit = await Visit.open({ command, args: ['--ui-bind', '127.0.0.1:0'] });
    try {
      await visit.show('');
      await visit.page.getByRole('heading', { level: 2, name: panel }).waitFor();
      const links = visit.page.getByRole('navigation').getByRole('listitem');
      await expect.poll(() => links.allTextContents()).toEqual(offered);
      await expect
        .poll(() => visit.page.getByRole('heading', { level: 2 }).allTextContents())
        .toContain(panel);
      expect(await visit.accessibilityFaults()).toEqual([]);
      // Either keeps dashboards.
      await visit.show('dashboards');
      await visit.page.getByRole('button', { name: 'New dashboard' }).click();
      await visit.page.getByRole('heading', { level: 1, name: 'Untitled' }).waitFor();
      await visit.show('dashboards');
      await visit.page.getByRole('link', { name: 'Untitled' }).waitFor();
      expect(visit.faults).toEqual([]);
    } finally {
      await visit.close();
    }
  });
});
