// A form for an element of the engine's configuration: fields by type, secrets never shown, and
// overrides can be reset to the file.
import { useSignal } from '@preact/signals';
import type { ConfigChange, ConfigOption } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Badge, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { OptionField } from '../../options/option-field.tsx';
import { changeOf, typedOf } from '../../options/config-change.ts';
import { texts } from '../../texts/texts.ts';
import type { ConfigRow } from './engine-config.tsx';

const t = texts.config;

export function ElementDialog({
  row: { label, section, element, description },
  onClose,
  onSaved,
}: {
  readonly row: ConfigRow;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const before = typedOf(element, description.options);
  const typed = useSignal(before);
  /** Options to reset to the file. */
  const taken = useSignal<ReadonlySet<string>>(new Set());
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const save = async (change: ConfigChange): Promise<void> => {
    isBusy.value = true;
    problem.value = '';
    try {
      await engine.changeConfig({ section, element: element.element }, change);
      toast(t.saved(label));
      onSaved();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
    isBusy.value = false;
  };
  const change = changeOf(description.options, { before, typed: typed.value, taken: taken.value });
  const options = Object.entries(description.options).filter(
    ([name]) => name !== description.elementKey,
  );
  return (
    <Dialog title={t.changeOf(label)} isWide onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (change === undefined) problem.value = t.needsValue;
          else void save(change);
        }}
      >
        <p class="muted">{description.doc}</p>
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        <div class="form-grid">
          {options.map(([name, option]) => {
            const isTaken = taken.value.has(name);
            return (
              <div key={name} class="stack">
                <OptionField
                  name={name}
                  row={option}
                  hint={<Hint name={name} option={option} />}
                  value={typed.value[name] ?? ''}
                  secret={secretOf(option, element.options[name])}
                  onInput={(text) => {
                    typed.value = { ...typed.value, [name]: text };
                    taken.value = new Set([...taken.value].filter((each) => each !== name));
                  }}
                />
                {!element.overridden.includes(name) ? null : isTaken ? (
                  <span class="small muted">{t.fromFile}</span>
                ) : (
                  <div class="row">
                    <Badge kind="accent">{t.changed}</Badge>
                    <Button
                      isSmall
                      onClick={() => {
                        taken.value = new Set([...taken.value, name]);
                        typed.value = { ...typed.value, [name]: before[name] ?? '' };
                      }}
                    >
                      {t.back(name)}
                    </Button>
                  </div>
                )}
              </div>
            );
          })}
        </div>
        <div class="row">
          <span class="grow" />
          <Button
            kind="primary"
            type="submit"
            isBusy={isBusy.value}
            disabled={change !== undefined && Object.keys(change).length === 0}
          >
            {t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The only label of a check box. */
function Hint({ name, option }: { readonly name: string; readonly option: ConfigOption }) {
  if (option.type !== 'boolean') return <>{option.doc}</>;
  return (
    <>
      <code>{name}</code> {option.doc}
    </>
  );
}

function secretOf({ isSecret }: ConfigOption, value: unknown): string | undefined {
  if (!isSecret) return undefined;
  return value === true ? t.secretIsSet : t.secretIsNotSet;
}
