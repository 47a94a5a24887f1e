// The interface between an editor and a language. The parsers are the server's own, run in the
// browser.

export type SourceToken = {
  readonly start: number;
  readonly end: number;
  /**
   * Class of the design system's colours: keyword, function, string, number, regex, comment, error;
   * '' for plain text.
   */
  readonly class: string;
};

export type SourceFinding = {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity: 'error' | 'warning';
};

export type Suggestion = {
  readonly label: string;
  /** The inserted text, if it is not the label. */
  readonly insert?: string | undefined;
  /** A word for its kind, and a sentence. */
  readonly detail?: string | undefined;
  readonly info?: string | undefined;
  readonly kind: 'keyword' | 'function' | 'variable' | 'property' | 'text' | 'class';
};

export type Suggestions = { readonly from: number; readonly items: readonly Suggestion[] };

export type HoverText = {
  readonly start: number;
  readonly end: number;
  readonly title: string;
  readonly body: string;
};

export type SourceLanguage = {
  readonly lineComment: string;
  /** Tokens in order; text between them is plain. */
  readonly tokenize: (text: string) => Iterable<SourceToken>;
  readonly diagnose: (text: string) => readonly SourceFinding[];
  readonly complete: (text: string, offset: number) => Promise<Suggestions | undefined>;
  /**
   * The formatted text; `undefined` if it cannot be parsed, or if formatting would lose something.
   */
  readonly format: (text: string) => string | undefined;
  readonly hover?: ((text: string, offset: number) => HoverText | undefined) | undefined;
};
