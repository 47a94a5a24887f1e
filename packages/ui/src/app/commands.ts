// Keyboard commands of the application, and of the current page.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export type Command = {
  readonly id: string;
  readonly label: string;
  /** The group under which the palette and the page of shortcuts list it. */
  readonly group: string;
  /** `g e` are two keys in sequence; `Ctrl+K` are pressed together (Cmd on a Mac). */
  readonly keys?: string | undefined;
  /** Further words by which the palette finds it. */
  readonly about?: string | undefined;
  readonly run: () => void;
};

export const commands = signal<readonly Command[]>([]);

/** Offers commands while a component is shown. */
export function useCommands(offered: readonly Command[]): void {
  const latest = useRef(offered);
  latest.current = offered;
  const ids = offered.map(({ id }) => id).join(' ');
  useEffect(() => {
    const added = latest.current.map((command): Command => ({
      ...command,
      run: () => latest.current.find(({ id }) => id === command.id)?.run(),
    }));
    commands.value = [...commands.peek(), ...added];
    return () => {
      commands.value = commands.peek().filter((command) => !added.includes(command));
    };
  }, [ids]);
}

const SEQUENCE_MS = 1200;
let typed: { readonly key: string; readonly time: number } | undefined;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

function nameOf(event: KeyboardEvent): string {
  const isControl = event.ctrlKey || event.metaKey;
  const key = event.key.length === 1 && isControl ? event.key.toUpperCase() : event.key;
  return `${isControl ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${key}`;
}

/**
 * Runs the command of the pressed keys. Plain letters are commands only outside of fields and
 * dialogs.
 */
export function onGlobalKey(event: KeyboardEvent): void {
  const name = nameOf(event);
  const isPlain = !name.includes('+');
  if (event.defaultPrevented || event.isComposing) return;
  if (isPlain && (isTyping(event.target) || document.querySelector('dialog[open]') !== null))
    return;
  const isSecond = typed !== undefined && event.timeStamp - typed.time < SEQUENCE_MS;
  const sequence = isSecond && typed !== undefined ? `${typed.key} ${name}` : name;
  typed = isPlain ? { key: name, time: event.timeStamp } : undefined;
  const found = commands.peek().findLast(({ keys }) => keys === sequence || keys === name);
  if (found === undefined) return;
  event.preventDefault();
  typed = undefined;
  found.run();
}
