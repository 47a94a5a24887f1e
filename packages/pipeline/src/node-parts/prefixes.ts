// Rules for the prefixes that join and combine put before field names.
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';

type PrefixRules = {
  readonly delimiter: string;
  /** Recorded text for an empty prefix. */
  readonly empty: string;
  /** End of the recorded text for a prefix that contains the delimiter. */
  readonly containing: string;
};

/** Refuses the first prefix that breaks a rule. */
export function checkPrefixes(
  prefixes: readonly string[],
  rules: PrefixRules,
): NodeDiagnostic | undefined {
  const properties = ['as'];
  const seen = new Set<string>();
  for (const prefix of prefixes) {
    if (prefix === '') {
      return {
        text: rules.empty,
        properties,
        hint: "names of prefixes are not empty: .as('name')",
      };
    }
    if (rules.delimiter !== '' && prefix.includes(rules.delimiter)) {
      return {
        text: `cannot use name ${prefix} as field prefix, ${rules.containing}`,
        properties,
        found: prefix,
        hint: 'choose another prefix, or another .delimiter()',
      };
    }
    if (seen.has(prefix)) {
      return {
        text: 'cannot use the same prefix name see .as() property method',
        properties,
        found: prefix,
        hint: 'choose another prefix',
      };
    }
    seen.add(prefix);
  }
  return undefined;
}
