// Fields for the vars of a template.
import type { TaskVar } from '@tidemark/client';

import { TextField } from '../../design/field.tsx';
import { printVar, readVar } from './var-text.ts';

/** Texts of vars as typed. */
export type TypedVars = Readonly<Record<string, string>>;

type Vars = Readonly<Record<string, TaskVar>>;

export function VarsFields({
  vars,
  given,
  onInput,
}: {
  /** The template's vars: their types, descriptions and defaults. */
  readonly vars: Vars;
  readonly given: TypedVars;
  readonly onInput: (given: TypedVars) => void;
}) {
  return (
    <>
      {Object.entries(vars).map(([name, { type, value, description = '' }]) => (
        <TextField
          key={name}
          label={`${name} (${type})`}
          hint={description === '' ? undefined : description}
          placeholder={printVar(type, value)}
          value={given[name] ?? ''}
          onInput={(text) => onInput({ ...given, [name]: text })}
        />
      ))}
    </>
  );
}

/** The vars of a task; those with an empty text keep the template's default. */
export function readVars(vars: Vars, given: TypedVars): Vars {
  const read = Object.entries(given)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, readVar(vars[name]?.type ?? 'string', text)] as const);
  return Object.fromEntries(read);
}

/** The vars of a task as typed texts. */
export function printVars(vars: Vars): TypedVars {
  return Object.fromEntries(
    Object.entries(vars).map(([name, { type, value }]) => [name, printVar(type, value)]),
  );
}
