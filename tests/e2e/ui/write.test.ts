// Write: points by hand and as a table, checked before they are sent.
import { hasPrograms, query } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page to write', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    await query(visit.server.tsdb, 'CREATE DATABASE house');
    await query(visit.server.tsdb, 'CREATE DATABASE other');
    await visit.show('write?db=house');
  }, 60_000);
  afterAll(() => visit.close());

  test('lines are looked at while they are typed, and written', async () => {
    const { page } = visit;
    await page.getByLabel('Time precision').selectOption('s');
    await page
      .getByRole('textbox', { name: 'Line protocol' })
      .fill(
        'room,name=a celsius=21.5 1700000000\nroom,name=a celsius=\nroom,name=b celsius=20 1700000001',
      );
    await page.getByText('2 points of room. 1 line is invalid').waitFor();
    await page.getByRole('row', { name: /^2 missing field value/ }).waitFor();
    await visit.inspect('write');
    await page.getByRole('button', { name: 'Write 2 points into house' }).click();
    await page.getByText('2 points written, 1 line rejected.').waitFor();
    const [series] = await query(visit.server.tsdb, 'SELECT count(celsius) FROM room', 'house');
    expect(series?.values?.[0]?.[1]).toBe(2);
  });

  test('lines that the database refuses are shown one by one', async () => {
    const { page } = visit;
    await page
      .getByRole('textbox', { name: 'Line protocol' })
      .fill('room,name=a celsius=1 1700000005\nroom,name=a celsius="warm" 1700000006');
    await page.getByRole('button', { name: 'Write 2 points into house' }).click();
    await page
      .getByRole('group', { name: 'Rejected lines' })
      .getByText(/field type conflict/)
      .waitFor();
  });

  test('a file is chosen or dropped, and shows as what it is', async () => {
    const { page } = visit;
    const lines = page.getByRole('textbox', { name: 'Line protocol' });
    await page.locator('input[type=file]').setInputFiles({
      name: 'rooms.lp',
      mimeType: 'text/plain',
      buffer: Buffer.from('room,name=file celsius=1 1700000010\n'),
    });
    await expect.poll(() => lines.inputValue()).toContain('name=file');
    await page.getByRole('button', { name: 'Write 1 point into house' }).click();
    await page.getByText('1 point written.', { exact: true }).waitFor();
    // The browser of the tests has no files of its own to drag.
    const dropped = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      const text = 'time,room,celsius\\n2024-01-01T00:00:00Z,attic,3\\n';
      data.items.add(new File([text], 'rooms.csv', { type: 'text/csv' }));
      return data;
    })()`);
    await lines.dispatchEvent('dragover', { dataTransfer: dropped });
    await lines.dispatchEvent('drop', { dataTransfer: dropped });
    const table = page.getByRole('textbox', { name: 'CSV' });
    await expect.poll(() => table.inputValue()).toContain('attic');
    await page.getByLabel('Measurement').fill('dropped');
    await page.getByRole('button', { name: 'Write 1 point into house' }).click();
    await page.getByText('1 point written.', { exact: true }).waitFor();
    const [series] = await query(visit.server.tsdb, 'SELECT * FROM dropped', 'house');
    expect(series?.values).toEqual([['2024-01-01T00:00:00Z', 3, 'attic']]);
  });

  test('a table becomes points by its columns', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'CSV' }).click();
    await page
      .getByRole('textbox', { name: 'CSV' })
      .fill(
        'time,room,celsius,note\n2024-01-01T00:00:00Z,kitchen,21.5,warm\n2024-01-01T00:01:00Z,cellar,12,"cold, dark"',
      );
    await page.getByLabel('Measurement').fill('climate');
    await page.getByLabel('Column note').selectOption('string');
    await page.getByText('climate,room=kitchen celsius=21.5,note="warm" 1704067200').waitFor();
    await visit.inspect('write-csv');
    await page.getByRole('button', { name: 'Write 2 points into house' }).click();
    await page.getByText('2 points written.', { exact: true }).waitFor();
    const [series] = await query(visit.server.tsdb, 'SELECT * FROM climate', 'house');
    expect(series?.values).toEqual([
      ['2024-01-01T00:00:00Z', 21.5, 'warm', 'kitchen'],
      ['2024-01-01T00:01:00Z', 12, 'cold, dark', 'cellar'],
    ]);
    expect(visit.faults).toEqual([]);
  });
});
