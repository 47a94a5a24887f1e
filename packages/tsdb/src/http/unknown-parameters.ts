// Unknown parameters are not an error, because clients of newer versions may send them, but most
// are misspelled, so the header `Warning` names them.
import { suggest } from '@tidemark/core';

import { ENDPOINT_SCHEMAS } from './endpoint-schemas.ts';
import type { Exchange } from './exchange.ts';
import type { Parameters } from './parameters.ts';

/** Maximum number of names in one answer. */
const WARNINGS_MAX = 5;
const NAME_LENGTH_MAX = 64;

/** Parameters of every endpoint, and those that clients of clusters add to every request. */
const EVERYWHERE = ['u', 'p', 'pretty', 'node_id'];

/** Sets the header `Warning` for parameters that the endpoint of a request does not have. */
export function warnOfUnknown({ path, response }: Exchange, parameters: Parameters): void {
  const known = knownNames(path);
  if (known === undefined) return;
  const warnings: string[] = [];
  for (const name of parameters.names()) {
    if (known.has(name)) continue;
    const nearest = suggest(name, known);
    const question = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    warnings.push(`299 - "unknown parameter ${headerWord(name)} is ignored${question}"`);
    if (warnings.length === WARNINGS_MAX) break;
  }
  if (warnings.length > 0) response.setHeader('Warning', warnings);
}

const NAMES = new Map<string, ReadonlySet<string> | undefined>();

/** Only called with paths of endpoints, so that the map is bounded. */
function knownNames(path: string): ReadonlySet<string> | undefined {
  if (NAMES.has(path)) return NAMES.get(path);
  const schema = ENDPOINT_SCHEMAS[path]?.querystring;
  const names = schema && new Set([...Object.keys(schema.properties), ...EVERYWHERE]);
  NAMES.set(path, names);
  return names;
}

function headerWord(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^\x21-\x7e]|["\\]/g, '?');
}
