// Shared by tests of the web application: a browser with real services, and checks for every page.
import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { BROWSER_ARGUMENTS, programPath, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { StartOptions, Tidemark } from '@tidemark/testkit';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

/** `SCREENSHOTS=1` asks for pictures: each takes as long as looking for faults. */
const TAKES_SCREENSHOTS = process.env['SCREENSHOTS'] === '1';
const SCREENSHOTS = fileURLToPath(new URL('../../../build/screenshots/', import.meta.url));

/** Long enough for a machine that does much else, short enough to see which step it was. */
const WAIT_MS = 20_000;

const REFUSED = 'refused by the policy: ';

/**
 * Runs in the page: tells what its policy refuses. Where text in an editor is replaced, the browser
 * itself tries to keep its look by an attribute; no source is named then.
 */
const TELL_REFUSALS = `document.addEventListener('securitypolicyviolation', (event) => {
  const { effectiveDirective, sourceFile, blockedURI } = event;
  if (effectiveDirective === 'style-src-attr' && sourceFile === '') return;
  console.warn('${REFUSED}' + [effectiveDirective, blockedURI, sourceFile].join(' '));
})`;

/** One for all files of a worker: it ends with it. */
let browser: Promise<Browser> | undefined;

function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: programPath('chromium') ?? '',
    args: [...BROWSER_ARGUMENTS],
  });
  return browser;
}

/** The short text, which the browser reads in half of the time of `axe.source`. */
let axeText: Promise<string> | undefined;

function axe(): Promise<string> {
  axeText ??= readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  return axeText;
}

export type Theme = 'light' | 'dark';

/** Services, a browser, and a page of the application in it. */
export class Visit {
  server: Tidemark;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Faults invisible to a user: exceptions, policy violations, requests to elsewhere. */
  readonly faults: string[] = [];

  private constructor(server: Tidemark, context: BrowserContext, page: Page) {
    this.server = server;
    this.context = context;
    this.page = page;
    this.#watch(page);
  }

  #watch(page: Page): void {
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('console', (message) => {
      if (message.text().startsWith(REFUSED)) this.faults.push(message.text());
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isOwn = url.origin === this.server.ui || ['data:', 'blob:'].includes(url.protocol);
      if (!isOwn) this.faults.push(`request to ${url.href}`);
    });
  }

  /** Another page of the application beside the first one. */
  async another(path: string): Promise<Page> {
    const page = await this.context.newPage();
    this.#watch(page);
    await page.goto(`${this.server.ui}/ui/${path}`);
    await page.locator('main h1').waitFor();
    return page;
  }

  static async open(options: StartOptions = {}): Promise<Visit> {
    const [server, running] = await Promise.all([startTidemark(options), sharedBrowser()]);
    const context = await running.newContext({ viewport: { width: 1280, height: 800 } });
    await context.addInitScript(TELL_REFUSALS);
    return new Visit(server, context, await context.newPage());
  }

  async close(): Promise<void> {
    await this.context.close();
    // Its files are removed with it; tests of the services stop them in order.
    await this.server.kill();
    await removeDirectory(this.server.directory);
  }

  /**
   * Ends the services without notice and starts them again, on the same data and at the same
   * addresses.
   */
  async restart(whileDown: () => Promise<void>): Promise<void> {
    const { server } = this;
    await server.kill();
    await whileDown();
    const address = (url: string): string => new URL(url).host;
    const args = ['--tsdb-bind', address(server.tsdb), '--engine-bind', address(server.engine)];
    args.push('--ui-bind', address(server.ui));
    this.server = await startTidemark({ directory: server.directory, args });
  }

  /** Shows a page, by its address below `ui/`. */
  async show(path: string): Promise<void> {
    await this.page.goto(`${this.server.ui}/ui/${path}`);
    await this.page.locator('main h1').waitFor();
  }

  /** Keeps requests to these addresses waiting; what it returns lets them go on. */
  async hold(addresses: string): Promise<() => Promise<void>> {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await this.page.route(addresses, async (route) => {
      await held;
      await route.continue();
    });
    return async () => {
      goOn();
      await this.page.unrouteAll({ behavior: 'wait' });
    };
  }

  async setTheme(theme: Theme, page = this.page): Promise<void> {
    await page.emulateMedia({ colorScheme: theme });
  }

  /** Findings of axe for the current view; after a change of theme, only about colours. */
  async accessibilityFaults(
    what: 'all' | 'colours' = 'all',
    page = this.page,
  ): Promise<readonly string[]> {
    // Once for each document: the text of axe is long.
    if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await axe());
    const rules = what === 'all' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] };
    const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
    // The text runs in the page, where `axe` is.
    const found = (await page.evaluate(
      `axe.run(document, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => \`\${id}: \${nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).slice(0, 3).join(' | ')}\`))`,
    )) as string[];
    return found;
  }

  /** Fails for what axe finds in the current view, in both themes. */
  async inspectThemes(name: string, page = this.page): Promise<void> {
    for (const theme of ['dark', 'light'] as const) {
      await this.setTheme(theme, page);
      const what = theme === 'light' ? 'all' : 'colours';
      expect(await this.accessibilityFaults(what, page), `${name}, ${theme}`).toEqual([]);
    }
  }

  /** Texts that charts draw from the next view on: what is on a canvas is not in the document. */
  async drawnTexts(): Promise<() => Promise<readonly string[]>> {
    await this.page.addInitScript(`window.drawn = new Set();
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        drawn.add(text);
        return fillText.call(this, text, ...place);
      };`);
    return async () => (await this.page.evaluate('[...drawn]')) as readonly string[];
  }

  async takePicture(name: string, page = this.page): Promise<void> {
    if (!TAKES_SCREENSHOTS) return;
    await mkdir(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true, caret: 'initial' });
  }

  /**
   * Looks for faults that a browser can find in both themes: those of axe, and at 360 pixels
   * whether something sticks out. Takes a picture of each view where they are asked for.
   */
  async inspect(name: string, page = this.page): Promise<void> {
    if (TAKES_SCREENSHOTS) {
      for (const theme of ['light', 'dark'] as const) {
        await this.setTheme(theme, page);
        await this.takePicture(`${name}-${theme}`, page);
      }
    }
    await this.inspectThemes(name, page);
    await page.setViewportSize({ width: 360, height: 740 });
    await this.takePicture(`${name}-360`, page);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, `${name} is wider than 360 pixels`).toBeLessThanOrEqual(360);
    expect(await this.accessibilityFaults('all', page), `${name}, 360 pixels`).toEqual([]);
    await this.setTheme('light', page);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
}
