// Resolves references to secrets.
import { readFileSync } from 'node:fs';
import { InvalidRequest } from '@tidemark/core';

/**
 * Reads secrets that the configuration gives by reference: `env:NAME`, `file:/path`. Other values
 * are returned unchanged.
 */
export function secretResolver(
  environment: Readonly<Record<string, string | undefined>>,
): (value: string) => string {
  return (value) => {
    if (value.startsWith('env:')) {
      const found = environment[value.slice(4)];
      if (found === undefined)
        throw new InvalidRequest(`environment variable is not set. name=\`${value.slice(4)}\``);
      return found;
    }
    if (!value.startsWith('file:')) return value;
    const path = value.slice(5);
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (cause) {
      throw new InvalidRequest(`cannot read secret. file=\`${path}\``, { cause });
    }
  };
}
