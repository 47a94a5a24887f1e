// Colours on a terminal; none elsewhere or with NO_COLOR.

export type Colours = {
  readonly title: (text: string) => string;
  readonly error: (text: string) => string;
  readonly note: (text: string) => string;
};

const same = (text: string): string => text;
const painted =
  (code: number) =>
  (text: string): string =>
    `\u001b[${code}m${text}\u001b[0m`;

export const NO_COLOURS: Colours = { title: same, error: same, note: same };

const COLOURS: Colours = { title: painted(1), error: painted(31), note: painted(33) };

/** The colours for a stream. */
export function coloursFor(
  stream: { readonly isTTY?: boolean | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): Colours {
  const isWanted = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  return stream.isTTY === true && isWanted ? COLOURS : NO_COLOURS;
}
