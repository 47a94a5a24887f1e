// Snippets for programs that write points, with address, database and token filled in.

import { formatIdentifier } from '@tidemark/influxql';

export type SnippetValues = {
  /** Address of the database, without a path. */
  readonly url: string;
  readonly database: string;
  /** Empty without authentication. */
  readonly token: string;
};

export const SNIPPET_KINDS = ['telegraf', 'curl', 'javascript', 'python'] as const;
export type SnippetKind = (typeof SNIPPET_KINDS)[number];

const SNIPPETS: Readonly<Record<SnippetKind, (values: SnippetValues) => string>> = {
  telegraf: ({ url, database, token }) => `[[outputs.influxdb]]
  urls = ["${url}"]
  database = "${database}"
  skip_database_creation = ${token === '' ? 'false' : 'true'}
${token === '' ? '' : `  http_headers = {"Authorization" = "Token ${token}"}\n`}
[[inputs.cpu]]
[[inputs.mem]]
`,
  curl: ({ url, database, token }) => {
    const write = (
      header: string,
    ): string => `curl -X POST '${url}/write?db=${encodeURIComponent(database)}'${header} \\
  --data-binary 'room,name=kitchen celsius=21.5'
`;
    // A write-only token cannot create a database.
    if (token !== '') return write(` \\\n  -H 'Authorization: Token ${token}'`);
    return `curl -X POST '${url}/query' \\
  --data-urlencode 'q=CREATE DATABASE ${formatIdentifier(database)}'

${write('')}`;
  },
  javascript: ({ url, database, token }) => `// npm install @influxdata/influxdb-client
import { InfluxDB, Point } from '@influxdata/influxdb-client';

const client = new InfluxDB({ url: '${url}', token: '${token}' });
const writer = client.getWriteApi('', '${database}/autogen');
writer.writePoint(new Point('room').tag('name', 'kitchen').floatField('celsius', 21.5));
await writer.close();
`,
  python: ({ url, database, token }) => `# pip install requests
import requests

answer = requests.post(
    '${url}/write',
    params={'db': '${database}'},
    data='room,name=kitchen celsius=21.5',${token === '' ? '' : `\n    headers={'Authorization': 'Token ${token}'},`}
)
answer.raise_for_status()
`,
};

export const snippetOf = (kind: SnippetKind, values: SnippetValues): string =>
  SNIPPETS[kind](values);
