// Vars of the type `secret`: strings for the script that are never shown. Responses have a marker
// in their place; a definition that is sent back with the marker keeps the stored value.
import { InvalidRequest } from '@tidemark/core';
import type { Vars } from '@tidemark/pipeline';
import { HIDDEN, hideSecret, isReference } from '@tidemark/settings';
import { SECRET_LENGTH_MIN } from '../observability/redactor.ts';

/** Logs and errors are searched for every secret. A private key is shorter. */
const SECRET_LENGTH_MAX = 16_384;

/** Vars as they are shown; the same object if none is a secret. */
export function hideSecretVars(vars: Vars): Vars {
  return mapSecrets(vars, (_, value) => hideSecret(value));
}

/** Vars that a client sent back, with the stored secrets in place of markers. */
export function keepSecretVars(given: Vars, stored: Vars): Vars {
  return mapSecrets(given, (name, value) => {
    const before = stored.get(name)?.value;
    if (value === HIDDEN && before?.kind === 'secret') return before.value;
    if (value.includes(HIDDEN)) {
      throw new InvalidRequest(
        `invalid var ${name}: ${HIDDEN} replaces a secret that is not shown; write the secret`,
      );
    }
    if (value !== '' && (value.length < SECRET_LENGTH_MIN || value.length > SECRET_LENGTH_MAX)) {
      throw new InvalidRequest(
        `invalid var ${name}: a secret has ${SECRET_LENGTH_MIN} to ${SECRET_LENGTH_MAX} characters, others cannot be hidden`,
      );
    }
    return value;
  });
}

/** The secrets among vars, without references to secrets. */
export function secretsOf(vars: Vars): readonly string[] {
  return [...vars.values()].flatMap(({ value }) =>
    value?.kind === 'secret' && !isReference(value.value) ? [value.value] : [],
  );
}

function mapSecrets(vars: Vars, change: (name: string, value: string) => string): Vars {
  if (![...vars.values()].some(({ type }) => type === 'secret')) return vars;
  return new Map(
    [...vars].map(([name, each]) => {
      if (each.value?.kind !== 'secret') return [name, each];
      return [name, { ...each, value: { ...each.value, value: change(name, each.value.value) } }];
    }),
  );
}
