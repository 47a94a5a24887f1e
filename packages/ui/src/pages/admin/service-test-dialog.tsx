// Tests a service with the current configuration.
import { useSignal } from '@preact/signals';
import type { ServiceTestResult } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { OptionField } from '../../options/option-field.tsx';
import type { Typed } from '../../options/config-change.ts';
import { printOption, readOption } from '../../options/option-text.ts';
import { texts } from '../../texts/texts.ts';
import type { ConfigRow } from './engine-config.tsx';
import { Loaded } from './statements.tsx';

const t = texts.config;

/** Default arguments of a test. */
type Defaults = Readonly<Record<string, unknown>>;

type TestField = { readonly name: string; readonly type: string; readonly text: string };

export function ServiceTestDialog({
  row: { label, section, element },
  onClose,
}: {
  readonly row: ConfigRow;
  readonly onClose: () => void;
}) {
  const found = useResource(async () => {
    const [test] = await engine.serviceTests(section);
    return test?.options ?? {};
  }, [section]);
  const typed = useSignal<Typed>({});
  const result = useSignal<ServiceTestResult | undefined>(undefined);
  const isBusy = useSignal(false);
  const fieldsOf = (defaults: Defaults): readonly TestField[] =>
    fieldsOfTest(defaults, element.element, typed.value);
  const run = async (defaults: Defaults): Promise<void> => {
    isBusy.value = true;
    result.value = undefined;
    const given = fieldsOf(defaults).map(
      ({ name, type, text }) => [name, readOption({ type }, text)] as const,
    );
    try {
      result.value = await engine.testService(section, Object.fromEntries(given));
    } catch (error) {
      result.value = { success: false, message: problemOf(error).message };
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={t.testOf(label)} onClose={onClose}>
      <Loaded resource={found}>
        {(defaults) => (
          <form
            class="form"
            onSubmit={(event) => {
              event.preventDefault();
              void run(defaults);
            }}
          >
            <p class="muted">{t.testHint}</p>
            {fieldsOf(defaults).map(({ name, type, text }) => (
              <OptionField
                key={name}
                name={name}
                row={{ type, doc: '' }}
                hint={type === 'boolean' ? name : undefined}
                value={text}
                onInput={(next) => (typed.value = { ...typed.value, [name]: next })}
              />
            ))}
            {result.value === undefined ? null : result.value.success ? (
              <Notice kind="good">{t.testWorked}</Notice>
            ) : (
              <Notice kind="bad">{t.testFailed(result.value.message)}</Notice>
            )}
            <Button kind="primary" type="submit" isBusy={isBusy.value}>
              {t.testDo}
            </Button>
          </form>
        )}
      </Loaded>
    </Dialog>
  );
}

/** Names of the option by which tests name an element of a list. */
const ELEMENT_OPTIONS = ['cluster', 'id', 'endpoint', 'workspace', 'broker-name', 'name'];

/** The default arguments overridden by the typed ones, for the element whose button was pressed. */
function fieldsOfTest(defaults: Defaults, element: string, typed: Typed): readonly TestField[] {
  const about = ELEMENT_OPTIONS.find((name) => name in defaults);
  return Object.entries(defaults).map(([name, value]) => {
    const type = typeOf(value);
    const given = name === about && element !== '' ? element : printOption(value, type);
    return { name, type, text: typed[name] ?? given };
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value))
    return value.every((each) => typeof each === 'string') ? 'strings' : 'json';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'float';
  return typeof value === 'object' && value !== null ? 'json' : 'string';
}
