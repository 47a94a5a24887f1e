// The design system's page: every component in every state, by mouse and by keyboard.
import { readdirSync, readFileSync } from 'node:fs';

import { hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const UI = new URL('../../../packages/ui/src/', import.meta.url);

test('the design page has every component', () => {
  const page = readFileSync(new URL('pages/design/page.tsx', UI), 'utf8');
  const components = readdirSync(new URL('design/', UI))
    .filter((name) => name.endsWith('.tsx'))
    .flatMap((name) => {
      const source = readFileSync(new URL(`design/${name}`, UI), 'utf8');
      return [...source.matchAll(/^export function ([A-Z]\w+)/gm)].map(([, found]) => found);
    });

  expect(components.length).toBeGreaterThan(20);
  // Messages are drawn by the frame of all pages; the page raises them.
  const used = (name = ''): boolean =>
    new RegExp(name === 'Toasts' ? '\\btoast\\(' : `<${name}\\b`).test(page);
  expect(components.filter((name) => !used(name))).toEqual([]);
});

describe.skipIf(!hasPrograms('chromium'))('the design page', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    await visit.show('design');
  }, 60_000);
  afterAll(() => visit.close());

  test('has no fault that axe finds, in both themes and at 360 pixels', async () => {
    await visit.page.locator('.cm-editor').nth(1).waitFor();
    await visit.page.locator('.uplot canvas').waitFor();
    await visit.inspect('design');
  });

  test('a dialog takes the focus, closes on Escape and gives it back', async () => {
    const { page } = visit;
    const button = page.getByRole('button', { name: 'Dialog', exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'A dialog' }).waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Dialog');
  });

  test('a menu opens, moves by arrow keys and acts', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Delete');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByText('Renamed').waitFor();
  });

  test('the palette finds commands and leads to pages; keys do, too', async () => {
    const { page } = visit;
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search commands').fill('keybo');
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Keyboard shortcuts' }).waitFor();
    await page.getByRole('cell', { name: 'g h' }).waitFor();
    await visit.inspect('shortcuts');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/');
  });

  test('nothing was asked elsewhere, refused by the policy, or thrown', () => {
    expect(visit.faults).toEqual([]);
  });
});
