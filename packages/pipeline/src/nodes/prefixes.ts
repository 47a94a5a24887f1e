// Rules for the prefixes that join and combine put before field names.

type PrefixRules = {
  readonly delimiter: string;
  /** Recorded text for an empty prefix. */
  readonly empty: string;
  /** End of the recorded text for a prefix that contains the delimiter. */
  readonly containing: string;
};

/** The recorded text for the first prefix that breaks a rule. */
export function checkPrefixes(prefixes: readonly string[], rules: PrefixRules): string | undefined {
  const seen = new Set<string>();
  for (const prefix of prefixes) {
    if (prefix === '') return rules.empty;
    if (rules.delimiter !== '' && prefix.includes(rules.delimiter)) {
      return `cannot use name ${prefix} as field prefix, ${rules.containing}`;
    }
    if (seen.has(prefix)) return 'cannot use the same prefix name see .as() property method';
    seen.add(prefix);
  }
  return undefined;
}
