// A diagnostic about a text: its line with a mark below the position, the message, and a
// suggestion.

export type Finding = {
  readonly message: string;
  /** Offsets in UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
  readonly hint?: string | undefined;
};

export function Caret({ text, finding }: { readonly text: string; readonly finding: Finding }) {
  const lineStart = text.lastIndexOf('\n', finding.start - 1) + 1;
  const lineEnd = text.indexOf('\n', finding.start);
  const line = text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd);
  const indent = finding.start - lineStart;
  const length = Math.max(1, Math.min(finding.end - finding.start, line.length - indent));
  // If the finding covers the whole line, only its message is shown.
  const place =
    length >= line.trim().length ? '' : `${line}\n${' '.repeat(indent)}${'^'.repeat(length)} `;
  return (
    <pre class="caret" tabIndex={0}>
      {place}
      {finding.message}
      {finding.hint === undefined ? '' : `\n${finding.hint}`}
    </pre>
  );
}
