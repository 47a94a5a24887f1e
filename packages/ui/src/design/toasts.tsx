// Short messages about completed actions. Failures stay until closed.
import { signal } from '@preact/signals';

import { texts } from '../texts/texts.ts';
import { IconButton } from './button.tsx';

type Toast = { readonly id: number; readonly kind: 'good' | 'bad'; readonly text: string };

const SHOWN_MS = 5000;
const SHOWN_MAX = 4;

const shown = signal<readonly Toast[]>([]);
let lastId = 0;

function remove(id: number): void {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

/** Shows a message: a success for five seconds, a failure until it is closed. */
export function toast(text: string, kind: 'good' | 'bad' = 'good'): void {
  const id = ++lastId;
  shown.value = [...shown.value, { id, kind, text }].slice(-SHOWN_MAX);
  if (kind === 'good') window.setTimeout(() => remove(id), SHOWN_MS);
}

/** The place of messages; once in the application. */
export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label={texts.common.messages} aria-live="polite">
      {shown.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <p>{text}</p>
          <IconButton isSmall label={texts.common.close} icon="close" onClick={() => remove(id)} />
        </div>
      ))}
    </div>
  );
}
