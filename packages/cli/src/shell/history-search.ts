// Ctrl-R: searches the history backwards for the typed text, as other shells do.
import type { Interface, Key } from 'node:readline';
import { clearLine, cursorTo } from 'node:readline';

/** The search text and the match; `entries` are newest first. */
export class HistorySearch {
  readonly #entries: readonly string[];
  #wanted = '';
  #at = 0;

  constructor(entries: readonly string[]) {
    this.#entries = entries;
  }

  get wanted(): string {
    return this.#wanted;
  }

  /** The match: the newest entry from the current position on; empty without one. */
  get found(): string {
    return this.#wanted === '' ? '' : (this.#entries[this.#at] ?? '');
  }

  type(text: string): void {
    this.#wanted += text;
    this.#seek(this.#at);
  }

  /** Removes the last character and searches from the newest entry again. */
  erase(): void {
    this.#wanted = [...this.#wanted].slice(0, -1).join('');
    this.#seek(0);
  }

  /** Moves to an older match; stays if there is none. */
  older(): void {
    const before = this.#at;
    this.#seek(before + 1);
    if (this.#at >= this.#entries.length) this.#at = before;
  }

  #seek(from: number): void {
    const wanted = this.#wanted.toLowerCase();
    let at = from;
    while (at < this.#entries.length && !this.#entries[at]?.toLowerCase().includes(wanted)) at++;
    this.#at = at;
  }
}

/** Called by `node:readline` for every key; meant to be replaced, as Node's own REPL does. */
type Keyboard = Interface & { _ttyWrite(text: string | undefined, key?: Key): void };

/**
 * Starts a search of `history()` on Ctrl-R; Enter runs the match, other keys edit it, Ctrl-G
 * cancels.
 */
export function addHistorySearch(
  readline: Interface,
  history: () => readonly string[],
  output: NodeJS.WritableStream,
): void {
  const keyboard = readline as Keyboard;
  const typed = keyboard._ttyWrite.bind(keyboard);
  let search: HistorySearch | undefined;
  const show = ({ wanted, found }: HistorySearch): void => {
    cursorTo(output, 0);
    clearLine(output, 0);
    output.write(`(search)'${wanted}': ${found.split('\n')[0] ?? ''}`);
  };
  const leave = (line: string): void => {
    search = undefined;
    cursorTo(output, 0);
    clearLine(output, 0);
    keyboard.write(null, { ctrl: true, name: 'e' });
    keyboard.write(null, { ctrl: true, name: 'u' });
    keyboard.prompt();
    keyboard.write(line);
  };
  // Without a key the text comes from `write`.
  keyboard._ttyWrite = (text, key = {}) => {
    if (search === undefined) {
      if (key.ctrl !== true || key.name !== 'r') return typed(text, key);
      search = new HistorySearch(history());
      return show(search);
    }
    const isText = text !== undefined && key.ctrl !== true && key.meta !== true && text >= ' ';
    if (key.ctrl === true && key.name === 'r') search.older();
    else if (key.name === 'backspace') search.erase();
    else if (key.ctrl === true && (key.name === 'g' || key.name === 'c')) return leave('');
    else if (isText && key.name !== 'escape' && text !== '\u007f') search.type(text);
    else {
      leave(search.found);
      if (key.name === 'return' || key.name === 'enter') typed(text, key);
      return undefined;
    }
    return show(search);
  };
}
