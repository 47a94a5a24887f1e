// Public face of @tidemark/settings: tables of options, secrets, and requests made with them.
export { ALLOW_EVERYTHING, accessPolicy } from './access-policy.ts';
export type { AccessPolicy } from './access-policy.ts';
export { parseAddress } from './address.ts';
export { compileGlob } from './glob.ts';
export type { Glob } from './glob.ts';
export { httpSender, isRetryableStatus, refusal } from './http-sender.ts';
export type { HttpSender, IncomingResponse, OutgoingRequest, TlsOptions } from './http-sender.ts';
export {
  convertOption,
  decodeOptions,
  defaultOptions,
  durationMs,
  flag,
  holdsSecret,
  integer,
  isSet,
  map,
  printOption,
  strings,
  text,
  typeName,
} from './options.ts';
export type { JsonValue, Options, OptionSpec, OptionType, OptionValue } from './options.ts';
export {
  bool,
  checkUrl,
  enabled,
  file,
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  list,
  receiver,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  template,
  TLS_FILES,
  tlsOf,
} from './option-rows.ts';
export {
  findHidden,
  mapTexts,
  placeText,
  resolveSecrets,
  shownText,
  showOption,
} from './option-secrets.ts';
export type { Place } from './option-secrets.ts';
export { secretResolver } from './secret-resolver.ts';
export type { SectionSpec } from './section.ts';
export { HIDDEN, hideSecret, hideUrlSecrets, isReference, isSecretHeader } from './secrets.ts';
