// The command palette: finds every command, part of a page, setting and document by typing.
import { signal, useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';

import { useResource } from '../api/use-resource.ts';
import { Dialog } from '../design/dialog.tsx';
import { texts } from '../texts/texts.ts';
import { commands } from './commands.ts';
import type { Command } from './commands.ts';

export const isPaletteOpen = signal(false);

/**
 * Whether the text contains all letters of the search in order; the earlier and closer together,
 * the smaller the distance.
 */
function distance(text: string, search: string): number | undefined {
  const lower = text.toLowerCase();
  let at = -1;
  let gaps = 0;
  for (const letter of search.toLowerCase().replaceAll(' ', '')) {
    const next = lower.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    gaps += next - at - 1;
    at = next;
  }
  return gaps;
}

/** Found by other words than those of the label: after all that are found by it. */
const BY_ABOUT = 10_000;

/** Whether every word of the search is in the text. */
const hasWords = (text: string, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

function rankOf({ label, group, about = '' }: Command, search: string): number | undefined {
  const own = `${label} ${group}`;
  if (hasWords(own, search)) return own.toLowerCase().indexOf(search.toLowerCase());
  if (hasWords(`${own} ${about}`, search)) return BY_ABOUT;
  const gaps = distance(own, search);
  return gaps === undefined ? undefined : BY_ABOUT + 1 + gaps;
}

/** More are not looked through. */
const SHOWN_MAX = 50;

function matching(search: string, found: readonly Command[]): readonly Command[] {
  return [...commands.value, ...found]
    .map((command) => ({ command, rank: rankOf(command, search.trim()) }))
    .filter(({ rank }) => rank !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .slice(0, SHOWN_MAX)
    .map(({ command }) => command);
}

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const search = useSignal('');
  const at = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  // Without a search, only commands are listed.
  const more = useResource(async (signal) => (await import('./finds.ts')).loadFinds(signal), []);
  const found = matching(search.value, search.value.trim() === '' ? [] : (more.value.value ?? []));
  const chosen = Math.min(at.value, found.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const run = (command: Command | undefined): void => {
    close();
    command?.run();
  };
  return (
    <Dialog title={texts.palette.title} onClose={close}>
      <input
        class="input"
        type="text"
        role="combobox"
        autofocus
        autocomplete="off"
        spellcheck={false}
        aria-label={texts.palette.search}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
        placeholder={texts.palette.search}
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0) {
            event.preventDefault();
            at.value = Math.max(0, Math.min(found.length - 1, chosen + step));
          } else if (event.key === 'Enter') {
            event.preventDefault();
            run(found[chosen]);
          }
        }}
      />
      {found.length === 0 ? (
        <p class="muted" role="status">
          {texts.palette.nothing}
        </p>
      ) : null}
      <ul
        ref={list}
        class="palette-list"
        role="listbox"
        id={`${id}-list`}
        aria-label={texts.palette.title}
      >
        {found.map((command, index) => (
          <li
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen ? 'true' : 'false'}
            onClick={() => run(command)}
          >
            {command.label}
            <span class="place">
              {command.group} {command.keys === undefined ? null : <kbd>{command.keys}</kbd>}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
