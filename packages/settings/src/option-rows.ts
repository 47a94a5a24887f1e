// Rows of tables of options, and tables shared by many sections.
import { parseClockDuration } from '@tidemark/core';

import type { TlsOptions } from './http-sender.ts';
import type { JsonValue, OptionSpec, OptionsOf } from './options.ts';

export function str(doc: string, value = ''): OptionSpec<'string'> {
  return { type: 'string', default: value, doc };
}

export function bool(doc: string, value = false): OptionSpec<'boolean'> {
  return { type: 'boolean', default: value, doc };
}

export function integer(doc: string, value = 0): OptionSpec<'integer'> {
  return { type: 'integer', default: value, doc };
}

/** A port, which may be 0. */
export function port(doc: string, value = 0): OptionSpec<'integer'> {
  return { ...integer(doc, value), max: 65_535 };
}

/** Bytes of a buffer of a socket. */
export function socketBuffer(doc: string, value = 0): OptionSpec<'integer'> {
  return { ...integer(doc, value), max: 2 ** 31 - 1 };
}

export function float(doc: string, value = 0): OptionSpec<'float'> {
  return { type: 'float', default: value, doc };
}

/** A duration, whose default is written as in files: `10s`, `1h30m`. */
export function duration(doc: string, value = '0s'): OptionSpec<'duration'> {
  return { type: 'duration', default: parseClockDuration(value) ?? 0n, doc };
}

/** A number of bytes. */
export function size(doc: string, bytes = 0): OptionSpec<'size'> {
  return { type: 'size', default: bytes, doc };
}

/** One of a few texts. */
export function oneOf(
  doc: string,
  allowed: readonly string[],
  value: string,
): OptionSpec<'string'> {
  return { ...str(doc, value), allowed };
}

/** A list of strings. */
export function list(doc: string, value: readonly string[] | null = null): OptionSpec<'strings'> {
  return { type: 'strings', default: value, doc };
}

/** Strings by name. */
export function texts(
  doc: string,
  value: Readonly<Record<string, string>> | null = null,
): OptionSpec<'string-map'> {
  return { type: 'string-map', default: value, doc };
}

/** `username` and `password`, which are never shown. */
export function credentials(doc: string): OptionSpec<'string-map'> {
  return { ...texts(doc), isSecret: true };
}

/** Headers of requests. */
export function headers(
  doc: string,
  value: Readonly<Record<string, string>> | null = null,
): OptionSpec<'string-map'> {
  return { ...texts(doc, value), isHeaders: true };
}

export function json(doc: string, value: JsonValue = null): OptionSpec<'json'> {
  return { type: 'json', default: value, doc };
}

/** A string that is a template over the event. */
export function template(doc: string, value = ''): OptionSpec<'string'> {
  return { ...str(doc, value), isTemplate: true };
}

/** A string that is never shown. */
export function secret(doc: string, value = ''): OptionSpec<'string'> {
  return { ...str(doc, value), isSecret: true };
}

/** A file whose content is sent; clients may name only allowed ones. */
export function file(doc: string): OptionSpec<'string'> {
  return { ...str(doc), isFile: true };
}

/** A program to run; clients may name only allowed ones. */
export function program(doc: string): OptionSpec<'string'> {
  return { ...str(doc), reaches: 'program' };
}

/** A file to write; clients may name only allowed ones. */
export function ownFile(doc: string): OptionSpec<'string'> {
  return { ...str(doc), reaches: 'file' };
}

/** The URL that receives the data; may be given by reference. */
export function receiver(doc: string, value = ''): OptionSpec<'string'> {
  return { ...str(doc, value), isReceiver: true };
}

/** Whether a service is used. */
export function enabled(isEnabled = false): { readonly enabled: OptionSpec<'boolean'> } {
  return { enabled: bool('Whether the service is used.', isEnabled) };
}

/** Who uses a handler without naming it. */
export const GLOBAL = {
  global: bool('Every alert node that does not name this handler gets it.'),
};

export const STATE_CHANGES_ONLY = {
  'state-changes-only': bool('With `global`: all alerts are sent on changes of level only.'),
};

export const INSECURE_SKIP_VERIFY = {
  'insecure-skip-verify': bool('Accept any TLS certificate.'),
};

export const TLS_FILES = {
  'ssl-ca': str('File of certificate authorities.'),
  'ssl-cert': str('File of the client certificate.'),
  'ssl-key': str('File of the key of the client certificate.'),
};

/** TLS settings from the rows above. */
export function tlsOf(
  options: Partial<OptionsOf<typeof TLS_FILES>> & OptionsOf<typeof INSECURE_SKIP_VERIFY>,
): TlsOptions {
  return {
    caFile: options['ssl-ca'],
    certificateFile: options['ssl-cert'],
    keyFile: options['ssl-key'],
    isVerificationSkipped: options['insecure-skip-verify'],
  };
}

/** `must specify url` and the like, while the service is enabled. */
export function requireWhenEnabled<O extends { readonly enabled: boolean }>(
  options: O,
  requirements: { readonly [Name in keyof O]?: string },
): string | undefined {
  if (!options.enabled) return undefined;
  const values = new Map<string, unknown>(Object.entries(options));
  return Object.entries(requirements as Readonly<Record<string, string>>).find(
    ([name]) => values.get(name) === '',
  )?.[1];
}

/** Checks an option that contains a URL, if it is set. */
export function checkUrl(name: string, value: string): string | undefined {
  if (value === '') return undefined;
  // Does not show the URL: it may be a webhook, which is a secret.
  return URL.canParse(value) ? undefined : `invalid ${name}, expected a URL`;
}
