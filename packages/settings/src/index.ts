// Public interface of @tidemark/settings: tables of options, secrets, and requests made with them.
export { ALLOW_EVERYTHING, accessPolicy } from './access-policy.ts';
export type { AccessPolicy } from './access-policy.ts';
export { parseAddress } from './address.ts';
export { BORDER_OPTIONS } from './config/border-options.ts';
export { LOGGING_OPTIONS } from './config/logging-options.ts';
export type { LoggingConfig } from './config/logging-options.ts';
export { resolveConfig, resolveOptions } from './config/resolve.ts';
export type { ConfigLayer, ConfigProblem } from './config/resolve.ts';
export { configOf, configSection, configSections } from './config/schema.ts';
export type { ConfigOf, ConfigSchema, ConfigSection } from './config/schema.ts';
export { configFlags, environmentLayer, flagLayer, printDefaultConfig } from './config/sources.ts';
export { parseConfigDuration, printConfigDuration, printConfigValue } from './config/values.ts';
export { compileGlob } from './glob.ts';
export type { Glob } from './glob.ts';
export { httpSender, refusal } from './http-sender.ts';
export type { HttpSender, IncomingResponse, OutgoingRequest, TlsOptions } from './http-sender.ts';
export {
  convertOption,
  decodeOptions,
  defaultOptions,
  durationMs,
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
  oneOf,
  ownFile,
  port,
  program,
  receiver,
  requireWhenEnabled,
  secret,
  size,
  socketBuffer,
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
  pathText,
  resolveSecrets,
  shownText,
  showOption,
} from './option-secrets.ts';
export type { OptionPath } from './option-secrets.ts';
export { secretResolver } from './secret-resolver.ts';
export { defineSection } from './section.ts';
export type { Sections, SectionSpec } from './section.ts';
export { HIDDEN, hideSecret, hideUrlSecrets, isReference, isSecretHeader } from './secrets.ts';
