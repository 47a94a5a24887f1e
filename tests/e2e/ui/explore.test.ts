// Explore: statements and their answers.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page to explore', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', 'room,name=kitchen celsius=21.5 1700000000000000000');
    await write(tsdb, 'house', 'big count=9223372036854775807i 1700000000000000000');
    await visit.show('explore?db=house');
    await visit.page.locator('.cm-editor').waitFor();
  }, 60_000);
  afterAll(() => visit.close());

  const type = async (text: string): Promise<void> => {
    const { page } = visit;
    await page.getByLabel('Statement').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };
  const run = async (text: string): Promise<void> => {
    await type(text);
    await visit.page.keyboard.press('Control+Enter');
  };

  test('a statement gives a table', async () => {
    const { page } = visit;
    await run('SELECT celsius FROM room GROUP BY "name"');
    const table = page.getByRole('group', { name: 'Rows of room' });
    await table.waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['time', 'celsius']);
    expect(await table.getByRole('cell').allTextContents()).toEqual([
      '2023-11-14T22:13:20Z',
      '21.5',
    ]);
    expect(await table.locator('caption').textContent()).toBe('room name=kitchen ');
  });

  test('long integers keep all their digits', async () => {
    await run('SELECT count FROM big');
    await visit.page.getByRole('cell', { name: '9223372036854775807' }).waitFor();
  });

  test('a wrong statement shows where it is wrong, while it is written and when it was run', async () => {
    const { page } = visit;
    await run('SELECT celsius FORM room');
    const caret = page.locator('pre.caret');
    await caret.waitFor();
    const [line, mark = ''] = ((await caret.textContent()) ?? '').split('\n');
    expect(line).toBe('SELECT celsius FORM room');
    expect(mark.indexOf('^')).toBe('SELECT celsius '.length);
    await page.locator('.cm-lintRange-error', { hasText: 'FORM' }).waitFor();
  });

  test('each of several statements has its own answer, an error among them too', async () => {
    const { page } = visit;
    await run('SELECT celsius FROM room; SELECT count FROM big; SELECT maen(celsius) FROM room');
    await page.getByText('did you mean mean()?').waitFor();
    await page.getByRole('group', { name: 'Rows of room' }).waitFor();
    await page.getByRole('group', { name: 'Rows of big' }).waitFor();
  });

  test('names of the database are completed', async () => {
    const { page } = visit;
    await type('SELECT mean(celsius) FROM ');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /room/ }).click();
    expect(await page.getByLabel('Statement').textContent()).toBe('SELECT mean(celsius) FROM room');
  });

  test('has no fault that axe finds, in both themes and at 360 pixels', async () => {
    await run('SELECT celsius FROM room');
    await visit.page.getByRole('group', { name: 'Rows of room' }).waitFor();
    await visit.inspect('explore');
    expect(visit.faults).toEqual([]);
  });
});
