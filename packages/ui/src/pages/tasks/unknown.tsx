// Checks the names of a script while it is typed, and lists those that the database does not have.
import type { ReadonlySignal, Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/states.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { readDbrps } from './dbrps.ts';
import type { Unknown } from './unknown-names.ts';

const t = texts.tasks.unknown;

const WAIT_MS = 500;

const NOTHING: Unknown = { dbrps: [], script: [] };

export function useUnknownNames(
  script: Signal<string>,
  dbrps: Signal<string>,
): ReadonlySignal<Unknown> {
  const found = useSignal(NOTHING);
  const text = script.value;
  const typed = dbrps.value;
  useEffect(() => {
    let isOld = false;
    const check = async (): Promise<void> => {
      const { unknownNames } = await import('./unknown-names.ts');
      const result = await unknownNames(text, readDbrps(typed), schemaSource);
      if (!isOld) found.value = result;
    };
    const timer = window.setTimeout(() => {
      if (services.tsdb.peek().state === 'absent') return;
      // Names are unknown while the database does not answer, or to users who may not read it.
      check().catch(() => {
        if (!isOld) found.value = NOTHING;
      });
    }, WAIT_MS);
    return () => {
      isOld = true;
      window.clearTimeout(timer);
    };
  }, [text, typed]);
  return found;
}

export function UnknownNames({
  found: { dbrps, script },
  onChoose,
}: {
  readonly found: Unknown;
  readonly onChoose: (start: number, end: number) => void;
}) {
  if (dbrps.length + script.length === 0) return null;
  return (
    <Notice kind="warn">
      {t.title}
      <ul>
        {dbrps.map((message) => (
          <li key={message}>{message}</li>
        ))}
        {script.map(({ start, end, message }) => (
          <li key={`${start} ${message}`}>
            {message}{' '}
            <Button kind="quiet" isSmall onClick={() => onChoose(start, end)}>
              {t.show}
            </Button>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
