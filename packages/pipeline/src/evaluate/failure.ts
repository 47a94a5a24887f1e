// Why a script cannot be evaluated. Thrown inside the evaluation, caught by `buildPipeline`.
import type { Span } from '@tidemark/core';

/**
 * `text` is the recorded sentence. With `isPositioned` the line and column of `span` are put in
 * front of it.
 */
export class EvaluationFailure extends Error {
  override readonly name = 'EvaluationFailure';
  readonly code: string;
  readonly span: Span;
  readonly isPositioned: boolean;
  readonly details: FailureDetails;

  constructor(
    code: string,
    text: string,
    place: {
      readonly span: Span;
      readonly isPositioned: boolean;
    } & FailureDetails,
  ) {
    super(text);
    this.code = code;
    this.span = place.span;
    this.isPositioned = place.isPositioned;
    const { hint, found, expected } = place;
    this.details = { hint, found, expected };
  }
}

/** Additional help for the author beside the recorded sentence. */
export type FailureDetails = {
  readonly hint?: string | undefined;
  /** What was found and what was expected, in the terms of the language. */
  readonly found?: string | undefined;
  readonly expected?: readonly string[] | undefined;
};

/** A node refuses its arguments; the evaluation adds the name of the call and the position. */
export class ArgumentFailure extends Error {
  override readonly name = 'ArgumentFailure';
  readonly details: FailureDetails;

  constructor(text: string, details: FailureDetails = {}) {
    super(text);
    this.details = details;
  }
}

/** A statement uses a var whose own statement has failed; repeating the error would not help. */
export class SkippedStatement extends Error {
  override readonly name = 'SkippedStatement';
}
