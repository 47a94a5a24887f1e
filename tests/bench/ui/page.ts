// The web application: bytes of the first view, time to its first paint, and time of a frame while
// a chart of 500,000 points is moved and zoomed.
import { gzipSync } from 'node:zlib';

import {
  BROWSER_ARGUMENTS,
  programPath,
  query,
  removeDirectory,
  startTidemark,
  write,
} from '@tidemark/testkit';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

const POINTS = 500_000;
const POINTS_PER_BODY = 100_000;
const VISITS = 5;
const FRAMES = 300;
/** Each halves or doubles what is shown: from everything to a thirtieth, and back. */
const ZOOM_STEPS = 5;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/**
 * Bytes as they travel, and milliseconds until something is painted, of a browser that knows
 * nothing yet.
 */
async function firstView(browser: Browser, url: string): Promise<readonly [number, number]> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(`${url}/ui/`)) bodies.push(response.body());
  });
  await page.goto(`${url}/ui/`);
  await page.locator('main h1').waitFor();
  const paintMs = await page.evaluate(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  const sizeBytes = (await Promise.all(bodies)).reduce(
    (sum, body) => sum + gzipSync(body).length,
    0,
  );
  await context.close();
  return [sizeBytes, Number(paintMs)];
}

/**
 * Milliseconds between frames while the chart is dragged to and fro, a step in each frame: none of
 * them has nothing to do.
 */
async function framesWhilePanning(page: Page): Promise<readonly number[]> {
  const box = await page.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the chart is not shown');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.keyboard.down('Shift');
  await page.mouse.move(x, y);
  await page.mouse.down();
  const frames = await page.evaluate(`new Promise((done) => {
    const frames = [];
    (function next(before) {
      requestAnimationFrame((now) => {
        frames.push(now - before);
        if (frames.length > ${FRAMES}) return done(frames);
        const clientX = ${x} + Math.round(Math.sin(frames.length / 10) * 200);
        document.dispatchEvent(new MouseEvent('mousemove', { clientX, clientY: ${y} }));
        next(now);
      });
    })(performance.now());
  })`);
  await page.mouse.up();
  await page.keyboard.up('Shift');
  return (frames as readonly number[]).slice(5);
}

/** The same while keys zoom into the chart and out of it again. */
async function framesWhileZooming(page: Page): Promise<readonly number[]> {
  const frames = await page.evaluate(`new Promise((done) => {
    const frames = [];
    const chart = document.querySelector('.chart-plot');
    (function next(before) {
      requestAnimationFrame((now) => {
        frames.push(now - before);
        if (frames.length > ${FRAMES}) return done(frames);
        const key = frames.length % ${ZOOM_STEPS * 2} < ${ZOOM_STEPS} ? '+' : '-';
        chart.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        next(now);
      });
    })(performance.now());
  })`);
  return (frames as readonly number[]).slice(5);
}

function printFrames(what: string, frames: readonly number[]): void {
  const sorted = frames.toSorted((a, b) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.95)] ?? NaN;
  console.log(
    `frame while ${what.padEnd(10)}median ${median(frames).toFixed(1)} ms, 95 % ${late.toFixed(1)} ms, ${frames.length} frames`,
  );
}

const server = await startTidemark();
const browser = await chromium.launch({
  executablePath: programPath('chromium') ?? '',
  args: [...BROWSER_ARGUMENTS],
});
try {
  const views = [];
  for (let i = 0; i < VISITS; i++) views.push(await firstView(browser, server.ui));
  console.log(`first view            ${(views[0]?.[0] ?? 0) / 1000} kB gzipped`);
  console.log(`first paint, median   ${median(views.map(([, ms]) => ms)).toFixed(0)} ms`);

  await query(server.tsdb, 'CREATE DATABASE bench');
  for (let start = 0; start < POINTS; start += POINTS_PER_BODY) {
    const lines = Array.from({ length: POINTS_PER_BODY }, (_, i) => {
      const second = start + i;
      return `wave value=${(Math.sin(second / 5000) * 10 + Math.sin(second * 7)).toFixed(3)} ${second}`;
    });
    await write(server.tsdb, 'bench', lines.join('\n'), { precision: 's' });
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${server.ui}/ui/explore?db=bench&view=chart&q=SELECT+value+FROM+wave`);
  const more = page.getByRole('button', { name: 'More rows' });
  await page.locator('.u-over').waitFor();
  while ((await more.count()) > 0) {
    const before = await page.getByText(/rows ·/).textContent();
    await more.click();
    await page.getByText(before ?? '', { exact: true }).waitFor({ state: 'detached' });
  }
  console.log(`chart of              ${(await page.getByText(/rows ·/).textContent()) ?? ''}`);
  printFrames('panning', await framesWhilePanning(page));
  printFrames('zooming', await framesWhileZooming(page));
} finally {
  await browser.close();
  await server.stop();
  await removeDirectory(server.directory);
}
