// The recorded cases of the task engine, as tests of single packages read them.
import { readFileSync } from 'node:fs';

/** A case as far as scripts are concerned; reference/README of the recorder describes the rest. */
export type EngineCase = {
  readonly group: string;
  readonly name: string;
  readonly type: string;
  readonly script?: string;
  readonly template?: { readonly script: string };
  readonly vars?: unknown;
  readonly dbrps?: readonly { readonly db: string; readonly rp: string }[] | null;
  readonly enable?: boolean;
  readonly writes?: unknown;
  readonly status?: number;
  readonly phase?: string;
  readonly error?: string;
  readonly formatted?: string;
  readonly taskVars?: unknown;
  readonly templateVars?: unknown;
  readonly dot?: string;
  readonly dotLabels?: string;
};

export const engineCases: readonly EngineCase[] = readFileSync(
  new URL('engine-oracle-cases.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as EngineCase);

/** All scripts of recorded tasks, wrong ones included. */
export const recordedScripts: readonly string[] = engineCases
  .map((each) => each.script)
  .filter((script) => script !== undefined);

/** Rows for `test.each`: the full name and the case. */
export function namedCases(
  select: (each: EngineCase) => boolean,
): readonly (readonly [string, EngineCase])[] {
  return engineCases.filter(select).map((each) => [`${each.group} ${each.name}`, each] as const);
}
