// A form for a handler: its chain of actions, with the options of each kind.
import { useSignal } from '@preact/signals';
import type { Handler, HandlerAction } from '@tidemark/client';
import type { HandlerDefinition } from '@tidemark/pipeline';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Failure, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { OptionField } from '../../options/option-field.tsx';
import { printOption, readOption } from '../../options/option-text.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.alerts;

type Definition = Pick<HandlerDefinition, 'kind' | 'doc' | 'options'>;

/** An action with its options as typed. */
type Draft = { readonly kind: string; readonly options: Readonly<Record<string, string>> };

/** All kinds of actions; the script editor loads the same table. */
async function kinds(): Promise<readonly Definition[]> {
  const { HANDLER_DEFINITIONS } = await import('@tidemark/pipeline');
  return HANDLER_DEFINITIONS;
}

function draftOf({ kind, options = {} }: HandlerAction): Draft {
  const typed = Object.entries(options).map(([name, value]) => [name, printOption(value)] as const);
  return { kind, options: Object.fromEntries(typed) };
}

/** Actions of a handler, in either of its notations. */
export const actionsOf = ({ actions, kind, options }: Handler): readonly HandlerAction[] =>
  actions ?? (kind === undefined ? [] : [{ kind, options }]);

function actionOf({ kind, options }: Draft, definitions: readonly Definition[]): HandlerAction {
  const table = definitions.find((each) => each.kind === kind)?.options ?? {};
  const read = Object.entries(options).flatMap(([name, text]) => {
    const row = table[name];
    const value = row === undefined ? text : readOption(row, text);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { kind, options: Object.fromEntries(read) };
}

/** `handler` is the one to change; without it a new one is created. */
export function HandlerForm({
  topic,
  handler,
  onClose,
  onSaved,
}: {
  readonly topic: string;
  readonly handler: Handler | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const found = useResource(kinds, []);
  const id = useSignal(handler?.id ?? '');
  const place = useSignal(topic);
  const match = useSignal(handler?.match ?? '');
  const actions = useSignal<readonly Draft[]>(
    handler === undefined
      ? [
          { kind: 'stateChangesOnly', options: {} },
          { kind: 'post', options: {} },
        ]
      : actionsOf(handler).map(draftOf),
  );
  const problem = useSignal('');
  const definitions = found.value.value;
  const change = (at: number, next: Draft | undefined): void => {
    actions.value = actions.value.flatMap((each, i) => {
      if (i !== at) return [each];
      return next === undefined ? [] : [next];
    });
  };
  const save = async (): Promise<void> => {
    const spec: Handler = {
      id: id.value.trim(),
      actions: actions.value.map((each) => actionOf(each, definitions ?? [])),
      match: match.value.trim(),
    };
    try {
      const saved =
        handler === undefined
          ? await engine.createHandler(place.value.trim(), spec)
          : await engine.replaceHandler(place.value, handler.id, spec);
      toast(t.saved(saved.id));
      onSaved();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
  };
  return (
    <Dialog
      title={handler === undefined ? t.handlerNew : t.handlerOf(handler.id, topic)}
      isWide
      onClose={onClose}
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        {(handler?.warnings ?? []).map(({ message, hint }) => (
          <Notice key={message} kind="warn">
            {message}
            <p class="muted">{hint}</p>
          </Notice>
        ))}
        <div class="form-grid">
          <TextField
            label={t.id}
            required
            autofocus
            value={id.value}
            onInput={(text) => (id.value = text)}
          />
          <TextField
            label={t.topic}
            required
            disabled={handler !== undefined}
            value={place.value}
            onInput={(text) => (place.value = text)}
          />
        </div>
        <TextField
          label={t.match}
          hint={t.matchHint}
          value={match.value}
          onInput={(text) => (match.value = text)}
        />
        {definitions === undefined ? (
          found.error.value === undefined ? (
            <Loading rows={4} />
          ) : (
            <Failure error={found.error.value} onRetry={() => void found.reload()} />
          )
        ) : (
          actions.value.map((each, i) => (
            <Action
              key={i}
              number={i + 1}
              draft={each}
              definitions={definitions}
              onChange={(next) => change(i, next)}
            />
          ))
        )}
        <div class="row">
          <Button
            icon="plus"
            onClick={() => (actions.value = [...actions.value, { kind: 'log', options: {} }])}
          >
            {t.addAction}
          </Button>
          <span class="grow" />
          <Button kind="primary" type="submit" disabled={actions.value.length === 0}>
            {t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Action({
  number,
  draft,
  definitions,
  onChange,
}: {
  readonly number: number;
  readonly draft: Draft;
  readonly definitions: readonly Definition[];
  readonly onChange: (next: Draft | undefined) => void;
}) {
  const definition = definitions.find(({ kind }) => kind === draft.kind);
  const set = (name: string, text: string): void =>
    onChange({ ...draft, options: { ...draft.options, [name]: text } });
  return (
    <fieldset class="action stack">
      <legend>{t.action(number)}</legend>
      <div class="row">
        <SelectField
          label={t.chooseKind}
          hint={definition?.doc}
          value={draft.kind}
          options={definitions.map(({ kind }) => kind)}
          onChange={(kind) => onChange({ kind, options: {} })}
        />
        <span class="grow" />
        <IconButton icon="trash" label={t.removeAction} onClick={() => onChange(undefined)} />
      </div>
      <div class="form-grid">
        {Object.entries(definition?.options ?? {}).map(([name, row]) => {
          return (
            <OptionField
              key={name}
              name={name}
              row={row}
              value={draft.options[name] ?? ''}
              onInput={(text) => set(name, text)}
            />
          );
        })}
      </div>
    </fieldset>
  );
}
