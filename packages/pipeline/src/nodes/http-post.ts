// httpPost: posts every point or batch to a URL or a configured endpoint.

/** Exactly one of `url` and `endpoint` is not empty. */
export type HttpPostOptions = {
  readonly url: string;
  readonly endpoint: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly codeField: string;
  readonly isCapturingResponse: boolean;
  readonly timeoutNanos: bigint;
};
