// Why a node refuses a part of a script: the recorded message, which tools match, the position in
// the script, what was found, what was expected and what to write instead.
import type { Span } from '@tidemark/core';
import type { FailureDetails } from '../evaluate/failure.ts';
import { placeInScript } from '../evaluate/text-source.ts';
import type { TextSource } from '../evaluate/text-source.ts';

export type NodeDiagnostic = FailureDetails & {
  /** The recorded sentence. */
  readonly text: string;
  /** Stable class of the finding; a rule of the node when absent. */
  readonly code?: string | undefined;
  /**
   * Points at the last call of the first of these properties that the script calls; without any, at
   * the node itself.
   */
  readonly properties?: readonly string[] | undefined;
  /** A part of a lambda; takes precedence over `properties`. */
  readonly span?: Span | undefined;
  /**
   * A part of the text in the node's first argument, by offsets in that text; takes precedence over
   * `properties`.
   */
  readonly textSpan?: Span | undefined;
};

/** A call of a script on a node or handler, with its position. */
export type Placed = {
  readonly span: Span;
  readonly properties: readonly { readonly name: string; readonly span: Span }[];
  readonly textSource?: TextSource | undefined;
};

/** The piece of the script that a diagnostic is about. */
export function placeOf(
  owner: Placed,
  problem: Pick<NodeDiagnostic, 'span' | 'textSpan' | 'properties'>,
): Span {
  const { span, textSpan, properties = [] } = problem;
  // Parts not written in a script (the condition of a deadman) have no position.
  if (span !== undefined && span.end > span.start) return span;
  if (textSpan !== undefined && owner.textSource !== undefined) {
    const place = placeInScript(owner.textSource, textSpan);
    if (place !== undefined) return place;
  }
  for (const name of properties) {
    const call = owner.properties.findLast((each) => each.name === name);
    if (call !== undefined) return call.span;
  }
  return owner.span;
}
