// The nodes of a script, in the order of their creation. A click leads to the position.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { texts } from '../../texts/texts.ts';

type Entry = { readonly name: string; readonly start: number; readonly end: number };

const WAIT_MS = 300;

export function Outline({
  script,
  onChoose,
}: {
  readonly script: Signal<string>;
  readonly onChoose: (start: number, end: number) => void;
}) {
  const entries = useSignal<readonly Entry[]>([]);
  const text = script.value;
  useEffect(() => {
    // Not updated while the user types.
    const timer = window.setTimeout(() => {
      const read = async (): Promise<void> => {
        const { buildPipeline } = await import('@tidemark/pipeline');
        const { pipeline } = buildPipeline(text);
        // With errors in the script, the last outline stays.
        if (pipeline === undefined) return;
        entries.value = pipeline.nodes.map(({ name, span }) => ({ name, ...span }));
      };
      // Without the parser there is no outline; the editor itself reports that it could not be
      // loaded.
      read().catch(() => undefined);
    }, WAIT_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  if (entries.value.length === 0) return null;
  return (
    <nav class="outline" aria-label={texts.tasks.outline}>
      {entries.value.map(({ name, start, end }) => (
        <button key={name} type="button" class="menu-item" onClick={() => onChoose(start, end)}>
          {name}
        </button>
      ))}
    </nav>
  );
}
