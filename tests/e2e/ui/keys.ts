// A user without a pointer: reaches controls with Tab, and uses them with keys alone.
import type { Locator, Page } from 'playwright-core';

/** Controls of the longest page and those of the frame; beyond it, a control cannot be reached. */
const TABS_MAX = 150;

export class Keys {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Moves the focus on (`back`: to what is before) until it is on the control. */
  async reach(control: Locator, direction: 'on' | 'back' = 'on'): Promise<void> {
    await control.waitFor();
    for (let i = 0; i <= TABS_MAX; i++) {
      // A page that is drawn again has other elements: the control is looked up each time.
      if (await control.evaluate((element) => element.ownerDocument.activeElement === element)) {
        return;
      }
      // In an editor Tab indents. Escape closes its suggestions, and leaves it.
      for (let open = 0; open < 2 && (await this.#isInEditor()); open++) {
        await this.#page.keyboard.press('Escape');
      }
      await this.#page.keyboard.press(direction === 'on' ? 'Tab' : 'Shift+Tab');
    }
    throw new Error(`cannot be reached with Tab: ${control}`);
  }

  /** Reaches a button, a link or a menu, and presses it. */
  async press(control: Locator, direction?: 'on' | 'back'): Promise<void> {
    await this.reach(control, direction);
    await this.#page.keyboard.press('Enter');
  }

  /** Reaches a check box and switches it. */
  async toggle(control: Locator): Promise<void> {
    await this.reach(control);
    await this.#page.keyboard.press('Space');
  }

  /** Reaches a field or an editor (`back`: of those before), and replaces its text. */
  async type(field: Locator, text: string, direction?: 'on' | 'back'): Promise<void> {
    await this.reach(field, direction);
    await this.#page.keyboard.press('Control+a');
    await this.#page.keyboard.type(text);
  }

  /** Reaches a list of choices, and chooses by the beginning of a label. */
  async choose(list: Locator, label: string): Promise<void> {
    await this.reach(list);
    await this.#page.keyboard.type(label);
  }

  #isInEditor(): Promise<unknown> {
    return this.#page.evaluate("document.activeElement.closest('.cm-editor') !== null");
  }

  /** Presses keys where the focus is. */
  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }
}
