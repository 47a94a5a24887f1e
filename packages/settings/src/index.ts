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
  holdsSecret,
  isSet,
  optionsOf,
  printOption,
  typeName,
} from './options.ts';
export type {
  JsonValue,
  Options,
  OptionsOf,
  OptionSpec,
  OptionTable,
  OptionType,
  OptionValue,
} from './options.ts';
export {
  bool,
  checkUrl,
  credentials,
  duration,
  enabled,
  file,
  float,
  GLOBAL,
  headers,
  INSECURE_SKIP_VERIFY,
  integer,
  json,
  list,
  ownFile,
  program,
  receiver,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  template,
  texts,
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
export { defineSection } from './section.ts';
export type { Sections, SectionSpec } from './section.ts';
export { HIDDEN, hideSecret, hideUrlSecrets, isReference, isSecretHeader } from './secrets.ts';
