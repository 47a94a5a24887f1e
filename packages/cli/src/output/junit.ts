// Test results as JUnit XML, as build servers read it.

export type JunitCase = {
  readonly name: string;
  readonly tookMs: number;
  /** One text per failure; empty for a passed test. */
  readonly failures: readonly { readonly message: string; readonly text: string }[];
};
export type JunitSuite = { readonly name: string; readonly cases: readonly JunitCase[] };

/** The whole document. */
export function junitXml(suites: readonly JunitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  const body = suites.map(suiteXml).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="tidemark task test"${counts(all)}>\n${body}</testsuites>\n`;
}

function suiteXml({ name, cases }: JunitSuite): string {
  const body = cases.map((one) => caseXml(name, one)).join('');
  return `  <testsuite name="${escaped(name)}"${counts(cases)}>\n${body}  </testsuite>\n`;
}

function caseXml(suite: string, { name, tookMs, failures }: JunitCase): string {
  const head = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${seconds(tookMs)}"`;
  if (failures.length === 0) return `${head}/>\n`;
  const body = failures.map(
    ({ message, text }) =>
      `      <failure message="${escaped(message)}">${escaped(text)}</failure>\n`,
  );
  return `${head}>\n${body.join('')}    </testcase>\n`;
}

function counts(cases: readonly JunitCase[]): string {
  const failed = cases.filter(({ failures }) => failures.length > 0).length;
  const tookMs = cases.reduce((sum, one) => sum + one.tookMs, 0);
  return ` tests="${cases.length}" failures="${failed}" time="${seconds(tookMs)}"`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

function escaped(text: string): string {
  // XML knows no other control characters, not even escaped.
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
  return clean.replace(/[&<>"\n]/g, (character) => ENTITIES[character] ?? character);
}
