// Rows that many sections of handler services share.
import type { OptionSpec, OptionValue } from './options.ts';
import type { Options } from './options.ts';
import { flag, text } from './options.ts';
import type { TlsOptions } from './http-sender.ts';

export function enabled(isEnabled = false): OptionSpec {
  return {
    name: 'enabled',
    type: 'boolean',
    default: isEnabled,
    doc: 'Whether the service is used.',
  };
}

export const GLOBAL: OptionSpec = {
  name: 'global',
  type: 'boolean',
  default: false,
  doc: 'Every alert node that does not name this handler gets it.',
};

export const STATE_CHANGES_ONLY: OptionSpec = {
  name: 'state-changes-only',
  type: 'boolean',
  default: false,
  doc: 'With `global`: all alerts are sent on changes of level only.',
};

export const INSECURE_SKIP_VERIFY: OptionSpec = {
  name: 'insecure-skip-verify',
  type: 'boolean',
  default: false,
  doc: 'Accept any TLS certificate.',
};

export const TLS_FILES: readonly OptionSpec[] = [
  { name: 'ssl-ca', type: 'string', default: '', doc: 'File of certificate authorities.' },
  { name: 'ssl-cert', type: 'string', default: '', doc: 'File of the client certificate.' },
  {
    name: 'ssl-key',
    type: 'string',
    default: '',
    doc: 'File of the key of the client certificate.',
  },
];

/** A row of type string. */
export function str(name: string, doc: string, value: OptionValue = ''): OptionSpec {
  return { name, type: 'string', default: value, doc };
}

/** A string that is a template over the event. */
export function template(name: string, doc: string, value = ''): OptionSpec {
  return { ...str(name, doc, value), isTemplate: true };
}

/** A string that is never shown. */
export function secret(name: string, doc: string, value = ''): OptionSpec {
  return { name, type: 'string', default: value, doc, isSecret: true };
}

/** A file whose content is sent; clients may name only those that they may reach. */
export function file(name: string, doc: string): OptionSpec {
  return { ...str(name, doc), isFile: true };
}

/** The URL that gets what is sent; it may be given by reference. */
export function receiver(name: string, doc: string, value = ''): OptionSpec {
  return { ...str(name, doc, value), isReceiver: true };
}

/** A list of strings. */
export function list(
  name: string,
  doc: string,
  value: readonly string[] | null = null,
): OptionSpec {
  return { name, type: 'strings', default: value, doc };
}

export function bool(name: string, doc: string, value = false): OptionSpec {
  return { name, type: 'boolean', default: value, doc };
}

/** TLS as the rows above describe it. */
export function tlsOf(options: Options): TlsOptions {
  return {
    caFile: text(options, 'ssl-ca'),
    certificateFile: text(options, 'ssl-cert'),
    keyFile: text(options, 'ssl-key'),
    isVerificationSkipped: flag(options, 'insecure-skip-verify'),
  };
}

/** `must specify url` and the like, while the service is enabled. */
export function requireWhenEnabled(
  options: Options,
  requirements: Readonly<Record<string, string>>,
): string | undefined {
  if (!flag(options, 'enabled')) return undefined;
  for (const [name, message] of Object.entries(requirements)) {
    if (text(options, name) === '') return message;
  }
  return undefined;
}

/** Checks an option that holds a URL, when it is set. */
export function checkUrl(options: Options, name: string): string | undefined {
  const value = text(options, name);
  if (value === '') return undefined;
  // Not shown: it may be a webhook, which is a secret.
  return URL.canParse(value) ? undefined : `invalid ${name}, expected a URL`;
}
