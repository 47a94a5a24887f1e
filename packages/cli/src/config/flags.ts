// Generated flags: every configuration key is a flag. They are removed from the arguments before
// the command line is parsed, because there are hundreds of them and their help is the commented
// default configuration.
import { UsageError } from '../exit.ts';

export type SplitArguments = {
  /** Values of generated flags by name without dashes. */
  readonly flags: ReadonlyMap<string, string>;
  /** All other arguments, in order. */
  readonly rest: readonly string[];
};

/**
 * Removes `--name value` and `--name=value` with known names from the arguments. A name alone means
 * `true`.
 */
export function splitConfigFlags(
  argv: readonly string[],
  known: ReadonlySet<string>,
): SplitArguments {
  const flags = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const match = /^--([a-z0-9][a-z0-9_-]*)(?:=(.*))?$/is.exec(argument);
    const name = match?.[1] ?? '';
    if (!known.has(name)) {
      rest.push(argument);
      continue;
    }
    if (flags.has(name)) throw new UsageError(`--${name} is given twice`);
    const next = argv[i + 1];
    if (match?.[2] !== undefined) flags.set(name, match[2]);
    else if (next !== undefined && !next.startsWith('--')) {
      flags.set(name, next);
      i++;
    } else flags.set(name, 'true');
  }
  return { flags, rest };
}

/** Adds a command's options, which override generated flags of the same meaning. */
export function withShortcuts(
  flags: ReadonlyMap<string, string>,
  shortcuts: Readonly<Record<string, string | boolean | undefined>>,
): ReadonlyMap<string, string> {
  const all = new Map(flags);
  for (const [name, value] of Object.entries(shortcuts)) {
    if (value !== undefined) all.set(name, String(value));
  }
  return all;
}
