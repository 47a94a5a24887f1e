// smtp: mail. The subject is the message, the HTML body the details.
import { smtpHandler } from '@tidemark/pipeline';
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import { isLoopback } from '@tidemark/process';
import type { Transporter } from 'nodemailer';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  bool,
  defineSection,
  duration,
  durationMs,
  enabled,
  list,
  port,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { Closable, HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';

const TLS_MODES = ['', 'implicit', 'starttls', 'off'];
const IMPLICIT_TLS_PORT = 465;

const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/;

const section = defineSection({
  name: 'smtp',
  doc: 'Mail server.',
  options: {
    ...enabled(),
    host: str('Name or address of the mail server.', 'localhost'),
    port: port('Its port; 465 speaks TLS from the start.', 25),
    username: str('User; empty sends without authentication.'),
    password: secret('Password of the user.'),
    'no-verify': bool('Accept any TLS certificate.'),
    tls: {
      ...str(
        '`implicit` from the start, `starttls` or nothing, `off`; empty is `implicit` for port 465, otherwise STARTTLS when it is offered, which it must be where a password would leave the machine.',
      ),
      isShownWhenSet: true,
    },
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
    from: str('Sender.'),
    to: list('Recipients when a handler names none.'),
    'to-templates': {
      ...list('More recipients, as templates over the event.'),
      isShownWhenSet: true,
    },
    'idle-timeout': duration('How long an unused connection is kept.', '30s'),
  },
  validate: (options) => {
    if (options.host === '') return 'host cannot be empty';
    if (options.port === 0) return 'invalid port 0';
    if (!TLS_MODES.includes(options.tls)) {
      return `invalid tls ${JSON.stringify(options.tls)}, expected implicit, starttls or off`;
    }
    if (durationMs(options['idle-timeout']) <= 0) return 'idle timeout must be positive';
    if (options.enabled && options.from === '') {
      return "must provide a 'from' address";
    }
    const from = options.from;
    if (from !== '' && !isMailbox(from))
      return `invalid from email address: ${JSON.stringify(from)}`;
    const bad = (options.to ?? []).find((address) => !isMailbox(address));
    return bad === undefined ? undefined : `invalid to email address: ${JSON.stringify(bad)}`;
  },
});

type Config = OptionsOf<typeof section.options>;

// `user@host` or `Name <user@host>`; the mail server makes the final check.
function isMailbox(address: string): boolean {
  const inAngles = /<([^<>]*)>\s*$/.exec(address);
  return ADDRESS.test((inAngles?.[1] ?? address).trim());
}

export const smtp = deliver(smtpHandler, {
  section,
  validate: (options) => {
    const bad = (options.to ?? []).find((address) => !isMailbox(address));
    return bad === undefined ? undefined : `invalid to email address: ${JSON.stringify(bad)}`;
  },
  send: async (event, options, context) => {
    const config = enabledSection(context, section);
    const scope = templateScope(event);
    const named = [
      ...(options.to ?? []),
      ...(options['to-field'] ?? []).map((template) => context.render(template, scope)),
    ];
    const configured = [
      ...(config.to ?? []),
      ...(config['to-templates'] ?? []).map((template) => context.render(template, scope)),
    ];
    const to = (named.length > 0 ? named : configured).filter((address) => address.trim() !== '');
    await sendMail({ to, subject: event.message, html: event.details }, config, context);
  },
  tests: [
    defineTest({
      name: 'smtp',
      configured: ['to'],
      options: {
        to: list('Recipients; none means the configured ones.', []),
        subject: str('Subject.', 'test subject'),
        body: str('HTML body.', 'test body'),
      },
      run: (options, context) => {
        const config = enabledSection(context, section);
        const named = options.to ?? [];
        const mail = {
          to: named.length > 0 ? named : (config.to ?? []),
          subject: options.subject,
          html: options.body,
        };
        return sendMail(mail, config, context);
      },
    }),
  ],
});

type Mail = { readonly to: readonly string[]; readonly subject: string; readonly html: string };
type MailConnection = Closable & { readonly transport: Transporter };

async function sendMail(mail: Mail, config: Config, context: HandlerContext): Promise<void> {
  if (mail.to.length === 0) throw new InvalidRequest('no recipients for the mail');
  const key = `smtp ${JSON.stringify(config, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`;
  const connection = await context.connections.use<MailConnection>(
    key,
    durationMs(config['idle-timeout']),
    () => connect(config),
  );
  try {
    await connection.transport.sendMail({
      from: config.from,
      to: [...mail.to],
      // A line break would end the header.
      subject: mail.subject.replaceAll(/[\r\n]+/g, ' '),
      html: mail.html,
    });
  } catch (cause) {
    await context.connections.discard(key);
    throw mailError(cause);
  }
}

async function connect(config: Config): Promise<MailConnection> {
  // Loaded on first use: most installations send no mail.
  const { createTransport } = await import('nodemailer');
  const user = config.username;
  const transport = createTransport({
    host: config.host,
    port: config.port,
    ...tlsModeOf(config),
    pool: true,
    maxConnections: 1,
    tls: { rejectUnauthorized: !config['no-verify'] },
    ...(user === '' ? {} : { auth: { user, pass: config.password } }),
  });
  return { transport, close: () => transport.close() };
}

/** The encryption of the connection to the configured server, in the form of the transport. */
export function tlsModeOf(config: Pick<Config, 'tls' | 'host' | 'port' | 'username'>): {
  readonly secure: boolean;
  readonly requireTLS: boolean;
  readonly ignoreTLS: boolean;
} {
  const mode = config.tls;
  const isImplicit = mode === 'implicit' || (mode === '' && config.port === IMPLICIT_TLS_PORT);
  const isExposed = config.username !== '' && !isLoopback(config.host);
  return {
    secure: isImplicit,
    requireTLS: mode === 'starttls' || (mode === '' && !isImplicit && isExposed),
    ignoreTLS: mode === 'off',
  };
}

// A status of 5xx is a permanent refusal; anything else may work later.
function mailError(cause: unknown): Error {
  const message = messageOf(cause);
  const status =
    cause !== null && typeof cause === 'object' && 'responseCode' in cause
      ? cause.responseCode
      : undefined;
  const isFinal = typeof status === 'number' && status >= 500;
  return isFinal ? new InvalidRequest(message, { cause }) : new Unavailable(message, { cause });
}
